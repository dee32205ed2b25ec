"""Signatures in the format of minisign: ours and its own, keys with and without a password, every byte changed."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

import libra
from libra import example
from libra.certificate.document import write_certificate
from libra.certificate.minisign import (
    MEMORY,
    OPERATIONS,
    MalformedError,
    PublicKey,
    SecretKey,
    Signature,
    WrongPasswordError,
    needs_password,
    scrypt_parameters,
)
from libra.certificate.signing import others_may_read, public_key, secret_key, signature_of, write_keys
from libra.certificate.verify import verify
from libra.errors import InputError, UsageError

# All of this was written by minisign 0.11, for these tests.
CONTENT = b"hello\n"
PUBLIC = "untrusted comment: minisign public key CC9458C3917C14E3\nRWTjFHyRw1iUzN1rPEtW1GmH4cUhvfQXbOWGg1bXVJoaGZC4F3v5eKGR\n"
SECRET = (
    "untrusted comment: minisign encrypted secret key\n"
    "RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA4xR8kcNYlMx1bLH8IsStgi1mco7gZ2VVPcsgjywMpCU0u4w49ikOOd1rPEtW1GmH4cUhvfQXbOWGg1bXVJoaGZC4F3v5eKGRAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
)
HASHED = (
    "untrusted comment: signature from minisign secret key\n"
    "RUTjFHyRw1iUzDROSvpOvn6Uwe0bvJaXzJnTGO7/jhQC+tt/hGtqG8GwXzr/r3AhpbiRvFf6iFYOcAW/mk6qFDHs+JRtMD1WEwo=\n"
    "trusted comment: timestamp:1794821778\tfile:f.txt\thashed\n"
    "giEttjzhLb+58VRfhGUW5ZXiuSN1/dXn0cxb5oF71O08PHdn09xFoV+MqvTdmeLWPpGl8X3jvjzFskqdG+yDBw==\n"
)
LEGACY = (
    "untrusted comment: signature from minisign secret key\n"
    "RWTjFHyRw1iUzNHyTFPXz7WJZubanw7/dSwIznJnhzGKwKktW76j0EKDk36Ureih9afObfMAJGs6u8wHTPIzln2wYKcCcq5N8g8=\n"
    "trusted comment: timestamp:1794820351\tfile:f.txt\n"
    "Z9zq18H2UklMxWvTDp0z0eZJ8ZLWtUXFUVIlatP+QxYYo3JImRa3mTYfZDWw59hxae42Yzs1DscnnNLDe3K4Aw==\n"
)
PASSWORD = "secret"
ENCRYPTED = (
    "untrusted comment: minisign encrypted secret key\n"
    "RWRTY0Iy+a8DgZy8VH1J99YMdiK+IiAtIg0Nq1PDWH2B6NBydt8AAAACAAAAAAAAAEAAAAAAPN2ObAbDuU8DOeNQtSEhui3MK2iMDSY4uldKfVQcWgjB8E5PTXozczy2UN2HmfUwmQJVyx8K8AJEIPxBYqsgdsZpk7dJvMB6+s7cDX5RBye8sh0HXwy8SXJyr2W6PrqiyogixzOlcQE=\n"
)
ITS_PUBLIC = "untrusted comment: minisign public key AC1A2A6661DB0EA1\nRWShDtthZioarH7qmZ41fvKiMbo5uTr8bKHg3GBPdmqKst2ro9PyIHSf\n"
ITS_SIGNATURE = (
    "untrusted comment: signature from minisign secret key\n"
    "RUShDtthZioarEaOhcwoXiNWCo6SrMpBIPXmOuhLx8jZxONlKOpRwpAUd4wuf6LvTy5r7Bs1e8o8fbRAi3owAVDG50IWmFD2gg0=\n"
    "trusted comment: trusted words\n"
    "eE+kpx/RcVzuKBfgNqm7a29fiGlkeTf0/4W3kRQ4BNLebvW1xrtikUHaMHuKX+STNXVp2YLqovSgFd3PVzqPDg==\n"
)


@pytest.fixture
def minisign() -> str:
    """The real one, as `make test` installs it; tests that need it are skipped where it is absent."""
    found = shutil.which("minisign")
    if found is None:
        pytest.skip("there is no minisign here: make minisign installs it")
    return found


@pytest.fixture
def signed(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A certificate with its signature, the log that it is about, and the public key."""
    write_keys(tmp_path / "hospital", None)
    certificate, log = tmp_path / "certificate.json", tmp_path / "log.csv"
    release = libra.anonymize(example.path(), mechanism="libra", cases=200)
    release.write(log, certificate=certificate, sign_key=tmp_path / "hospital")
    return certificate, log, tmp_path / "hospital.pub"


