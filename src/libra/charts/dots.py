"""A dotted chart: events over time and over groups of cases, in the cells of a grid; the area of a dot says how many.

The table has means over quarters of the groups, summed between the ticks of the axis of time.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal

from libra.charts import numbers
from libra.charts.chart import Chart
from libra.charts.draw import LONGEST_TICK, SMALL, at, at_most, path, sound, svg, text, ticks
from libra.charts.scale import Scale
from libra.charts.text import shown, width

WIDTH, HEIGHT, TOP, RIGHT, BOTTOM = 560, 300, 10, 10, 42
MOST_CELLS, MOST_TICKS = 4000, 20
SMALLEST = 0.7  # radius of a dot that can be seen
STEPS = 12  # sizes of dots
QUARTERS = ("first quarter", "second quarter", "third quarter", "last quarter")
NOTE = "The smallest dots are drawn large enough to be seen."


def dotted_chart(
    title: str,
    grid: Sequence[Sequence[float]],
    *,
    most: float,
    columns: Sequence[tuple[float, str]],
    rows: Sequence[tuple[float, str]],
    x_name: str,
    y_name: str,
    series: Literal["original", "anonymized"],
) -> Chart:
    """Dots for a grid of at most four thousand cells, the first row on top.

    Args:
        title: The caption.
        grid: Rows of figures, such as the events of a case in the mean over a group.
        most: The largest figure in a cell of the charts that are to be compared: its dot fills the cell.
        columns: Ticks of the axis below: where, counted in columns from the left end, stands what.
        rows: Ticks of the axis to the left, counted in rows from the top.
        x_name: What goes from left to right.
        y_name: What goes from top to bottom.
        series: Which log it is.

    Example:
        >>> chart = dotted_chart("Events", [[1, 0], [2, 5]], most=5, columns=[(0, "2013"), (1, "2014")], rows=[(0, "first")],
        ...                      x_name="time", y_name="cases", series="anonymized")
        >>> chart.rows
        (('group 1', '1', '0'), ('group 2', '2', '5'))
    """
    down, along = len(grid), max(map(len, grid), default=0)
    at_most(down * along, MOST_CELLS, "cells")
    at_most(max(len(rows), len(columns)), MOST_TICKS, "ticks")
    labels = [(place, shown(label, LONGEST_TICK)) for place, label in rows]
    left = 26 + max((width(label) * SMALL for _, label in labels), default=0.0)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    across = Scale(0.0, max(along, 1.0), left, right, log=False, ticks=())
    over = Scale(0.0, max(down, 1.0), TOP, bottom, log=False, ticks=())
    largest = min((right - left) / max(along, 1), (bottom - TOP) / max(down, 1)) / 2
    parts = [path(f"M{at(left)} {TOP}V{at(bottom)}H{at(right)}", "axis")]
    parts += ticks([(across(place), label) for place, label in columns], bottom, WIDTH)
    for place, label in labels:
        parts += [path(f"M{at(left)} {at(over(place))}h-4", "axis")]
        parts += [text(left - 7, over(place) + 4, label, "faint", "small", "end", "label")]
    parts.append(text((left + right) / 2, HEIGHT - 6, x_name, "faint", "small", "middle"))
    turned = f'<text class="lc-faint lc-small lc-middle" transform="translate(11 {at((TOP + bottom) / 2)}) rotate(-90)">'
    parts.append(text(0, 0, y_name).replace('<text x="0" y="0">', turned))
    dots: dict[int, str] = {}
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if sound(value) > 0 and most > 0:
                step = max(round(STEPS * math.sqrt(min(sound(value) / most, 1.0))), 1)
                dots[step] = f"{dots.get(step, '')}M{at(across(column + 0.5))} {at(over(row + 0.5))}h0"
    for step, drawn in sorted(dots.items()):
        thick = at(2 * max(largest * step / STEPS, SMALLEST))
        parts.append(f'<path class="lc-dots lc-dots-{series}" stroke-width="{thick}" d="{drawn}"/>')
    told = f"{title}: {x_name} from left to right, {y_name} from top to bottom, one dot for each cell that has events."
    headings, table = _means(grid, columns)
    return Chart(title, svg(WIDTH, HEIGHT, told, parts), (y_name, *headings), table, note=NOTE)


def _means(
    grid: Sequence[Sequence[float]], columns: Sequence[tuple[float, str]]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Means over a quarter of the rows, summed from tick to tick; what lies before the first tick is counted with it."""
    begins = [place for place, _ in columns] or [0.0]
    heads = tuple(shown(label, LONGEST_TICK) for _, label in columns) or ("all",)
    parts = min(len(QUARTERS), len(grid))
    table = []
    for part in range(parts):
        rows = grid[part * len(grid) // parts : (part + 1) * len(grid) // parts]
        sums = [0.0] * len(begins)
        for values in rows:
            for column, value in enumerate(values):
                sums[max(bisect_right(begins, column + 0.5) - 1, 0)] += sound(value)
        name = QUARTERS[part] if parts == len(QUARTERS) else f"group {part + 1}"
        table.append((name, *(numbers.number(total / len(rows)) for total in sums)))
    return heads, tuple(table)
