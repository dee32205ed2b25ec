"""How much a proved guarantee is worth for a log of so many cases: the one place where that is decided.

In: epsilon, delta and the number of released cases, where it is known. Out: a `Strength`, which the terminal, the certificate,
its page, verification and reports go by, so that none can say "strong" where another says "too weak".

A release that publishes each case with probability delta is (0, delta)-differentially private. So delta is judged by the number
of cases that it is about: with n of them, such a release gives away n * delta on average. The number of released cases is public.
It stands for that of the original, which is not; where the guarantee is for individuals it is taken as an upper bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from libra.privacy.unit import CASE, Unit

Level: TypeAlias = Literal["strong", "moderate", "weak", "void", "exposed"]

STRONG = 1.0, 1e-4  # epsilon and delta: odds at most about triple, and more than that once in ten thousand
MODERATE = 3.0, 1e-2  # an even guess becomes right in 95 % of all cases at most
SURE = 1e-6  # what is left to certainty where a bound on what somebody may think says nothing any more
MOST_FOR_ALL = 0.1  # cases times delta, without a warning
ROUGH = 0.1  # above this delta, "one case in so many" is too far from it
MOST_AT_ALL = 1.0  # cases times delta, for anything to be called protected


@dataclass(frozen=True)
class Strength:
    """What a guarantee is worth.

    Attributes:
        level: "strong", "moderate" or "weak"; "void" where even odds may become certainty; "exposed" where delta is so large
            that a release which gives cases away would keep the promise.
        warning: What is wrong with delta and what to ask for; empty where nothing is.
    """

    level: Level
    warning: str = ""

    @property
    def protects(self) -> bool:
        """Whether the guarantee may be called a protection at all.

        Example:
            >>> strength(1.0, 1e-5, 10_000).protects, strength(1.0, 1e-5, 700_000).protects
            (True, False)
        """
        return self.level not in ("void", "exposed")


def strength(epsilon: float, delta: float, cases: int | None = None, *, individuals: bool = False) -> Strength:
    """What (epsilon, delta)-differential privacy is worth for a release of so many cases; None where their number is not known.

    Example:
        >>> strength(1.0, 1e-5, 2_000)
        Strength(level='strong', warning='')
        >>> strength(1.0, 1e-5, 20_000).level
        'moderate'
        >>> print(strength(1.0, 0.01, 500).warning)
        Delta 0.01 is too large for a log of 500 cases: a release that gives one case in 100 away outright would keep this
        promise. Ask for a smaller one, such as --delta 0.0001.
    """
    exposed = 0.0 if cases is None else cases * delta
    warning = _warning(delta, cases, individuals) if cases is not None and exposed > MOST_FOR_ALL else ""
    if exposed > MOST_AT_ALL:
        return Strength("exposed", warning)
    if doubt_left(epsilon, delta) < SURE:
        return Strength("void", warning)
    if epsilon <= STRONG[0] and delta <= STRONG[1] and not warning:
        return Strength("strong")
    return Strength("moderate" if epsilon <= MODERATE[0] and delta <= MODERATE[1] else "weak", warning)


def doubt_left(epsilon: float, delta: float) -> float:
    """How often a guess from even odds is wrong at least.

    Example:
        >>> round(doubt_left(1.0, 1e-5), 3)
        0.269
    """
    return (1 - delta) / (1 + math.exp(epsilon))


def suited(delta: float, unit: Unit) -> str:
    """For logs of which size a delta is small enough, in a sentence: all that can be said before there is a release.

    Example:
        >>> suited(1e-5, CASE)
        'Delta 1e-05 suits logs of up to 10,000 cases: their number times delta is at most 0.1.'
    """
    many = round(MOST_FOR_ALL / delta)
    many -= many * delta > MOST_FOR_ALL  # by the same product that a release is judged by
    if not many:
        return f"Delta {delta:g} is too large for any log."
    what = ("case" if unit == CASE else "individual") + ("" if many == 1 else "s")
    return f"Delta {delta:g} suits logs of up to {many:,} {what}: their number times delta is at most {MOST_FOR_ALL:g}."


def _warning(delta: float, cases: int, individuals: bool) -> str:
    how = "too large" if cases * delta > MOST_AT_ALL else "large"
    whose, unit = (", which may be of as many individuals", "individual") if individuals else ("", "case")
    log = f"a log of {cases:,} case{'' if cases == 1 else 's'}{whose}"
    given = f"{100 * delta:.3g} % of all {unit}s" if delta > ROUGH else f"one {unit} in {math.ceil((1 - 1e-9) / delta):,}"
    return (
        f"Delta {delta:g} is {how} for {log}: a release that gives {given} away outright would keep this promise. "
        f"Ask for a smaller one, such as --delta {_smaller(cases):g}."
    )


def _smaller(cases: int) -> float:
    """A power of ten that is well below one over the number of cases."""
    return min(float(10.0 ** -(math.floor(math.log10(cases)) + 2)), STRONG[1])
