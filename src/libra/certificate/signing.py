"""Who vouches for a certificate: key files and their passwords, and the signature that lies beside a certificate.

A signature is by whoever has the secret key. It says that they vouch for the certificate, and through the SHA-256 in it for the
released file. It does not say how the file was made.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from libra._system.files import atomic_output
from libra.certificate import minisign
from libra.certificate.check import SIGNATURE, Check
from libra.certificate.minisign import MalformedError, PublicKey, SecretKey, Signature, WrongPasswordError, needs_password
from libra.errors import InputError, UsageError
from libra.eventlog.files import open_input
from libra.targets import check_writable

ENDING = ".minisig"  # of a signature, after the name of what is signed
PASSWORD = "LIBRA_KEY_PASSWORD"  # noqa: S105  # the name of a variable
LARGEST = 20_000  # bytes of a key or signature file
WRITES = "Give a key that libra keygen or minisign -G wrote"
NO_PASSWORD = f"Set {PASSWORD}, or run this on a terminal, where it is asked for"
ANYONE = "Anyone could have written this certificate: only a signature by a key that you trust ties it to its custodian."
GIVE_KEY = "Give --key with the public key of its custodian to check it."
NOT_FROM_CUSTODIAN = "Nothing shows that this certificate is from whoever has that key. Do not rely on it."


@dataclass(frozen=True)
class Vouched:
    """What is known of the signature of a certificate."""

    key_id: str | None = None  # of the key that the signature says it is by; None if there is no signature
    check: Check | None = None  # what checking it with a key gave; None if no key was given
    stray: str = ""  # the name of a file that lies where the signature should, and is none

    @property
    def signed(self) -> bool:
        """Whether it is signed by the key that was given."""
        return self.check is not None and self.check.ok

    @property
    def said(self) -> str:
        """The same in a few words."""
        if self.signed:
            return f"signed by key ID {self.key_id}"
        if self.check is not None:
            return "not signed by the key given"
        return "not signed" if self.key_id is None else f"signed by key ID {self.key_id}, not checked"

    @property
    def meaning(self) -> str:
        """What follows for whoever relies on the certificate, in a sentence; empty where a check that fails says it."""
        if self.signed:
            return "Whoever has that key vouches for it."
        if self.check is not None:
            return ""
        if self.stray:
            return f"{ANYONE} The file {self.stray} beside it is no signature."
        return ANYONE if self.key_id is None else f"{ANYONE} {GIVE_KEY}"


def vouched(content: bytes, certificate: Path, key: PublicKey | None) -> Vouched:
    """What is known of the signature beside a certificate that has this content, and what a key makes of it."""
    beside = signature_of(certificate)
    try:
        found, why = Signature.from_text(_text(beside)), ""
    except MalformedError as error:
        found, why = None, f"{beside.name} has {error}"
    except InputError as error:
        found, why = None, f"there is no signature {beside.name}" if not beside.exists() else f"{beside.name} {error.what}"
    if key is None:
        return Vouched(found.id) if found is not None else Vouched(stray=beside.name if beside.exists() else "")
    if found is not None:
        why = found.why_invalid(content, key)
    if found is None or why:
        named = found is not None and found.id != key.id  # then the reason names both keys
        told = f"{why[0].upper()}{why[1:]}." if named else f"It is not signed by key ID {key.id}: {why}."
        return Vouched(None if found is None else found.id, Check(SIGNATURE, False, told, NOT_FROM_CUSTODIAN))
    comment = found.comment.replace("\t", ", ")
    return Vouched(found.id, Check(SIGNATURE, True, f"It is signed by key ID {key.id} ({comment})."))


def signature_of(certificate: str | Path) -> Path:
    """Where the signature of a certificate lies."""
    path = Path(certificate)
    return path.with_name(path.name + ENDING)


def signature_text(key: SecretKey, content: bytes, certificate: Path) -> str:
    """The signature file of a certificate with this content; its comment has the day and the name of the file."""
    name = "".join(letter if letter.isprintable() else "?" for letter in certificate.name)
    said = f"date:{datetime.now(UTC).date().isoformat()}\tfile:{name.encode(errors='replace').decode()}"
    return key.sign(content, said.encode()[: minisign.LONGEST_COMMENT].decode(errors="ignore"))


def public_key(given: str | Path) -> PublicKey:
    """The public key in a file, or in one line as `minisign -P` takes it."""
    if not isinstance(given, str | Path):
        raise UsageError(f"key has to be the file of a public key, or its line of text, not {given!r}.")
    with contextlib.suppress(MalformedError):
        return PublicKey.from_line(str(given))
    try:
        return PublicKey.from_text(_text(Path(given)))
    except MalformedError as error:
        secret = False
        with contextlib.suppress(MalformedError, InputError):
            needs_password(_text(Path(given)))
            secret = True
        what = "this is a secret key, and the public one is needed" if secret else f"this is no public key: it has {error}"
        remedy = "Give the .pub file that was written with it" if secret else WRITES
        raise InputError(what, place=str(given), remedy=remedy) from error


def secret_key(given: str | Path | SecretKey, ask: Callable[[], str] | None = None) -> SecretKey:
    """The secret key in a file, its password from LIBRA_KEY_PASSWORD or asked for by `ask`; a key is given back as it is."""
    if isinstance(given, SecretKey):
        return given
    if not isinstance(given, str | Path):
        raise UsageError(f"sign_key has to be the file of a secret key, not {given!r}.")
    path, text = str(given), _text(Path(given))
    try:
        password = os.environ.get(PASSWORD)
        if needs_password(text) and password is None:
            if ask is None:
                raise UsageError(f"{path}: this key is encrypted with a password. {NO_PASSWORD}.")
            password = ask()
        return SecretKey.from_text(text, password)
    except WrongPasswordError as error:
        raise InputError("the password is not the one of this key", place=path, remedy="Try again") from error
    except MalformedError as error:
        raise InputError(f"this is no secret key: it has {error}", place=path, remedy=WRITES) from error
    except MemoryError as error:
        raise InputError("there is not enough memory to decrypt this key", place=path, remedy="Use a bigger machine") from error


def others_may_read(path: Path) -> bool:
    """Whether a file can be read by others than its owner; on Windows, where the mode does not tell, never."""
    return os.name == "posix" and bool(path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH))


def check_new_keys(path: Path) -> None:
    """Refuse a name under which keys cannot be written, or are already."""
    for target in (path, public_name(path)):
        if os.path.lexists(target):
            raise InputError("this file exists, and keys are never overwritten", place=str(target), remedy="Name another one")
        check_writable("", target, "key")


def public_name(path: Path) -> Path:
    """The name of the public key that goes with a secret one."""
    return path.with_name(f"{path.name}.pub")


def write_keys(path: Path, password: str | None) -> PublicKey:
    """Write a new pair of keys, both or none: the secret one, readable for its owner alone, and the public one beside it."""
    check_new_keys(path)
    key, public = SecretKey.new(), public_name(path)
    try:
        with atomic_output(path, private=True) as secret, atomic_output(public) as published:
            secret.write(key.to_text(password).encode())
            published.write(key.public.to_text().encode())
    finally:
        if not path.exists():
            public.unlink(missing_ok=True)
    return key.public


def _text(path: Path) -> str:
    with open_input(path, "none") as stream:
        raw = stream.read(LARGEST + 1)
    try:
        return raw.decode() if len(raw) <= LARGEST else ""
    except UnicodeDecodeError:
        return ""
