"""Positions for a process map, from Graphviz in a process of its own and within a time limit.

No label of a log goes to Graphviz: nodes have numbers and sizes. The same sketch gives the same layout.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from libra._system.workers import kill, start_child
from libra.reporting import graphviz_child

POINTS = 72.0  # in an inch; a point is a pixel here
ARROW = 9.0  # the length of an arrow head
LOOP = 16.0  # how far a line from a node to itself goes out
ROW = 4  # activities side by side at most, so that maps are not too wide to read
OUT_OF_TIME = -getattr(signal, "SIGPROF", 0)  # how a process ends that has computed for too long
BUSY = 10  # times as long a process may take that others keep from computing
GRACE = 1.0  # seconds after which a process that nobody ended ends itself
Point = tuple[float, float]
CHILD = (sys.executable, "-P", str(Path(graphviz_child.__file__)))


@dataclass(frozen=True)
class Line:
    """A line of a sketch: from one node to another, with a label of this size. Heavier ones are kept short and straight.

    A line `upwards` is one that goes back: what it leaves is to stand below what it reaches.
    """

    source: int
    target: int
    weight: int
    upwards: bool
    label: Point


@dataclass(frozen=True)
class Sketch:
    """What is to be laid out: the sizes of the nodes, of which the first is the start and the second the end."""

    sizes: tuple[Point, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Course:
    """The course of a line: points of a cubic spline, the tip of its arrow, and the middle of its label, if it has one."""

    points: tuple[Point, ...]
    tip: Point
    label: Point | None


@dataclass(frozen=True)
class Layout:
    """Positions in pixels, from the top left: the middles of the nodes, and the courses of the lines, in the sketch's order."""

    width: float
    height: float
    nodes: tuple[Point, ...]
    courses: tuple[Course, ...]


def layouts_of(sketches: Sequence[Sketch], seconds: float, command: Sequence[str] = CHILD) -> tuple[list[Layout], str]:
    """The layouts of the first sketches, as many as were ready in so many seconds, and why there are no more, if so."""
    if find_spec("pygraphviz") is None:
        return [], "pygraphviz is not installed (pip install pygraphviz)"
    limits = {"seconds": seconds, "patience": BUSY * seconds + GRACE}
    asked = json.dumps({"parent": os.getpid(), **limits, "graphs": [dot_of(sketch) for sketch in sketches]})
    too_long = f"it took Graphviz more than {seconds:g} seconds"
    try:
        process = start_child(command, subprocess.DEVNULL)
    except OSError as error:
        return [], f"no process could be started for Graphviz ({error.strerror or error})"
    with process:
        try:
            said, _ = process.communicate(asked.encode(), timeout=BUSY * seconds)
        except subprocess.TimeoutExpired:
            kill(process)
            said, _ = process.communicate()
            why = too_long
        except BaseException:
            kill(process)
            raise
        else:
            broken = f"Graphviz crashed (exit code {process.returncode}); try another version of pygraphviz"
            why = too_long if process.returncode == OUT_OF_TIME else broken
    layouts = []
    for sketch, answer in zip(sketches, said.decode().splitlines(), strict=False):
        try:
            layouts.append(_layout(sketch, json.loads(answer)))
        except (ValueError, KeyError, TypeError, IndexError):  # the last line may be half a line
            break
    return layouts, "" if len(layouts) == len(sketches) else why


def dot_of(sketch: Sketch) -> str:
    """A sketch in the DOT language.

    Lines that are not seen keep every node below the one that comes `ROW` before it, so that no row has more than `ROW` nodes.
    """
    return "\n".join(
        [
            "digraph {",
            "graph [rankdir=TB nslimit=1 nslimit1=1 mclimit=0.3 nodesep=0.1 ranksep=0.3 splines=spline]",
            'node [shape=box fixedsize=true label=""]',
            f"edge [arrowsize={ARROW / 10:g}]",
            "{rank=source n0 [shape=circle]}",
            "{rank=sink n1 [shape=circle]}",
            *(f"n{i} [width={wide / POINTS:.4f} height={tall / POINTS:.4f}]" for i, (wide, tall) in enumerate(sketch.sizes)),
            *(_line(i, line) for i, line in enumerate(sketch.lines)),
            *(f"n{i} -> n{i + ROW} [style=invis weight=0]" for i in range(2, len(sketch.sizes) - ROW)),
            "}",
        ]
    )


def _line(place: int, line: Line) -> str:
    """A line that goes back is told from its end, so that the flow is from the top to the bottom."""
    wide, tall = line.label
    wide += LOOP if line.source == line.target else 0.0
    size = f'fixedsize="true" width="{wide:.0f}" height="{tall:.0f}"'
    label = f' label=<<table border="0" cellborder="0" cellspacing="0" cellpadding="0" {size}><tr><td></td></tr></table>>'
    ends, way = ((line.target, line.source), " dir=back") if line.upwards else ((line.source, line.target), "")
    return f"n{ends[0]} -> n{ends[1]} [key=e{place} weight={line.weight}{way}{label if wide else ''}]"


def _layout(sketch: Sketch, found: dict[str, Any]) -> Layout:
    _, _, width, height = map(float, found["box"].split(","))

    def point(text: str) -> Point:
        x, y = text.split(",")
        return round(float(x), 1), round(height - float(y), 1)

    def course(place: int, line: Line) -> Course:
        told, label = found["edges"][f"e{place}"]
        if line.source == line.target:
            return _loop(nodes[line.source], sketch.sizes[line.source], point(label) if label else None)
        parts = told.split()
        tip = point(next(part[2:] for part in parts if part[0] in "es"))
        points = [point(part) for part in parts if part[0] not in "es"]
        return Course(tuple(points[::-1] if line.upwards else points), tip, point(label) if label else None)

    nodes = tuple(point(found["nodes"][f"n{i}"]) for i in range(len(sketch.sizes)))
    return Layout(width, height, nodes, tuple(course(place, line) for place, line in enumerate(sketch.lines)))


def _loop(middle: Point, size: Point, label: Point | None) -> Course:
    """A line from a node to itself, which Graphviz draws too small to be seen: to the right, and its label beyond."""
    x, (_, y) = round(middle[0] + size[0] / 2, 1), middle
    out, high = x + LOOP * 4 / 3, LOOP / 2
    points = ((x, y - high), (out, y - 1.4 * high), (out, y + high), (x + ARROW - 1, y + high))
    return Course(points, (x, y + high), None if label is None else (round(label[0] + LOOP / 2, 1), label[1]))