def why(signature: str, content: bytes = CONTENT, key: str = PUBLIC) -> str:
    """Why a signature is none, the form of its file included; empty if it is one."""
    try:
        return Signature.from_text(signature).why_invalid(content, PublicKey.from_text(key))
    except MalformedError as error:
        return str(error)


def test_keys_and_signatures_of_minisign_are_read() -> None:
    assert PublicKey.from_text(PUBLIC).to_text() == PUBLIC
    assert SecretKey.from_text(SECRET, None).public == PublicKey.from_text(PUBLIC)
    assert not needs_password(SECRET)
    assert (why(HASHED), why(LEGACY)) == ("", "")
    assert Signature.from_text(HASHED).prehashed
    assert not Signature.from_text(LEGACY).prehashed
    assert why(ITS_SIGNATURE, key=ITS_PUBLIC) == ""


def test_an_encrypted_key_of_minisign_is_read_with_its_password() -> None:
    assert needs_password(ENCRYPTED)
    assert SecretKey.from_text(ENCRYPTED, PASSWORD).public == PublicKey.from_text(ITS_PUBLIC)


def test_the_same_key_signs_the_same_content_alike() -> None:
    ours = SecretKey.from_text(SECRET, None).sign(CONTENT, Signature.from_text(HASHED).comment)
    assert ours.splitlines()[1:] == HASHED.splitlines()[1:]


@pytest.mark.parametrize("password", [None, "secret", "pässwörd ☂"])
def test_keys_come_back_as_they_were_written(password: str | None) -> None:
    key = SecretKey.new()
    text = key.to_text(password)
    assert needs_password(text) == (password is not None)
    assert SecretKey.from_text(text, password) == key
    assert "seed" not in repr(key)
    if password is not None:
        with pytest.raises(WrongPasswordError):
            SecretKey.from_text(text, f"{password} ")


@pytest.mark.parametrize("signature", [HASHED, LEGACY], ids=["hashed", "legacy"])
def test_every_changed_byte_of_a_signature_is_refused_but_in_the_comment_that_nobody_signs(signature: str) -> None:
    unsigned = range(len("untrusted comment: "), signature.index("\n"))
    for place in range(len(signature)):
        for letter in {chr(ord(signature[place]) ^ 1), "A", "=", "\n"} - {signature[place]}:
            changed = signature[:place] + letter + signature[place + 1 :]
            assert (why(changed) == "") == (place in unsigned and letter != "\n"), (place, letter)
        cut = why(signature[:place] + signature[place + 1 :])
        assert (cut == "") == (place in unsigned), place
    for more in ("\n", "x", " ", HASHED):
        assert why(signature + more)
    assert why("")


def test_other_content_another_key_and_another_comment_are_told_apart() -> None:
    assert "of other content" in why(HASHED, CONTENT + b" ")
    assert "names key ID CC9458C3917C14E3, and the key given is AC1A2A6661DB0EA1" in why(HASHED, key=ITS_PUBLIC)
    assert "trusted comment was changed" in why(HASHED.replace("file:f.txt", "file:g.txt"))
    same_id = PublicKey(PublicKey.from_text(PUBLIC).number, SecretKey.new().public.key).to_text()
    assert "by another key that has the same ID" in why(HASHED, key=same_id)


