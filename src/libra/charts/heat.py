"""A map of cells, the darker (on dark ground: the brighter) the more; two maps with the same top compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from libra.charts import numbers
from libra.charts.chart import Chart
from libra.charts.draw import FONT, SMALL, at_most, box, sound, svg, text
from libra.charts.text import shown as readable
from libra.charts.text import width, wrapped

CELL, GAP = 18, 1.5
MOST_CELLS, MOST_NAMES = 1000, 60
NAMES = 140  # room for the names of rows, at most
SHADES = 5  # beside that of nothing
KEY = 16 * (SHADES + 1) + 14  # its width, without its words


def heat_map(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    most: float,
    unit: str,
    shown: Callable[[float], str] = numbers.number,
) -> Chart:
    """One map, of at most a thousand cells.

    Args:
        title: The caption.
        rows: Their names.
        columns: Their names.
        values: A figure for each column of each row; a cell without a finite figure stays empty.
        most: The top of the scale, the same for maps that are to be compared.
        unit: What the figures count.
        shown: How a figure is written.

    Example:
        >>> heat_map("Starts", ["Mon"], ["0", "1"], [[3, 4]], most=4, unit="cases").rows
        (('Mon', '3', '4'),)
    """
    at_most(max(len(rows), len(columns)), MOST_NAMES, "rows or columns")
    at_most(len(rows) * len(columns), MOST_CELLS, "cells")
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        raise ValueError("There is a figure for each column of each row.")
    names, heads = [readable(name) for name in rows], [readable(name) for name in columns]
    left = 8 + min(max((width(name) * FONT for name in names), default=0.0), NAMES)
    top = 20
    key = _key(left, top + CELL * len(names) + 14, f"{shown(most)} {unit}", shown(0.0))
    wide = max(left + CELL * len(heads) + 2, left + KEY + width(f"{shown(0.0)}{shown(most)} {unit}") * SMALL)
    tall = top + CELL * len(names) + 34
    every = math.ceil((max((width(head) * SMALL for head in heads), default=0.0) + 3) / CELL)
    named = [(place, head) for place, head in enumerate(heads) if place % every == 0]
    parts = [text(left + CELL * (place + 0.5), top - 6, head, "faint", "small", "middle", "label") for place, head in named]
    for line, (name, row) in enumerate(zip(names, values, strict=True)):
        y = top + CELL * line
        parts += [text(left - 8, y + 13, said, "label", "end") for said in wrapped(name, NAMES / FONT, 1)]
        for place, value in enumerate(row):
            if math.isfinite(value):
                about = f"{name}, {heads[place]}: {shown(value)} {unit}"
                look = f"heat-{_shade(value, most)}"
                parts.append(box(left + CELL * place, y, CELL - GAP, CELL - GAP, look, title=about))
    parts += key
    told = f"{title}: {unit} in {len(names)} rows and {len(heads)} columns, up to {shown(most)}."
    table = tuple((name, *(shown(value) for value in row)) for name, row in zip(names, values, strict=True))
    return Chart(title, svg(wide, tall, told, parts), ("", *heads), table)


def _shade(value: float, most: float) -> int:
    """0 for nothing, then equal steps up to the top."""
    return min(math.ceil(sound(value) / most * SHADES), SHADES) if most > 0 and math.isfinite(most) and value > 0 else 0


def _key(x: float, y: float, most: str, least: str) -> list[str]:
    """All shades, between the figures that the first and the last stand for."""
    begin = x + width(least) * SMALL + 6
    parts = [text(begin - 6, y + 10, least, "faint", "small", "end")]
    parts += [box(begin + 16 * shade, y, 15, 12, f"heat-{shade}") for shade in range(SHADES + 1)]
    return [*parts, text(begin + 16 * (SHADES + 1) + 6, y + 10, most, "faint", "small")]
