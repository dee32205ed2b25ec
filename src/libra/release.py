"""A release as `libra.anonymize` gives it: what a mechanism made, and how it is written, certified and shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from libra.certificate.content import content_of_log
from libra.certificate.document import check_certificate, write_certificate
from libra.certificate.minisign import SecretKey
from libra.certificate.signing import secret_key
from libra.errors import InputError, UsageError
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.options import Progress, ReadOptions, no_progress
from libra.eventlog.read import read
from libra.eventlog.write import write
from libra.mechanisms import release as made
from libra.mechanisms.mechanism import HOMES
from libra.targets import check_target

if TYPE_CHECKING:
    from libra.api import Source
    from libra.reporting.page import Report


class LogWriter(Protocol):
    """Writes a log somewhere else than in this process."""

    def check(self, output: str | Path) -> None:
        """Refuse what it cannot write to."""

    def __call__(self, log: EventLog, output: str | Path, progress: Progress) -> tuple[str, ...]:
        """Write the log, whole or not at all, and say what could not be kept."""


@dataclass(frozen=True, eq=False)
class Release(made.Release):
    """An anonymized log and what is to be said about it; all other attributes are those of `libra.mechanisms.release.Release`.

    Attributes:
        roles: Which column of the source was taken for what.
        reading: What is worth knowing about how the source was read, such as a value that was left out. Confidential.
        writer: Writes the log where it is made, in place of this process.
        original: The log that it was made from, for `report` alone. Neither it nor how it was read goes along when a release is
            pickled or copied.

    Example:
        >>> import libra, libra.example
        >>> release = libra.anonymize(libra.example.path(), mechanism="libra2022")
        >>> release.guarantee.kind, release.shortfall, sorted(release.to_dict()["released"])
        ('claimed', None, ['cases', 'events', 'variants'])
    """

    roles: tuple[FoundRole, ...] = field(default=(), repr=False)
    reading: tuple[str, ...] = field(default=(), repr=False)
    writer: LogWriter | None = field(default=None, repr=False)
    original: EventLog | None = field(default=None, repr=False)

    @classmethod
    def of(cls, release: made.Release, **more: Any) -> Release:
        """What a mechanism gave back, with more or other fields."""
        return cls(**({one.name: getattr(release, one.name) for one in fields(release)} | more))

    def __getstate__(self) -> dict[str, Any]:
        """All but the original and how it was read: a file made of a release holds nothing raw."""
        return self.__dict__ | {"original": None, "reading": (), "roles": ()}

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
        from libra.reporting.build import draft_of_release

        given = self.original if original is None or public else read(original, ReadOptions())
        return draft_of_release(self, given, public=public, reading=self.reading).report()

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
        if self.mechanism not in HOMES or isinstance(self.log, LogInParts):
            return
        problems = list(content_of_log(self.certificate(), self.log))
        if problems:
            what = f"this log is not one that {self.mechanism} makes, so it is not certified: {problems[0]}"
            raise InputError(
                what, place=str(certificate), remedy="Write the release as it was made, or leave out the certificate"
            )
