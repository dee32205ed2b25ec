"""Graphviz in its own process: positions when all is well, a reason and a remedy when it hangs, breaks down or is not there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest

from libra.reporting import graphviz_child as child
from libra.reporting import map_layout as layout
from libra.reporting.map_layout import ROW, Line, Sketch, dot_of, layouts_of
from libra.reporting.maps import map_pair, process_map
from libra.reporting.numbers import MISSING
from maps.tiny_logs import log_of

PATIENCE = 60.0
MINUTES = 10  # to wait for what has to come, however busy the machine
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


def test_a_process_that_hangs_is_ended_and_what_was_ready_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mark = tmp_path / "mark"
    (found,), _ = layouts_of([SKETCH], PATIENCE)
    asked = json.dumps({"parent": os.getpid(), "seconds": PATIENCE, "patience": 600, "graphs": [dot_of(SKETCH)]})
    answer = subprocess.run(layout.CHILD, input=asked, capture_output=True, text=True, check=True).stdout
    says = f"print({answer.strip()!r}, flush=True); print('{{', end='', flush=True)"
    hangs = said_by(f"import pathlib, time; {says}; pathlib.Path({str(mark)!r}).touch(); time.sleep(600)")
    communicate = subprocess.Popen.communicate

    def impatient(process: subprocess.Popen[str], asked: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        while timeout is not None and not mark.exists():
            time.sleep(0.02)
        return communicate(process, asked, timeout and 0.2)

    monkeypatch.setattr(subprocess.Popen, "communicate", impatient)
    ready, why = layouts_of([SKETCH, SKETCH], 3.0, hangs)
    assert ready == [found]
    assert why == "it took Graphviz more than 3 seconds"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such alarm")
def test_it_is_computing_that_is_limited_not_waiting_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pygraphviz.py").write_text("while True: pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert layouts_of([SKETCH], 0.1) == ([], "it took Graphviz more than 0.1 seconds")


@pytest.mark.parametrize(
    "script",
    ["import os; os.abort()", "raise SystemExit(3)", "print('not json')", "print('{}')", "print('null')", "pass"],
)
def test_a_process_that_breaks_down_leaves_a_reason(script: str, capfd: pytest.CaptureFixture[str]) -> None:
    ready, why = layouts_of([SKETCH], PATIENCE, said_by(script))
    assert ready == []
    assert "Graphviz crashed" in why
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


def test_the_child_needs_next_to_nothing_of_libra() -> None:
    needed = (
        "import json, sys; import libra._system.workers; print(json.dumps([name for name in sys.modules if name[:5] == 'libra']))"
    )
    loaded = json.loads(subprocess.run(said_by(needed), capture_output=True, text=True, check=True).stdout)
    assert set(loaded) == {"libra", "libra._version", "libra._system", "libra._system.workers"}
    assert re.findall("from libra.* import|import libra.*", Path(child.__file__).read_text()) == [
        "from libra._system.workers import"
    ]


def busy(folder: Path) -> dict[str, str]:
    """An environment in which Graphviz never comes to an end, and cannot hear anything; it leaves its number in a file."""
    fake = "import os, time, pathlib, signal\nclass AGraph:\n    def __init__(self, string):\n"
    told = f"        pathlib.Path({str(folder / 'number')!r}).write_text(f'{{os.getpid()}}\\n')\n"
    (folder / "pygraphviz.py").write_text(fake + told + "        while True: time.sleep(0.01)\n")
    return os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), *filter(None, sys.path)))}


def number_of_child(folder: Path) -> int:
    """The number of the process that is busy, once it is."""
    for _ in range(MINUTES * 3000):
        with suppress(OSError):
            said = (folder / "number").read_text()
            if said.endswith("\n"):
                return int(said)
        time.sleep(0.02)
    raise AssertionError("it never started")


def is_gone(process: int) -> bool:
    """Whether a process has ended before long; one that nobody waits for has ended too."""
    for _ in range(MINUTES * 3000):
        status = Path(f"/proc/{process}/stat")
        try:
            if status.read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGINT], ids=lambda sent: sent.name)
def test_the_child_does_not_outlive_its_parent(sent: signal.Signals, tmp_path: Path) -> None:
    asks = (
        "import signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which whoever runs the tests may have switched off\n"
        "from libra.reporting.map_layout import Line, Sketch, layouts_of\n"
        "layouts_of([Sketch(((20.0, 20.0),) * 2, (Line(0, 1, 1, False, (0.0, 0.0)),))], 600.0)"
    )
    parent = subprocess.Popen(said_by(asks), env=busy(tmp_path), stderr=subprocess.DEVNULL)
    try:
        process = number_of_child(tmp_path)
        parent.send_signal(sent)
        assert parent.wait(60 * MINUTES) != 0
        assert is_gone(process)
    finally:
        parent.kill()
        parent.wait()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such alarm")
def test_a_child_that_nobody_ends_ends_itself(tmp_path: Path) -> None:
    asked = json.dumps({"parent": os.getpid(), "seconds": 600, "patience": 0.5, "graphs": ["digraph {}"]})
    found = subprocess.run(
        layout.CHILD, input=asked, env=busy(tmp_path), capture_output=True, text=True, timeout=60 * MINUTES, check=False
    )
    assert found.returncode == -signal.SIGALRM


def test_no_row_has_more_activities_than_can_be_read_side_by_side() -> None:
    boxes = ((80.0, 40.0),) * 15
    lines = [line for box in range(2, 17) for line in (Line(0, box, 1, False, (0.0, 0.0)), Line(box, 1, 1, False, (0.0, 0.0)))]
    (found,), _ = layouts_of([Sketch((*CIRCLES, *boxes), tuple(lines))], PATIENCE)
    rows = Counter(y for _, y in found.nodes[2:])
    assert max(rows.values()) <= ROW
    assert len(rows) == 4


def test_a_loop_is_large_enough_to_be_seen_and_its_label_lies_beyond() -> None:
    (found,), _ = layouts_of([SKETCH], PATIENCE)
    loop, (x, y), (wide, tall) = found.courses[3], found.nodes[3], SKETCH.sizes[3]
    right = x + wide / 2
    assert loop.points[0][0] == pytest.approx(right, abs=0.1)
    assert loop.tip[0] == pytest.approx(right, abs=0.1)
    assert loop.points[0][1] < y < loop.tip[1] <= y + tall / 2
    furthest = max(sum(k * p[0] for k, p in zip((1, 3, 3, 1), loop.points, strict=True)) / 8, loop.points[-1][0])
    assert furthest - right > 10
    assert loop.label is not None
    assert loop.label[0] - SKETCH.lines[3].label[0] / 2 > furthest
    assert loop.label[0] + SKETCH.lines[3].label[0] / 2 <= found.width


def test_the_same_sketch_is_laid_out_the_same_way() -> None:
    assert layouts_of([SKETCH], PATIENCE) == layouts_of([SKETCH], PATIENCE)
