"""Guarantees and claims, and how much a proved guarantee is worth for a log of so many cases: decided here and nowhere else.

A release that publishes each case with probability delta is (0, delta)-differentially private. So delta is judged by the number
of cases that it is about: with n of them, such a release gives away n * delta on average. The number of released cases is public.
It stands for that of the original, which is not; where the guarantee is for individuals it is taken as an upper bound.
"""

from __future__ import annotations

import math
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

    @property
    def names_public(self) -> bool:
        """Whether names of activities are taken as public, and are not protected."""
        return NAMES_PUBLIC in self.assumptions

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
