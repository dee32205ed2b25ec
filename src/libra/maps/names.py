"""Names for the activities of a map: safe to show, short enough for a box, and no two alike.

In: labels of unknown origin. Out: `Name`, the text for lists and the lines for a box. Labels that would look the same get a
number behind them, the same in both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from libra.charts.text import BREAKS, shown, width, wrapped

LINE, LONGEST, LINES = 10.5, 13.5, 3  # em of a line in a box, of one that keeps a long word whole, and how many lines


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
    texts = [shown(label) for label in labels]
    lines = [_lines(text) for text in texts]
    often = Counter(lines)
    taken = {key for key, times in often.items() if times == 1}
    names: list[Name] = []
    for text, key in zip(texts, lines, strict=True):
        numbered, number = (text, key), 0
        while often[key] > 1 and (number == 0 or numbered[1] in taken):
            number += 1
            numbered = (f"{text} ({number})", _lines(text, f" ({number})"))
        taken.add(numbered[1])
        names.append(Name(*numbered))
    return names


def _lines(text: str, behind: str = "") -> tuple[str, ...]:
    """The text on a few lines; what stands behind it is never cut off."""
    words = [width(word.rstrip()) for word in BREAKS.split(text)]
    line = max([LINE, *(word for word in words if word <= LONGEST)])
    *before, last = wrapped(text, line, LINES)
    if behind and width(last + behind) > line:
        last = wrapped(last.rstrip("…") + "……", line - width(behind), 1)[0]
    return (*before, last + behind)
