"""A release as `libra.anonymize` gives it: what a mechanism made, and how it is written, certified and shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from libra.targets import after_writing, check_inputs_stay, check_target

if TYPE_CHECKING:
    from libra.api import Source
    from libra.engines.spark.writing import SparkWriter
    from libra.reporting.page import Report


@dataclass(frozen=True, eq=False)
class Release(made.Release):
    """An anonymized log and what is to be said about it; all other attributes are those of `libra.mechanisms.release.Release`.

    `roles` and `reading` say how the source was read (which column was taken for what, a value that was left out): confidential.
    `original` is the log that it was made from, for `report` alone. None of these goes along when a release is pickled or copied.
    `writer` writes the log where it is made, in place of this process.

    Example:
        >>> import libra, libra.example
        >>> release = libra.anonymize(libra.example.path(), mechanism="libra2022")
        >>> release.guarantee.kind, release.shortfall, sorted(release.to_dict()["released"])
        ('claimed', None, ['cases', 'events', 'variants'])
    """

    roles: tuple[FoundRole, ...] = field(default=(), repr=False)
    reading: tuple[str, ...] = field(default=(), repr=False)
    writer: SparkWriter | None = field(default=None, repr=False)
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

        The page compares with the original (give it if the release does not know it any more) and is CONFIDENTIAL; with
        `public=True` it has only what is released, for whoever gets the log.

        Example:
            >>> import libra, libra.example
            >>> page = libra.anonymize(libra.example.path()).report(public=True)
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
        """Write the log and, if a name is given, its certificate; returns notes on what the format of the log could not keep.

        `sign_key` is a secret key to sign the certificate with, as `libra keygen` writes it: the signature goes beside it, as
        certificate.json.minisig. Its password is taken from the variable LIBRA_KEY_PASSWORD. `progress` is called with the
        events written and the events in all. What cannot be written, or is no log that the mechanism makes, is a `LibraError`.

        Example:
            >>> import libra, libra.example, tempfile
            >>> target = f"{tempfile.mkdtemp()}/log.csv"
            >>> _ = libra.anonymize(libra.example.path(), mechanism="libra2022").write(target)
            >>> libra.read(target).n_cases > 0
            True
        """
        if certificate is None and sign_key is not None:
            raise UsageError("sign_key needs certificate=FILE.")
        if self.writer is None:
            check_target(self.log, output)
        else:
            self.writer.check(output)
        check_inputs_stay({"secret key": sign_key}, {"output": output, "certificate": certificate})
        key = None if sign_key is None else secret_key(sign_key)
        if certificate is not None:
            check_certificate(self.log, output, certificate, signed=key is not None)
            in_parts = isinstance(self.log, LogInParts)  # made as it is written: nobody could put another in its place
            problems = [] if in_parts or self.mechanism not in HOMES else list(content_of_log(self.certificate(), self.log))
            if problems:
                what = f"this log is not one that {self.mechanism} makes, so it is not certified: {problems[0]}"
                remedy = "Write the release as it was made, or leave out the certificate"
                raise InputError(what, place=str(certificate), remedy=remedy)
        notes = (self.writer or write)(self.log, output, progress)
        if certificate is not None:
            with after_writing(output, "certificate"):
                write_certificate(self.certificate(), Path(output), Path(certificate), key)
        return notes
