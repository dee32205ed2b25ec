"""The certificate that a report goes by: read with suspicion, and checked as far as can be.

In: a file or a document, and the released file where there is one. Out: `Checked`. A certificate is tied to a log by the file's
fingerprint alone: where there is no file to compare, whatever it promises is promised of some log, and not of this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libra.certificate.canonical import CHECKSUM, checksum
from libra.certificate.check import Verification
from libra.certificate.document import DOCUMENT, FORMAT, read_certificate
from libra.certificate.verify import self_checks, verify_document
from libra.errors import InputError, UsageError

OF_A_FILE = {"format": FORMAT, "output": {"file": "log.csv", "bytes": 0, "sha256": "0" * 64}}
REMEDY = "Give the file that --certificate wrote, or what release.certificate() gives"


@dataclass(frozen=True)
class Checked:
    """A certificate, what checking it gave, and whether a file was compared with it."""

    document: Mapping[str, Any]
    verification: Verification
    tied: bool


def certificate_of(certificate: str | Path | Mapping[str, Any], released: Path | None) -> Checked:
    """Read and check a certificate, with the released file where it is one.

    Raises:
        InputError: It cannot be read, or is no certificate.

    Example:
        >>> import libra, libra.example
        >>> checked = certificate_of(libra.anonymize(libra.example.path()).certificate(), None)
        >>> checked.verification.ok, checked.tied
        (True, False)
    """
    if not isinstance(certificate, str | Path | Mapping):
        raise UsageError(f"certificate is a file or what release.certificate() gives, not {certificate!r}.")
    if isinstance(certificate, Mapping):
        document, place = dict(certificate), "certificate"
        if document.get("document") != DOCUMENT:
            raise InputError("this is not a certificate: it does not say that it is one", place=place, remedy=REMEDY)
    else:
        document, place = read_certificate(Path(certificate)), str(certificate)
    tied = released is not None and CHECKSUM in document
    try:
        if released is not None and tied:
            verification = verify_document(document, released)
        else:
            verification = Verification(tuple(self_checks(_as_of_a_file(document))), "", promised=False)
    except (TypeError, ValueError, RecursionError) as error:  # a value that JSON does not have, such as NaN
        raise InputError("this is not a certificate: it holds what JSON cannot", place=place, remedy=REMEDY) from error
    return Checked(document, verification, tied)


def _as_of_a_file(document: dict[str, Any]) -> dict[str, Any]:
    """A document that never was a file, as if it had been written: all but that can be checked."""
    if CHECKSUM in document:
        return document
    complete = OF_A_FILE | document
    return complete | {CHECKSUM: checksum(complete)}
