"""What tells the lines of a comparison apart: colour, mark and dashes, the same for the same place in every chart."""

from __future__ import annotations

from libra.charts.draw import at
from libra.charts.style import SERIES

DASHES = ("", "7 4", "2 3", "9 3 2 3")
LEVEL = "14 6"  # dashes of what does not depend on epsilon
MARKS = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-4 -4h8v8h-8z", "M0 -5l5 9h-10z", "M0 -5.5l5.5 5.5l-5.5 5.5l-5.5 -5.5z")


def dashes(look: int) -> str:
    """The dashes of a line.

    Example:
        >>> dashes(0), dashes(4)
        ('', '7 4')
    """
    return DASHES[look // len(MARKS) % len(DASHES)]


def mark(look: int, x: float, y: float, paint: str = "") -> str:
    """A mark at a place.

    Example:
        >>> mark(1, 10, 20)
        '<path transform="translate(10 20)" d="M-4 -4h8v8h-8z"/>'
    """
    return f'<path transform="translate({at(x)} {at(y)})"{paint} d="{MARKS[look % len(MARKS)]}"/>'


def colour(look: int) -> str:
    """The class of a line's colour.

    Example:
        >>> colour(0), colour(10)
        ('lc-series-0', 'lc-series-0')
    """
    return f"lc-series-{look % len(SERIES)}"
