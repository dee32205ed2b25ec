"""The release of a mechanism that gives out real cases, changed: what is said of it is the same for all of them.

In: the mechanism, the log and what it made of it. Out: a `Release`. It is about cases, not persons, and has no ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from libra.eventlog.log import EventLog
from libra.mechanisms.peers.release import PERSONS_NOTE
from libra.mechanisms.release import Claim, Release
from libra.privacy.guarantee import Guarantee
from libra.privacy.randomness import SEED_NOTE, Randomness


class RealCasesMechanism(Protocol):
    """What is needed of a mechanism to make a release from its cases."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def contents(self) -> str:
        """What a release of it holds."""

    def parameters(self) -> dict[str, Any]:
        """What it was asked with."""

    def claim(self) -> Claim | None:
        """The figures behind a promise that is only claimed."""

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised."""


def release_of_cases(
    made: RealCasesMechanism, log: EventLog, released: EventLog, random: Randomness, *, if_empty: str, notes: tuple[str, ...] = ()
) -> Release:
    """The release of what a mechanism made of a log.

    Args:
        made: The mechanism.
        log: The original.
        released: What became of it.
        random: Where the draws came from.
        if_empty: What to say where nothing is left.
        notes: What else the custodian should know.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.mechanisms.amun import Amun
        >>> log = simulate(cases=5)
        >>> release_of_cases(Amun(), log, log, Randomness(seed=1), if_empty="Nothing is left.").notes
        ('This release is not private: seeded. Whoever has the seed can draw the same again.',)
    """
    persons = log.individual is not None
    return Release(
        log=released,
        mechanism=made.name,
        parameters=made.parameters(),
        guarantee=made.guarantee(seeded=random.seeded, individuals=persons),
        seeded=random.seeded,
        claimed=made.claim(),
        notes=(*_notes(made.name, random.seeded, persons), *notes),
        shortfall=None if released.n_cases else if_empty,
        contents=made.contents,
    )


def _notes(name: str, seeded: bool, persons: bool) -> Iterator[str]:
    if seeded:
        yield SEED_NOTE
    if persons:
        yield PERSONS_NOTE.format(name)
