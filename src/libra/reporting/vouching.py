"""What a report may say of a promise, given who is known to make it.

In: a promise, what is known of the signature of its certificate, and who reads the page. Out: the promise in words that claim no
more than that. A certificate that is consistent could have been written by anyone. A page that others read, and one on a
certificate that nobody signed, says what the certificate says; that a log is protected, only a custodian is told who made the
release just now, or holds a key that they trust.
"""

from __future__ import annotations

from dataclasses import replace

from libra.certificate.signing import Vouched
from libra.reporting.promise import Promise

SAYS = "Its certificate says:"
ONLY_OWN = "Only if you made it yourself: the certificate is"
OWN = "If you wrote the certificate yourself, the log may go out with it under this guarantee, if what it assumes is true."
SIGN_IT = "Its certificate is not signed: libra anonymize --sign-key KEY signs it."


def with_signature(promise: Promise, signature: Vouched, *, made_here: bool, public: bool) -> Promise:
    """The promise with the verdict of the signature.

    Args:
        promise: What is promised.
        signature: What is known of the signature of the certificate.
        made_here: Whether the release was made just now, in this process.
        public: Whether others read the page.

    Example:
        >>> import libra, libra.example
        >>> from libra.reporting.promise import promise_of
        >>> promise = promise_of(libra.anonymize(libra.example.path()).certificate())
        >>> with_signature(promise, Vouched(), made_here=False, public=True).bare
        'Consistent, not signed'
        >>> with_signature(promise, Vouched(), made_here=False, public=False).answer
        'Only if you made it yourself: the certificate is consistent, not signed'
        >>> with_signature(promise, Vouched(), made_here=True, public=False).answer
        'Yes: protected by a strong, proved guarantee'
    """
    verdict = signature.said if signature.signed else f"consistent, {signature.said}"
    verdict = f"{verdict[0].upper()}{verdict[1:]}"
    told = f"{verdict}. {signature.meaning}"
    if made_here and not public:
        told = SIGN_IT if signature.key_id is None else f"Its certificate is signed by key ID {signature.key_id}."
    if not promise.holds:
        return replace(promise, signature=told if promise.standing in ("weak", "claimed") else "")
    known = made_here or signature.signed
    if known and not public:
        return replace(promise, signature=told)
    return replace(
        promise,
        standing="proved" if known else "unsigned",
        tone=promise.tone if signature.signed else "none",
        answer=verdict if public else f"{ONLY_OWN} {verdict[0].lower()}{verdict[1:]}",
        said=verdict,
        sentence=f"{SAYS} {promise.answer.partition(': ')[2]}. {promise.sentence}",
        advice=promise.advice if known else OWN,
        signature=signature.meaning,
    )
