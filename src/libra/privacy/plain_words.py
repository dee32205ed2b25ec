"""The promise in words for everybody, and what it does to the odds: true for every epsilon and delta, and from them alone.

For two distributions with P(S) <= e^epsilon Q(S) + delta both ways, and any t > epsilon: a guess between them from even odds is
right with probability (e^epsilon + delta) / (1 + e^epsilon) at most. The outcomes more than e^t times as likely under P have a
probability of x = delta / (1 - e^(epsilon - t)) at most under P, and of e^-t x under Q. So, whichever of the two is true, odds
are multiplied or divided by more than e^t with probability (1 + e^-t) x at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from libra._system.randomness import SEEDED
from libra.engines.contract import CASE
from libra.privacy.guarantee import Guarantee, Strength, certainty, doubt_left, factor, strength

NOTHING_PROVED = "Nothing is proved about how well this log protects anyone: treat it as if it showed real cases."
NAMES_NOT_PROTECTED = "Names of activities are not protected: a name that occurs in only one case may appear in this log."
NOT_PRIVATE = f"{SEEDED[0].upper()}{SEEDED[1:]}; whoever knows or guesses the seed can undo the noise."
TOO_WEAK = "The guarantee is too weak to mean anything."
PRIORS, RARE = (0.01, 0.1, 0.5, 0.9), 0.01
FURTHER = (1.1, 1.5, 2.0, 3.0)  # times epsilon
NEVER = 1e12  # one in more than that is not worth more digits


def in_plain_words(guarantee: Guarantee, *, seeded: bool, cases: int | None = None) -> str:
    """One sentence that somebody can follow whose data it is; where delta is large for so many cases, what follows from that.

    Example:
        >>> print(in_plain_words(Guarantee.proved(1.0, 1e-5), seeded=False))
        There is a limit to how well anybody, whatever else they know, can tell from this log whether any one case was in the
        original: if that is as likely as not to begin with, they are right at most 73.2 % of the time.
    """
    if seeded:
        return NOT_PRIVATE
    worth = guarantee.strength(cases)
    if worth is None or guarantee.epsilon is None or guarantee.delta is None:
        return NOTHING_PROVED
    if worth.level == "exposed":
        return worth.warning
    told = f"whether any {guarantee.unit.partition(',')[0]} was in the original"
    if worth.level == "void":
        said = f"There is next to no limit to how well somebody can tell from this log {told}: the promise is too weak for that."
        return f"{said} {worth.warning}".strip()
    right = certainty(doubt_left(guarantee.epsilon, guarantee.delta))
    names = f"{NAMES_NOT_PROTECTED} Apart from names, there" if guarantee.names_public else "There"
    said = (
        f"{names} is a limit to how well anybody, whatever else they know, can tell from this log {told}: if that is as likely "
        f"as not to begin with, they are right at most {right} of the time."
    )
    return f"{said} {worth.warning}".strip()


def strength_of(document: Mapping[str, Any]) -> Strength | None:
    """What the guarantee of a certificate is worth; None where nothing is proved, or where a seed gives the noise away."""
    guarantee = document.get("guarantee") or {}
    epsilon, delta = guarantee.get("epsilon"), guarantee.get("delta")
    if guarantee.get("kind") != "proved" or guarantee.get("seeded") or epsilon is None or delta is None:
        return None
    return strength(epsilon, delta, document.get("cases"), individuals=guarantee.get("unit") != CASE.statement())


def beliefs(epsilon: float) -> tuple[tuple[str, str], ...]:
    """How likely somebody may think it that one was there, before and at most after seeing the log; see `odds` for the rest."""
    doubts = ((1 - prior) / (1 - prior + prior * math.exp(epsilon)) for prior in PRIORS)
    return tuple((f"{100 * prior:g} %", certainty(doubt)) for prior, doubt in zip(PRIORS, doubts, strict=True))


def odds(epsilon: float, delta: float, who: str) -> str:
    """What the log does to the odds that one was there, and how rarely it does more; `who` is protected, such as "one case"."""
    said = f"The log multiplies or divides the odds by at most {factor(epsilon)}, except for outcomes that delta allows:"
    for further in (times * epsilon for times in FURTHER):
        beyond = (1 + math.exp(-further)) * delta / -math.expm1(epsilon - further)
        if beyond <= RARE:
            rarely = f"with a probability of 1 in {_rounded_down(1 / beyond)} or less"
            return f"{said} {rarely} it does so by more than {factor(further)}."
    return f"{said} with a probability of up to {delta:g} it may give any {who} away outright."


def _rounded_down(figure: float) -> str:
    unit = 10 ** (math.floor(math.log10(min(figure, NEVER))) - 1)
    return f"{math.floor(min(figure, NEVER) / unit) * unit:,.0f}"
