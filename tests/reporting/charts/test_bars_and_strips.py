"""Bars, budgets and gauges: lengths that are as the figures are, and words for what colour says."""

from __future__ import annotations

import math

import pytest

from libra.reporting import numbers
from libra.reporting.charts import BUDGET_WIDTH, EDGE, GAUGE_WIDTH, LONGEST_NAME, budget_bar, gauge, paired_bars
from libra.reporting.facts.verdicts import BOUNDS

from .reading import of_class, read, size, texts, titles

NAMES = ["ER Registration", "Leucocytes", "Release A"]
BEFORE, AFTER = [0.24, 0.76, 0.0], [0.26, 0.73, 0.01]


def test_bars_are_as_long_as_their_figures_and_say_them() -> None:
    chart = paired_bars("Activities", NAMES, BEFORE, AFTER, unit="of all events")
    image = read(chart.svg)
    for look, values in (("lc-original", BEFORE), ("lc-anonymized", AFTER)):
        bars = [bar for bar in of_class(image, look, "lc-bar") if bar.find("title") is not None]
        full = max(size(bar, "width") for bar in of_class(image, "lc-bar")) + 0.5
        assert [size(bar, "width") for bar in bars] == [
            pytest.approx(max(full * value / 0.76 - 0.5, 0), abs=0.11) for value in values
        ]
    assert {"24 %", "76 %", "26 %", "1.0 %", "of all events"} <= set(texts(image))
    assert "Leucocytes: original 76 %, anonymized 73 % of all events" in titles(image)


def test_the_table_of_bars_has_the_same_figures() -> None:
    chart = paired_bars("Activities", NAMES, BEFORE, AFTER, unit="of all events")
    assert chart.headings == ("", "original", "anonymized")
    assert chart.rows == tuple(
        (name, numbers.share(b), numbers.share(a)) for name, b, a in zip(NAMES, BEFORE, AFTER, strict=True)
    )


def test_bars_without_the_original_do_not_speak_of_it() -> None:
    chart = paired_bars("Activities", NAMES, None, AFTER, unit="of all events")
    assert "original" not in chart.svg
    assert chart.headings == ("", "anonymized")
    assert len(of_class(read(chart.svg), "lc-bar")) == 3


def test_long_names_take_two_lines_and_stand_whole_in_the_table() -> None:
    long = "Admission to the ward for intermediate care"
    chart = paired_bars("Activities", [long, "y" * 5000], None, [1, 1], unit="of all events")
    lines = [text.text or "" for text in of_class(read(chart.svg), "lc-label")]
    assert " ".join(lines[:2]) == long
    assert len(lines) == 4
    assert lines[3].endswith("…")
    assert [len(row[0]) for row in chart.rows] == [len(long), LONGEST_NAME]


def test_pieces_of_a_budget_lie_end_to_end_and_what_is_left_is_an_outline() -> None:
    parts = [("variants", 0.5), ("lengths", 0.3), ("durations", 0.05)]
    chart = budget_bar("Budget", parts, left=0.15)
    image = read(chart.svg)
    pieces = [piece for piece in of_class(image, "lc-spent") if piece.find("title") is not None]
    starts = [1 + (BUDGET_WIDTH - 2) * share for share in (0, 0.5, 0.8)]
    assert [size(piece, "x") for piece in pieces] == pytest.approx(starts, abs=0.11)
    assert [size(piece, "width") for piece in pieces] == pytest.approx(
        [(BUDGET_WIDTH - 2) * share - 1.5 for _, share in parts], abs=0.11
    )
    (left,) = (piece for piece in of_class(image, "lc-left") if piece.find("title") is not None)
    assert size(left, "x") == pytest.approx(1 + (BUDGET_WIDTH - 2) * 0.85, abs=0.11)
    assert chart.rows == (
        ("1", "variants", "50 %"),
        ("2", "lengths", "30 %"),
        ("3", "durations", "5.0 %"),
        ("", "not spent", "15 %"),
    )


def test_an_alternative_has_a_track_of_its_own_that_ends_where_the_other_does() -> None:
    chart = budget_bar("Budget", [("variants", 0.5), ("kept", 0.3)], left=0.2, alternative=[("tail", 0.15), ("edges", 0.1)])
    image = read(chart.svg)
    pieces = [piece for piece in of_class(image, "lc-spent") if piece.find("title") is not None]
    assert [size(piece, "y") for piece in pieces[:2]] == [1, 1]
    assert size(pieces[2], "y") == size(pieces[3], "y") > 28
    ends = [size(piece, "x") + size(piece, "width") for piece in pieces]
    assert ends[1] == pytest.approx(ends[3], abs=0.2)
    assert "or" in texts(image)
    assert [row[0] for row in chart.rows] == ["1", "2", "3", "4", ""]


def test_a_piece_too_narrow_for_its_number_has_it_in_the_legend() -> None:
    image = read(budget_bar("Budget", [("variants", 0.999), ("rest", 0.001)], left=0.0).svg)
    assert texts(image).count("1") == 2
    assert texts(image).count("2") == 1
    assert "not spent" not in texts(image)


def _needle(chart_svg: str) -> float:
    (needle,) = of_class(read(chart_svg), "lc-needle")
    return float(needle.attrib["d"].removeprefix("M").split()[0]) + 4.5


@pytest.mark.parametrize(
    ("loss", "zones"), [(0.0, 0), (0.004, 0), (0.02, 1), (0.1, 2), (0.5, 3), (0.9, 3.365), (2.5, 4), (99, 4), (-3, 0)]
)
def test_every_verdict_has_a_zone_and_small_losses_differ_as_large_ones_do(loss: float, zones: float) -> None:
    chart = gauge("Edges", loss, sample=None, bounds=dict(BOUNDS))
    assert _needle(chart.svg) == pytest.approx(EDGE + (GAUGE_WIDTH - 2 * EDGE) * zones / 4, abs=0.11)
    assert chart.rows == (("this log", numbers.share(loss)),)


def test_zones_are_as_wide_as_each_other_and_named_by_their_verdict() -> None:
    image = read(gauge("Edges", 0.2, sample=0.1, bounds=dict(BOUNDS)).svg)
    zones = [size(zone, "width") for place in range(4) for zone in of_class(image, f"lc-zone-{place}")]
    assert len(zones) == 4
    assert max(zones) - min(zones) < 0.11
    assert [*dict(BOUNDS), "lost"] == ["kept", "close", "rough", "lost"]


def test_the_sample_is_an_upright_line() -> None:
    image = read(gauge("Edges", 0.5, sample=0.1, bounds=dict(BOUNDS)).svg)
    (tick,) = of_class(image, "lc-tick")
    assert float(tick.attrib["d"].removeprefix("M").split()[0]) == pytest.approx(GAUGE_WIDTH / 2, abs=0.11)
    assert "a fresh sample: 10 %" in titles(image)


def test_without_a_figure_there_is_no_needle_and_a_dash_in_the_table() -> None:
    chart = gauge("Edges", math.nan, sample=math.nan, bounds=dict(BOUNDS))
    assert not of_class(read(chart.svg), "lc-needle")
    assert not of_class(read(chart.svg), "lc-tick")
    assert [row[1] for row in chart.rows] == [numbers.MISSING, numbers.MISSING]
