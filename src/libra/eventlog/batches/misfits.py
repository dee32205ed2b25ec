"""Which of many values is the first that does not fit."""

from __future__ import annotations

from collections.abc import Callable


def first_misfit(count: int, fits: Callable[[int], bool]) -> int:
    """The first of `count` values that does not fit those before it, where `fits(n)` says it of the first n and not of all.

    Example:
        >>> first_misfit(100, lambda n: n <= 17)
        17
    """
    fitting, breaking = 0, count
    while breaking - fitting > 1:
        middle = (fitting + breaking) // 2
        if fits(middle):
            fitting = middle
        else:
            breaking = middle
    return breaking - 1
