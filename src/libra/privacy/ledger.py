"""The ledger: every release as plain immutable data, so that what was spent can be counted by anyone, at any time.

An `Entry` says what was released and with what noise; a `Ledger` is all of them, and how the cases they were counted from were
drawn. The promise: nothing in it comes from raw data. Sensitivities are fixed in advance or follow from earlier releases.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Group = Literal["all", "kept", "tail"]
GROUPS: tuple[Group, ...] = get_args(Group)
ROUNDED_GAUSSIAN = "rounded gaussian"
VARIANT_SELECTION = "thresholded rounded gaussian"
LABEL_SELECTION = "label selection"
VALUE_SELECTION = "value selection"
LAPLACE = "laplace"
DISCRETE_LAPLACE = "discrete laplace"
TRUNCATED_GEOMETRIC = "truncated geometric"
GAUSSIAN = (ROUNDED_GAUSSIAN, VARIANT_SELECTION, LABEL_SELECTION, VALUE_SELECTION)
ADDING_UP = (
    "Shares are of the square of the mu asked for, and add up: first within each group, then all plus the larger of kept and "
    "tail. A case counts either among the kept variants or in the tail, so only the more expensive of these two groups counts. "
    "With subsamples, mu and shares are those of one run, before subsampling; epsilon is that of the whole. Where the promise is "
    "for individuals, mu is that of one case; somebody with several has so many times as much, and epsilon counts all of them. "
    "Noise that is not Gaussian has no share. Where a first release decides what follows, epsilon counts all that might have."
)


@dataclass(frozen=True)
class Entry:
    """One release."""

    purpose: str  # what it is for
    mechanism: str  # what kind of noise, one of the names above
    sensitivity: float  # by how much one case can move it: in L2 norm for Gaussian noise; for the others, one number by that much
    noise: float  # the standard deviation of Gaussian noise; the scale of the others (1 / epsilon of the truncated geometric)
    group: Group = "all"  # the cases it was counted from: all, those of kept variants, or the tail (all that are not kept)
    shows: float = 0.0  # of a selection: the largest probability that something shows which no other case has
    bound: int | None = None  # of a truncated geometric: the largest noise

    @property
    def mu(self) -> float | None:
        """The mu of Gaussian differential privacy; None for noise that is not Gaussian."""
        return self.sensitivity / self.noise if self.mechanism in GAUSSIAN else None


@dataclass(frozen=True)
class Ledger:
    """All releases of a run."""

    entries: tuple[Entry, ...] = ()  # the releases, in their order
    rate: float = 1.0  # the probability with which a case took part (Poisson subsampling); 1 without
    times: int = 1  # how often the whole was done, each time on a subsample of its own
    most_cases: int = 1  # how many cases of whom is protected count at most; all figures of the ledger are about one of them
    asked: float | None = None  # the mu that could have been spent, whose square shares are of; None: of what was spent
    otherwise: tuple[tuple[Entry, ...], ...] = ()  # all that might have followed the first release, had it come out otherwise

    @property
    def mu(self) -> float:
        """The mu, for one case, of all Gaussian entries: it is in the tail or not, so only the dearer group counts."""
        squares = self._squares()
        return math.sqrt(squares["all"] + max(squares["kept"], squares["tail"]))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy; each Gaussian entry with its mu and its share, and what they come to by group and together."""
        whole = (self.mu if self.asked is None else self.asked) ** 2 or 1.0
        entries = [
            {name: value for name, value in asdict(entry).items() if value is not None}
            | ({} if entry.mu is None else {"mu": entry.mu, "share": entry.mu**2 / whole})
            for entry in self.entries
        ]
        shares = {group: square / whole for group, square in self._squares().items()}
        spent = {"mu": self.mu, "asked": self.asked, "share": self.mu**2 / whole, "shares": shares, "explanation": ADDING_UP}
        subsampling = {"rate": self.rate, "times": self.times, "most_cases": self.most_cases}
        return {"ledger": entries, "subsampling": subsampling, "spent": spent}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Ledger:
        """The ledger of a JSON document."""
        derived = ("mu", "share")
        entries = [Entry(**{name: value for name, value in one.items() if name not in derived}) for one in plain["ledger"]]
        return cls(tuple(entries), **plain["subsampling"], asked=plain["spent"]["asked"])

    def _squares(self) -> dict[Group, float]:
        """The mu^2 of the Gaussian entries, by group."""
        return {group: sum((entry.mu or 0.0) ** 2 for entry in self.entries if entry.group == group) for group in GROUPS}
