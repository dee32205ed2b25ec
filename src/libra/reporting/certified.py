"""The certificate that a report goes by: read with suspicion, and checked as far as can be.

In: a file or a document, and the released file where there is one. Out: `Checked`. A certificate is tied to a log by the file's
fingerprint alone: where there is no file to compare, whatever it promises is promised of some log, and not of this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from libra.certificate.check import RANDOMNESS, Verification
from libra.certificate.content import content_check, content_of_log
from libra.certificate.document import CHECKSUM, FORMAT, certificate_bytes, checksum, parsed_certificate
from libra.certificate.minisign import PublicKey
from libra.certificate.signing import Vouched, vouched
from libra.certificate.verify import self_checks, verify_document
from libra.errors import InputError, UsageError
from libra.mechanisms.mechanism import HOMES
from libra.mechanisms.release import DOCUMENT

if TYPE_CHECKING:
    from libra.mechanisms.release import Release

OF_A_FILE = {"format": FORMAT, "output": {"file": "log.csv", "bytes": 0, "sha256": "0" * 64}}
REMEDY = "Give the file that --certificate wrote, or what release.certificate() gives"


@dataclass(frozen=True)
class Checked:
    """A certificate, what checking it gave, whether a file was compared with it, and what is known of its signature."""

    document: Mapping[str, Any]
    verification: Verification
    tied: bool
    signature: Vouched


def certificate_of(certificate: str | Path | Mapping[str, Any], released: Path | None, key: PublicKey | None = None) -> Checked:
    """Read and check a certificate, with the released file where it is one, and with the key of its custodian where it is given.

    Raises:
        InputError: It cannot be read, or is no certificate.
        UsageError: It is neither a file nor a document, or there is a key for what is no file.

    Example:
        >>> import libra, libra.example
        >>> checked = certificate_of(libra.anonymize(libra.example.path()).certificate(), None)
        >>> checked.verification.ok, checked.tied
        (True, False)
    """
    if not isinstance(certificate, str | Path | Mapping):
        raise UsageError(f"certificate is a file or what release.certificate() gives, not {certificate!r}.")
    if isinstance(certificate, Mapping):
        if key is not None:
            raise UsageError("A signature is of a file: give the certificate as a file, or leave out the key.")
        document, place, signature = dict(certificate), "certificate", Vouched()
        if document.get("document") != DOCUMENT:
            raise InputError("this is not a certificate: it does not say that it is one", place=place, remedy=REMEDY)
    else:
        place, raw = str(certificate), certificate_bytes(Path(certificate))
        document, signature = parsed_certificate(Path(certificate), raw), vouched(raw, Path(certificate), key)
    tied = released is not None and CHECKSUM in document
    try:
        if released is not None and tied:
            verification = verify_document(document, released, signature)
        else:
            checks = (*([signature.check] if signature.check else []), *self_checks(_as_of_a_file(document)))
            verification = Verification(checks, "", promised=False)
    except (TypeError, ValueError, RecursionError) as error:  # a value that JSON does not have, such as NaN
        raise InputError("this is not a certificate: it holds what JSON cannot", place=place, remedy=REMEDY) from error
    return Checked(document, verification, tied, signature)


def verification_of(release: Release) -> Verification | None:
    """What does not hold of a release at hand, such as one whose log was replaced; None where there is nothing to say.

    Of mechanisms of other packages nothing is known here.

    Example:
        >>> import libra, libra.example
        >>> from dataclasses import replace
        >>> release = libra.anonymize(libra.example.path())
        >>> verification_of(release), verification_of(replace(release, log=release.original)).ok
        (None, False)
    """
    if release.mechanism not in HOMES:
        return None
    document = _as_of_a_file(release.certificate())
    checks = (*self_checks(document), content_check(content_of_log(document, release.log)))
    return None if all(check.ok or check.name == RANDOMNESS for check in checks) else Verification(checks, "", promised=False)


def _as_of_a_file(document: dict[str, Any]) -> dict[str, Any]:
    """A document that never was a file, as if it had been written: all but that can be checked."""
    if CHECKSUM in document:
        return document
    complete = OF_A_FILE | document
    return complete | {CHECKSUM: checksum(complete)}
