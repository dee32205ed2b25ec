"""Charts of bars: pairs of bars by name, how a budget was spent, and where a log stands between equal and empty."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate

from libra.reporting import numbers
from libra.reporting.drawing import (
    ANONYMIZED,
    FONT,
    LEGEND_HEIGHT,
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
    sound,
    svg,
    text,
)
from libra.reporting.text import shown, width, wrapped

WIDTH, NAMES, GAP = 560, 190, 10
THICK, ROW = 10, 34  # of a bar, from name to name
MOST_NAMES = 100
LONGEST = 120  # characters of a name in the table
BUDGET_WIDTH, TRACK, BUDGET_ROW = 640, 30, 20
MOST_PARTS, COLUMNS = 24, 2
UNSPENT = "not spent"
GAUGE_WIDTH, GAUGE_HEIGHT, EDGE, STRIP_TOP, STRIP = 240, 36, 8, 9, 8
EQUAL, NOTHING, SAMPLE, THIS = "equal", "nothing left", "random sample", "this log"
ROOM = 52  # that the words at either end take


def paired_bars(
    title: str,
    names: Sequence[str],
    original: Sequence[float] | None,
    anonymized: Sequence[float],
    *,
    unit: str,
    written: Callable[[float], str] = numbers.count,
) -> Chart:
    """Horizontal bars for at most a hundred names: the original as an outline, the anonymized log filled.

    Example:
        >>> paired_bars("Variants", ["a, b"], [1200], [1180], unit="cases").rows
        (('a, b', '1,200', '1,180'),)
    """
    at_most(len(names), MOST_NAMES, "names")
    series = ([original] if original is not None else []) + [anonymized]
    looks = (ORIGINAL, ANONYMIZED)[-len(series) :]
    said = [[written(value) for value in values] for values in series]
    room = max((width(figure) for figures in said for figure in figures), default=0.0) * FONT + GAP
    left = GAP + min(NAMES, FONT * max((width(shown(name)) for name in names), default=0.0))
    largest = max((sound(value) for values in series for value in values), default=0.0)
    across = Scale(0.0, largest or 1.0, left, WIDTH - room)
    row = ROW if original is not None else ROW - 4
    tall = LEGEND_HEIGHT + row * len(names) + 4
    parts = legend(left, WIDTH, unit, both=original is not None)
    for place, name in enumerate(names):
        top = LEGEND_HEIGHT + row * place
        lines = wrapped(shown(name), (left - GAP) / FONT + 0.01, 2)
        first = top + row / 2 + 4 - 7 * (len(lines) - 1)
        parts += [text(left - GAP, first + 14 * line, words, "label", "end") for line, words in enumerate(lines)]
        about = f"{shown(name, LONGEST)}: {both_of([column[place] for column in said])} {unit}"
        upper = top + (row - len(series) * (THICK + 2) + 2) / 2
        for order, (look, values) in enumerate(zip(looks, series, strict=True)):
            y, end = upper + order * (THICK + 2), across(sound(values[place]))
            parts.append(box(left + 0.5, y + 0.5, end - left - 0.5, THICK - 1, look, "bar", title=about))
            parts.append(text(end + 6, y + THICK - 0.5, said[order][place], "small", *(["faint"] if look == ORIGINAL else [])))
    parts.append(path(f"M{at(left)} {LEGEND_HEIGHT - 2}V{at(tall - 2)}", "axis"))
    told = f"{title}: bars for {len(names)} names, in {unit}."
    rows = tuple((shown(name, LONGEST), *(column[place] for column in said)) for place, name in enumerate(names))
    return Chart(title, svg(WIDTH, tall, told, parts), ("", *looks), rows)


def budget_bar(
    title: str, parts: Sequence[tuple[str, float]], *, left: float, alternative: Sequence[tuple[str, float]] = ()
) -> Chart:
    """What was spent for each purpose as shares of what may be spent, numbered, and what is left as an empty piece.

    Parts of the `alternative` are about other cases than the last ones of `parts`, of which only the dearer side counts: they are
    drawn below the end of the bar.

    Example:
        >>> budget_bar("Budget", [("variants", 0.6), ("times", 0.3)], left=0.1).rows
        (('1', 'variants', '60 %'), ('2', 'times', '30 %'), ('', 'not spent', '10 %'))
    """
    every = [(shown(name, LONGEST), share) for name, share in (*parts, *alternative)]
    at_most(len(every), MOST_PARTS, "parts")
    spent, second = (sum(sound(share) for _, share in of) for of in (parts, alternative))
    scale = (BUDGET_WIDTH - 2) / max(spent + sound(left), second + sound(left), 1e-9)
    drawn = _pieces(every[: len(parts)], 0, 0.0, scale, 1)
    tall = TRACK + 10.0
    if left > 0:
        wide = sound(left) * scale
        drawn.append(box(BUDGET_WIDTH - 1 - wide, 1, wide, TRACK - 2, "left", title=_spent(UNSPENT, left)))
    if alternative:
        begin = max(spent - second, 0.0)
        drawn.append(text(max(1 + begin * scale - 8, 12), TRACK + 4 + TRACK / 2, "or", "faint", "end"))
        drawn += _pieces(every[len(parts) :], len(parts), begin, scale, TRACK + 4)
        tall += TRACK + 4
    names = [(str(place), name, share) for place, (name, share) in enumerate(every, 1)]
    names += [("", UNSPENT, left)] if left > 0 else []
    deep = -(-len(names) // COLUMNS)
    for place, (number, name, share) in enumerate(names):
        x, y = BUDGET_WIDTH / COLUMNS * (place // deep), tall + BUDGET_ROW * (place % deep) + 14
        look = ("spent", "odd") if place % 2 and number else ("spent",) if number else ("left",)
        drawn += [box(x + 1, y - 12, 16, 15, *look), text(x + 9, y, number, "small", "on", "middle")]
        drawn += [text(x + 24, y, line, "label") for line in wrapped(name, (BUDGET_WIDTH / COLUMNS - 84) / FONT, 1)]
        drawn.append(text(x + BUDGET_WIDTH / COLUMNS - 24, y, numbers.share(share), "faint", "end"))
    told = f"{title}: {'; '.join(_spent(name, share) for _, name, share in names)}."
    rows = tuple((number, name, numbers.share(share)) for number, name, share in names)
    return Chart(title, svg(BUDGET_WIDTH, tall + BUDGET_ROW * deep + 4, told, drawn), ("", "for", "share"), rows)


def gauge(title: str, value: float, *, sample: float | None, empty: float, words: Callable[[float], str]) -> Chart:
    """A strip from 0, equal to the original, to what an empty log would give: where this log stands, and where a sample would.

    A figure above that of an empty log is put at the end, with an arrow; one that is not a number has no needle.

    Example:
        >>> gauge("Edges", 0.04, sample=0.02, empty=1.0, words=numbers.share).rows
        (('this log', '4.0 %'), ('random sample', '2.0 %'), ('nothing left', '100 %'))
    """

    def place(figure: float) -> float:
        reach = min(sound(figure) / empty, 1.0) if empty > 0 and math.isfinite(empty) else float(figure > 0)
        return EDGE + (GAUGE_WIDTH - 2 * EDGE) * reach

    every = {THIS: value, **({} if sample is None else {SAMPLE: sample}), NOTHING: empty}
    figures = {name: words(figure) if math.isfinite(figure) else numbers.MISSING for name, figure in every.items()}
    told = f"{title}: {', '.join(f'{name} {said}' for name, said in figures.items())}; 0 is equal to the original."
    right, line = GAUGE_WIDTH - EDGE, GAUGE_HEIGHT - 4
    parts = [box(EDGE, STRIP_TOP, right - EDGE, STRIP, "track", title=told)]
    parts += [text(EDGE, line, EQUAL, "faint", "small"), text(right, line, NOTHING, "faint", "small", "end")]
    if sample is not None and math.isfinite(sample):
        x = place(sample)
        parts.append(box(EDGE, STRIP_TOP, x - EDGE, STRIP, "sample", title=f"{SAMPLE}: {figures[SAMPLE]}"))
        parts.append(path(f"M{at(x)} {STRIP_TOP - 3}v{STRIP + 6}", "tick"))
        if EDGE + ROOM < x < right - 2 * ROOM:
            parts.append(text(x, line, "sample", "faint", "small", "middle"))
    if math.isfinite(value):
        x, half = place(value), at(STRIP / 2 + 5)
        needle = f"M{at(x - 4.5)} {STRIP_TOP - 8}h9l-3.5 7v{STRIP + 3}h-2v{-STRIP - 3}z"
        arrow = f"M{at(x - 1)} {STRIP_TOP - 5}l8 {half}l-8 {half}z"
        shape = arrow if value > empty and math.isfinite(empty) else needle
        parts.append(path(shape, "needle", title=f"{THIS}: {figures[THIS]}"))
    return Chart(title, svg(GAUGE_WIDTH, GAUGE_HEIGHT, told, parts), ("", "figure"), tuple(figures.items()))


def _pieces(parts: Sequence[tuple[str, float]], first: int, begin: float, scale: float, y: float) -> list[str]:
    """The pieces of a track from left to right, with their numbers where there is room."""
    begins = accumulate((sound(share) for _, share in parts), initial=begin)
    drawn = []
    for place, ((name, share), start) in enumerate(zip(parts, begins, strict=False), first):
        wide, number = sound(share) * scale, str(place + 1)
        look = ("spent", "odd") if place % 2 else ("spent",)
        drawn.append(box(1 + start * scale, y, max(wide - 1.5, 0.5), TRACK - 2, *look, title=_spent(name, share)))
        if wide > width(number) * SMALL + 6:
            drawn.append(text(1 + start * scale + wide / 2, y + TRACK / 2 + 3, number, "on", "middle"))
    return drawn


def _spent(name: str, share: float) -> str:
    return f"{name}, {numbers.share(share)}"
