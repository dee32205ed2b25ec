"""How good is good enough: a figure of the anonymized log, held against that of a fresh sample and that of nothing at all.

In: three distances from the original. Out: a `Verdict`. The scale is the same for every aspect and every log: 0 is an equal log,
1 is where an empty log stands. Bounds on it are round numbers and were not fitted to any log: up to a twentieth of the way nobody
would draw another conclusion, up to a fifth the picture is right and figures are a little off, up to three fifths only the
coarse shape is, and beyond that an analyst sees more of the noise than of the process.

One thing comes before the scale: who drew the cases of the same process once more would not get equal figures either. So what is
as near as a fresh sample of as many cases counts as kept, however far that is, and what is a quarter farther at most as close: a
sample is a draw, and a log of another size, such as one case a person, can hardly come nearer. Unless that sample is itself
beyond three fifths. Then the log is too small (or too large) for the sample to say anything, and the scale alone decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Verdict = Literal["kept", "close", "rough", "lost", "unknown"]
BOUNDS: tuple[tuple[Verdict, float], ...] = (("kept", 0.05), ("close", 0.2), ("rough", 0.6))
NEAR = 1.25  # times the distance of a fresh sample
FROM_BEST: tuple[Verdict, ...] = ("kept", "close", "rough", "lost")
MEANINGS: dict[Verdict, str] = {
    "kept": "as good as a fresh sample of the original, or next to equal",
    "close": "right, with figures a little off",
    "rough": "the coarse shape is right, details are not",
    "lost": "not to be relied on",
    "unknown": "cannot be said",
}


def verdict_of(value: float | None, sample: float | None, empty: float | None) -> Verdict:
    """Judge a distance by those of a fresh sample and of an empty log; the module's text has the rule and its reasons.

    Example:
        >>> [verdict_of(value, sample=0.3, empty=1.0) for value in (0.0, 0.3, 0.31, 0.4, 0.61)]
        ['kept', 'kept', 'close', 'rough', 'lost']
        >>> verdict_of(7.0, sample=7.0, empty=1.0), verdict_of(None, sample=None, empty=1.0)
        ('lost', 'unknown')
    """
    if value is None or empty is None:
        return "unknown"
    farthest = BOUNDS[-1][1] * empty
    by_scale: Verdict = next((verdict for verdict, bound in BOUNDS if value <= bound * empty), "lost")
    if sample is None or sample > farthest or value > NEAR * sample:
        return by_scale
    return better("kept" if value <= sample else "close", by_scale)


def better(one: Verdict, other: Verdict) -> Verdict:
    """The better of two verdicts, neither of them unknown.

    Example:
        >>> better("rough", "close"), worse("rough", "close")
        ('close', 'rough')
    """
    return min(one, other, key=FROM_BEST.index)


def worse(one: Verdict, other: Verdict) -> Verdict:
    """The worse of two verdicts, neither of them unknown."""
    return max(one, other, key=FROM_BEST.index)


def middle(verdicts: Sequence[Verdict]) -> Verdict:
    """The verdict in the middle, those that are unknown aside: more than half of them are this good or better.

    One bad aspect does not condemn a log, as most questions do not need it; nor does one good aspect save it.

    Example:
        >>> middle(["kept", "lost", "unknown", "close", "rough"]), middle(["unknown"])
        ('rough', 'unknown')
    """
    known = sorted(FROM_BEST.index(verdict) for verdict in verdicts if verdict != "unknown")
    return FROM_BEST[known[len(known) // 2]] if known else "unknown"
