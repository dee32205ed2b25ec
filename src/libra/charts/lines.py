"""A figure over time as two lines: the original dashed, the anonymized log solid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from libra.charts import numbers
from libra.charts.chart import Chart
from libra.charts.draw import (
    ANONYMIZED,
    LEGEND_HEIGHT,
    ORIGINAL,
    at,
    at_most,
    both_of,
    box,
    grid,
    legend,
    path,
    sound,
    svg,
    ticks,
)
from libra.charts.scale import Scale, scale_of

WIDTH, HEIGHT, LEFT, RIGHT, BOTTOM = 640, 220, 52, 14, 24
MOST_POINTS = 600
MOST_TICKS = 7
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS_BETWEEN, MONTHS_BETWEEN, YEARS_BETWEEN = (1, 2, 4, 7, 14), (1, 2, 3, 6), (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
DOT = "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z"


def line_pair(
    title: str,
    starts: Sequence[datetime],
    original: Sequence[float] | None,
    anonymized: Sequence[float],
    *,
    every: str,
    unit: str,
) -> Chart:
    """Figures of days, weeks, months or the like, at most 600 of them.

    Args:
        title: The caption.
        starts: When each of them begins, in order.
        original: A figure each, none in a page that does not speak of the original.
        anonymized: A figure each.
        every: What begins then: day, week, month.
        unit: What the figures count.

    Example:
        >>> line_pair("Arrivals", [datetime(2014, 1, 6)], [12], [11], every="week", unit="cases").rows
        (('2014-01-06', '12', '11'),)
    """
    at_most(len(starts), MOST_POINTS, "points")
    series = [anonymized] if original is None else [original, anonymized]
    if any(len(values) != len(starts) for values in series):
        raise ValueError("There is a figure for each start.")
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    up = scale_of([sound(value) for values in series for value in values], bottom, LEGEND_HEIGHT, log=False, ticks=4)
    moments = [(start - starts[0]).total_seconds() for start in starts]
    across = Scale(0.0, moments[-1] if moments else 1.0, LEFT + 6, right - 6, log=False, ticks=())
    looks = (ORIGINAL, ANONYMIZED)[-len(series) :]
    said = [[numbers.number(value) for value in values] for values in series]
    parts = [*legend(LEFT, WIDTH - 2, f"{unit} per {every}", both=original is not None, line=True)]
    parts += [*grid(up, LEFT, right, numbers.number), path(f"M{LEFT} {at(bottom)}H{right}", "axis")]
    for look, values in zip(looks, series, strict=True):
        points = [f"{at(across(moment))} {at(up(sound(value)))}" for moment, value in zip(moments, values, strict=True)]
        if len(points) == 1:
            parts.append(path(f"M{points[0]}{DOT}", look, "dot"))
        elif points:
            parts.append(path(f"M{'L'.join(points)}", look, "line"))
    dates = [(across((tick - starts[0]).total_seconds()), label) for tick, label in _dates(starts)]
    parts += ticks(dates, bottom, WIDTH)
    places = [across(moment) for moment in moments]
    middles = [LEFT, *((before + after) / 2 for before, after in pairwise(places)), right]
    for place, start in enumerate(starts):
        about = (
            f"{every} from {numbers.date(start)}: {both_of(said[0][place] if len(said) == 2 else None, said[-1][place])} {unit}"
        )
        wide = middles[place + 1] - middles[place]
        parts.append(box(middles[place], LEGEND_HEIGHT, wide, bottom - LEGEND_HEIGHT, "hit", title=about))
    rows = tuple((numbers.date(start), *(column[place] for column in said)) for place, start in enumerate(starts))
    span = f" from {numbers.date(starts[0])} to {numbers.date(starts[-1])}" if starts else ""
    told = f"{title}: {unit} per {every}{span}."
    return Chart(title, svg(WIDTH, HEIGHT, told, parts), (f"{every} from", *looks), rows)


def _dates(starts: Sequence[datetime]) -> list[tuple[datetime, str]]:
    """Round dates within the span: days, first days of months or of years, as many as there is room for."""
    if not starts:
        return []
    for candidates in _candidates(starts[0], starts[-1]):
        within = [(tick, label) for tick, label in candidates if starts[0] <= tick <= starts[-1]]
        if len(within) <= MOST_TICKS:
            return within if len(within) > 1 else [(starts[0], numbers.date(starts[0]))]
    return []


def _candidates(first: datetime, last: datetime) -> Iterator[list[tuple[datetime, str]]]:
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    for apart in DAYS_BETWEEN:
        days = range(0, min((last - midnight).days, apart * (MOST_TICKS + 1)) + 1, apart)
        dates = [midnight + timedelta(days=day) for day in days]
        yield [(date, f"{date.day} {MONTHS[date.month - 1]}") for date in dates]
    for apart in (*MONTHS_BETWEEN, *(12 * years for years in YEARS_BETWEEN)):
        begin = -(-(first.year * 12 + first.month - 1) // apart) * apart
        months = range(begin, min(last.year * 12 + last.month, begin + apart * (MOST_TICKS + 2)), apart)
        dates = [midnight.replace(year=month // 12, month=month % 12 + 1, day=1) for month in months]
        yield [(date, f"{date.year}" if apart >= 12 else f"{MONTHS[date.month - 1]} {date.year}") for date in dates]
