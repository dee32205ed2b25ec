"""The map of one log: a file of its own, an image in a notebook, and no figure where it might leak."""

from __future__ import annotations

import errno
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from libra.errors import InputError, LibraError, UsageError
from libra.eventlog.log import empty_log
from libra.example.simulate import simulate
from libra.reporting.maps import process_map
from maps.tiny_logs import SVG, groups, log_of

PATIENCE = 60.0


def test_a_saved_map_is_a_whole_svg_file(tmp_path: Path) -> None:
    drawn = process_map(simulate(cases=50), seconds=PATIENCE)
    assert drawn.save(tmp_path / "map.svg") == tmp_path / "map.svg"
    assert (tmp_path / "map.svg").read_bytes() == drawn.svg().encode()
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
    with pytest.raises(LibraError, match=r"Choose one of: overview, main paths, detailed\."):
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


@pytest.mark.parametrize("name", ["map.png", "map", "map.svg.gz", "map.html"])
def test_only_an_svg_file_is_written(name: str, tmp_path: Path) -> None:
    drawn = process_map(log_of([["a", "b"]]), seconds=PATIENCE)
    with pytest.raises(UsageError, match=r"map.*: the map is written as SVG\. End its name in \.svg\."):
        drawn.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert drawn.save(str(tmp_path / "MAP.SVG")).is_file()


def test_a_map_that_cannot_be_written_is_an_error_for_people_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = process_map(log_of([["a", "b"]]), seconds=PATIENCE)
    with pytest.raises(InputError, match="there is no such folder"):
        drawn.save(tmp_path / "no" / "map.svg")
    (tmp_path / "dir.svg").mkdir()
    with pytest.raises(InputError, match="not a file"):
        drawn.save(tmp_path / "dir.svg")
    target = tmp_path / "map.svg"
    target.write_text("as it was")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("libra._system.files.os.fsync", full)
    with pytest.raises(InputError, match="the disk is full, nothing was written"):
        drawn.save(target)
    assert target.read_text() == "as it was"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dir.svg", "map.svg"]
