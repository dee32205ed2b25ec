"""What a mechanism gives back: the log, what is promised of it, and what only the custodian may see.

The certificate is publishable: parameters, promises and versions, and nothing that was computed from the original. `shortfall`
and `confidential` are computed from the original and stay with the custodian.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from libra._version import __version__
from libra.privacy.randomness import SEEDED

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog
    from libra.privacy.guarantee import Guarantee


class Claim(Protocol):
    """The figures that the authors of a mechanism claim for it."""

    def to_dict(self) -> dict[str, Any]:
        """All figures, JSON-ready."""

    def published(self) -> dict[str, Any]:
        """The same without those that were computed from the log."""


@dataclass(frozen=True, eq=False)
class Release:
    """An anonymized log and what is to be said about it.

    Attributes:
        log: The anonymized log.
        mechanism: The name of what made it.
        parameters: What it was asked with.
        guarantee: What is promised, by whom, and what that leaves out.
        claimed: The figures behind a promise that is only claimed.
        seeded: Whether the draws came from a seed; such a release is not private.
        shortfall: Why the log is empty and what would help; None where it is not. Confidential.
        confidential: Figures of the original that explain the result.
    """

    log: EventLog
    mechanism: str
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    claimed: Claim
    seeded: bool
    shortfall: str | None = None
    confidential: Mapping[str, float] = field(default_factory=dict, repr=False)

    def certificate(self) -> dict[str, Any]:
        """A JSON-ready statement for whoever receives the log.

        Example:
            >>> import libra, libra.example
            >>> release = libra.anonymize(libra.example.path(), mechanism="libra2022")
            >>> release.certificate()["guarantee"]["kind"]
            'claimed'
        """
        return {
            "document": "Libra certificate",
            "version": __version__,
            "issued": datetime.now(UTC).date().isoformat(),
            "mechanism": self.mechanism,
            "parameters": dict(self.parameters),
            "guarantee": self.guarantee.to_dict(),
            "claimed": self.claimed.published(),
            "randomness": SEEDED if self.seeded else "operating system",
        }
