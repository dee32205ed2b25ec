"""A strip from 0, equal to the original, to what an empty log would give: where this log stands, and where a sample would."""

from __future__ import annotations

import math
from collections.abc import Callable

from libra.charts import numbers
from libra.charts.chart import Chart
from libra.charts.draw import at, box, path, sound, svg, text

WIDTH, HEIGHT, EDGE = 240, 36, 8
TOP, THICK = 9, 8  # of the strip
EQUAL, NOTHING, SAMPLE = "equal", "nothing left", "random sample"
ROOM = 52  # that the words at either end take


def gauge(title: str, value: float, *, sample: float | None, empty: float, words: Callable[[float], str]) -> Chart:
    """Where a figure lies between equal and empty.

    Args:
        title: What is measured.
        value: Of this log; without a needle if it is not a number.
        sample: Of a fresh random sample of the same size, if known.
        empty: Of an empty log; whatever is above is put at the end, with an arrow.
        words: How a figure is written.

    Example:
        >>> gauge("Edges", 0.04, sample=0.02, empty=1.0, words=numbers.share).rows
        (('this log', '4.0 %'), ('random sample', '2.0 %'), ('nothing left', '100 %'))
    """

    def place(figure: float) -> float:
        reach = min(sound(figure) / empty, 1.0) if empty > 0 and math.isfinite(empty) else float(figure > 0)
        return EDGE + (WIDTH - 2 * EDGE) * reach

    figures = {"this log": _said(value, words), SAMPLE: _said(sample, words), NOTHING: _said(empty, words)}
    if sample is None:
        del figures[SAMPLE]
    told = f"{title}: {', '.join(f'{name} {said}' for name, said in figures.items())}; 0 is equal to the original."
    parts = [box(EDGE, TOP, WIDTH - 2 * EDGE, THICK, "track", title=told)]
    parts += [text(EDGE, HEIGHT - 4, EQUAL, "faint", "small"), text(WIDTH - EDGE, HEIGHT - 4, NOTHING, "faint", "small", "end")]
    if sample is not None and math.isfinite(sample):
        x, about = place(sample), f"{SAMPLE}: {figures[SAMPLE]}"
        parts += [box(EDGE, TOP, x - EDGE, THICK, "sample", title=about), path(f"M{at(x)} {TOP - 3}v{THICK + 6}", "tick")]
        if EDGE + ROOM < x < WIDTH - EDGE - 2 * ROOM:
            parts.append(text(x, HEIGHT - 4, "sample", "faint", "small", "middle"))
    if math.isfinite(value):
        x = place(value)
        beyond = value > empty and math.isfinite(empty)
        shape = f"M{at(x - 1)} {TOP - 5}l8 {at(THICK / 2 + 5)}l-8 {at(THICK / 2 + 5)}z" if beyond else _needle(x)
        parts.append(path(shape, "needle", title=f"this log: {figures['this log']}"))
    return Chart(title, svg(WIDTH, HEIGHT, told, parts), ("", "figure"), tuple(figures.items()))


def _needle(x: float) -> str:
    """A triangle that points down at the strip, and a line through it."""
    return f"M{at(x - 4.5)} {TOP - 8}h9l-3.5 7v{THICK + 3}h-2v{-THICK - 3}z"


def _said(figure: float | None, words: Callable[[float], str]) -> str:
    return words(figure) if figure is not None and math.isfinite(figure) else numbers.MISSING