@pytest.mark.parametrize("text", [SECRET, ENCRYPTED], ids=["open", "encrypted"])
def test_a_damaged_key_is_no_key(text: str) -> None:
    for damaged in ("", text[:-2], text + text, text.replace("RW", "RX", 1), text.replace("untrusted", "trusted"), PUBLIC):
        with pytest.raises(MalformedError):
            SecretKey.from_text(damaged, PASSWORD)
    with pytest.raises(MalformedError, match="halves that do not belong together"):
        SecretKey.from_text(SECRET.replace("4xR8kcNYlMx1", "4xR8kcNYlMx2"), None)


def test_limits_that_would_take_all_memory_are_refused() -> None:
    import base64

    head, line, _ = ENCRYPTED.split("\n")
    raw = bytearray(base64.b64decode(line))
    raw[46:54] = (2**40).to_bytes(8, "little")
    with pytest.raises(MalformedError, match="more memory or time"):
        SecretKey.from_text(f"{head}\n{base64.b64encode(raw).decode()}\n", PASSWORD)


def test_a_signed_certificate_names_its_key(signed: tuple[Path, Path, Path]) -> None:
    certificate, log, key = signed
    found = libra.verify(certificate, log, key=key)
    assert (found.ok, found.consistent, found.signed, found.promised) == (True, True, True, True)
    assert found.verdict.startswith(f"Signed by key ID {public_key(key).id}: the file is the one certified")
    assert found.checks[0].name == "signature"
    assert libra.verify(certificate, log, key=public_key(key).line) == found
    unchecked = libra.verify(certificate, log)
    assert (unchecked.consistent, unchecked.signed, unchecked.key_id) == (True, False, public_key(key).id)
    assert unchecked.verdict.startswith(f"Consistent, signed by key ID {public_key(key).id}, not checked: ")


def test_a_signature_says_nothing_of_the_original(signed: tuple[Path, Path, Path]) -> None:
    certificate, _, _ = signed
    comment = Signature.from_text(signature_of(certificate).read_text(encoding="utf-8")).comment
    issued = json.loads(certificate.read_text(encoding="utf-8"))["issued"]
    assert comment == f"date:{issued}\tfile:certificate.json"


