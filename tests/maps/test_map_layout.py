"""Graphviz in its own process: positions when all is well, a reason and a remedy when it hangs, breaks down or is not there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from libra.charts.numbers import MISSING
from libra.maps import child, layout, map_pair, process_map
from libra.maps.layout import Line, Sketch, dot_of, layouts_of
from maps.tiny_logs import log_of

PATIENCE = 60.0
CIRCLES = ((26.0, 26.0), (26.0, 26.0))
SKETCH = Sketch(
    (*CIRCLES, (80.0, 40.0), (90.0, 40.0)),
    (
        Line(0, 2, 9, False, (30.0, 15.0)),
        Line(2, 3, 5, False, (30.0, 15.0)),
        Line(3, 2, 1, True, (40.0, 15.0)),
        Line(3, 3, 1, False, (40.0, 15.0)),
        Line(3, 1, 9, False, (0.0, 0.0)),
    ),
)


def said_by(script: str) -> tuple[str, ...]:
    return (sys.executable, "-c", script)


def test_the_flow_is_from_the_start_at_the_top_to_the_end_at_the_bottom() -> None:
    (found,), why = layouts_of([SKETCH], PATIENCE)
    heights = [y for _, y in found.nodes]
    assert heights[0] < heights[2] < heights[3] < heights[1]
    assert why == ""


def test_every_line_ends_at_its_target() -> None:
    (found,), _ = layouts_of([SKETCH], PATIENCE)
    for line, course in zip(SKETCH.lines, found.courses, strict=True):
        for (x, y), node in ((course.points[0], line.source), (course.tip, line.target)):
            (middle_x, middle_y), (wide, tall) = found.nodes[node], SKETCH.sizes[node]
            assert abs(x - middle_x) <= wide / 2 + 1.5
            assert abs(y - middle_y) <= tall / 2 + 1.5


def test_a_label_has_the_room_it_asked_for() -> None:
    (found,), _ = layouts_of([SKETCH], PATIENCE)
    assert [course.label is not None for course in found.courses] == [True, True, True, True, False]


def test_graphviz_never_sees_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def watched(sketch: Sketch) -> str:
        seen.append(dot_of(sketch))
        return seen[-1]

    monkeypatch.setattr(layout, "dot_of", watched)
    map_pair(None, log_of([["secret <b>", "other secret"]]), seconds=PATIENCE)
    assert len(seen) == 1
    assert "secret" not in seen[0]
    assert "n3 [" in seen[0]


def test_a_process_that_hangs_is_ended_and_what_was_ready_is_used() -> None:
    (found,), _ = layouts_of([SKETCH], PATIENCE)
    answer = subprocess.run(layout.CHILD, input=json.dumps([dot_of(SKETCH)]), capture_output=True, text=True, check=True).stdout
    hangs = said_by(f"import time; print({answer.strip()!r}, flush=True); print('{{', end='', flush=True); time.sleep(600)")
    ready, why = layouts_of([SKETCH, SKETCH], 3.0, hangs)
    assert ready == [found]
    assert why == "it took Graphviz more than 3 seconds"


@pytest.mark.parametrize(
    "script",
    ["import os; os.abort()", "raise SystemExit(3)", "print('not json')", "print('{}')", "print('null')", "pass"],
)
def test_a_process_that_breaks_down_leaves_a_reason(script: str, capfd: pytest.CaptureFixture[str]) -> None:
    ready, why = layouts_of([SKETCH], PATIENCE, said_by(script))
    assert ready == []
    assert "Graphviz broke down" in why
    assert capfd.readouterr() == ("", "")


def test_nothing_is_said_on_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    assert map_pair(None, log_of([["a", "b"]]), seconds=PATIENCE).levels
    assert capfd.readouterr() == ("", "")


def test_without_pygraphviz_there_is_a_table_and_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "find_spec", lambda name: None)
    maps = map_pair(None, log_of([["a", "b"]]))
    assert maps.levels == ()
    assert set(maps.table.rows) == {("start", "a", "1", MISSING), ("a", "b", "1", "10 min"), ("b", "end", "1", MISSING)}
    assert "pip install pygraphviz" in maps.note
    assert "pip install pygraphviz" in process_map(log_of([["a", "b"]]))._repr_html_()


def test_the_child_needs_nothing_of_libra() -> None:
    assert "import libra" not in Path(child.__file__).read_text()
    assert "from libra" not in Path(child.__file__).read_text()


def test_the_same_sketch_is_laid_out_the_same_way() -> None:
    assert layouts_of([SKETCH], PATIENCE) == layouts_of([SKETCH], PATIENCE)
