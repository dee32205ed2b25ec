"""The kinds of charts in a report: histograms, lines, weeks, dotted charts, bars, budgets and gauges.

The original is an outline or dashed, the anonymized log filled or solid. Without an original, a chart shows the other log alone.
The places of ticks are counted in bins or columns from the left end.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from typing import Literal

from libra.reporting import numbers
from libra.reporting.drawing import FONT, SMALL, Chart, Scale, at, box, grid_lines, path, scale_of, sound, svg, text
from libra.reporting.text import shown, width, wrapped

Series = Sequence[float]
Ticks = Sequence[tuple[float, str]]
Log = Literal["original", "anonymized"]
Size = Literal["wide", "small"]
ORIGINAL, ANONYMIZED = "original", "anonymized"
LEGEND_HEIGHT = 24
LONGEST_TICK, LONGEST_NAME = 24, 120  # characters, on an axis and in a table
SIZES = {"wide": (560, 220), "small": (280, 150)}  # of a histogram
LEFT, RIGHT, BOTTOM = 44, 10, 24
LINES_WIDTH, LINES_HEIGHT, LINES_LEFT, LINES_RIGHT = 640, 220, 52, 626
MOST_DATES = 7
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS_BETWEEN, MONTHS_BETWEEN, YEARS_BETWEEN = (1, 2, 4, 7, 14), (1, 2, 3, 6), (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
DOT = "m-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z"
DAYS, HOURS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), tuple(map(str, range(24)))
CELL, CELL_GAP, WEEK_TOP = 18, 1.5, 20
WEEK_LEFT = 8 + FONT * max(map(width, DAYS))
SHADES = 5  # beside that of nothing
OF_EVENTS = "of all events"
DOTS_WIDTH, DOTS_HEIGHT, DOTS_TOP, DOTS_RIGHT, DOTS_BOTTOM = 560, 300, 10, 550, 258
FIRST_CASES, LAST_CASES, SINCE = "first cases", "last cases", "time since the case began"
SMALLEST = 0.7  # radius of a dot that can be seen
DOT_SIZES = 12
QUARTERS = ("first quarter", "second quarter", "third quarter", "last quarter")
NOTE = "The smallest dots are drawn large enough to be seen."
BARS_WIDTH, BAR_NAMES, BAR_GAP = 560, 190, 10
THICK, ROW = 10, 34  # of a bar, from name to name
BUDGET_WIDTH, TRACK, BUDGET_ROW, COLUMN = 640, 30, 20, 320
UNSPENT = "not spent"
GAUGE_WIDTH, GAUGE_HEIGHT, EDGE, STRIP_TOP, STRIP = 240, 36, 8, 9, 8
SAMPLE, THIS, LOST = "a fresh sample", "this log", "lost"


def histogram_pair(
    title: str, names: Sequence[str], original: Series | None, anonymized: Series, *, ticks: Ticks, unit: str, size: Size = "wide"
) -> Chart:
    """Shares of cases or steps (`unit`) in bins of these names, equally wide on paper."""
    bins, (series, looks) = len(names), _series(original, anonymized)
    wide, tall = SIZES[size]
    bottom, right = tall - BOTTOM, wide - RIGHT
    up = scale_of([sound(value) for values in series for value in values], bottom, LEGEND_HEIGHT, log=False, ticks=4)
    across = Scale(0.0, max(bins, 1.0), LEFT, right)
    parts = _legend(LEFT, wide - 2, f"share of {unit}", both=False)  # a row of charts has one, above
    parts += grid_lines(up, LEFT, right, lambda share: f"{100 * share:.4g} %")
    if bins:
        parts.append(path(f"{_steps(anonymized, across, up)}V{at(bottom)}H{LEFT}z", ANONYMIZED, "area"))
    if bins and original is not None:
        way = f"{_steps(original, across, up)}V{at(bottom)}"
        parts += [path(way, "halo"), path(way, ORIGINAL)]
    parts.append(path(f"M{LEFT} {at(bottom)}H{at(right)}", "axis"))
    parts += _axis_ticks([(across(place), label) for place, label in ticks], bottom, wide)
    rows = tuple((shown(name), *map(numbers.share, figures)) for name, *figures in zip(names, *series, strict=True))
    for place, (name, *figures) in enumerate(rows):
        if any(sound(values[place]) for values in series):
            x, about = across(place), f"{name}: {_both_of(figures)}"
            parts.append(box(x, LEGEND_HEIGHT, across(place + 1) - x, bottom - LEGEND_HEIGHT, "hit", title=about))
    return Chart(title, svg(wide, tall, f"{title}: share of {unit} in {bins} bins.", parts), ("", *looks), rows)


def line_pair(title: str, starts: Sequence[datetime], original: Series | None, anonymized: Series, *, every: str) -> Chart:
    """Cases of days, weeks, months or the like (`every`), by when each of them begins."""
    series, looks = _series(original, anonymized)
    bottom = LINES_HEIGHT - BOTTOM
    up = scale_of([sound(value) for values in series for value in values], bottom, LEGEND_HEIGHT, log=False, ticks=4)
    moments = [(start - starts[0]).total_seconds() for start in starts]
    across = Scale(0.0, moments[-1] if moments else 1.0, LINES_LEFT + 6, LINES_RIGHT - 6)
    parts = _legend(LINES_LEFT, LINES_WIDTH - 2, f"cases per {every}", both=original is not None)
    parts += grid_lines(up, LINES_LEFT, LINES_RIGHT, numbers.number)
    parts.append(path(f"M{LINES_LEFT} {at(bottom)}H{LINES_RIGHT}", "axis"))
    for look, values in zip(looks, series, strict=True):
        points = [f"{at(across(moment))} {at(up(sound(value)))}" for moment, value in zip(moments, values, strict=True)]
        if len(points) == 1:
            parts.append(path(f"M{points[0]}{DOT}", look, "dot"))
        elif points:
            parts.append(path(f"M{'L'.join(points)}", look, "line"))
    dates = [(across((tick - starts[0]).total_seconds()), label) for tick, label in _dates(starts)]
    parts += _axis_ticks(dates, bottom, LINES_WIDTH)
    middles = [LINES_LEFT, *((before + after) / 2 for before, after in pairwise(map(across, moments))), LINES_RIGHT]
    rows = tuple((numbers.date(start), *map(numbers.number, figures)) for start, *figures in zip(starts, *series, strict=True))
    for (date, *figures), (left, right) in zip(rows, pairwise(middles), strict=False):
        about = f"{every} from {date}: {_both_of(figures)} cases"
        parts.append(box(left, LEGEND_HEIGHT, right - left, bottom - LEGEND_HEIGHT, "hit", title=about))
    told = f"{title}: cases per {every}{f' from {rows[0][0]} to {rows[-1][0]}' if starts else ''}."
    return Chart(title, svg(LINES_WIDTH, LINES_HEIGHT, told, parts), (f"{every} from", *looks), rows)


def week_map(title: str, week: Sequence[Series], *, most: float) -> Chart:
    """Shares of all events by weekday and hour, the darker (on dark ground: the brighter) the more.

    `most` is the top of the scale, the same for maps that are to be compared.
    """
    bottom, least, top = WEEK_TOP + CELL * len(DAYS), numbers.share(0.0), f"{numbers.share(most)} {OF_EVENTS}"
    begin, y = WEEK_LEFT + width(least) * SMALL + 6, bottom + 14  # of the key: all shades, between what the first and last are
    key = 16 * (SHADES + 1)
    wide = max(WEEK_LEFT + CELL * len(HOURS) + 2, WEEK_LEFT + key + 14 + width(least + top) * SMALL)
    every = math.ceil((max(map(width, HOURS)) * SMALL + 3) / CELL)
    parts = [
        text(WEEK_LEFT + CELL * (place + 0.5), WEEK_TOP - 6, HOURS[place], "faint", "small", "middle", "label")
        for place in range(0, len(HOURS), every)
    ]
    for line, (day, shares) in enumerate(zip(DAYS, week, strict=True)):
        top_of = WEEK_TOP + CELL * line
        parts.append(text(WEEK_LEFT - 8, top_of + 13, day, "label", "end"))
        for place, (hour, value) in enumerate(zip(HOURS, shares, strict=True)):
            shade = min(math.ceil(value / most * SHADES), SHADES) if value > 0 else 0
            about = f"{day}, {hour}: {numbers.share(value)} {OF_EVENTS}"
            parts.append(box(WEEK_LEFT + CELL * place, top_of, CELL - CELL_GAP, CELL - CELL_GAP, f"heat-{shade}", title=about))
    parts.append(text(begin - 6, y + 10, least, "faint", "small", "end"))
    parts += [box(begin + 16 * shade, y, 15, 12, f"heat-{shade}") for shade in range(SHADES + 1)]
    parts.append(text(begin + key + 6, y + 10, top, "faint", "small"))
    told = f"{title}: {OF_EVENTS} in {len(DAYS)} rows and {len(HOURS)} columns, up to {numbers.share(most)}."
    rows = tuple((day, *map(numbers.share, shares)) for day, shares in zip(DAYS, week, strict=True))
    return Chart(title, svg(wide, bottom + 34, told, parts), ("", *HOURS), rows)


def dotted_chart(title: str, grid: Sequence[Series], *, most: float, ticks: Ticks, series: Log) -> Chart:
    """Dots for a grid of groups of cases, the first on top, and times since a case began; the area of a dot says how much.

    The dot of `most`, the largest figure of the charts that are to be compared, fills its cell. The table has means over quarters
    of the rows, summed between the ticks below.
    """
    down, along = len(grid), max(map(len, grid), default=0)
    left = 26 + SMALL * max(width(FIRST_CASES), width(LAST_CASES))
    across, over = Scale(0.0, max(along, 1.0), left, DOTS_RIGHT), Scale(0.0, max(down, 1.0), DOTS_TOP, DOTS_BOTTOM)
    largest = min((DOTS_RIGHT - left) / max(along, 1), (DOTS_BOTTOM - DOTS_TOP) / max(down, 1)) / 2
    parts = [path(f"M{at(left)} {DOTS_TOP}V{at(DOTS_BOTTOM)}H{at(DOTS_RIGHT)}", "axis")]
    parts += _axis_ticks([(across(place), label) for place, label in ticks], DOTS_BOTTOM, DOTS_WIDTH)
    for y, label in ((DOTS_TOP, FIRST_CASES), (DOTS_BOTTOM, LAST_CASES)):
        parts += [path(f"M{at(left)} {at(y)}h-4", "axis"), text(left - 7, y + 4, label, "faint", "small", "end", "label")]
    parts.append(text((left + DOTS_RIGHT) / 2, DOTS_HEIGHT - 6, SINCE, "faint", "small", "middle"))
    turned = f"translate(11 {at((DOTS_TOP + DOTS_BOTTOM) / 2)}) rotate(-90)"
    parts.append(f'<text class="lc-faint lc-small lc-middle" transform="{turned}">cases</text>')
    dots: dict[int, str] = {}
    for row, values in enumerate(grid):
        for column, value in enumerate(values):
            if sound(value) > 0 and most > 0:
                step = max(round(DOT_SIZES * math.sqrt(min(sound(value) / most, 1.0))), 1)
                dots[step] = f"{dots.get(step, '')}M{at(across(column + 0.5))} {at(over(row + 0.5))}h0"
    for step, drawn in sorted(dots.items()):
        thick = at(2 * max(largest * step / DOT_SIZES, SMALLEST))
        parts.append(f'<path class="lc-dots lc-dots-{series}" stroke-width="{thick}" d="{drawn}"/>')
    told = f"{title}: {SINCE} from left to right, cases from top to bottom, one dot for each cell that has events."
    heads = tuple(shown(label, LONGEST_TICK) for _, label in ticks) or ("all",)
    table = tuple(_means(grid, [place for place, _ in ticks] or [0.0]))
    return Chart(title, svg(DOTS_WIDTH, DOTS_HEIGHT, told, parts), ("cases", *heads), table, note=NOTE)


def paired_bars(title: str, names: Sequence[str], original: Series | None, anonymized: Series, *, unit: str) -> Chart:
    """Horizontal bars for shares of a whole (`unit`) by name: the original as an outline, the anonymized log filled."""
    series, looks = _series(original, anonymized)
    said = [[numbers.share(value) for value in values] for values in series]
    room = max((width(figure) for figures in said for figure in figures), default=0.0) * FONT + BAR_GAP
    left = BAR_GAP + min(BAR_NAMES, FONT * max((width(shown(name)) for name in names), default=0.0))
    largest = max((sound(value) for values in series for value in values), default=0.0)
    across = Scale(0.0, largest or 1.0, left, BARS_WIDTH - room)
    row = ROW if original is not None else ROW - 4
    tall = LEGEND_HEIGHT + row * len(names) + 4
    parts = _legend(left, BARS_WIDTH, unit, both=False)
    rows = tuple((shown(name, LONGEST_NAME), *figures) for name, *figures in zip(names, *said, strict=True))
    for place, (whole, *figures) in enumerate(rows):
        top = LEGEND_HEIGHT + row * place
        lines = wrapped(shown(names[place]), (left - BAR_GAP) / FONT + 0.01, 2)
        first = top + row / 2 + 4 - 7 * (len(lines) - 1)
        parts += [text(left - BAR_GAP, first + 14 * line, words, "label", "end") for line, words in enumerate(lines)]
        upper = top + (row - len(series) * (THICK + 2) + 2) / 2
        for order, (look, values) in enumerate(zip(looks, series, strict=True)):
            y, end = upper + order * (THICK + 2), across(sound(values[place]))
            about = f"{whole}: {_both_of(figures)} {unit}"
            parts.append(box(left + 0.5, y + 0.5, end - left - 0.5, THICK - 1, look, "bar", title=about))
            parts.append(text(end + 6, y + THICK - 0.5, figures[order], "small", *(["faint"] if look == ORIGINAL else [])))
    parts.append(path(f"M{at(left)} {LEGEND_HEIGHT - 2}V{at(tall - 2)}", "axis"))
    return Chart(title, svg(BARS_WIDTH, tall, f"{title}: bars for {len(names)} names, in {unit}.", parts), ("", *looks), rows)


def budget_bar(
    title: str, parts: Sequence[tuple[str, float]], *, left: float, alternative: Sequence[tuple[str, float]] = ()
) -> Chart:
    """What was spent for each purpose as shares of what may be spent, numbered, and what is left as an empty piece.

    Parts of the `alternative` are about other cases than the last ones of `parts`, and only the more expensive of the two
    counts: they are drawn below the end of the bar.
    """
    names = [(str(i), shown(name, LONGEST_NAME), share) for i, (name, share) in enumerate((*parts, *alternative), 1)]
    spent, second = (sum(sound(share) for _, share in of) for of in (parts, alternative))
    scale = (BUDGET_WIDTH - 2) / max(spent + sound(left), second + sound(left), 1e-9)
    drawn = _pieces(names[: len(parts)], 0.0, scale, 1)
    tall = TRACK + 10.0
    if left > 0:
        wide = sound(left) * scale
        drawn.append(box(BUDGET_WIDTH - 1 - wide, 1, wide, TRACK - 2, "left", title=_spent(UNSPENT, left)))
    if alternative:
        begin = max(spent - second, 0.0)
        drawn.append(text(max(1 + begin * scale - 8, 12), TRACK + 4 + TRACK / 2, "or", "faint", "end"))
        drawn += _pieces(names[len(parts) :], begin, scale, TRACK + 4)
        tall += TRACK + 4
    names += [("", UNSPENT, left)] if left > 0 else []
    deep = math.ceil(len(names) / 2)
    for place, (number, name, share) in enumerate(names):
        x, y = COLUMN * (place // deep), tall + BUDGET_ROW * (place % deep) + 14
        drawn += [box(x + 1, y - 12, 16, 15, *_piece_looks(number)), text(x + 9, y, number, "small", "on", "middle")]
        drawn += [text(x + 24, y, line, "label") for line in wrapped(name, (COLUMN - 84) / FONT, 1)]
        drawn.append(text(x + COLUMN - 24, y, numbers.share(share), "faint", "end"))
    told = f"{title}: {'; '.join(_spent(name, share) for _, name, share in names)}."
    rows = tuple((number, name, numbers.share(share)) for number, name, share in names)
    return Chart(title, svg(BUDGET_WIDTH, tall + BUDGET_ROW * deep + 4, told, drawn), ("", "for", "share"), rows)


def gauge(title: str, loss: float, *, sample: float | None, bounds: Mapping[str, float]) -> Chart:
    """A strip of equally wide zones, one for each verdict (`bounds` has where they end), and where this log and a sample lie.

    The scale within them is logarithmic, so that small losses differ as visibly as large ones; what is below the least bound by
    more than the zones are apart is put at the left end.
    """
    names, ends = [*bounds, LOST], list(bounds.values())
    step = ends[-1] / ends[-2]  # of a zone to the next
    wide = (GAUGE_WIDTH - 2 * EDGE) / len(names)

    def place(share: float) -> float:
        zones = 1 + math.log(max(sound(share), ends[0] / step) / ends[0]) / math.log(step)
        return EDGE + wide * min(zones, len(names))

    figures = {THIS: numbers.share(loss), **({} if sample is None else {SAMPLE: numbers.share(sample)})}
    told = f"{title}: {', '.join(f'{name} {said}' for name, said in figures.items())} lost; 0 is equal to the original."
    parts = [box(EDGE + wide * at_, STRIP_TOP, wide - 1.5, STRIP, f"zone-{at_}", title=told) for at_ in range(len(names))]
    for at_, name in enumerate(names):
        parts.append(text(EDGE + wide * (at_ + 0.5), GAUGE_HEIGHT - 2, name, "faint", "small", "middle"))
    if sample is not None and math.isfinite(sample):
        parts.append(path(f"M{at(place(sample))} {STRIP_TOP - 4}v{STRIP + 8}", "tick", title=f"{SAMPLE}: {figures[SAMPLE]}"))
    if math.isfinite(loss):
        needle = f"M{at(place(loss) - 4.5)} {STRIP_TOP - 8}h9l-3.5 7v{STRIP + 3}h-2v{-STRIP - 3}z"
        parts.append(path(needle, "needle", title=f"{THIS}: {figures[THIS]}"))
    return Chart(title, svg(GAUGE_WIDTH, GAUGE_HEIGHT, told, parts), ("", "lost"), tuple(figures.items()))


def _series(original: Series | None, anonymized: Series) -> tuple[list[Series], tuple[str, ...]]:
    """The logs that are drawn, and the looks of each."""
    series = [anonymized] if original is None else [original, anonymized]
    return series, (ORIGINAL, ANONYMIZED)[-len(series) :]


def _legend(x: float, right: float, unit: str, *, both: bool) -> list[str]:
    """The first line of a chart: what is counted, if there is room, and before it what dashed and solid lines stand for."""
    parts: list[str] = []
    for name in (ORIGINAL, ANONYMIZED) if both else ():
        parts += [path(f"M{at(x)} 7h16", name, "line"), text(x + 21, 11, name, "small")]
        x += 21 + width(name) * SMALL + 18
    if x + width(unit) * SMALL <= right:
        parts.append(text(right, 11, unit, "faint", "small", "end"))
    return parts


def _axis_ticks(places: Iterable[tuple[float, str]], y: float, wide: float) -> list[str]:
    """Marks below a level axis with their words; words stay on the paper, and those that would run into others are left out."""
    parts, free = [], 0.0
    for x, label in places:
        said = shown(label, LONGEST_TICK)
        half = width(said) * SMALL / 2
        middle = min(max(x, half + 1), wide - half - 1)
        parts.append(path(f"M{at(x)} {at(y)}v4", "axis"))
        if middle - half >= free:
            parts.append(text(middle, y + 17, said, "faint", "small", "middle", "label"))
            free = middle + half + 6
    return parts


def _both_of(figures: Sequence[str]) -> str:
    return figures[0] if len(figures) == 1 else f"{ORIGINAL} {figures[0]}, {ANONYMIZED} {figures[1]}"


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


def _means(grid: Sequence[Series], begins: list[float]) -> Iterator[tuple[str, ...]]:
    """Means over a quarter of the rows, summed from tick to tick; what lies before the first tick is counted with it."""
    parts = min(len(QUARTERS), len(grid))
    for part in range(parts):
        rows = grid[part * len(grid) // parts : (part + 1) * len(grid) // parts]
        sums = [0.0] * len(begins)
        for values in rows:
            for column, value in enumerate(values):
                sums[max(bisect_right(begins, column + 0.5) - 1, 0)] += sound(value)
        name = QUARTERS[part] if parts == len(QUARTERS) else f"group {part + 1}"
        yield name, *(numbers.number(total / len(rows)) for total in sums)


def _pieces(names: Sequence[tuple[str, str, float]], begin: float, scale: float, y: float) -> list[str]:
    """The pieces of a track from left to right, with their numbers where there is room."""
    begins = accumulate((sound(share) for _, _, share in names), initial=begin)
    drawn = []
    for (number, name, share), start in zip(names, begins, strict=False):
        x, wide = 1 + start * scale, sound(share) * scale
        drawn.append(box(x, y, max(wide - 1.5, 0.5), TRACK - 2, *_piece_looks(number), title=_spent(name, share)))
        if wide > width(number) * SMALL + 6:
            drawn.append(text(x + wide / 2, y + TRACK / 2 + 3, number, "on", "middle"))
    return drawn


def _piece_looks(number: str) -> tuple[str, ...]:
    return ("left",) if not number else ("spent",) if int(number) % 2 else ("spent", "odd")


def _spent(name: str, share: float) -> str:
    return f"{name}, {numbers.share(share)}"
