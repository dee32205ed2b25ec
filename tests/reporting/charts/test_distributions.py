"""Histograms, lines over time, heat maps and dotted charts: places and shades that are as the figures are."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.reporting.charts import DAYS, HOURS, LEFT, MOST_DATES, dotted_chart, histogram_pair, line_pair, week_map

from .reading import of_class, read, size, texts, titles

BINS, BEFORE, AFTER = ("1", "2 to 3", "4 to 7"), [0.5, 0.3, 0.2], [0.4, 0.35, 0.25]


def _height(image: ElementTree.Element, low: str, high: str, share: float) -> float:
    """Where a share of the way between two figures of the axis lies."""
    marks = {text.text: size(text, "y") - 4 for text in of_class(image, "lc-end")}
    return marks[low] + share * (marks[high] - marks[low])


def _tops(way: str) -> list[float]:
    return [float(height) for height in re.findall(r"V([\d.]+)H", way)]


@pytest.mark.parametrize("small", [True, False])
def test_bins_are_as_high_as_their_shares_in_both_logs(small: bool) -> None:
    chart = histogram_pair("Lengths", BINS, BEFORE, AFTER, ticks=(), unit="cases", size="small" if small else "wide")
    image = read(chart.svg)
    (area,) = of_class(image, "lc-anonymized", "lc-area")
    (outline,) = (part for part in of_class(image, "lc-original") if part.tag == "path")
    for part, shares in ((area, AFTER), (outline, BEFORE)):
        wanted = [_height(image, "0 %", "60 %", share / 0.6) for share in shares]
        assert _tops(part.attrib["d"])[:3] == pytest.approx(wanted, abs=0.11)
    assert chart.rows == (("1", "50 %", "40 %"), ("2 to 3", "30 %", "35 %"), ("4 to 7", "20 %", "25 %"))


def test_pointing_at_a_bin_tells_both_shares() -> None:
    image = read(histogram_pair("Lengths", BINS, BEFORE, AFTER, ticks=(), unit="cases").svg)
    assert titles(image) == [
        "1: original 50 %, anonymized 40 %",
        "2 to 3: original 30 %, anonymized 35 %",
        "4 to 7: original 20 %, anonymized 25 %",
    ]
    hits = of_class(image, "lc-hit")
    assert size(hits[0], "x") == LEFT
    assert len({hit.attrib["width"] for hit in hits}) <= 2


def test_a_public_histogram_does_not_speak_of_the_original() -> None:
    chart = histogram_pair("Lengths", BINS, None, AFTER, ticks=(), unit="cases")
    assert "original" not in chart.svg
    assert chart.headings == ("", "anonymized")


def test_ticks_stand_where_they_are_put_and_their_words_do_not_overlap() -> None:
    ticks = [(0.0, "1 s"), (1.5, "1 min"), (1.6, "90 s"), (3.0, "1 h")]
    image = read(histogram_pair("Durations", BINS, BEFORE, AFTER, ticks=ticks, unit="steps").svg)
    words = {text.text: size(text, "x") for text in of_class(image, "lc-middle")}
    right = size(of_class(image, "lc-hit")[-1], "x") + size(of_class(image, "lc-hit")[-1], "width")
    assert set(words) == {"1 s", "1 min", "1 h"}
    assert words["1 min"] == pytest.approx((LEFT + right) / 2, abs=0.2)


WEEKS = [datetime(2013, 11, 4, tzinfo=UTC) + timedelta(weeks=week) for week in range(80)]


def test_lines_go_through_their_figures_at_their_times() -> None:
    before, after = [float(week % 10) for week in range(80)], [float(week % 7) for week in range(80)]
    chart = line_pair("Arrivals", WEEKS, before, after, every="week")
    image = read(chart.svg)
    lines = [part for part in of_class(image, "lc-line") if "L" in part.attrib["d"]]
    for part, values in zip(lines, (before, after), strict=True):
        points = [tuple(map(float, point.split())) for point in part.attrib["d"].removeprefix("M").split("L")]
        assert len(points) == 80
        assert [y for _, y in points] == pytest.approx([_height(image, "0", "10", value / 10) for value in values], abs=0.11)
        gaps = [after - before for (before, _), (after, _) in pairwise(points)]
        assert max(gaps) - min(gaps) < 0.21
    assert "lc-original" in lines[0].attrib["class"]
    assert chart.rows[3] == ("2013-11-25", "3", "3")
    assert "week from 2013-11-25: original 3, anonymized 3 cases" in titles(image)


@given(st.integers(2, 100_000), st.datetimes(datetime(1, 1, 1), datetime(9000, 1, 1)))
def test_dates_below_are_few_in_order_and_do_not_run_into_each_other(days: int, first: datetime) -> None:
    starts = [first, first + timedelta(days=days)]
    image = read(line_pair("Arrivals", starts, None, [1.0, 2.0], every="day").svg)
    places = [size(text, "x") for text in of_class(image, "lc-middle")]
    assert 1 <= len(places) <= MOST_DATES
    assert all(after - before > 50 for before, after in pairwise(places))


def test_a_single_point_is_a_dot() -> None:
    image = read(line_pair("Arrivals", WEEKS[:1], [3.0], [4.0], every="week").svg)
    assert len(of_class(image, "lc-dot")) == 2
    assert "2013-11-04" in texts(image)


def test_shades_are_by_the_common_top_and_nothing_has_a_shade_of_its_own() -> None:
    first = [0.0, 0.001, 0.02, 0.05, 0.1, 0.99, *[0.0] * 18]
    chart = week_map("Events", [first, *[[0.0] * 24] * 6], most=0.1)
    image = read(chart.svg)
    cells = [part for part in image.iter("rect") if part.find("title") is not None]
    assert len(cells) == len({(cell.attrib["x"], cell.attrib["y"]) for cell in cells}) == 168
    assert [cell.attrib["class"].removeprefix("lc-heat-") for cell in cells[:7]] == ["0", "1", "1", "3", "5", "5", "0"]
    assert "Mon, 4: 10 % of all events" in titles(image)
    assert "10 % of all events" in texts(image)
    assert chart.headings == ("", *HOURS)
    assert [row[0] for row in chart.rows] == list(DAYS)
    assert chart.rows[0][1:5] == ("0 %", "0.10 %", "2.0 %", "5.0 %")


def test_the_area_of_a_dot_is_as_the_number_of_events() -> None:
    chart = dotted_chart(
        "Events",
        [[64.0, 16.0, 0.0], [4.0, 0.0001, 640.0]],
        most=64.0,
        ticks=[(0, "1 s"), (2, "1 min")],
        series="anonymized",
    )
    sizes = {
        place: float(dots.attrib["stroke-width"])
        for dots in of_class(read(chart.svg), "lc-dots")
        for place in re.findall(r"M(\S+ \S+?)h0", dots.attrib["d"])
    }
    from_left = [sizes[place] for place in sorted(sizes, key=lambda place: [float(part) for part in place.split()][::-1])]
    assert from_left == pytest.approx([from_left[0], from_left[0] / 2, from_left[0] / 4, from_left[3], from_left[0]], abs=0.11)
    assert from_left[3] < from_left[0] / 10
    assert chart.headings == ("cases", "1 s", "1 min")
    assert chart.rows == (("group 1", "80", "0"), ("group 2", "4", "640"))


def test_many_groups_are_told_by_quarters() -> None:
    grid = [[1.0], [3.0], [5.0], [5.0], [6.0], [6.0], [9.0], [7.0]]
    chart = dotted_chart("Events", grid, most=9.0, ticks=(), series="original")
    assert chart.rows == (("first quarter", "2"), ("second quarter", "5"), ("third quarter", "6"), ("last quarter", "8"))


def test_dots_have_the_colour_of_their_log() -> None:
    chart = dotted_chart("Events", [[1.0]], most=1.0, ticks=(), series="original")
    assert len(of_class(read(chart.svg), "lc-dots-original")) == 1
    assert chart.rows == (("group 1", "1"),)
