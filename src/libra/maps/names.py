"""Names for the activities of a map: safe to show, short enough for a box, and no two alike.

In: labels of unknown origin. Out: `Name`, the text for lists and the lines for a box. Labels that would look the same in a box
get a number behind them, the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from libra.charts.apart import numbers_behind
from libra.charts.text import BREAKS, shown, width, wrapped

LINE, LONGEST, LINES = 8.0, 13.5, 4  # em of a line in a box, of one that keeps a long word whole, and how many lines


@dataclass(frozen=True)
class Name:
    """What people read for a label."""

    text: str
    lines: tuple[str, ...]


def names_of(labels: Sequence[str]) -> list[Name]:
    """Names for different labels, in their order.

    Example:
        >>> [name.text for name in names_of(["Triage", "Triage ", "Leave"])]
        ['Triage (1)', 'Triage (2)', 'Leave']
    """
    texts = {label: shown(label) for label in labels}
    boxes = {label: "\n".join(_lines(text)) for label, text in texts.items()}
    numbers = numbers_behind({label: (texts[label], boxes[label]) for label in labels})
    return [Name(texts[label] + numbers[label], tuple((boxes[label] + numbers[label]).split("\n"))) for label in labels]


def _lines(text: str) -> list[str]:
    """The text on a few lines, which are as narrow as its words allow."""
    words = [width(word.rstrip()) for word in BREAKS.split(text)]
    return wrapped(text, max([LINE, *(word for word in words if word <= LONGEST)]), LINES)
