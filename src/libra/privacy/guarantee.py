"""What a release promises, in types: who says so, what exactly, and what it leaves out.

A `Guarantee` of kind "proved" is one that this project proves and tests. Everything else is "claimed": repeated from
its authors, with the reasons why it is not more than that.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from libra.privacy.randomness import SEEDED
from libra.privacy.unit import CASE, Unit

NOT_COVERED = (
    "What follows from the process itself, or holds for everyone in the log, is not hidden.",
    "Several releases of the same log add up: their epsilons and their deltas.",
    "Running time, memory and messages to the person who runs the program are no part of the release.",
)
SEVERAL_CASES = (
    "A person with several cases is protected less: for k cases epsilon is up to k times as large, and delta more than k times."
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
        """(epsilon, delta)-differential privacy for a unit, in words for the person who has to sign.

        Example:
            >>> print(Guarantee.proved(1.0, 1e-5).statement)
            Whatever the release is used for: no outcome is more than 2.72 times as likely (plus 1e-05) with one case in
            the original as without it, nor the other way round. This is (1, 1e-05)-differential privacy.
        """
        said = (
            f"Whatever the release is used for: no outcome is more than {factor(epsilon)} times as likely (plus {delta:g}) "
            f"with {unit} in the original as without it, nor the other way round. "
            f"This is ({epsilon:g}, {delta:g})-differential privacy."
        )
        caveats = NOT_COVERED if unit.most_cases is not None else (*NOT_COVERED, SEVERAL_CASES)
        if seeded:
            said = f"{SEEDED[0].upper()}{SEEDED[1:]}; whoever knows the seed can undo the noise. Without a seed: {said}"
        return cls("proved", said, "Libra", epsilon, delta, unit.statement(), assumptions, caveats)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return asdict(self) | {"assumptions": list(self.assumptions), "caveats": list(self.caveats)}


def factor(epsilon: float) -> str:
    """By how much an outcome may be more likely with a case than without, rounded up, for people.

    Example:
        >>> factor(1.0)
        '2.72'
    """
    times = math.exp(epsilon)
    return f"{times * 1.0005:.4g}" if times < 1e6 else f"e^{epsilon:g}"
