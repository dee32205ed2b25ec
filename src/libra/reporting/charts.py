"""Charts of two logs: histograms, lines over time, heat maps and dotted charts.

The original is an outline or dashed, the anonymized log filled or solid. Without an original, a chart shows the other log alone.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Literal

from libra.reporting import drawing, numbers
from libra.reporting.drawing import (
    ANONYMIZED,
    FONT,
    LEGEND_HEIGHT,
    LONGEST_TICK,
    ORIGINAL,
    SMALL,
    Chart,
    Scale,
    at,
    at_most,
    both_of,
    box,
    legend,
    path,
    scale_of,
    sound,
    svg,
    text,
)
from libra.reporting.text import shown, width, wrapped

Series = Sequence[float]
SIZES = {"wide": (560, 220), "small": (280, 150)}  # of a histogram
LEFT, RIGHT, BOTTOM = 44, 10, 24
MOST_BINS = 200
LINES_WIDTH, LINES_HEIGHT, LINES_LEFT, LINES_RIGHT = 640, 220, 52, 626
MOST_POINTS, MOST_DATES = 600, 7
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS_BETWEEN, MONTHS_BETWEEN, YEARS_BETWEEN = (1, 2, 4, 7, 14), (1, 2, 3, 6), (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
DOT = "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z"
CELL, GAP, HEAT_TOP = 18, 1.5, 20
MOST_HEAT_CELLS, MOST_NAMES = 1000, 60
NAMES = 140  # room for the names of rows, at most
SHADES = 5  # beside that of nothing
KEY = 16 * (SHADES + 1) + 14  # its width, without its words
DOTS_WIDTH, DOTS_HEIGHT, DOTS_TOP, DOTS_RIGHT, DOTS_BOTTOM = 560, 300, 10, 550, 258
MOST_CELLS, MOST_TICKS = 4000, 20
SMALLEST = 0.7  # radius of a dot that can be seen
DOT_SIZES = 12
QUARTERS = ("first quarter", "second quarter", "third quarter", "last quarter")
NOTE = "The smallest dots are drawn large enough to be seen."


def histogram_pair(
    title: str,
    names: Sequence[str],
    original: Series | None,
    anonymized: Series,
    *,
    ticks: Sequence[tuple[float, str]],
    unit: str,
    size: Literal["wide", "small"] = "wide",
) -> Chart:
    """Shares per bin, at most two hundred bins, equally wide on paper.

    Names are those of the bins; `ticks` says where on the axis, counted in bins from its left end, stands what; `unit` is what
    the shares are of, such as cases.

    Example:
        >>> histogram_pair("Lengths", ["1", "2 to 4"], [0.5, 0.5], [0.4, 0.6], ticks=[], unit="cases").rows
        (('1', '50 %', '40 %'), ('2 to 4', '50 %', '60 %'))
    """
    bins = len(names)
    at_most(bins, MOST_BINS, "bins")
    series, looks = _series(original, anonymized, bins)
    wide, tall = SIZES[size]
    bottom, right = tall - BOTTOM, wide - RIGHT
    up = scale_of([sound(value) for values in series for value in values], bottom, LEGEND_HEIGHT, log=False, ticks=4)
    across = Scale(0.0, max(bins, 1.0), LEFT, right)
    parts = legend(LEFT, wide - 2, f"share of {unit}", both=original is not None)
    parts += drawing.grid(up, LEFT, right, lambda share: f"{100 * share:.4g} %")
    if bins:
        parts.append(path(f"{_steps(anonymized, across, up)}V{at(bottom)}H{LEFT}z", ANONYMIZED, "area"))
    if bins and original is not None:
        way = f"{_steps(original, across, up)}V{at(bottom)}"
        parts += [path(way, "halo"), path(way, ORIGINAL)]
    parts.append(path(f"M{LEFT} {at(bottom)}H{at(right)}", "axis"))
    parts += drawing.ticks([(across(place), label) for place, label in ticks], bottom, wide)
    rows = tuple((shown(name), *map(numbers.share, figures)) for name, *figures in zip(names, *series, strict=True))
    for place, (name, *figures) in enumerate(rows):
        if any(sound(values[place]) for values in series):
            x = across(place)
            about = f"{name}: {both_of(figures)}"
            parts.append(box(x, LEGEND_HEIGHT, across(place + 1) - x, bottom - LEGEND_HEIGHT, "hit", title=about))
    return Chart(title, svg(wide, tall, f"{title}: share of {unit} in {bins} bins.", parts), ("", *looks), rows)


def line_pair(
    title: str, starts: Sequence[datetime], original: Series | None, anonymized: Series, *, every: str, unit: str
) -> Chart:
    """Figures of at most 600 days, weeks, months or the like (`every`), by when each of them begins.

    Example:
        >>> line_pair("Arrivals", [datetime(2014, 1, 6)], [12], [11], every="week", unit="cases").rows
        (('2014-01-06', '12', '11'),)
    """
    at_most(len(starts), MOST_POINTS, "points")
    series, looks = _series(original, anonymized, len(starts))
    bottom = LINES_HEIGHT - BOTTOM
    up = scale_of([sound(value) for values in series for value in values], bottom, LEGEND_HEIGHT, log=False, ticks=4)
    moments = [(start - starts[0]).total_seconds() for start in starts]
    across = Scale(0.0, moments[-1] if moments else 1.0, LINES_LEFT + 6, LINES_RIGHT - 6)
    parts = legend(LINES_LEFT, LINES_WIDTH - 2, f"{unit} per {every}", both=original is not None, line=True)
    parts += drawing.grid(up, LINES_LEFT, LINES_RIGHT, numbers.number)
    parts.append(path(f"M{LINES_LEFT} {at(bottom)}H{LINES_RIGHT}", "axis"))
    for look, values in zip(looks, series, strict=True):
        points = [f"{at(across(moment))} {at(up(sound(value)))}" for moment, value in zip(moments, values, strict=True)]
        if len(points) == 1:
            parts.append(path(f"M{points[0]}{DOT}", look, "dot"))
        elif points:
            parts.append(path(f"M{'L'.join(points)}", look, "line"))
    dates = [(across((tick - starts[0]).total_seconds()), label) for tick, label in _dates(starts)]
    parts += drawing.ticks(dates, bottom, LINES_WIDTH)
    middles = [LINES_LEFT, *((before + after) / 2 for before, after in pairwise(map(across, moments))), LINES_RIGHT]
    rows = tuple((numbers.date(start), *map(numbers.number, figures)) for start, *figures in zip(starts, *series, strict=True))
    for (date, *figures), (left, right) in zip(rows, pairwise(middles), strict=False):
        about = f"{every} from {date}: {both_of(figures)} {unit}"
        parts.append(box(left, LEGEND_HEIGHT, right - left, bottom - LEGEND_HEIGHT, "hit", title=about))
    span = f" from {rows[0][0]} to {rows[-1][0]}" if starts else ""
    told = f"{title}: {unit} per {every}{span}."
    return Chart(title, svg(LINES_WIDTH, LINES_HEIGHT, told, parts), (f"{every} from", *looks), rows)


def heat_map(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Series],
    *,
    most: float,
    unit: str,
    written: Callable[[float], str] = numbers.number,
) -> Chart:
    """Cells, the darker (on dark ground: the brighter) the more; at most a thousand.

    There is a figure for each column of each row, and a cell whose figure is not finite stays empty. `most` is the top of the
    scale, the same for maps that are to be compared.

    Example:
        >>> heat_map("Starts", ["Mon"], ["0", "1"], [[3, 4]], most=4, unit="cases").rows
        (('Mon', '3', '4'),)
    """
    at_most(max(len(rows), len(columns)), MOST_NAMES, "rows or columns")
    at_most(len(rows) * len(columns), MOST_HEAT_CELLS, "cells")
    if len(values) != len(rows) or any(len(row) != len(columns) for row in values):
        raise ValueError("There is a figure for each column of each row.")
    names, heads = [shown(name) for name in rows], [shown(name) for name in columns]
    left = 8 + min(max((width(name) * FONT for name in names), default=0.0), NAMES)
    bottom, least, top = HEAT_TOP + CELL * len(names), written(0.0), f"{written(most)} {unit}"
    wide = max(left + CELL * len(heads) + 2, left + KEY + width(least + top) * SMALL)
    every = math.ceil((max((width(head) * SMALL for head in heads), default=0.0) + 3) / CELL)
    parts = [
        text(left + CELL * (place + 0.5), HEAT_TOP - 6, heads[place], "faint", "small", "middle", "label")
        for place in range(0, len(heads), every)
    ]
    for line, (name, row) in enumerate(zip(names, values, strict=True)):
        y = HEAT_TOP + CELL * line
        parts += [text(left - 8, y + 13, said, "label", "end") for said in wrapped(name, NAMES / FONT, 1)]
        for place, value in enumerate(row):
            if math.isfinite(value):
                about, look = f"{name}, {heads[place]}: {written(value)} {unit}", f"heat-{_shade(value, most)}"
                parts.append(box(left + CELL * place, y, CELL - GAP, CELL - GAP, look, title=about))
    begin, y = left + width(least) * SMALL + 6, bottom + 14  # of the key: all shades, between what the first and the last are
    parts.append(text(begin - 6, y + 10, least, "faint", "small", "end"))
    parts += [box(begin + 16 * shade, y, 15, 12, f"heat-{shade}") for shade in range(SHADES + 1)]
    parts.append(text(begin + 16 * (SHADES + 1) + 6, y + 10, top, "faint", "small"))
    told = f"{title}: {unit} in {len(names)} rows and {len(heads)} columns, up to {written(most)}."
    table = tuple((name, *map(written, row)) for name, row in zip(names, values, strict=True))
    return Chart(title, svg(wide, bottom + 34, told, parts), ("", *heads), table)


def dotted_chart(
    title: str,
    grid: Sequence[Series],
    *,
    most: float,
    columns: Sequence[tuple[float, str]],
    rows: Sequence[tuple[float, str]],
    x_name: str,
    y_name: str,
    series: Literal["original", "anonymized"],
) -> Chart:
    """Dots for a grid of at most four thousand cells, the first row on top; the area of a dot says how much.

    The dot of `most`, the largest figure of the charts that are to be compared, fills its cell. Ticks are counted in columns from
    the left end, and in rows from the top. The table has means over quarters of the rows, summed between the ticks below.

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
    across, over = Scale(0.0, max(along, 1.0), left, DOTS_RIGHT), Scale(0.0, max(down, 1.0), DOTS_TOP, DOTS_BOTTOM)
    largest = min((DOTS_RIGHT - left) / max(along, 1), (DOTS_BOTTOM - DOTS_TOP) / max(down, 1)) / 2
    parts = [path(f"M{at(left)} {DOTS_TOP}V{at(DOTS_BOTTOM)}H{at(DOTS_RIGHT)}", "axis")]
    parts += drawing.ticks([(across(place), label) for place, label in columns], DOTS_BOTTOM, DOTS_WIDTH)
    for place, label in labels:
        parts += [path(f"M{at(left)} {at(over(place))}h-4", "axis")]
        parts += [text(left - 7, over(place) + 4, label, "faint", "small", "end", "label")]
    parts.append(text((left + DOTS_RIGHT) / 2, DOTS_HEIGHT - 6, x_name, "faint", "small", "middle"))
    turned = (
        f'<text class="lc-faint lc-small lc-middle" transform="translate(11 {at((DOTS_TOP + DOTS_BOTTOM) / 2)}) rotate(-90)">'
    )
    parts.append(text(0, 0, y_name).replace('<text x="0" y="0">', turned))
    dots: dict[int, str] = {}
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if sound(value) > 0 and most > 0:
                step = max(round(DOT_SIZES * math.sqrt(min(sound(value) / most, 1.0))), 1)
                dots[step] = f"{dots.get(step, '')}M{at(across(column + 0.5))} {at(over(row + 0.5))}h0"
    for step, drawn in sorted(dots.items()):
        thick = at(2 * max(largest * step / DOT_SIZES, SMALLEST))
        parts.append(f'<path class="lc-dots lc-dots-{series}" stroke-width="{thick}" d="{drawn}"/>')
    told = f"{title}: {x_name} from left to right, {y_name} from top to bottom, one dot for each cell that has events."
    heads = tuple(shown(label, LONGEST_TICK) for _, label in columns) or ("all",)
    table = _means(grid, [place for place, _ in columns] or [0.0])
    return Chart(title, svg(DOTS_WIDTH, DOTS_HEIGHT, told, parts), (y_name, *heads), table, note=NOTE)


