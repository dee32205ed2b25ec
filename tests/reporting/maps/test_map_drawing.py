"""What a map draws: the figures of the log, both logs at the same place, safe markup, and the same picture every time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import libra
from libra.eventlog.log import EventLog, empty_log
from libra.example.simulate import simulate
from libra.reporting.drawing import MAP_STYLE
from libra.reporting.map_graph import DETAILS, graph_of, shown_at
from libra.reporting.map_layout import layouts_of
from libra.reporting.maps import MapPair, Name, Picture, drawing, map_pair
from libra.reporting.numbers import count
from libra.reporting.page import page
from libra.reporting.text import width
from maps.tiny_logs import SVG, figure, groups, log_of

PATIENCE = 60.0  # seconds; how long a layout takes is not what is tested
FORBIDDEN = re.compile(r"<style|<script|<image|<use|\sstyle=|\son\w+=|href|url\(|\sid=", re.IGNORECASE)
BEFORE = [["a", "b", "c"]] * 60 + [["a", "c"]] * 40 + [["a", "gone", "c"]] * 30
AFTER = [["a", "b", "c"]] * 90 + [["a", "c"]] * 10 + [["a", "made up", "c"]] * 30


@pytest.fixture(scope="module")
def pair() -> MapPair:
    return map_pair(log_of(BEFORE), log_of(AFTER, minutes=30), seconds=PATIENCE)


@pytest.fixture(scope="module")
def example() -> tuple[EventLog, EventLog, MapPair]:
    one, other = simulate(cases=300, seed=1), simulate(cases=250, seed=2)
    return one, other, map_pair(one, other, seconds=PATIENCE)


def box(group: ElementTree.Element) -> dict[str, str]:
    rect = group.find(f"{SVG}rect")
    assert rect is not None
    return rect.attrib


def curve(group: ElementTree.Element) -> str | None:
    path = group.find(f"{SVG}path")
    assert path is not None
    return path.get("d")


def test_both_maps_have_everything_at_the_same_place(example: tuple[EventLog, EventLog, MapPair]) -> None:
    for level in example[2].levels:
        assert level.original is not None
        sizes = [ElementTree.fromstring(svg).get("viewBox") for svg in (level.original, level.anonymized)]
        assert sizes[0] == sizes[1]
        first, second = groups(level.original, "lm-node"), groups(level.anonymized, "lm-node")
        assert {name: box(group) for name, group in first.items()} == {name: box(group) for name, group in second.items()}
        first, second = groups(level.original, "lm-edge"), groups(level.anonymized, "lm-edge")
        assert {name: curve(group) for name, group in first.items()} == {name: curve(group) for name, group in second.items()}


def test_every_figure_drawn_is_that_of_the_log(example: tuple[EventLog, EventLog, MapPair]) -> None:
    for which, log in enumerate(example[:2]):
        graph = graph_of(log)
        names = [*graph.labels, "start", "end"]
        ends = zip(graph.source.tolist(), graph.target.tolist(), graph.uses[0].counts.tolist(), strict=True)
        counts = {f"{names[source]} → {names[target]}": count(times) for source, target, times in ends}
        events = {label: count(times) for label, times in zip(graph.labels, graph.uses[0].events.tolist(), strict=True)}
        drawn = 0
        for level in example[2].levels:
            svg = (level.original, level.anonymized)[which]
            assert svg is not None
            for name, group in groups(svg, "lm-edge").items():
                assert figure(group, "lm-frequency").rstrip("▲▼") == counts.get(name, "")
                drawn += name in counts
            for name, group in groups(svg, "lm-node").items():
                assert figure(group, "lm-count").rstrip("▲▼") == events.get(name, "0")
        assert drawn > 30


def test_changes_are_told_by_class_sign_and_words(pair: MapPair) -> None:
    nodes, edges = (groups(pair.levels[0].anonymized, kind) for kind in ("lm-node", "lm-edge"))
    assert "lm-more" in edges["a → b"].get("class", "")
    assert figure(edges["a → b"], "lm-frequency") == "90▲"
    assert figure(edges["a → c"], "lm-frequency") == "10▼"
    assert "lm-longer" in edges["a → b"].get("class", "")
    assert figure(edges["a → b"], "lm-duration") == "30 min▲"
    assert {"lm-false"} <= set(nodes["made up"].get("class", "").split())
    assert {"lm-lost", "lm-ghost"} <= set(nodes["gone"].get("class", "").split())
    assert edges["a → b"].findtext(f"{SVG}title") == (
        "a → b\noriginal: 60 times (0.462 per case), 10 min on average\n"
        "anonymized: 90 times (0.692 per case), 30 min on average\nchange per case: +50 %"
    )


def test_the_original_shows_what_was_lost_and_ghosts_of_what_is_false(pair: MapPair) -> None:
    assert pair.levels[0].original is not None
    nodes, edges = (groups(pair.levels[0].original, kind) for kind in ("lm-node", "lm-edge"))
    assert "lm-ghost" not in nodes["gone"].get("class", "")
    assert {"lm-false", "lm-ghost"} <= set(nodes["made up"].get("class", "").split())
    assert "lm-more" not in edges["a → b"].get("class", "")
    assert not re.search("[▲▼]", pair.levels[0].original)


def test_what_takes_less_time_has_a_triangle_that_points_down() -> None:
    level = map_pair(log_of(BEFORE, minutes=30), log_of(BEFORE), seconds=PATIENCE).levels[0]
    edge = groups(level.anonymized, "lm-edge")["a → b"]
    assert "lm-shorter" in edge.get("class", "").split()
    assert figure(edge, "lm-duration") == "10 min▼"
    assert figure(edge, "lm-frequency") == "60"


def test_changes_are_those_per_case(pair: MapPair) -> None:
    half = map_pair(log_of(BEFORE), log_of(BEFORE[::2]), seconds=PATIENCE).levels[0].anonymized
    assert not re.search("lm-(more|less)", half)
    assert "lm-more" in groups(pair.levels[0].anonymized, "lm-node")["b"].get("class", "").split()
    assert figure(groups(pair.levels[0].anonymized, "lm-node")["b"], "lm-count") == "90▲"


def test_lines_are_as_wide_and_boxes_as_deep_as_the_root_of_their_share_in_this_log(
    example: tuple[EventLog, EventLog, MapPair],
) -> None:
    for level in example[2].levels:
        for svg in (level.original, level.anonymized):
            assert svg is not None
            drawn = [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if group.find(f"{SVG}title") is None]
            widths = [
                float(path.get("stroke-width", 0)) for group in drawn for path in group.findall(f"{SVG}path[@stroke-width]")
            ]
            counts = [number_in(group, "lm-frequency") for group in groups(svg, "lm-edge").values()]
            assert widths == pytest.approx([1.1 + 4.9 * math.sqrt(times / max(counts)) for times in counts], abs=0.051)
            boxes = groups(svg, "lm-node").values()
            events = [number_in(group, "lm-count") for group in boxes]
            fills = [min(int(5 * math.sqrt(times / max(events))), 4) for times in events]
            assert [f"lm-fill-{fill}" for fill in fills] == [group.get("class", "").split()[1] for group in boxes]


def number_in(group: ElementTree.Element, kind: str) -> int:
    return int(figure(group, kind).rstrip("▲▼").replace(",", "") or 0)


def test_nothing_lies_outside_the_image(example: tuple[EventLog, EventLog, MapPair]) -> None:
    many = map_pair(None, log_of([["a"]] * 12_345), seconds=PATIENCE).levels
    for svg in (level.anonymized for level in (*example[2].levels, *many)):
        root = ElementTree.fromstring(svg)
        left, top, wide, tall = map(float, root.get("viewBox", "").split())
        for text in root.iter(f"{SVG}text"):
            half = width("".join(text.itertext())) * 11 / 2
            x, y = float(text.get("x", 0)), float(text.get("y", 0))
            assert left <= x - half
            assert x + half <= left + wide
            assert top + 9 <= y <= top + tall
        for path in root.iter(f"{SVG}path"):
            if path.get("class") == "lm-line":
                for x, y in on_spline(path.get("d", "")):
                    assert left <= x <= left + wide
                    assert top <= y <= top + tall


def on_spline(told: str) -> Iterator[tuple[float, float]]:
    """Points along a cubic spline."""
    found = np.array(re.findall(r"-?[\d.]+", told), float).reshape(-1, 2)
    for first in range(0, len(found) - 1, 3):
        for t in np.linspace(0, 1, 21):
            x, y = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3]) @ found[first : first + 4]
            yield float(x), float(y)


def test_the_image_is_wide_enough_for_the_number_of_cases() -> None:
    graph = graph_of(log_of([["a"]]))
    graph = replace(graph, uses=(replace(graph.uses[0], cases=10**11),))
    picture = Picture(graph, shown_at(graph, DETAILS[0]), {0: Name("a", ("a",))})
    (layout,), _ = layouts_of([picture.sketch], PATIENCE)
    left, _, wide, _ = map(float, ElementTree.fromstring(drawing(picture, layout, 0, "original")).get("viewBox", "").split())
    needed = width("100,000,000,000 cases") * 11
    assert needed > layout.width + 32
    assert left <= layout.nodes[0][0] - needed / 2
    assert left + wide >= layout.nodes[0][0] + needed / 2


def test_the_flow_of_the_cases_is_from_the_top_to_the_bottom() -> None:
    boxes = groups(map_pair(None, log_of([["c", "b", "a"] * 3] * 2), seconds=PATIENCE).levels[0].anonymized, "lm-node")
    heights = {name: float(box(group)["y"]) for name, group in boxes.items()}
    assert heights["c"] < heights["b"] < heights["a"]


def test_the_cases_stand_above_the_start_and_below_the_end(pair: MapPair) -> None:
    ends = groups(pair.levels[0].anonymized, "lm-end")
    assert list(ends) == ["start: 130 cases", "end: 130 cases"]
    for group, below in zip(ends.values(), (False, True), strict=True):
        circle, text = group.find(f"{SVG}circle"), group.find(f"{SVG}text")
        assert circle is not None
        assert text is not None
        assert text.text == "130 cases"
        edge = float(circle.get("cy", 0)) + (1 if below else -1) * float(circle.get("r", 0))
        assert (float(text.get("y", 0)) > edge) == below


def test_an_arrow_has_a_head_that_points_away_from_its_line(pair: MapPair) -> None:
    heads = 0
    for group in ElementTree.fromstring(pair.levels[0].anonymized).iter(f"{SVG}g"):
        paths = {path.get("class"): re.findall(r"-?[\d.]+", path.get("d", "")) for path in group.findall(f"{SVG}path")}
        if "lm-head" in paths:
            (tip_x, tip_y, a_x, a_y, b_x, b_y), (x, y) = map(float, paths["lm-head"]), map(float, paths["lm-line"][-2:])
            assert math.hypot(tip_x - x, tip_y - y) > 5
            assert ((a_x + b_x) / 2, (a_y + b_y) / 2) == pytest.approx((x, y), abs=0.11)
            assert math.hypot(a_x - b_x, a_y - b_y) > 5
            heads += 1
    assert heads == len(groups(pair.levels[0].anonymized, "lm-edge"))


def test_a_way_through_what_is_not_shown_says_so_and_has_no_figure() -> None:
    chain = map_pair(None, log_of([[f"a{i:02}" for i in range(40)]] * 2), seconds=PATIENCE).levels[0].anonymized
    bridges = groups(chain, "lm-bridge")
    assert bridges
    for group in bridges.values():
        assert (group.findtext(f"{SVG}title") or "").endswith("\nby way of activities that are not shown")
        assert not list(group.iter(f"{SVG}text"))


def test_equal_logs_show_no_change() -> None:
    log = log_of(BEFORE)
    level = map_pair(log, log, seconds=PATIENCE).levels[0]
    assert not re.search("lm-(more|less|false|lost|ghost|longer|shorter)", level.anonymized)


def test_without_an_original_nothing_is_compared() -> None:
    maps = map_pair(None, log_of(AFTER), seconds=PATIENCE)
    assert [level.original for level in maps.levels] == [None]
    assert not re.search("lm-(more|less|false|lost|ghost|longer|shorter|original)|original", maps.levels[0].anonymized)
    assert maps.table.headings == ("from", "to", "times", "mean duration")


def test_fragments_hold_nothing_that_the_policy_forbids(pair: MapPair, example: tuple[EventLog, EventLog, MapPair]) -> None:
    drawn = [svg for maps in (pair, example[2]) for level in maps.levels for svg in (level.original, level.anonymized)]
    for fragment in (*drawn, *(page("sections/legend.html", title="", public=public) for public in (True, False))):
        assert fragment is not None
        assert not FORBIDDEN.search(fragment)
    used = {name for svg in drawn for classes in re.findall('class="([^"]*)"', svg or "") for name in classes.split()}
    assert {name for name in used if not name.startswith(("lm", "lc-"))} == set()
    assert "url(" not in MAP_STYLE
    assert "<" not in MAP_STYLE


def test_the_same_logs_give_the_same_maps(pair: MapPair) -> None:
    assert map_pair(log_of(BEFORE), log_of(AFTER, minutes=30), seconds=PATIENCE) == pair


HOSTILE = [
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "x" * 10_000,
    "line\nbreak\ttab",
    "nul\x00bell\x07\x1b[31m",
    "\u202eright to left\u202c",
    "مراجعة النتائج",
    "🏥🚑👩‍⚕️" * 30,
    "",
    "   ",
    "\\N",
    "</title></svg>",
    "&amp;",
    "\ufffe",
]


def test_hostile_labels_are_text_and_nothing_else() -> None:
    log = log_of([HOSTILE, HOSTILE[::-1]])
    maps = map_pair(log, log_of([HOSTILE[:5]]), seconds=PATIENCE)
    assert maps.note == ""
    assert len(maps.levels) > 1
    for level in maps.levels:
        for svg in (level.original, level.anonymized):
            assert svg is not None
            tags = {element.tag.removeprefix(SVG) for element in ElementTree.fromstring(svg).iter()}
            assert tags <= {"svg", "g", "title", "path", "circle", "rect", "text", "tspan"}
            assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\ufffe]", svg)
            assert len(svg) < 100_000
    assert len(groups(maps.levels[-1].anonymized, "lm-node")) == len(HOSTILE)
    assert max(len(cell) for row in maps.table.rows for cell in row) < 80


def test_activities_that_look_alike_are_told_apart() -> None:
    labels = [f"{'the same beginning ' * 5}{i}" for i in range(200)]
    level = map_pair(None, log_of([labels] * 2), seconds=PATIENCE).levels[-1]
    boxes = groups(level.anonymized, "lm-node")
    assert len(boxes) == 30
    assert len({tuple("".join(text.itertext()) for text in group.iter(f"{SVG}text")) for group in boxes.values()}) == 30


@pytest.mark.parametrize(
    ("before", "after"),
    [([["a"]], []), ([], [["a"]]), ([["a"]], [["a"]]), ([["a", "a"]], [["b"]]), ([["a", "b"]] * 9, [])],
    ids=["lost", "false", "one event", "nothing in common", "empty release"],
)
def test_tiny_and_empty_logs_are_drawn(before: list[list[str]], after: list[list[str]]) -> None:
    maps = map_pair(log_of(before), log_of(after), seconds=PATIENCE)
    assert [level.name for level in maps.levels] == ["overview"]
    assert maps.levels[0].said
    for svg in (maps.levels[0].original, maps.levels[0].anonymized):
        assert svg is not None
        assert {"start", "end"} <= {title.split(":")[0] for title in groups(svg, "lm-end")}


def test_two_empty_logs_have_no_map_and_a_note() -> None:
    nothing = empty_log(log_of([["a"]]))
    maps = map_pair(nothing, nothing)
    assert maps.levels == ()
    assert maps.table.rows == ()
    assert maps.note == "There is no map, because there is no event."


def test_text_is_large_enough_and_every_image_is_named(example: tuple[EventLog, EventLog, MapPair]) -> None:
    assert all(float(size) >= 11 for size in re.findall(r"font(?:-size)?:(?:\d+ )?(\d+)px", MAP_STYLE))
    for level in example[2].levels:
        root = ElementTree.fromstring(level.anonymized)
        assert root.get("role") == "img"
        assert root.get("aria-label", "").startswith("Process map of the anonymized log: ")


def test_the_largest_real_log_stays_small_on_the_page(shared_logs: Path) -> None:
    log = libra.read(shared_logs / "hospital.xes.gz")
    maps = map_pair(log, empty_log(log), seconds=PATIENCE)
    assert [level.name for level in maps.levels] == ["overview", "main paths", "detailed"]
    assert sum(len((level.original or "") + level.anonymized) for level in maps.levels) < 300_000
    assert len(maps.table.rows) <= 60
