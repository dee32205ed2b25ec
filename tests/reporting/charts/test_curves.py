"""Curves of a comparison: points where figures are, looks that stay, level lines, and scales that suit."""

from __future__ import annotations

import math

import pytest

from libra.reporting.curves import LEFT, RIGHT, Curve, curves
from libra.reporting.drawing import LEVEL

from .reading import of_class, read, size, texts, titles

EPSILONS = (0.1, 1.0, 10.0)


def _curve(values: tuple[float, ...], look: int = 0, spread: float | None = None) -> Curve:
    return Curve("libra", tuple((epsilon, value, spread) for epsilon, value in zip(EPSILONS, values, strict=False)), look)


def _points(svg: str) -> list[tuple[float, float]]:
    (line,) = read(svg).findall("g")
    return [(float(x), float(y)) for x, y in (point.split() for point in line[0].attrib["d"].removeprefix("M").split("L"))]


def test_points_stand_by_the_logarithm_of_epsilon_and_the_height_of_their_figure() -> None:
    chart = curves("sepsis", [_curve((0.5, 0.4, 0.1))], epsilons=EPSILONS, y_name="dfg_l1", empty=1.0)
    image = read(chart.svg)
    points = _points(chart.svg)
    assert points[1][0] == pytest.approx((points[0][0] + points[2][0]) / 2, abs=0.11)
    marks = {text.text: size(text, "y") - 4 for text in of_class(image, "lc-end") if text.text != "empty log"}
    wanted = [marks["0"] + value * (marks["1"] - marks["0"]) for value in (0.5, 0.4, 0.1)]
    assert [y for _, y in points] == pytest.approx(wanted, abs=0.11)
    (reference,) = of_class(image, "lc-reference")
    assert float(reference.attrib["d"].split()[1].partition("H")[0]) == pytest.approx(marks["1"], abs=0.11)
    assert "libra, 1: 0.4" in titles(image)
    assert "epsilon (log scale)" in texts(image)


def test_figures_far_apart_are_drawn_by_their_logarithm() -> None:
    chart = curves("sepsis", [_curve((0.001, 0.5, 0.1))], epsilons=EPSILONS, y_name="dfg_l1")
    assert "epsilon (both scales are logarithmic)" in texts(read(chart.svg))


def test_the_spread_is_a_bar_around_the_point() -> None:
    drawn, bare = (
        curves("sepsis", [_curve((0.5, 0.4, 0.1), spread=spread)], epsilons=EPSILONS, y_name="dfg_l1") for spread in (0.05, None)
    )
    assert [chart.svg.count('stroke-width="1"') for chart in (drawn, bare)] == [3, 0]
    assert drawn.rows == (("libra", "0.5 ± 0.05", "0.4 ± 0.05", "0.1 ± 0.05"),)


def test_what_fixes_its_privacy_is_a_level_line_and_says_so_in_the_table() -> None:
    chart = curves("sepsis", [Curve("libra2022:b=2", ((None, 0.3, None),), 1)], epsilons=EPSILONS, y_name="dfg_l1")
    (line,) = read(chart.svg).findall("g")
    assert line[0].attrib["d"].startswith(f"M{LEFT} ")
    assert line[0].attrib["d"].endswith(f"H{RIGHT}")
    assert line[0].attrib["stroke-dasharray"] == LEVEL
    assert chart.rows == (("libra2022:b=2, as set", "0.3", "0.3", "0.3"),)


def test_a_look_is_the_same_whatever_else_is_drawn() -> None:
    def looks(lines: list[Curve]) -> list[tuple[str | None, str]]:
        groups = read(curves("log", lines, epsilons=EPSILONS, y_name="dfg_l1").svg).findall("g")
        return [(group.get("class"), group.findall("path[@transform]")[0].attrib["d"]) for group in groups]

    alone, second = looks([_curve((1, 1, 1), look=7)]), looks([_curve((1, 1, 1), look=2), _curve((1, 1, 1), look=7)])
    assert alone[0] == second[1] != second[0]


def test_points_without_a_figure_are_left_out() -> None:
    chart = curves("sepsis", [_curve((0.5, math.nan, 0.1))], epsilons=EPSILONS, y_name="dfg_l1")
    assert len(_points(chart.svg)) == 2
    assert chart.rows == (("libra", "0.5", "–", "0.1"),)  # noqa: RUF001  the dash of a figure that is missing
    empty = curves("sepsis", [_curve((math.nan,))], epsilons=EPSILONS, y_name="dfg_l1")
    assert not read(empty.svg).findall("g")