def _series(original: Series | None, anonymized: Series, wanted: int) -> tuple[list[Series], tuple[str, ...]]:
    """The logs that are drawn, and the looks of each."""
    series = [anonymized] if original is None else [original, anonymized]
    if any(len(values) != wanted for values in series):
        raise ValueError("There is one figure a log for each bin or start.")
    return series, (ORIGINAL, ANONYMIZED)[-len(series) :]


def _steps(values: Series, across: Scale, up: Scale) -> str:
    """From the foot of the first bin along the tops of all; bins of one height make one step."""
    heights = [at(up(sound(value))) for value in values]
    ends = [place for place, (one, after) in enumerate(pairwise([*heights, ""]), 1) if one != after]
    tops = (f"V{heights[place - 1]}H{at(across(place))}" for place in ends)
    return f"M{at(across(0))} {at(up(0))}{''.join(tops)}"


def _dates(starts: Sequence[datetime]) -> list[tuple[datetime, str]]:
    """Round dates within the span: days, first days of months or of years, as many as there is room for."""
    if not starts:
        return []
    for candidates in _candidates(starts[0], starts[-1]):
        within = [(tick, label) for tick, label in candidates if starts[0] <= tick <= starts[-1]]
        if len(within) <= MOST_DATES:
            return within if len(within) > 1 else [(starts[0], numbers.date(starts[0]))]
    return []


