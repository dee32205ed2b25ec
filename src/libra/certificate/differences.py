"""Where a document departs from what it should say: the paths of the fields that do, numbers compared to nine digits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

DIGITS = 1e-9  # relative: other machines round the last digits otherwise
SHOWN = 3


def differences(found: Any, expected: Any, place: str = "", close: float = DIGITS) -> Iterator[str]:
    """The places where two JSON values differ, each with what is there and what should be.

    Example:
        >>> list(differences({"spent": {"mu": 0.5, "shares": [1, 2]}}, {"spent": {"mu": 0.5 + 1e-12, "shares": [1, 3]}}))
        ['spent.shares[1] is 2, not 3']
    """
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in {**found, **expected}:
            inner = f"{place}.{name}".removeprefix(".")
            if name in found and name in expected:
                yield from differences(found[name], expected[name], inner, close)
            else:
                yield f"{inner} {'should not be there' if name in found else 'is missing'}"
    elif isinstance(found, list) and isinstance(expected, list):
        if len(found) != len(expected):
            yield f"{place} has {len(found)} items, not {len(expected)}"
        for number, (one, other) in enumerate(zip(found, expected, strict=False)):
            yield from differences(one, other, f"{place}[{number}]", close)
    elif not _equal(found, expected, close):
        words = isinstance(found, str) and isinstance(expected, str) and " " in found + expected
        yield f"{place} says something else" if words else f"{place} is {_short(found)}, not {_short(expected)}"


def listed(places: Sequence[str]) -> str:
    """A few of them in a sentence.

    Example:
        >>> listed(["a is 1, not 2", "b is missing", "c is missing", "d is missing", "e is missing"])
        'a is 1, not 2; b is missing; c is missing; and 2 more'
    """
    more = [f"and {len(places) - SHOWN} more"] if len(places) > SHOWN else []
    return "; ".join([*places[:SHOWN], *more])


def _equal(found: Any, expected: Any, close: float) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return math.isclose(found, expected, rel_tol=close)
    return bool(found == expected)


def _short(value: Any) -> str:
    said = f'"{value}"' if isinstance(value, str) else f"{value:.12g}" if isinstance(value, float) else str(value)
    return said if len(said) <= 60 else f"{said[:60]}…"
