"""Guarantees and claims, in words too, and how much a proved guarantee is worth for so many cases: decided here alone.

A release that publishes each case with probability delta is (0, delta)-differentially private. So delta is judged by the number
of cases that it is about: with n of them, such a release gives away n * delta on average. The number of released cases is public.
It stands for that of the original, which is not; where the guarantee is for individuals it is taken as an upper bound.

In words for everybody, a guarantee says what it does to the odds: that is true for every epsilon and delta, and from them alone.
For two distributions with P(S) <= e^epsilon Q(S) + delta both ways, and any t > epsilon: a guess between them from even odds is
right with probability (e^epsilon + delta) / (1 + e^epsilon) at most. The outcomes more than e^t times as likely under P have a
probability of x = delta / (1 - e^(epsilon - t)) at most under P, and of e^-t x under Q. So, whichever of the two is true, odds
are multiplied or divided by more than e^t with probability (1 + e^-t) x at most.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from libra._system.randomness import SEEDED
from libra.engines.contract import CASE, Unit

Level: TypeAlias = Literal["strong", "moderate", "weak", "void", "exposed"]

STRONG = 1.0, 1e-4  # epsilon and delta: odds at most about triple, and more than that once in ten thousand
MODERATE = 3.0, 1e-2  # an even guess becomes right in 95 % of all cases at most
SURE = 1e-6  # what is left to certainty where a bound on what somebody may think says nothing any more
MOST_FOR_ALL = 0.1  # cases times delta, without a warning
ROUGH = 0.1  # above this delta, "one case in so many" is too far from it
MOST_AT_ALL = 1.0  # cases times delta, for anything to be called protected
NAMES_PUBLIC = (
    "The names of activities are not protected: all that occur in the log are taken as public, so a name that one case alone has "
    "may show."
)
NOT_COVERED = (
    "What follows from the process itself, or holds for everyone in the log, is not hidden.",
    "Several releases of the same log add up: their epsilons and their deltas. Hand out the first, or count all that were made.",
    "The guarantee does not cover running time, memory use or messages to the person who runs the program.",
)
RELEASE_ONCE = (
    "Hand out the first release, or count all that are made: epsilons and deltas add up. Do not choose among several by how near "
    "they come to the original: no budget counts that choice."
)
A_SECOND_RUN = "A second run counts as well: epsilons and deltas add up."


@dataclass(frozen=True)
class Strength:
    """What a guarantee is worth.

    "void" is a level at which even odds may become certainty; "exposed" one where delta is so large that a release which gives
    cases away would keep the promise.
    """

    level: Level
    warning: str = ""  # what is wrong with delta and what to ask for; empty where nothing is

    @property
    def protects(self) -> bool:
        """Whether the guarantee may be called a protection at all."""
        return self.level not in ("void", "exposed")


def strength(epsilon: float, delta: float, cases: int | None = None, *, individuals: bool = False) -> Strength:
    """What (epsilon, delta)-differential privacy is worth for a release of so many cases; None if their number is unknown."""
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
    """How often a guess from even odds is wrong at least."""
    return (1 - delta) / (1 + math.exp(epsilon))


def suited(delta: float, unit: Unit) -> str:
    """For logs of which size a delta is small enough, in a sentence: all that can be said before there is a release."""
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
    smaller = min(float(10.0 ** -(math.floor(math.log10(cases)) + 2)), STRONG[1])  # well below one over the number of cases
    return (
        f"Delta {delta:g} is {how} for {log}: a release that gives {given} away outright would keep this promise. "
        f"Ask for a smaller one, such as --delta {smaller:g}."
    )


@dataclass(frozen=True)
class Guarantee:
    """A promise about a release.

    Attributes:
        kind: "proved" or "claimed".
        statement: The promise in a sentence or two.
        source: Whose it is.
        epsilon: Of (epsilon, delta)-differential privacy, where that is what is promised.
        delta: Likewise.
        unit: What is protected.
        assumptions: What has to hold for it, beside the mechanism itself.
        caveats: What it does not cover.

    Example:
        >>> Guarantee("claimed", "0.1 at order 10", "its authors", caveats=("exact counts",)).to_dict()["kind"]
        'claimed'
    """

    kind: Literal["proved", "claimed"]
    statement: str
    source: str
    epsilon: float | None = None
    delta: float | None = None
    unit: str = CASE.statement()
    assumptions: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    @classmethod
    def proved(
        cls, epsilon: float, delta: float, unit: Unit = CASE, assumptions: tuple[str, ...] = (), *, seeded: bool = False
    ) -> Guarantee:
        """(epsilon, delta)-differential privacy for a unit, in words for the person who has to sign."""
        names, outcome = "Whatever the release is used for: ", "no outcome"
        if NAMES_PUBLIC in assumptions:
            names, outcome = "Names of activities are not protected. Apart from them, ", "no outcome of the release"
        said = (
            f"{names}{outcome} is more than {factor(epsilon)} times as likely (plus {delta:g}) "
            f"with {unit} in the original as without it, nor the other way round. "
            f"This is ({epsilon:g}, {delta:g})-differential privacy."
        )
        caveats = NOT_COVERED if unit.most_cases is not None else (*NOT_COVERED, several_cases(epsilon, delta))
        if seeded:
            said = f"{SEEDED[0].upper()}{SEEDED[1:]}; whoever knows the seed can undo the noise. Without a seed: {said}"
        return cls("proved", said, "Libra", epsilon, delta, unit.statement(), assumptions, caveats)

    def strength(self, cases: int | None) -> Strength | None:
        """What it is worth for a release of so many cases; None where nothing is proved."""
        if self.kind != "proved" or self.epsilon is None or self.delta is None:
            return None
        return strength(self.epsilon, self.delta, cases, individuals=self.unit != CASE.statement())

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return asdict(self) | {"assumptions": list(self.assumptions), "caveats": list(self.caveats)}


def factor(epsilon: float) -> str:
    """By how much an outcome may be more likely with a case than without, rounded up, for people."""
    times = math.exp(epsilon)
    return _rounded_up(times) if times < 1e6 else f"e^{epsilon:g}"


def several_cases(epsilon: float, delta: float) -> str:
    """What a promise for one case is worth to a person with several, by group privacy."""
    return (
        "The guarantee is weaker for a person with several cases: for k cases epsilon becomes k * epsilon, and delta becomes "
        f"delta * (e^(k * epsilon) - 1) / (e^epsilon - 1). {of_several(epsilon, delta)}"
    )


def of_several(epsilon: float, delta: float) -> str:
    """What a promise for one case is worth to a person with two."""
    of_two = delta * (math.exp(epsilon) + 1)
    if of_two >= 1:
        return "For two cases together this promises nothing."
    return f"Two cases together are ({2 * epsilon:g}, {_rounded_up(of_two)})-differentially private."


def from_even_odds(epsilon: float) -> str:
    """How sure somebody who gives a case even odds may become that it was there, rounded up: the bound of (epsilon, 0)."""
    return certainty(1 / (1 + math.exp(epsilon)))


def certainty(doubt: float) -> str:
    """How sure somebody is who has so much doubt left, from 0 to 1, as a percentage rounded up."""
    if doubt < SURE:
        return "100 %"
    decimals = max(1, 1 + math.ceil(-math.log10(100 * doubt)))
    return f"{math.ceil((1 - doubt) * 10 ** (decimals + 2)) / 10**decimals:.{decimals}f} %"


def _rounded_up(figure: float) -> str:
    return f"{figure * 1.0005:.4g}"


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
    names = f"{NAMES_NOT_PROTECTED} Apart from names, there" if NAMES_PUBLIC in guarantee.assumptions else "There"
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