def _candidates(first: datetime, last: datetime) -> Iterator[list[tuple[datetime, str]]]:
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    for apart in DAYS_BETWEEN:
        days = range(0, min((last - midnight).days, apart * (MOST_DATES + 1)) + 1, apart)
        dates = [midnight + timedelta(days=day) for day in days]
        yield [(date, f"{date.day} {MONTHS[date.month - 1]}") for date in dates]
    for apart in (*MONTHS_BETWEEN, *(12 * years for years in YEARS_BETWEEN)):
        begin = -(-(first.year * 12 + first.month - 1) // apart) * apart
        months = range(begin, min(last.year * 12 + last.month, begin + apart * (MOST_DATES + 2)), apart)
        dates = [midnight.replace(year=month // 12, month=month % 12 + 1, day=1) for month in months]
        yield [(date, f"{date.year}" if apart >= 12 else f"{MONTHS[date.month - 1]} {date.year}") for date in dates]


def _shade(value: float, most: float) -> int:
    """0 for nothing, then equal steps up to the top."""
    return min(math.ceil(sound(value) / most * SHADES), SHADES) if most > 0 and math.isfinite(most) and value > 0 else 0


def _means(grid: Sequence[Series], begins: list[float]) -> tuple[tuple[str, ...], ...]:
    """Means over a quarter of the rows, summed from tick to tick; what lies before the first tick is counted with it."""
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
    return tuple(table)
