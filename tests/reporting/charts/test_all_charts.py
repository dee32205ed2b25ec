"""What all charts keep: the policy of the page, hostile labels, odd figures, tables, and files of their own."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import pytest

from libra.reporting.charts import budget_bar, dotted_chart, gauge, histogram_pair, line_pair, paired_bars, week_map
from libra.reporting.curves import Curve, curves, legend
from libra.reporting.drawing import Chart
from libra.reporting.facts.verdicts import BOUNDS

from .reading import HOSTILE, check_table, read

ODD = (math.nan, math.inf, -math.inf, -1.0, 1e300, 0.0, 5e-324, 3.0, 0.5)
Draw = Callable[[Sequence[str], Sequence[float], Sequence[float] | None], Chart]


def _bars(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    return paired_bars(labels[0] if labels else "", labels, before, values, unit="cases")


def _budget(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    parts = list(zip(labels, values, strict=True))
    return budget_bar("Budget", parts, left=0.1, alternative=parts[:3] if before is not None else ())


def _gauge(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    return gauge("".join(labels[:1]), max(values, default=0), sample=before[0] if before else None, bounds=dict(BOUNDS))


def _histogram(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    ticks = [(float(place), label) for place, label in enumerate(labels)]
    return histogram_pair("Lengths", labels, before, values, ticks=ticks, unit="cases")


def _lines(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    starts = [datetime(2013, 11, 4) + timedelta(weeks=place) for place in range(len(values))]
    return line_pair("".join(labels[:1]), starts, before, values, every="week")


def _week(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    shares = [min(value, 1.0) for value in values if value >= 0]
    return week_map("".join(labels[:1]), [(shares * 24 + [0.0] * 24)[:24]] * 7, most=max(shares, default=0))


def _dots(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    ticks = [(float(place), label) for place, label in enumerate(labels)]
    return dotted_chart("Events", [values], most=3, ticks=ticks, series="anonymized" if before is None else "original")


def _curves(labels: Sequence[str], values: Sequence[float], before: Sequence[float] | None) -> Chart:
    spread = 0.1 if before is None else None
    lines = [
        Curve(label, ((1.0, value, spread), (2.0, value, spread)), place)
        for place, (label, value) in enumerate(zip(labels, values, strict=True))
    ]
    return curves("Log", lines, epsilons=(1.0, 2.0), y_name="dfg_l1", empty=1.0)


CHARTS: tuple[Draw, ...] = (_bars, _budget, _gauge, _histogram, _lines, _week, _dots, _curves)


@pytest.mark.parametrize("draw", CHARTS)
@pytest.mark.parametrize("both", [True, False])
def test_hostile_labels_and_odd_figures_make_a_fragment_that_a_strict_page_can_hold(draw: Draw, both: bool) -> None:
    chart = draw(HOSTILE, ODD, ODD if both else None)
    image = read(chart.svg)
    check_table(chart)
    assert len(chart.svg) < 60_000
    wide, tall = (float(side) for side in image.attrib["viewBox"].split()[2:])
    assert (image.attrib["width"], image.attrib["height"]) == (f"{wide:g}", f"{tall:g}")
    for text in image.iter("text"):
        assert 0 <= float(text.get("x", 0)) <= wide
        assert 0 <= float(text.get("y", 0)) <= tall


@pytest.mark.parametrize("draw", CHARTS)
@pytest.mark.parametrize("both", [True, False])
@pytest.mark.parametrize("values", [(), (0.0,), (0.0, 0.0), (1.0,), (1e12, 1.0)])
def test_nothing_one_figure_zeros_and_huge_figures_can_be_drawn(draw: Draw, both: bool, values: Sequence[float]) -> None:
    chart = draw(["a", "b"][: len(values)], values, values if both and values else None)
    read(chart.svg)
    check_table(chart)


def test_figures_and_names_of_different_number_are_refused() -> None:
    for draw in (_bars, _histogram, _lines):
        with pytest.raises((ValueError, IndexError)):
            draw(["a", "b"], [1.0, 2.0], [1.0])


def test_a_legend_has_the_mark_and_the_dashes_of_each_curve() -> None:
    lines = [Curve(label, ((None, 1.0, None),) if place == 2 else (), place) for place, label in enumerate(HOSTILE)]
    groups = [group for entry in legend(lines) for group in read(entry).findall("g")]
    assert len(groups) == len(lines)
    assert len({(group[0].get("stroke-dasharray"), group[1].attrib["d"]) for group in groups}) == len(lines)
