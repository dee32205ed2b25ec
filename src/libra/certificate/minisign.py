"""Signatures in the format of minisign: Ed25519 keys, and detached signatures of a file with a comment that is signed as well.

A signature is over the BLAKE2b hash of the bytes ("ED"); the older form over the bytes themselves ("Ed") is accepted. Text that
is not exactly of the format is refused: but for the first line, a comment that nobody signs, a signature file cannot be changed
by a byte and still hold. See https://jedisct1.github.io/minisign/.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import io
import secrets
from dataclasses import dataclass, field

ED25519, PREHASHED = b"Ed", b"ED"
SCRYPT, NO_PASSWORD, BLAKE2B = b"Sc", b"\0\0", b"B2"
UNTRUSTED, TRUSTED = "untrusted comment: ", "trusted comment: "
NUMBER, SEED, PUBLIC, CHECKSUM, SALT, LIMIT, SIGNATURE = 8, 32, 32, 32, 32, 8, 64  # bytes
LOCKED = NUMBER + SEED + PUBLIC + CHECKSUM  # what a password encrypts
LONGEST_COMMENT = 8000  # bytes; minisign reads 8,192 with what stands before

# What guessing a password costs, as libsodium says it: 128 MB and a third of a second (minisign writes 1 GB and reads any).
OPERATIONS, MEMORY = 2**22, 2**27
MOST_MEMORY = 2**30  # of a key that we read: as much as minisign ever asks for
FEWEST_OPERATIONS = 32_768
BLOCK = 8  # scrypt's r


class MalformedError(Exception):
    """A text is not of the format; its message says what is wrong, to follow the words "it has" or the name of the file."""


class WrongPasswordError(Exception):
    """The password is not the one of this key."""


@dataclass(frozen=True)
class PublicKey:
    """What checks signatures; it may be published. `number` are eight random bytes that tell keys apart."""

    number: bytes
    key: bytes

    @property
    def id(self) -> str:
        """The number as minisign shows it."""
        return _shown(self.number)

    @property
    def line(self) -> str:
        """The key in one line, as `minisign -P` takes it."""
        return _encoded(ED25519 + self.number + self.key)

    def to_text(self) -> str:
        """The text of its file."""
        return f"{UNTRUSTED}minisign public key {self.id}\n{self.line}\n"

    @classmethod
    def from_line(cls, line: str) -> PublicKey:
        """The key in one line."""
        raw = _decoded(line, 2 + NUMBER + PUBLIC, "a public key")
        if raw[:2] != ED25519:
            raise MalformedError("a key of another kind than Ed25519")
        return cls(raw[2 : 2 + NUMBER], raw[2 + NUMBER :])

    @classmethod
    def from_text(cls, text: str) -> PublicKey:
        """The key in a file."""
        (line,) = _lines(text, 1, "a public key")
        return cls.from_line(line)


@dataclass(frozen=True)
class SecretKey:
    """What signs; its `seed` does not show when Python prints the key."""

    number: bytes
    seed: bytes = field(repr=False)

    @classmethod
    def new(cls) -> SecretKey:
        """A key of the operating system's randomness."""
        return cls(secrets.token_bytes(NUMBER), secrets.token_bytes(SEED))

    @property
    def public(self) -> PublicKey:
        """The key that checks what this one signs."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return PublicKey(self.number, Ed25519PrivateKey.from_private_bytes(self.seed).public_key().public_bytes_raw())

    def sign(self, content: bytes, comment: str) -> str:
        """The text of a signature file; the comment, one line, is signed together with the signature."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        key = Ed25519PrivateKey.from_private_bytes(self.seed)
        signature = key.sign(hashlib.blake2b(content).digest())
        first = f"{UNTRUSTED}signature by key {self.public.id}\n{_encoded(PREHASHED + self.number + signature)}\n"
        return f"{first}{TRUSTED}{comment}\n{_encoded(key.sign(signature + comment.encode()))}\n"

    def to_text(self, password: str | None) -> str:
        """The text of its file, encrypted with a password unless that is None."""
        unlocked = self.number + self.seed + self.public.key
        if password is None:  # as minisign -W writes it
            raw = ED25519 + NO_PASSWORD + BLAKE2B + bytes(SALT + 2 * LIMIT) + unlocked + bytes(CHECKSUM)
            return f"{UNTRUSTED}minisign secret key\n{_encoded(raw)}\n"
        salt = secrets.token_bytes(SALT)
        limits = OPERATIONS.to_bytes(LIMIT, "little") + MEMORY.to_bytes(LIMIT, "little")
        locked = _crossed(unlocked + _checksum(unlocked), _stretched(password, salt, OPERATIONS, MEMORY))
        return f"{UNTRUSTED}minisign encrypted secret key\n{_encoded(ED25519 + SCRYPT + BLAKE2B + salt + limits + locked)}\n"

    @classmethod
    def from_text(cls, text: str, password: str | None) -> SecretKey:
        """The key in a file; `needs_password` says whether it takes a password. Another one is a `WrongPasswordError`."""
        kind, salt, operations, memory, locked = _parts(text)
        if kind == NO_PASSWORD:
            return cls._checked(locked[:-CHECKSUM])
        if memory > MOST_MEMORY or operations > MOST_MEMORY:
            raise MalformedError("limits that would take more memory or time than minisign ever asks for")
        crossed = _crossed(locked, _stretched(password or "", salt, operations, memory))
        unlocked, checksum = crossed[:-CHECKSUM], crossed[-CHECKSUM:]
        if not hmac.compare_digest(checksum, _checksum(unlocked)):
            raise WrongPasswordError
        return cls._checked(unlocked)

    @classmethod
    def _checked(cls, unlocked: bytes) -> SecretKey:
        """The key, if its two halves belong together: signing with others could give the secret away."""
        key = cls(unlocked[:NUMBER], unlocked[NUMBER : NUMBER + SEED])
        if key.public.key != unlocked[NUMBER + SEED :]:
            raise MalformedError("halves that do not belong together: it is damaged")
        return key


