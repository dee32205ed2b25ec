"""What was spent of a budget, as one bar: a numbered piece a purpose, and what is left as an empty piece.

Where two groups of releases concern different cases, only the dearer counts; then the other stands on a track of its own below.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from libra.charts import numbers
from libra.charts.chart import Chart
from libra.charts.draw import FONT, SMALL, at_most, box, sound, svg, text
from libra.charts.text import shown, width, wrapped

WIDTH, TRACK, ROW = 640, 30, 20
MOST_PARTS = 24
COLUMNS = 2
UNSPENT = "not spent"
OR = "or"
LONGEST = 120  # characters of a purpose in the table


def budget_bar(
    title: str, parts: Sequence[tuple[str, float]], *, left: float, alternative: Sequence[tuple[str, float]] = ()
) -> Chart:
    """Shares of what may be spent.

    Args:
        title: The caption.
        parts: What it was for, and its share.
        left: The share that was not spent.
        alternative: Parts of which, together, only the dearer counts against the last parts as long as they take; drawn below
            the end of the bar.

    Example:
        >>> budget_bar("Budget", [("variants", 0.6), ("times", 0.3)], left=0.1).rows
        (('1', 'variants', '60 %'), ('2', 'times', '30 %'), ('', 'not spent', '10 %'))
    """
    every = [(shown(name, LONGEST), share) for name, share in (*parts, *alternative)]
    at_most(len(every), MOST_PARTS, "parts")
    spent, second = (sum(sound(share) for _, share in of) for of in (parts, alternative))
    whole = max(spent + sound(left), second + sound(left), 1e-9)
    scale = (WIDTH - 2) / whole
    drawn = _pieces(every[: len(parts)], 0, 0.0, scale, 1)
    tall = TRACK + 10.0
    if left > 0:
        drawn.append(box(WIDTH - 1 - sound(left) * scale, 1, sound(left) * scale, TRACK - 2, "left", title=_said(UNSPENT, left)))
    if alternative:
        begin = max(spent - second, 0.0)
        drawn.append(text(max(1 + begin * scale - 8, 12), TRACK + 4 + TRACK / 2, OR, "faint", "end"))
        drawn += _pieces(every[len(parts) :], len(parts), begin, scale, TRACK + 4)
        tall += TRACK + 4
    names = [*((str(place + 1), name, share) for place, (name, share) in enumerate(every))]
    names += [("", UNSPENT, left)] if left > 0 else []
    deep = -(-len(names) // COLUMNS)
    for place, (number, name, share) in enumerate(names):
        x, y = WIDTH / COLUMNS * (place // deep), tall + ROW * (place % deep) + 14
        look = ("spent", "odd") if place % 2 and number else ("spent",) if number else ("left",)
        drawn += [box(x + 1, y - 12, 16, 15, *look), text(x + 9, y, number, "small", "on", "middle")]
        room = WIDTH / COLUMNS - 24 - 60
        drawn += [text(x + 24, y, line, "label") for line in wrapped(name, room / FONT, 1)]
        drawn.append(text(x + WIDTH / COLUMNS - 24, y, numbers.share(share), "faint", "end"))
    told = f"{title}: {'; '.join(_said(name, share) for _, name, share in names)}."
    rows = tuple((number, name, numbers.share(share)) for number, name, share in names)
    return Chart(title, svg(WIDTH, tall + ROW * deep + 4, told, drawn), ("", "for", "share"), rows)


def _pieces(parts: Sequence[tuple[str, float]], first: int, begin: float, scale: float, y: float) -> list[str]:
    """The pieces of a track from left to right, with their numbers where there is room."""
    begins = accumulate((sound(share) for _, share in parts), initial=begin)
    drawn = []
    for place, ((name, share), start) in enumerate(zip(parts, begins, strict=False), first):
        wide = sound(share) * scale
        look = ("spent", "odd") if place % 2 else ("spent",)
        drawn.append(box(1 + start * scale, y, max(wide - 1.5, 0.5), TRACK - 2, *look, title=_said(name, share)))
        number = str(place + 1)
        if wide > width(number) * SMALL + 6:
            drawn.append(text(1 + start * scale + wide / 2, y + TRACK / 2 + 3, number, "on", "middle"))
    return drawn


def _said(name: str, share: float) -> str:
    return f"{name}, {numbers.share(share)}"
