"""The certificate that a report goes by: read with suspicion, and checked as far as can be.

In: a file or a document, and the released file where there is one. Out: the document, None where its form is not that of a
certificate, and what checking it gave.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from libra.certificate.canonical import CHECKSUM
from libra.certificate.check import Verification
from libra.certificate.document import DOCUMENT, FORMAT, read_certificate
from libra.certificate.schema import why_invalid
from libra.certificate.verify import self_checks, verify
from libra.errors import InputError, UsageError

OF_A_FILE = {"format": FORMAT, "output": {"file": "log.csv", "bytes": 0, "sha256": "0" * 64}, CHECKSUM: "0" * 64}
WITHOUT_FILE = "The certificate was checked for itself, and not against a file."


def certificate_of(
    certificate: str | Path | Mapping[str, Any], released: Path | None
) -> tuple[dict[str, Any] | None, Verification | None]:
    """The document of a certificate and whether it holds.

    A file is verified together with the released one, where that is a file as well. A document that never was a file, such as
    `release.certificate()` gives, is taken as it is, if its form is right.

    Raises:
        InputError: It cannot be read, or is no certificate.

    Example:
        >>> import libra, libra.example
        >>> document, checked = certificate_of(libra.anonymize(libra.example.path()).certificate(), None)
        >>> document["document"], checked
        ('Libra certificate', None)
    """
    if not isinstance(certificate, str | Path | Mapping):
        raise UsageError(f"certificate is a file or what release.certificate() gives, not {certificate!r}.")
    if isinstance(certificate, Mapping):
        document = dict(certificate)
        if CHECKSUM in document:
            return _checked(document)
        if document.get("document") != DOCUMENT or (wrong := why_invalid(OF_A_FILE | document)):
            why = wrong if document.get("document") == DOCUMENT else "it does not say that it is one"
            raise InputError(f"this is not a certificate ({why})", place="certificate", remedy="Give release.certificate()")
        return document, None
    document = read_certificate(Path(certificate))
    if released is None:
        return _checked(document)
    verification = verify(Path(certificate), released)
    return (document if verification.checks[0].ok else None), verification


def _checked(document: dict[str, Any]) -> tuple[dict[str, Any] | None, Verification]:
    try:
        checks = tuple(self_checks(document))
    except (TypeError, ValueError) as error:  # a value that JSON does not have, such as NaN
        raise InputError("this is not a certificate", place="certificate", remedy="Give release.certificate()") from error
    return (document if checks[0].ok else None), Verification(checks, WITHOUT_FILE, promised=False)