@dataclass(frozen=True)
class Signature:
    """A detached signature by key `number`; `everything` is the signature of signature and comment together."""

    number: bytes
    prehashed: bool
    signature: bytes
    comment: str
    everything: bytes

    @property
    def id(self) -> str:
        """The number of the key as minisign shows it. Only a check with the key tells whether it is by that key."""
        return _shown(self.number)

    @classmethod
    def from_text(cls, text: str) -> Signature:
        """The signature in a file; text that is none is a `MalformedError`."""
        line, comment, everything = _lines(text, 3, "a signature")
        raw = _decoded(line, 2 + NUMBER + SIGNATURE, "a signature")
        if raw[:2] not in (ED25519, PREHASHED):
            raise MalformedError("a signature of another kind than Ed25519")
        if not comment.startswith(TRUSTED):
            raise MalformedError("no trusted comment")
        signed = _decoded(everything, SIGNATURE, "a signature of its trusted comment")
        number, signature = raw[2 : 2 + NUMBER], raw[2 + NUMBER :]
        return cls(number, raw[:2] == PREHASHED, signature, comment.removeprefix(TRUSTED), signed)

    def why_invalid(self, content: bytes, key: PublicKey) -> str:
        """Why this is no signature of the content by the key; empty if it is one."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        if self.number != key.number:
            return f"the signature names key ID {self.id}, and the key given is {key.id}"
        try:
            checking = Ed25519PublicKey.from_public_bytes(key.key)
            checking.verify(self.signature, hashlib.blake2b(content).digest() if self.prehashed else content)
        except (InvalidSignature, ValueError):
            return "the signature is of other content, or by another key that has the same ID"
        try:
            checking.verify(self.everything, self.signature + self.comment.encode())
        except InvalidSignature:
            return "its trusted comment was changed after it was signed"
        return ""


def needs_password(text: str) -> bool:
    """Whether the secret key in a file is encrypted."""
    return _parts(text)[0] == SCRYPT


def _shown(number: bytes) -> str:
    return f"{int.from_bytes(number, 'little'):016X}"


def _parts(text: str) -> tuple[bytes, bytes, int, int, bytes]:
    """Of a secret key: how it is encrypted, salt, the two limits, and what is encrypted."""
    (line,) = _lines(text, 1, "a secret key")
    stream = io.BytesIO(_decoded(line, 6 + SALT + 2 * LIMIT + LOCKED, "a secret key"))
    algorithm, kind, checksum, salt = (stream.read(size) for size in (2, 2, 2, SALT))
    operations, memory = (int.from_bytes(stream.read(LIMIT), "little") for _ in range(2))
    if algorithm != ED25519 or checksum != BLAKE2B or kind not in (SCRYPT, NO_PASSWORD):
        raise MalformedError("a key of another kind than Ed25519, or encrypted in another way than with scrypt")
    return kind, salt, operations, memory, stream.read()


def _lines(text: str, count: int, what: str) -> list[str]:
    """The lines after the untrusted comment."""
    first, *rest = text.split("\n")
    if not first.startswith(UNTRUSTED) or len(rest) != count + 1 or rest[-1]:
        raise MalformedError(f"other lines than those of {what}")
    return rest[:-1]


def _decoded(line: str, size: int, what: str) -> bytes:
    try:
        raw = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if len(raw) != size or _encoded(raw) != line:  # the last character has bits that nobody reads
        raise MalformedError(f"other text where {what} should stand")
    return raw


def _encoded(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _checksum(unlocked: bytes) -> bytes:
    return hashlib.blake2b(ED25519 + unlocked, digest_size=CHECKSUM).digest()


def _crossed(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def _stretched(password: str, salt: bytes, operations: int, memory: int) -> bytes:
    """The stream that encrypts a key, from its password."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

    log_n, parallel = scrypt_parameters(operations, memory)
    return Scrypt(salt=salt, length=LOCKED, n=1 << log_n, r=BLOCK, p=parallel).derive(password.encode())


def scrypt_parameters(operations: int, memory: int) -> tuple[int, int]:
    """Scrypt's log2(N) and p for libsodium's limits; r is 8."""
    operations = max(operations, FEWEST_OPERATIONS)
    few = operations < memory // 32
    most_n = operations // (4 * BLOCK) if few else memory // (128 * BLOCK)
    log_n = min(max(most_n.bit_length() - 1, 1), 63)
    return log_n, 1 if few else max(1, min((operations // 4) >> log_n, 0x3FFFFFFF) // BLOCK)
