"""The map of one log: a file of its own, an image in a notebook, and no figure where it might leak."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from libra.errors import LibraError
from libra.eventlog.log import empty_log
from libra.example.simulate import simulate
from libra.maps import process_map
from maps.tiny_logs import SVG, groups, log_of

PATIENCE = 60.0


def test_a_saved_map_is_a_whole_svg_file(tmp_path: Path) -> None:
    drawn = process_map(simulate(cases=50), seconds=PATIENCE)
    drawn.save(tmp_path / "map.svg")
    root = ElementTree.parse(tmp_path / "map.svg").getroot()
    assert root.tag == f"{SVG}svg"
    style = root.findtext(f"{SVG}style") or ""
    assert "prefers-color-scheme:dark" in style
    used = {name for name in re.findall(r"var\(--([\w-]+)\)", style) if not name.startswith("lm-")}
    assert used <= set(re.findall(r"--([\w-]+):", style))


def test_levels_go_by_name_or_number_and_show_ever_more() -> None:
    log = simulate(cases=200)
    by_number = [process_map(log, level=level, seconds=PATIENCE).svg() for level in range(3)]
    by_name = [process_map(log, level=level, seconds=PATIENCE).svg() for level in ("overview", "main paths", "detailed")]
    assert by_number == by_name
    sizes = [len(groups(svg, "lm-edge")) for svg in by_number]
    assert sizes[0] < sizes[1] < sizes[2]


def test_the_view_of_durations_is_a_class_of_the_image() -> None:
    log = log_of([["a", "b"]])
    root = ElementTree.fromstring(process_map(log, view="duration", seconds=PATIENCE).svg())
    assert "lm-show-duration" in root.get("class", "").split()
    assert "lm-show-duration" not in ElementTree.fromstring(process_map(log, seconds=PATIENCE).svg()).get("class", "")


@pytest.mark.parametrize("level", ["all", 3, -1])
def test_an_unknown_level_is_refused_by_name(level: int | str) -> None:
    with pytest.raises(LibraError, match=r"There is: overview, main paths, detailed\."):
        process_map(log_of([["a"]]), level=level)


def test_a_map_says_no_figure_by_accident() -> None:
    assert repr(process_map(log_of([["secret"]] * 7), seconds=PATIENCE)) == "ProcessMap(drawn)"


def test_a_log_without_events_has_a_note_instead(tmp_path: Path) -> None:
    nothing = process_map(empty_log(log_of([["a"]])))
    assert "no event" in nothing._repr_html_()
    with pytest.raises(LibraError, match="no event"):
        nothing.save(tmp_path / "map.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_the_image_and_what_it_leaves_out() -> None:
    shown = process_map(simulate(cases=50), level=0, seconds=PATIENCE)
    assert "<svg" in shown._repr_html_()
    assert shown.said in shown._repr_html_()
    assert shown.said.startswith("8 of ")
