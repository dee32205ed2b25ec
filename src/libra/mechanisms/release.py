"""What a mechanism gives back: the log, what is promised of it, and what only the custodian may see.

The certificate is publishable: parameters, promises and versions, and nothing that was computed from the original. `shortfall`,
`confidential` and part of `claimed` may be; they stay with the custodian, and out of what Python prints of a release.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from libra._version import __version__
from libra.errors import InputError, UsageError
from libra.eventlog.options import Progress, no_progress
from libra.privacy.plain_words import in_plain_words
from libra.privacy.randomness import SEEDED

if TYPE_CHECKING:
    from libra.api import Source
    from libra.certificate.minisign import SecretKey
    from libra.eventlog.log import EventLog, FoundRole
    from libra.mechanisms.libra.figures import Figures
    from libra.mechanisms.promises import Claim
    from libra.privacy.guarantee import Guarantee
    from libra.privacy.ledger import Ledger
    from libra.reporting.page import Report

DOCUMENT = "Libra certificate"
SYSTEM = "operating system"
CONTENTS = "case ids made anew, activities, timestamps; no attribute and no header of the original"
WITH_ATTRIBUTES = (
    "case ids made anew, activities, timestamps and randomized attributes of events; no attribute of a case, no id and no header "
    "of the original"
)


class LogWriter(Protocol):
    """Writes a log somewhere else than in this process."""

    def check(self, output: str | Path) -> None:
        """Refuse what it cannot write to."""

    def __call__(self, log: EventLog, output: str | Path, progress: Progress) -> tuple[str, ...]:
        """Write the log, whole or not at all, and say what could not be kept."""


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
        seconds: How long the stages took. Confidential: running times may depend on the original.
        contents: What the log holds, and what it does not.
        has_times: Whether its timestamps say anything; otherwise they are placeholders.
        roles: Which column of the source was taken for what, where the source was not read into memory.
        writer: Writes the log where it is made, in place of this process.
        original: The log that it was made from, for `report` alone. It does not go along when a release is pickled or copied.

    Example:
        >>> import libra, libra.example
        >>> release = libra.anonymize(libra.example.path(), mechanism="libra2022")
        >>> release.guarantee.kind, release.shortfall
        ('claimed', None)
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
    seconds: Mapping[str, float] = field(default_factory=dict, repr=False)
    contents: str = field(default=CONTENTS, repr=False)
    has_times: bool = True
    roles: tuple[FoundRole, ...] = field(default=(), repr=False)
    writer: LogWriter | None = field(default=None, repr=False)
    original: EventLog | None = field(default=None, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """All but the original: a file made of a release holds no raw case."""
        return self.__dict__ | {"original": None}

    def report(self, original: Source | None = None, *, public: bool = False) -> Report:
        """What was protected and what was lost, on one page: `save` it, or let a notebook show it.

        Args:
            original: The log that it was made from, where the release does not know it any more.
            public: Only what is released, for whoever gets the log. Otherwise the page compares with the original and is
                CONFIDENTIAL.

        Example:
            >>> import libra, libra.example
            >>> release = libra.anonymize(libra.example.path())
            >>> page = release.report(public=True)
            >>> "CONFIDENTIAL" in page.html
            False
        """
        from libra.api import read
        from libra.reporting.build import report_of_release

        given = self.original if original is None or public else read(original)
        return report_of_release(self, given, public=public)

    def certificate(self) -> dict[str, Any]:
        """A JSON-ready statement for whoever receives the log; `write` adds what ties it to the file, and a checksum.

        Example:
            >>> import libra, libra.example
            >>> release = libra.anonymize(libra.example.path(), mechanism="libra2022")
            >>> release.certificate()["guarantee"]["kind"]
            'claimed'
        """
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
            "randomness": SEEDED if self.seeded else SYSTEM,
        }

    @cached_property
    def _counted(self) -> dict[str, Any]:
        """The number of cases that delta is judged by, the ledger, and what the accountant makes of it at that delta."""
        if self.ledger is None or self.guarantee.delta is None:
            return {}
        return {"cases": self.log.n_cases} | counted(self.ledger, self.guarantee.delta)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the log, JSON-ready, for the custodian alone: it holds what the certificate withholds.

        Example:
            >>> import libra, libra.example
            >>> release = libra.anonymize(libra.example.path(), mechanism="libra2022")
            >>> sorted(release.to_dict()["released"])
            ['cases', 'events', 'variants']
        """
        released = {"cases": self.log.n_cases, "events": self.log.n_events, "variants": self.log.n_variants}
        return self.certificate() | {
            "document": "Libra release",
            "claimed": None if self.claimed is None else self.claimed.to_dict(),
            "released": released,
            "shortfall": self.shortfall,
            "confidential": dict(self.confidential),
        }

    def write(
        self,
        output: str | Path,
        *,
        certificate: str | Path | None = None,
        sign_key: str | Path | SecretKey | None = None,
        progress: Progress = no_progress,
    ) -> tuple[str, ...]:
        """Write the log and, where a name is given, the certificate that goes with it.

        Args:
            output: The file of the log; its name says the format.
            certificate: The file of the certificate.
            sign_key: A secret key to sign the certificate with, as `libra keygen` writes it: the signature goes beside the
                certificate, as certificate.json.minisig. Its password is taken from the variable LIBRA_KEY_PASSWORD.
            progress: Called with the events written and the events in all.

        Returns:
            Notes on what the format of the log could not keep.

        Raises:
            InputError: A file cannot be written, the key cannot be read, or this is no log that the mechanism makes.
            UsageError: There is a key, and no certificate to sign.

        Example:
            >>> import libra, libra.example, tempfile
            >>> release = libra.anonymize(libra.example.path(), mechanism="libra2022")
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     _ = release.write(Path(folder) / "log.csv", certificate=Path(folder) / "certificate.json")
            ...     sorted(file.name for file in Path(folder).iterdir())
            ['certificate.json', 'log.csv']
        """
        from libra.certificate.document import write_certificate
        from libra.certificate.signing import secret_key
        from libra.eventlog.write import write
        from libra.targets import check_certificate, check_target

        if certificate is None and sign_key is not None:
            raise UsageError("sign_key signs the certificate. Say where it goes: certificate=FILE.")
        if self.writer is None:
            check_target(self.log, output)
        else:
            self.writer.check(output)
        key = None if sign_key is None else secret_key(sign_key)
        if certificate is not None:
            check_certificate(self.log, output, certificate, signed=key is not None)
            self._refuse_other_log(certificate)
        notes = (self.writer or write)(self.log, output, progress)
        if certificate is not None:
            write_certificate(self.certificate(), Path(output), Path(certificate), key)
        return notes

    def _refuse_other_log(self, certificate: str | Path) -> None:
        """Refuse to certify a log that was put in the place of the released one; one in parts is made as it is written."""
        from libra.certificate.content import content_of_log
        from libra.eventlog.in_parts import LogInParts
        from libra.mechanisms.mechanism import HOMES

        if self.mechanism not in HOMES or isinstance(self.log, LogInParts):
            return
        problems = list(content_of_log(self.certificate(), self.log))
        if problems:
            what = f"this log is not one that {self.mechanism} makes, so it is not certified: {problems[0]}"
            raise InputError(
                what, place=str(certificate), remedy="Write the release as it was made, or leave out the certificate"
            )


def counted(ledger: Ledger, delta: float) -> dict[str, Any]:
    """The fields `ledger`, `subsampling` and `spent` of a certificate: the entries, and what they come to at a delta.

    Example:
        >>> from libra.privacy.ledger import ROUNDED_GAUSSIAN, Entry, Ledger
        >>> made = counted(Ledger((Entry("edges", ROUNDED_GAUSSIAN, 1.0, 4.0),)), delta=1e-5)
        >>> made["spent"]["mu"], round(made["spent"]["epsilon"], 2)
        (0.25, 0.93)
    """
    from libra.privacy.accounting import epsilon_of_ledger

    plain = ledger.to_dict()
    return plain | {"spent": {"epsilon": epsilon_of_ledger(ledger, delta), "delta": delta} | plain["spent"]}
