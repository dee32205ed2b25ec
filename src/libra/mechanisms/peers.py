"""What mechanisms share: the sentences of promises and claims, what certificates must say, the way to a release, noisy times."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from libra._system.ordering import ranks
from libra._system.randomness import SEED_NOTE, Randomness
from libra.engines.contract import Unit
from libra.eventlog.cases import Cases, Floats, Integers
from libra.eventlog.log import EventLog
from libra.eventlog.names import RESOURCE
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR
from libra.mechanisms.release import CONTENTS, Release
from libra.privacy.guarantee import NAMES_PUBLIC, Guarantee
from libra.privacy.ledger import Entry, Ledger

LABELS_PUBLIC = NAMES_PUBLIC
ONE_CASE_EACH, ONLY_RELEASE = "each person has one case, and cases are independent", "this is the only release of the log"
LABELS_PRIVATE = (
    "No activity name is treated as public: the released names were selected privately, and events with other names are left out."
)
LABELS_LISTED = "The activity names come from a given list that was not made from this log; events with other names are left out."
ATTRIBUTES_DECLARED = (
    "What is declared of attributes is public: names, kinds, levels, decimals, counters and the activity they stand on, which "
    "may have been found in this log and are no secret, and lists of values and bounds, which come from elsewhere. So are the "
    "types of columns in Parquet files, data frames and logs in memory. Values that are not declared were selected privately; "
    "all others are grouped."
)
EMPLOYEES = (
    "The guarantee is for cases, not for employees. What a resource does is counted over all its cases: somebody who works on "
    "many can be recognized by it, whatever it is called."
)
EMPLOYEES_IN_VALUES = "If values of attributes name employees, this guarantee does not protect these employees."
CALLED = "Resources are called {}."
LISTED_RESOURCES, NAMED_RESOURCES, NUMBERED_RESOURCES = "by the names on the declared list", "by their names", "R1, R2 and so on"
NOTHING_ELSE = (
    "The parameters, the time zone and the code are public. They were not selected by looking at results on this log, "
    "nor was this release from among several. Nothing else about the log is public, neither its size nor its time range."
)
AS_READ = (
    "The guarantee applies to the log as Libra reads it. Whatever no description or flag specifies of the following is detected "
    "from the file and treated as public: the role of each column, encoding, delimiter, order of day and month, unit of epochs, "
    "whether times have a time zone, and whether start and complete events are paired into activity instances, if at least 10 "
    "cases or individuals show that."
)
INDIVIDUALS = (
    "The custodian's column says which cases belong to which person; a case with no entry is treated as belonging to a person "
    "with no other case. Of each individual, {} counted, drawn at random; all others are left out."
)
PERSONS = "A person may have several cases in this log. They are not protected together."
NO_GUARANTEE = "does not have the privacy claimed. Do not rely on it to release personal data."
STARTS_NOTE = "{} does not release start times: an activity instance is one event, at its completion. Only libra releases starts."
PERSONS_NOTE = "{} protects cases, not persons: the column of the individual is ignored."
MILLISECOND = 1000  # microseconds
EARLIEST = np.datetime64(f"{FIRST_YEAR}-01-01", "ms").astype(np.int64)
LATEST = np.datetime64(f"{LAST_YEAR + 1}-01-01", "ms").astype(np.int64) - 1


def resources_called(attributes: Sequence[Mapping[str, Any]], *, names: bool) -> str:
    """What resources are called, from attributes as a certificate has them; empty where no resources are released."""
    for one in attributes:
        if one["name"] == RESOURCE:
            return LISTED_RESOURCES if one.get("values") else NAMED_RESOURCES if names else NUMBERED_RESOURCES
    return ""


class Claim(ABC):
    """The figures behind a promise that its authors claim."""

    tolerance: ClassVar[float]  # how far, relatively, its figures may differ when they are computed again elsewhere

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""

    def published(self) -> dict[str, Any]:
        """The same without those that were computed from the log."""
        return self.to_dict()

    @abstractmethod
    def implied_epsilon(self, delta: float) -> float | None:
        """The epsilon at this delta that follows from the claim, if it holds; None where none does."""

    @abstractmethod
    def comparison(self) -> str:
        """What the claimed figure can be compared with, in one sentence for people."""


@dataclass(frozen=True)
class EpsilonClaim(Claim):
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

    def implied_epsilon(self, delta: float) -> float | None:
        """The epsilon at this delta, if the claim holds; none follows at a smaller delta than the claimed one."""
        return self.epsilon if delta >= self.delta else None

    def comparison(self) -> str:
        """What leads over to the caveats."""
        return "Why the claim does not hold:" if self.looked_at else "What to know about the claim:"


def counted_cases(most_cases: int | None) -> str:
    """How many cases of each individual counted."""
    return "one case" if most_cases == 1 else f"up to {most_cases:,} cases"


def proved(
    epsilon: float, delta: float, labels: str, *, seeded: bool, most_cases: int | None, released: Sequence[str] = ()
) -> Guarantee:
    """A proved guarantee for one case, or for individuals of whom so many counted.

    `labels` says which of them are public; `released` is what has to be said of attributes.
    """
    whose = () if most_cases is None else (INDIVIDUALS.format(counted_cases(most_cases)),)
    assumed = (labels, *released, NOTHING_ELSE, AS_READ, *whose)
    return Guarantee.proved(epsilon, delta, Unit(most_cases), assumed, seeded=seeded)


def claimed(statement: str, source: str, public: str, caveats: tuple[str, ...], *, individuals: bool) -> Guarantee:
    """A guarantee that its authors claim, with why it does not hold; `public` is what they take as public."""
    assumptions, left_out = (public, ONE_CASE_EACH, ONLY_RELEASE), (*caveats, *((PERSONS,) if individuals else ()))
    return Guarantee("claimed", statement, source, assumptions=assumptions, caveats=left_out)


class CertifiedMechanism(ABC):
    """A mechanism of Libra, a frozen dataclass, which says what a certificate of its releases must contain."""

    name: ClassVar[str]

    def _set(self, **checked: Any) -> None:
        """Bring parameters into their one form, while a frozen dataclass is made."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def contents(self) -> str:
        """What a release holds."""
        return CONTENTS

    @property
    def possible_contents(self) -> tuple[str, ...]:
        """All that a release may hold, if that depends on how the log was read."""
        return (self.contents,)

    @property
    def planned_ledger(self) -> Ledger:
        """The ledger of a run, without entries: how cases are drawn, and what may be spent. Here all take part once."""
        return Ledger()

    def complete(self, ledger: Ledger) -> Ledger:
        """A ledger that a run has written, with what would have been released instead, if a release decided that."""
        return ledger

    @classmethod
    def from_certificate(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism that a certificate with these parameters speaks of."""
        return cls(**parameters)

    def parameters(self) -> dict[str, Any]:
        """What was asked for, JSON-ready, as far as it played a part."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self) if parameter.init}  # type: ignore[arg-type]  # mechanisms are dataclasses

    def claim(self) -> Claim | None:
        """The figures that its authors claim; None where the guarantee is proved."""
        return None

    @abstractmethod
    def guarantees(self, *, seeded: bool) -> list[Guarantee]:
        """All guarantees that a release with these parameters may have; which one may depend on the log."""

    def departures(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger differ from what a run with these parameters writes."""
        yield from ("there is a ledger, and nothing was counted",) if entries else ()


class PeerMechanism(CertifiedMechanism):
    """A mechanism of other authors, with `anonymize`, `guarantee` and `claim` of its own."""

    @abstractmethod
    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised or claimed of a release; `individuals` says that the log knows whose case is whose."""

    def guarantees(self, *, seeded: bool) -> list[Guarantee]:
        """All guarantees that a release with these parameters may have."""
        return [self.guarantee(seeded=seeded, individuals=individuals) for individuals in (False, True)]

    def _release(self, log: EventLog, made: EventLog, random: Randomness, *, notes: Sequence[str] = (), **more: Any) -> Release:
        """The release of what was made of a log; `more` are further fields of a `Release`."""
        seeded, persons = random.seeded, log.individual is not None
        promised = self.guarantee(seeded=seeded, individuals=persons)
        told = [SEED_NOTE] if seeded else []
        if persons and promised.kind == "claimed":
            told.append(PERSONS_NOTE.format(self.name))
        if log.instances == "pair":
            told.append(STARTS_NOTE.format(self.name))
        known = {"parameters": self.parameters(), "claimed": self.claim(), "contents": self.contents, "notes": (*told, *notes)}
        return Release(log=made, mechanism=self.name, guarantee=promised, seeded=seeded, **(known | more))


def relative_times(cases: Cases) -> Integers:
    """The start of each case and the gaps between its events, in microseconds; there has to be a case."""
    first = cases.offsets[:-1]
    relative = np.diff(cases.micros, prepend=0)
    relative[first] = cases.micros[first] - cases.micros.min()
    return relative


def at_relative_times(cases: Cases, relative: Floats, origin: int, *, signed: bool = False) -> Cases:
    """The cases with these starts, counted from an origin, and these gaps.

    Times are whole milliseconds. An event comes a millisecond after the one before at least, unless gaps are `signed`; at either
    end of the years that a log may have, each event leaves room for the others.
    """
    first = cases.offsets[:-1]
    if not signed:
        least = np.full(len(relative), float(MILLISECOND))
        least[first] = -np.inf
        relative = np.maximum(relative, least)
    span = LATEST - EARLIEST
    millis = np.clip(np.rint(relative / MILLISECOND), -span, span).astype(np.int64)
    total = np.cumsum(millis)
    of_case = total - np.repeat(total[first] - millis[first], cases.lengths)
    before = ranks(cases.lengths)
    after = np.repeat(cases.lengths - 1, cases.lengths) - before
    since_1970 = np.clip(of_case + origin // MILLISECOND, EARLIEST + before, LATEST - after)
    return replace(cases, micros=since_1970 * MILLISECOND)
