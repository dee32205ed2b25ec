"""What a mechanism gives back: the log, what is promised of it, and what only the custodian may see.

The certificate is publishable: parameters, promises and versions, and nothing that was computed from the original. `shortfall`,
`confidential` and part of `claimed` may be; they stay with the custodian, and out of what Python prints of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from libra._system.randomness import SEEDED
from libra._version import __version__
from libra.privacy.guarantee import in_plain_words

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog
    from libra.eventlog.options import InstanceMode
    from libra.mechanisms.libra.expected import Expected
    from libra.mechanisms.libra.figures import Figures
    from libra.mechanisms.peers import Claim
    from libra.privacy.guarantee import Guarantee
    from libra.privacy.ledger import Ledger

DOCUMENT = "Libra certificate"
SYSTEM = "operating system"
CONTENTS = "case ids made anew, activities, timestamps; no attribute and no header of the original"
OF_INSTANCES: dict[InstanceMode | None, str] = {  # what a log holds where starts or transitions are released as well
    "pair": "case ids made anew, activities, times of start and completion; no attribute and no header of the original",
    "events": "case ids made anew, activities, transitions, timestamps; no attribute and no header of the original",
}
NO_ATTRIBUTE, GENERATED = "; no attribute and", ", generated values of the attributes asked for"
ONLY_ASKED = f"{GENERATED}; no other attribute and"
WITH_ATTRIBUTES = (
    "case ids made anew, activities, timestamps and randomized attributes of events; no attribute of a case, no id and no header "
    "of the original"
)


def contents_of(instances: InstanceMode | None, *, attributes: bool = False) -> str:
    """What a generated log holds, by what its rows are and whether attributes were asked for."""
    held = OF_INSTANCES.get(instances, CONTENTS)
    return held.replace(NO_ATTRIBUTE, ONLY_ASKED) if attributes else held


def instances_in(contents: str) -> InstanceMode | None:
    """What the rows of a log are that holds this."""
    held = contents.replace(ONLY_ASKED, NO_ATTRIBUTE)
    return next((mode for mode, one in OF_INSTANCES.items() if one == held), None)


@dataclass(frozen=True, eq=False)
class Release:
    """An anonymized log and what is to be said about it.

    Attributes:
        log: The anonymized log.
        mechanism: The name of what made it.
        parameters: What it was asked with.
        guarantee: What is promised, by whom, and what that leaves out.
        claimed: The figures behind a promise that is only claimed; `published()` leaves out those of the log.
        seeded: Whether the draws came from a seed; such a release is not private.
        notes: What the custodian should know about how it was made.
        shortfall: Why the log is empty and what would help; None where it is not. Confidential.
        confidential: Figures of the original that explain the result.
        ledger: Every release that was counted, of a mechanism with a proved guarantee.
        figures: The released figures that the log was generated from, of a mechanism that has them.
        expected: How far the log is likely off, from those figures alone.
        seconds: How long the stages took. Confidential: running times may depend on the original.
        contents: What the log holds, and what it does not.
        has_times: Whether its timestamps say anything; otherwise they are placeholders.

    Example:
        >>> import libra, libra.example
        >>> release = libra.anonymize(libra.example.path(), mechanism="amun")
        >>> release.guarantee.kind, release.shortfall, release.certificate()["guarantee"]["kind"]
        ('claimed', None, 'claimed')
    """

    log: EventLog
    mechanism: str
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    seeded: bool
    claimed: Claim | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    shortfall: str | None = field(default=None, repr=False)
    confidential: Mapping[str, float] = field(default_factory=dict, repr=False)
    ledger: Ledger | None = field(default=None, repr=False)
    figures: tuple[Figures, ...] = field(default=(), repr=False)
    expected: Expected | None = field(default=None, repr=False)
    seconds: Mapping[str, float] = field(default_factory=dict, repr=False)
    contents: str = field(default=CONTENTS, repr=False)
    has_times: bool = True

    def certificate(self) -> dict[str, Any]:
        """A JSON-ready statement for whoever receives the log; `write` adds what ties it to the file, and a checksum."""
        return {
            "document": DOCUMENT,
            "version": __version__,
            "issued": datetime.now(UTC).date().isoformat(),
            "in_plain_words": in_plain_words(self.guarantee, seeded=self.seeded, cases=self.log.n_cases),
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "contents": self.contents,
            "guarantee": self.guarantee.to_dict() | {"seeded": self.seeded},
            "claimed": None if self.claimed is None else self.claimed.published(),
            **self._counted,
            **({} if self.expected is None else {"expected": self.expected.to_dict()}),
            "randomness": SEEDED if self.seeded else SYSTEM,
        }

    @cached_property
    def _counted(self) -> dict[str, Any]:
        """The number of cases that delta is judged by, the ledger, and what the accountant makes of it at that delta."""
        if self.ledger is None or self.guarantee.delta is None:
            return {}
        return {"cases": self.log.n_cases} | counted(self.ledger, self.guarantee.delta)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the log, JSON-ready, for the custodian alone: it holds what the certificate withholds."""
        released = {"cases": self.log.n_cases, "events": self.log.n_events, "variants": self.log.n_variants}
        return self.certificate() | {
            "document": "Libra release",
            "claimed": None if self.claimed is None else self.claimed.to_dict(),
            "released": released,
            "shortfall": self.shortfall,
            "confidential": dict(self.confidential),
        }


def counted(ledger: Ledger, delta: float) -> dict[str, Any]:
    """The fields `ledger`, `subsampling` and `spent` of a certificate: the entries, and what they come to at a delta."""
    from libra.privacy.accounting import epsilon_of_ledger

    plain = ledger.to_dict()
    return plain | {"spent": {"epsilon": epsilon_of_ledger(ledger, delta), "delta": delta} | plain["spent"]}
