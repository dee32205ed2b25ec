"""What changed between two logs, for one activity or one edge, as a word that is also a class of the drawing.

In: how the two logs use it. Out: one word for how often, one for how long. It has become *more* or *less* when its count per case
moved by more than a fifth, and its count by more than twice the square root of what the original predicts for so many cases:
about as far as chance takes a count. It takes *longer* or is *shorter* when the mean duration of its steps moved by more than a
fifth, and by more than twice the standard error of the difference. A single step has no standard error, and nothing is said
about it.
"""

from __future__ import annotations

import math

NOTABLE = 0.2  # a change below a fifth is not worth a colour
CHANCE = 2.0  # standard deviations


def change_of_count(before: int, after: int, cases_before: int, cases_after: int) -> str:
    """The change of a count in view of the cases of both logs: same, more, less, lost or false (only in the anonymized log).

    Example:
        >>> change_of_count(100, 150, 1000, 1000), change_of_count(100, 55, 1000, 500), change_of_count(2, 3, 1000, 1000)
        ('more', 'same', 'same')
        >>> change_of_count(0, 3, 10, 10), change_of_count(3, 0, 10, 10)
        ('false', 'lost')
    """
    if not before or not after:
        return "lost" if before else "false" if after else "same"
    expected = before * cases_after / cases_before
    moved = after - expected
    if abs(moved) <= max(NOTABLE * expected, CHANCE * math.sqrt(expected)):
        return "same"
    return "more" if moved > 0 else "less"


def change_of_mean(before: float, after: float, error_before: float, error_after: float) -> str:
    """The change of a mean duration: longer, shorter, or nothing where it is about the same or one of the logs has none.

    Example:
        >>> change_of_mean(60.0, 90.0, 2.0, 3.0), change_of_mean(60.0, 90.0, 2.0, 30.0), change_of_mean(60.0, math.nan, 2.0, 2.0)
        ('longer', '', '')
    """
    moved = after - before
    if math.isnan(moved) or abs(moved) <= max(NOTABLE * abs(before), CHANCE * math.hypot(error_before, error_after)):
        return ""
    return "longer" if moved > 0 else "shorter"