def test_without_a_valid_signature_by_that_key_nothing_is_promised(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    certificate, log, key = signed
    beside = signature_of(certificate)
    text = beside.read_text(encoding="utf-8")
    write_keys(tmp_path / "other", None)

    def fails(said: str, by: Path = key) -> None:
        found = libra.verify(certificate, log, key=by)
        assert [check.name for check in found.checks if not check.ok] == ["signature"]
        assert said in found.checks[0].found
        assert (found.ok, found.signed, found.promised, found.consistent) == (False, False, False, True)
        assert found.verdict == "Not verified: signature."

    one, other = public_key(key).id, public_key(tmp_path / "other.pub").id
    fails(f"The signature names key ID {one}, and the key given is {other}.", tmp_path / "other.pub")
    beside.write_text(text.replace("file:", "file;"), encoding="utf-8")
    fails("its trusted comment was changed")
    beside.write_text(text.replace("\n", " \n"), encoding="utf-8")
    fails("certificate.json.minisig has other text where a signature should stand")
    beside.write_bytes(b"\xff" * 100)
    fails("certificate.json.minisig has other lines than those of a signature")
    assert libra.verify(certificate, log).key_id is None
    beside.unlink()
    fails("there is no signature certificate.json.minisig")


def test_a_changed_certificate_is_not_the_one_that_was_signed(signed: tuple[Path, Path, Path]) -> None:
    certificate, log, key = signed
    text = certificate.read_text(encoding="utf-8")
    certificate.write_text(text.replace("\n", "\n ", 1), encoding="utf-8")  # says the same, in other bytes
    found = libra.verify(certificate, log, key=key)
    assert [check.name for check in found.checks if not check.ok] == ["signature"]
    assert libra.verify(certificate, log).consistent


def test_a_signature_does_not_go_with_another_file(signed: tuple[Path, Path, Path]) -> None:
    certificate, log, key = signed
    other = log.with_name("other.csv")
    other.write_bytes(log.read_bytes().replace(b"case-1", b"case-2", 1))
    found = libra.verify(certificate, other, key=key)
    assert [check.name for check in found.checks if not check.ok] == ["file"]
    assert (found.signed, found.promised) == (True, False)


def test_a_report_is_as_sure_as_the_signature(signed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    certificate, log, key = signed
    by = public_key(key).id
    page = libra.report(None, log, certificate=certificate, key=key, public=True)
    assert page.standing == "proved"
    assert page.answers[0][1] == f"Signed by key ID {by}."
    assert "Its certificate says: protected by a strong, proved guarantee." in page.html
    own = libra.report(example.path(), log, certificate=certificate, key=key)
    assert own.answers[0][1] == "If nobody has several cases, yes: protected by a strong, proved guarantee."
    assert f"Signed by key ID {by}." in own.html
    unchecked = libra.report(None, log, certificate=certificate, public=True)
    assert unchecked.standing == "unsigned"
    assert unchecked.answers[0][1].startswith(f"Consistent, signed by key ID {by}, not checked.")
    assert "NO SIGNATURE WAS CHECKED" in unchecked.html
    write_keys(tmp_path / "other", None)
    assert libra.report(None, log, certificate=certificate, key=tmp_path / "other.pub", public=True).standing == "broken"
    for given in ({"certificate": None}, {"certificate": json.loads(certificate.read_text(encoding="utf-8"))}):
        with pytest.raises(UsageError, match="certificate"):
            libra.report(None, log, key=key, public=True, **given)


def test_keys_are_private_complete_and_never_overwritten(tmp_path: Path) -> None:
    key = tmp_path / "hospital"
    public = write_keys(key, None)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert secret_key(key).public == public == public_key(tmp_path / "hospital.pub")
    before = key.read_bytes()
    with pytest.raises(InputError, match="keys are never overwritten"):
        write_keys(key, None)
    assert key.read_bytes() == before
    (tmp_path / "other.pub").touch()
    with pytest.raises(InputError, match=r"other\.pub: this file exists"):
        write_keys(tmp_path / "other", None)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["hospital", "hospital.pub", "other.pub"]


def test_a_key_that_cannot_be_written_leaves_no_public_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def failing(self: Path, target: Path) -> Path:
        if target.name == "hospital":
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", failing)
    with pytest.raises(InputError, match="the disk is full"):
        write_keys(tmp_path / "hospital", None)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_key_is_told_in_a_line(tmp_path: Path) -> None:
    write_keys(tmp_path / "hospital", None)
    with pytest.raises(InputError, match=r"this is a secret key, and the public one is needed\. Give the \.pub file"):
        public_key(tmp_path / "hospital")
    with pytest.raises(InputError, match="this is no secret key: it has other text"):
        secret_key(tmp_path / "hospital.pub")
    with pytest.raises(InputError, match="cannot be read"):
        public_key(tmp_path / "none.pub")
    (tmp_path / "binary").write_bytes(os.urandom(100))
    with pytest.raises(InputError, match="this is no public key"):
        public_key(tmp_path / "binary")


def test_a_password_comes_from_the_environment_or_from_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIBRA_KEY_PASSWORD", raising=False)
    public = write_keys(tmp_path / "hospital", "secret")
    with pytest.raises(UsageError, match="this key is encrypted with a password"):
        secret_key(tmp_path / "hospital")
    assert secret_key(tmp_path / "hospital", lambda: "secret").public == public
    monkeypatch.setenv("LIBRA_KEY_PASSWORD", "other")
    with pytest.raises(InputError, match="the password is not the one of this key"):
        secret_key(tmp_path / "hospital")
    monkeypatch.setenv("LIBRA_KEY_PASSWORD", "secret")
    assert secret_key(tmp_path / "hospital").public == public


def test_nothing_is_written_where_a_release_cannot_be_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = libra.anonymize(example.path(), cases=50)
    with pytest.raises(UsageError, match="sign_key needs certificate=FILE"):
        release.write(tmp_path / "log.csv", sign_key=tmp_path / "hospital")
    with pytest.raises(InputError):
        release.write(tmp_path / "log.csv", certificate=tmp_path / "c.json", sign_key=tmp_path / "hospital")
    assert list(tmp_path.iterdir()) == []


def test_an_old_signature_does_not_lie_beside_a_new_certificate(signed: tuple[Path, Path, Path]) -> None:
    certificate, log, _ = signed
    before = certificate.read_bytes()
    with pytest.raises(InputError, match="would not fit the new certificate"):
        libra.anonymize(example.path(), cases=50).write(log, certificate=certificate)
    assert certificate.read_bytes() == before


def run_minisign(program: str, *words: str | Path, say: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *map(str, words)], input=say, capture_output=True, text=True, encoding="utf-8", check=False)


def test_minisign_accepts_a_signed_certificate_and_refuses_a_changed_byte(minisign: str, signed: tuple[Path, Path, Path]) -> None:
    certificate, _, key = signed
    for by in (("-p", key), ("-P", public_key(key).line)):
        found = run_minisign(minisign, "-V", *by, "-m", certificate)
        assert (found.returncode, "Signature and comment signature verified" in found.stdout) == (0, True), found.stderr
    content = certificate.read_bytes()
    certificate.write_bytes(content.replace(b"1", b"2", 1))
    assert run_minisign(minisign, "-V", "-p", key, "-m", certificate).returncode != 0


@pytest.mark.parametrize("password", [None, "pässwörd"])
def test_minisign_signs_with_our_keys(password: str | None, minisign: str, tmp_path: Path) -> None:
    public, file = write_keys(tmp_path / "hospital", password), tmp_path / "file.txt"
    file.write_bytes(CONTENT)
    done = run_minisign(minisign, "-S", "-s", tmp_path / "hospital", "-m", file, say=f"{password}\n")
    assert done.returncode == 0, done.stderr
    assert why(signature_of(file).read_text(encoding="utf-8"), key=public.to_text()) == ""


def test_we_sign_with_a_key_of_minisign(minisign: str, tmp_path: Path) -> None:
    made = run_minisign(minisign, "-G", "-W", "-p", tmp_path / "hospital.pub", "-s", tmp_path / "hospital")
    assert made.returncode == 0, made.stderr
    log, certificate = tmp_path / "log.csv", tmp_path / "certificate.json"
    log.write_text("case,activity\n", encoding="utf-8")
    write_certificate({"mechanism": "libra"}, log, certificate, secret_key(tmp_path / "hospital"))
    assert run_minisign(minisign, "-V", "-p", tmp_path / "hospital.pub", "-m", certificate).returncode == 0
    found = verify(certificate, log, key=public_key(tmp_path / "hospital.pub"))
    assert [check.name for check in found.checks] == ["signature", "structure"]
    assert (found.checks[0].ok, found.promised) == (True, False)


def test_the_limits_of_a_password_are_those_of_libsodium() -> None:
    assert scrypt_parameters(OPERATIONS, MEMORY) == (17, 1)
    assert scrypt_parameters(33_554_432, 1_073_741_824) == (20, 1)


def test_a_new_secret_key_is_for_its_owner_alone(tmp_path: Path) -> None:
    write_keys(tmp_path / "hospital", None)
    assert not others_may_read(tmp_path / "hospital")
