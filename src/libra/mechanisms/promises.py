"""What mechanisms promise or claim: figures behind a claim, and the sentences that several guarantees share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from libra.engines.contract import CASE, Unit
from libra.privacy.guarantee import NAMES_PUBLIC, Guarantee

LABELS_PUBLIC = NAMES_PUBLIC
ONE_CASE_EACH, ONLY_RELEASE = "each person has one case, and cases are independent", "this is the only release of the log"
LABELS_PRIVATE = (
    "No activity name is taken as public: the names that are released were chosen privately, and events with other names are "
    "left out."
)
LABELS_LISTED = (
    "The labels are those of a list that was given and does not come from this log; events of all others are left out."
)
NOTHING_ELSE = (
    "The parameters, the time zone and the code are public. Neither they nor this release, among several, were chosen by what "
    "they give on this log. Nothing else of the log is public: not its size, not its time range."
)
AS_READ = (
    "The logs that are compared are logs as read. Which column is what, encoding, delimiter, the order of day and month, the "
    "unit of epochs and whether times have a zone are settled from the file, where no description and no flag names them, and "
    "taken as public."
)
INDIVIDUALS = (
    "Which case is whose is as the custodian's column says; a case without an entry there is somebody's only one. Of each "
    "individual, {} counted, drawn at random; all others are left out."
)
PERSONS = "A person may have several cases in this log. They are not protected together."
NO_GUARANTEE = "does not have the privacy claimed. Do not release personal data on its strength."


class Claim(Protocol):
    """The figures behind a promise that its authors claim."""

    tolerance: ClassVar[float]  # how far, relatively, its figures may differ when they are computed again elsewhere

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""

    def published(self) -> dict[str, Any]:
        """The same without those that were computed from the log."""

    def implied_epsilon(self, delta: float) -> float | None:
        """The epsilon at this delta that follows from the claim, if it holds; None where none does."""

    def comparison(self) -> str:
        """What the claimed figure can be compared with, in one sentence for people."""


@dataclass(frozen=True)
class EpsilonClaim:
    """The claim of (epsilon, delta)-differential privacy."""

    tolerance: ClassVar[float] = 1e-9

    epsilon: float | None  # what is claimed; follows from the parameters, never from the log. None where none is
    delta: float = 0.0  # likewise; 0 where pure differential privacy is claimed
    guessing_advantage: float | None = None  # where the authors speak of it: by how much an attacker may become surer of a guess
    looked_at: bool = True  # whether anybody here knows why the claim does not hold

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""
        figures: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta}
        return figures if self.guessing_advantage is None else figures | {"guessing_advantage": self.guessing_advantage}

    def published(self) -> dict[str, Any]:
        """The same: none of it comes from the log."""
        return self.to_dict()

    def implied_epsilon(self, delta: float) -> float | None:
        """The epsilon at this delta, if the claim holds; none follows at a smaller delta than the claimed one."""
        return self.epsilon if delta >= self.delta else None

    def comparison(self) -> str:
        """What leads over to the caveats."""
        return "Why the claim does not hold:" if self.looked_at else "What is to be known of the claim:"


def individuals(counted: str) -> str:
    """What is assumed where individuals are protected; `counted` says how many cases of each counted, such as "one case"."""
    return INDIVIDUALS.format(counted)


def proved(epsilon: float, delta: float, labels: str, *, seeded: bool, one_of_each: bool) -> Guarantee:
    """A proved guarantee for one case, or for individuals of whom one case each counted; `labels` says what is public of them."""
    assumed = (labels, NOTHING_ELSE, AS_READ, *((individuals("one case"),) if one_of_each else ()))
    return Guarantee.proved(epsilon, delta, Unit(most_cases=1) if one_of_each else CASE, assumed, seeded=seeded)


def claimed(statement: str, source: str, public: str, caveats: tuple[str, ...], *, individuals: bool) -> Guarantee:
    """A guarantee that its authors claim, with why it does not hold; `public` is what they take as public."""
    assumptions, left_out = (public, ONE_CASE_EACH, ONLY_RELEASE), (*caveats, *((PERSONS,) if individuals else ()))
    return Guarantee("claimed", statement, source, assumptions=assumptions, caveats=left_out)
