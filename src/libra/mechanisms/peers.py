"""What mechanisms share: what their certificates must say, the way to a release, and times with noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from libra._system.ordering import ranks
from libra._system.randomness import SEED_NOTE, Randomness
from libra.eventlog.cases import Cases, Floats, Integers
from libra.eventlog.log import EventLog
from libra.eventlog.tables.timestamps import FIRST_YEAR, LAST_YEAR
from libra.mechanisms.promises import Claim
from libra.mechanisms.release import CONTENTS, Release
from libra.privacy.guarantee import Guarantee
from libra.privacy.ledger import Entry, Ledger

PERSONS_NOTE = "{} protects cases, not persons: the column of the individual does not count."
MILLISECOND = 1000  # microseconds
EARLIEST = np.datetime64(f"{FIRST_YEAR}-01-01", "ms").astype(np.int64)
LATEST = np.datetime64(f"{LAST_YEAR + 1}-01-01", "ms").astype(np.int64) - 1


class CertifiedMechanism:
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
    def planned_ledger(self) -> Ledger:
        """The ledger of a run, without entries: how cases are drawn, and what may be spent. Here all take part once."""
        return Ledger()

    @classmethod
    def from_certificate(cls, parameters: Mapping[str, Any]) -> Self:
        """The mechanism that a certificate with these parameters speaks of."""
        return cls(**parameters)

    def parameters(self) -> dict[str, Any]:
        """What was asked for, JSON-ready, as far as it played a part."""
        return {parameter.name: getattr(self, parameter.name) for parameter in fields(self) if parameter.init}  # type: ignore[arg-type]

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
