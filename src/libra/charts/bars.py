"""Horizontal bars, one pair a name: the original as an outline, the anonymized log filled, the figure at the end of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from libra.charts import numbers
from libra.charts.chart import Chart
from libra.charts.draw import ANONYMIZED, FONT, LEGEND_HEIGHT, ORIGINAL, at, at_most, both_of, box, legend, path, sound, svg, text
from libra.charts.scale import Scale
from libra.charts.text import shown as readable
from libra.charts.text import width, wrapped

WIDTH, NAMES, GAP = 560, 190, 10
THICK, ROW = 10, 34  # of a bar, from name to name
MOST_NAMES = 100
LONGEST = 120  # characters of a name in the table


def paired_bars(
    title: str,
    names: Sequence[str],
    original: Sequence[float] | None,
    anonymized: Sequence[float],
    *,
    unit: str,
    shown: Callable[[float], str] = numbers.count,
) -> Chart:
    """Bars for some names, at most a hundred.

    Args:
        title: The caption.
        names: As they stand in the log.
        original: A figure a name, none in a page that does not speak of the original.
        anonymized: A figure a name.
        unit: What the figures count.
        shown: How a figure is written.

    Example:
        >>> paired_bars("Variants", ["a, b"], [1200], [1180], unit="cases").rows
        (('a, b', '1,200', '1,180'),)
    """
    at_most(len(names), MOST_NAMES, "names")
    series = ([original] if original is not None else []) + [anonymized]
    looks = (ORIGINAL, ANONYMIZED) if original is not None else (ANONYMIZED,)
    said = [[shown(value) for value in values] for values in series]
    room = max((width(figure) for figures in said for figure in figures), default=0.0) * FONT + GAP
    left = GAP + min(NAMES, FONT * max((width(readable(name)) for name in names), default=0.0))
    largest = max((sound(value) for values in series for value in values), default=0.0)
    across = Scale(0.0, largest or 1.0, left, WIDTH - room, log=False, ticks=())
    row = ROW if original is not None else ROW - 4
    tall = LEGEND_HEIGHT + row * len(names) + 4
    parts = [*legend(left, WIDTH, unit, both=original is not None)]
    for place, name in enumerate(names):
        top = LEGEND_HEIGHT + row * place
        lines = wrapped(readable(name), (left - GAP) / FONT + 0.01, 2)
        first = top + row / 2 + 4 - 7 * (len(lines) - 1)
        parts += [text(left - GAP, first + 14 * line, words, "label", "end") for line, words in enumerate(lines)]
        figures = [column[place] for column in said]
        about = f"{readable(name, LONGEST)}: {both_of(figures[0] if original is not None else None, figures[-1])} {unit}"
        upper = top + (row - len(series) * (THICK + 2) + 2) / 2
        for order, (look, values) in enumerate(zip(looks, series, strict=True)):
            y, end = upper + order * (THICK + 2), across(sound(values[place]))
            parts.append(box(left + 0.5, y + 0.5, end - left - 0.5, THICK - 1, look, "bar", title=about))
            parts.append(text(end + 6, y + THICK - 0.5, figures[order], "small", *(["faint"] if look == ORIGINAL else [])))
    parts.append(path(f"M{at(left)} {LEGEND_HEIGHT - 2}V{at(tall - 2)}", "axis"))
    told = f"{title}: bars for {len(names)} names, in {unit}."
    rows = tuple((readable(name, LONGEST), *(column[place] for column in said)) for place, name in enumerate(names))
    return Chart(title, svg(WIDTH, tall, told, parts), ("", *looks), rows)
