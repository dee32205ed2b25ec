"""Plots: valid XML of a few kB, lines where figures are, and names that do not overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.comparison.comparison import Missing
from libra.errors import UsageError
from libra.reporting.comparison_files import plots
from libra.reporting.curves import LABEL_HEIGHT, curves_of, placed
from libra.reporting.drawing import PALETTE, SERIES

from .some_outcomes import BUDGETS, comparison, result

BAR = r'stroke-width="1" d="M\S+ ([\d.]+)V'  # of a spread, with the height of its foot
SVG = "{http://www.w3.org/2000/svg}"
LABELS = [
    *("libra", "libra2022", "travas", "libra:tail=drop", "libra:tail=nearest", "libra:gamma=0.1", "libra:gamma=0.2"),
    *("libra:gamma=0.3", "libra:gamma=0.4", "libra:gamma=0.5", "libra:gamma=0.6", "libra:gamma=0.05:subsamples=20:tail=drop"),
]


def _drawn(image: str) -> ElementTree.Element:
    return ElementTree.fromstring(image)


def _texts(image: str) -> list[str]:
    return ["".join(text.itertext()) for text in _drawn(image).iter(f"{SVG}text")]


def _names(image: str) -> dict[str, float]:
    """The names at the ends of the lines, and how high they stand."""
    named = (text for text in _drawn(image).iter(f"{SVG}text") if "lc-name" in text.get("class", "").split())
    return {"".join(text.itertext()): float(text.attrib["y"]) for text in named}


def test_every_setting_has_a_line_a_mark_a_point_and_its_name() -> None:
    found = comparison({name: [[result(0.1 + 0.05 * place)]] * 3 for place, name in enumerate(LABELS)})
    image = found.plot("sepsis", "dfg_l1")
    lines = _drawn(image).findall(f"{SVG}g")
    assert len(lines) == len(LABELS)
    assert all(len(line.findall(f"{SVG}path[{SVG}title]")) == len(BUDGETS) for line in lines)
    assert {*LABELS[:-1], "libra:gamma=0.05:subsamples=20:", "tail=drop"} <= set(_texts(image))
    assert "empty log, 1" in _texts(image)
    assert len(image.encode()) < 15_000


def test_names_do_not_overlap_even_where_lines_do() -> None:
    image = comparison({name: [[result(0.5)]] * 3 for name in LABELS}).plot("sepsis", "dfg_l1")
    heights = sorted(height for name, height in _names(image).items() if name.startswith(("libra", "travas", "empty")))
    assert len(heights) == len(LABELS) + 1
    assert min(after - before for before, after in pairwise(heights)) >= LABEL_HEIGHT - 0.2


def test_lines_of_the_same_colour_differ_in_dashes() -> None:
    image = comparison({name: [[result(0.5)]] * 3 for name in LABELS}).plot("sepsis", "dfg_l1")
    looks = [(line.attrib["class"], line[0].get("stroke-dasharray")) for line in _drawn(image).findall(f"{SVG}g")]
    assert len(LABELS) > SERIES
    assert len(set(looks)) == len(LABELS)


def test_both_grounds_have_their_colours() -> None:
    image = comparison({"libra": [[result(0.5)]]}).plot("sepsis", "dfg_l1")
    light, dark = re.findall(r"--series-0:(#\w+)", image)
    assert [light, dark] == re.findall(r"--series-0:(#\w+)", PALETTE)
    assert light != dark
    assert "prefers-color-scheme:dark" in image


def test_the_spread_is_drawn_where_there_is_one() -> None:
    one, two = (
        comparison({"libra": [seeds] * 3}).plot("sepsis", "dfg_l1") for seeds in ([result(0.5)], [result(0.4), result(0.6)])
    )
    assert [len(re.findall(BAR, image)) for image in (one, two)] == [0, 3]
    assert "mean of 2 seeds" in two


def _line_of(image: str) -> list[tuple[float, float]]:
    """The points that the only line of an image goes through."""
    (line,) = _drawn(image).findall(f"{SVG}g")
    return [(float(x), float(y)) for x, y in (point.split() for point in line[0].attrib["d"].removeprefix("M").split("L"))]


def _height(image: str, figure: float) -> float:
    """Where a figure stands, by the marks at 0 and 1."""
    figures = _drawn(image).findall(f"{SVG}text[@class='lc-faint lc-small lc-end']")
    marks = {text.text: float(text.attrib["y"]) - 4 for text in figures}
    return marks["0"] + figure * (marks["1"] - marks["0"])


def test_the_bars_go_from_one_standard_deviation_below_to_one_above() -> None:
    image = comparison({"libra": [[result(0.4), result(0.6)], [result(0.2)] * 2, [result(0.1), result(0.5)]]}).plot(
        "sepsis", "dfg_l1"
    )
    bars = [
        tuple(map(float, found))
        for path in _drawn(image).iter(f"{SVG}path")
        for found in re.findall(r"^M(\S+) (\S+?)V([\d.]+)m-3 0h6m-3 0V([\d.]+)m-3 0h6$", path.attrib["d"])
    ]
    spreads = [(0.5, 0.02**0.5), (0.3, 0.08**0.5)]
    expected = [(_height(image, mean - spread), _height(image, mean + spread)) for mean, spread in spreads]
    assert [bar[1:3] for bar in bars] == [pytest.approx(ends, abs=0.11) for ends in expected]
    assert [bar[3] for bar in bars] == [bar[1] for bar in bars]
    assert [bar[0] for bar in bars] == [x for x, _ in (_line_of(image)[0], _line_of(image)[2])]


def test_a_bar_that_would_go_below_zero_ends_there() -> None:
    image = comparison({"libra": [[result(0.0), result(0.0), result(0.6)]]}).plot("sepsis", "dfg_l1")
    ((low,),) = ([float(end)] for end in re.findall(BAR, image))
    assert low == pytest.approx(_height(image, 0.0), abs=0.11)


def test_a_line_goes_from_the_smallest_epsilon_to_the_largest_whatever_the_order_said() -> None:
    found = comparison({"libra": [[result(0.3)], [result(0.2)], [result(0.1)]]})
    backwards = replace(found, outcomes=found.outcomes[::-1], epsilons=found.epsilons[::-1])
    points = [_line_of(one.plot("sepsis", "dfg_l1")) for one in (found, backwards)]
    assert points[0] == points[1]
    assert [x for x, _ in points[0]] == sorted({x for x, _ in points[0]})
    image = found.plot("sepsis", "dfg_l1")
    assert [y for _, y in points[0]] == pytest.approx([_height(image, figure) for figure in (0.3, 0.2, 0.1)], abs=0.11)


def test_a_setting_that_decides_epsilon_itself_is_a_level_line() -> None:
    found = comparison({"libra": [[result(0.5)]] * 3, "libra2022:b=2": [[result(0.3)]]})
    assert [row.epsilon for row in found.rows("sepsis")] == [*BUDGETS, None]
    image = found.plot("sepsis", "dfg_l1")
    level = _drawn(image).findall(f"{SVG}g")[1][0].attrib
    assert re.fullmatch(r"M\d+ [\d.]+H\d+", level["d"])
    assert float(level["d"].split()[1].partition("H")[0]) == pytest.approx(_height(image, 0.3), abs=0.11)
    assert level["stroke-dasharray"]
    assert "libra2022:b=2, as set" in _texts(image)
    alone = comparison({"libra2022:b=2": [[result(0.3)]]})
    assert [line.is_level for _, line in curves_of(alone, "sepsis", "dfg_l1")] == [True]
    assert "sepsis-dfg_l1.svg" in plots(alone)


def test_a_setting_without_figures_has_no_line() -> None:
    timeless = [[result(0.5, has_times=False)]] * 3
    found = comparison({"libra": [[result(0.5)], [Missing("time", "slow")], [result(0.3)]], "travas": timeless})
    image = found.plot("sepsis", "edge_duration_w1_log")
    assert "travas" not in _texts(image)
    (line,) = _drawn(image).findall(f"{SVG}g")
    assert len(line.findall(f"{SVG}path[{SVG}title]")) == 2


def test_text_from_outside_cannot_break_the_image() -> None:
    log = 'a<b>&"c"\x00\x1b\ufffe'
    image = comparison({"libra": [[result(0.5)]] * 3}, log=log).plot(log, "dfg_l1")
    assert 'a<b>&"c"\ufffd\ufffd\ufffd: dfg_l1' in _texts(image)


def test_one_budget_and_nothing_but_zeros_can_be_drawn() -> None:
    image = comparison({"libra": [[result(0.0)]]}).plot("sepsis", "edge_duration_w1_log")
    assert len(_drawn(image).findall(f"{SVG}g")) == 1


def test_figures_that_are_far_apart_are_drawn_by_their_logarithm() -> None:
    found = comparison({"libra": [[result(0.002)]] * 3, "travas": [[result(0.9)]] * 3})
    assert "epsilon (both scales are logarithmic)" in _texts(found.plot("sepsis", "dfg_l1"))
    assert "epsilon (log scale)" in _texts(comparison({"travas": [[result(0.9)]] * 3}).plot("sepsis", "dfg_l1"))


def test_a_measure_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no measure"):
        comparison({"libra": [[result(0.5)]]}).plot("sepsis", "beauty")


@given(st.lists(st.floats(-50, 450), max_size=12))
def test_places_are_apart_within_bounds_and_in_order(wanted: Sequence[float]) -> None:
    heights = placed(wanted, 0, 400, 20)
    by_height = sorted(range(len(wanted)), key=lambda index: heights[index])
    assert [wanted[index] for index in by_height] == sorted(wanted)
    assert all(-1e-6 <= height <= 400 + 1e-6 for height in heights)
    ordered = sorted(heights)
    assert all(after - before >= 20 - 1e-6 for before, after in pairwise(ordered))
