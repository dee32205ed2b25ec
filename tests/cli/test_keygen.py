"""`libra keygen` and signing on the command line: passwords, refusals, exit codes, and what `libra verify --key` makes of it."""

from __future__ import annotations

import errno
import getpass
import json
import stat
import sys
from pathlib import Path

import pytest

from libra import example
from libra.certificate.signing import public_key, secret_key, write_keys

from .conftest import Run

PASSWORD = "LIBRA_KEY_PASSWORD"


@pytest.fixture(autouse=True)
def _nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """No password in the environment, and no terminal."""
    monkeypatch.delenv(PASSWORD, raising=False)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a person at a terminal types when asked for passwords."""
    answers: list[str] = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(getpass, "getpass", lambda _prompt: answers.pop(0))
    return answers


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A secret key without a password."""
    write_keys(tmp_path / "hospital", None)
    return tmp_path / "hospital"


def test_keys_are_written_with_a_password_from_the_environment(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD, "secret")
    answer = run("keygen", tmp_path / "hospital")
    assert (answer.code, answer.err) == (0, "")
    public = public_key(tmp_path / "hospital.pub")
    assert f"with the ID {public.id}" in answer.out
    assert public.line in answer.out
    assert secret_key(tmp_path / "hospital").public == public
    assert stat.S_IMODE((tmp_path / "hospital").stat().st_mode) == 0o600
    assert "encrypted" in (tmp_path / "hospital").read_text(encoding="utf-8")


def test_a_password_is_asked_for_twice(tmp_path: Path, run: Run, typed: list[str]) -> None:
    typed += ["secret", "secret"]
    assert run("keygen", tmp_path / "hospital").code == 0
    assert secret_key(tmp_path / "hospital", lambda: "secret")
    typed += ["one", "other", ""]
    answer = run("keygen", tmp_path / "other")
    assert (answer.code, answer.err) == (2, "libra: The two passwords differ. Nothing was written.\n")
    assert "The password is empty" in run("keygen", tmp_path / "other").err
    assert not (tmp_path / "other").exists()


def test_without_a_terminal_a_password_has_to_be_given_or_declined(tmp_path: Path, run: Run) -> None:
    answer = run("keygen", tmp_path / "hospital")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "Set LIBRA_KEY_PASSWORD" in answer.err
    assert "--no-password" in answer.err
    assert list(tmp_path.iterdir()) == []
    answer = run("keygen", tmp_path / "hospital", "--no-password", "--json")
    document = json.loads(answer.out)
    assert (answer.code, document["encrypted"], document["secret_key"]) == (0, False, str(tmp_path / "hospital"))
    assert document["key_id"] == public_key(document["public_key"]).id == public_key(document["line"]).id


def test_keys_are_never_overwritten(key: Path, run: Run) -> None:
    before = key.read_bytes()
    answer = run("keygen", key, "--no-password")
    assert (answer.code, answer.out, answer.err.count("\n")) == (3, "", 1)
    assert "keys are never overwritten. Name another one." in answer.err
    assert key.read_bytes() == before
    assert run("keygen", key.parent / "none" / "key", "--no-password").code == 3


def test_a_release_is_signed_and_verified(key: Path, tmp_path: Path, run: Run) -> None:
    certificate, out = tmp_path / "c.json", tmp_path / "out.csv"
    words = ("anonymize", example.path(), "-o", out, "--certificate", certificate, "--sign-key", key)
    answer = run(*words)
    assert answer.code == 0
    assert f"Wrote {out} and {certificate}, signed" in answer.out
    assert answer.out.rstrip().endswith(f"verify {certificate} {out} --key {key}.pub")
    document = json.loads(run(*words, "--json").out)
    assert document["signature"] == f"{certificate}.minisig"
    checked = run("verify", certificate, out, "--key", f"{key}.pub")
    *lines, verdict = checked.out.splitlines()
    assert (checked.code, lines[0].split()[:2]) == (0, ["ok", "signature"])
    by = public_key(f"{key}.pub")
    assert verdict.startswith(f"Signed by key ID {by.id}: ")
    assert run("verify", certificate, out, "--key", by.line).code == 0
    without = run("verify", certificate, out)
    assert without.code == 0
    assert without.out.splitlines()[-1].startswith(f"Consistent, signed by key ID {by.id}, not checked: ")
    assert "Give --key" in without.out
    shown = run("certificate", certificate)
    assert f"Signed by key ID {by.id}, not checked." in shown.out
    assert f"Signed by key ID {by.id}. " in run("certificate", certificate, "--key", f"{key}.pub").out


def test_without_a_valid_signature_by_that_key_the_exit_code_is_1(key: Path, tmp_path: Path, run: Run) -> None:
    certificate, out = tmp_path / "c.json", tmp_path / "out.csv"
    assert run("anonymize", example.path(), "-o", out, "--certificate", certificate, "-q").code == 0
    assert run("verify", certificate, out).code == 0
    answer = run("verify", certificate, out, "--key", f"{key}.pub")
    assert (answer.code, answer.err) == (1, "")
    assert "there is no signature c.json.minisig" in answer.out
    assert answer.out.splitlines()[-1] == "Not verified: signature."
    assert json.loads(run("verify", certificate, out, "--key", f"{key}.pub", "--json").out)["signed"] is False
    page = run("certificate", certificate, "--key", f"{key}.pub")
    assert (page.code, "DOES NOT HOLD: Signature." in page.out) == (1, True)
    words = (out, "--certificate", certificate, "--key", f"{key}.pub", "--public", "-o", tmp_path / "page.html")
    assert run("report", *words).code == 1


def test_a_signature_by_another_key_is_told_once_and_was_checked(key: Path, tmp_path: Path, run: Run) -> None:
    certificate, out = tmp_path / "c.json", tmp_path / "out.csv"
    words = ("-o", out, "--certificate", certificate, "--sign-key", key, "-q")
    assert run("anonymize", example.path(), *words).code == 0
    other = write_keys(tmp_path / "other", None)
    answer = run("certificate", certificate, "--key", tmp_path / "other.pub")
    assert answer.code == 1
    said = " ".join(answer.out.split())
    assert "Not signed by the key given. DOES NOT HOLD: Signature." in said
    assert said.count(f"The signature names key ID {public_key(f'{key}.pub').id}, and the key given is {other.id}.") == 1
    assert "not checked" not in said
    assert "Give --key" not in said
    assert "it is signed by" not in said


def test_what_is_no_public_key_exits_3(key: Path, tmp_path: Path, run: Run) -> None:
    certificate, out = tmp_path / "c.json", tmp_path / "out.csv"
    assert run("anonymize", example.path(), "-o", out, "--certificate", certificate, "-q").code == 0
    for given, said in ((key, "this is a secret key"), (out, "this is no public key"), (tmp_path / "none", "cannot be read")):
        answer = run("verify", certificate, out, "--key", given)
        assert (answer.code, answer.out, answer.err.count("\n")) == (3, "", 1)
        assert said in answer.err


def test_a_key_is_opened_before_the_log_is_read(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_keys(tmp_path / "hospital", "secret")
    words = ("anonymize", tmp_path / "no-such-log.csv", "-o", tmp_path / "out.csv", "--certificate", tmp_path / "c.json")
    before = sorted(tmp_path.iterdir())
    no_password = run(*words, "--sign-key", tmp_path / "hospital")
    assert (no_password.code, "Set LIBRA_KEY_PASSWORD" in no_password.err) == (2, True)
    monkeypatch.setenv(PASSWORD, "wrong")
    wrong = run(*words, "--sign-key", tmp_path / "hospital")
    assert (wrong.code, wrong.err.count("\n")) == (3, 1)
    assert "the password is not the one of this key" in wrong.err
    assert run(*words, "--sign-key", tmp_path / "none").code == 3
    assert run(*words[:-2], "--sign-key", tmp_path / "hospital").code == 2
    assert sorted(tmp_path.iterdir()) == before


def test_a_password_is_asked_for_on_a_terminal(tmp_path: Path, run: Run, typed: list[str]) -> None:
    write_keys(tmp_path / "hospital", "secret")
    typed.append("secret")
    words = ("--certificate", tmp_path / "c.json", "--sign-key", tmp_path / "hospital", "-q")
    assert run("anonymize", example.path(), "-o", tmp_path / "out.csv", *words).code == 0
    assert typed == []
    assert run("verify", tmp_path / "c.json", tmp_path / "out.csv", "--key", tmp_path / "hospital.pub").code == 0


def test_a_secret_key_that_others_can_read_is_used_with_a_warning(key: Path, tmp_path: Path, run: Run) -> None:
    words = ("--certificate", tmp_path / "c.json", "--sign-key", key, "-q")
    assert run("anonymize", example.path(), "-o", tmp_path / "out.csv", *words).err == ""
    key.chmod(0o644)
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", *words)
    warning = f"warning: {key}: others can read this secret key. Change that: chmod 600 {key}\n"
    assert (answer.code, answer.out, answer.err) == (0, "", warning)
    assert run("verify", tmp_path / "c.json", tmp_path / "out.csv", "--key", f"{key}.pub").code == 0


def test_a_file_that_is_no_signature_is_named(tmp_path: Path, run: Run) -> None:
    certificate, out = tmp_path / "c.json", tmp_path / "out.csv"
    assert run("anonymize", example.path(), "-o", out, "--certificate", certificate, "-q").code == 0
    said = "The file c.json.minisig beside it is no signature."
    assert said not in run("verify", certificate, out).out
    (tmp_path / "c.json.minisig").write_text("hello\n", encoding="utf-8")
    verdict = run("verify", certificate, out).out.splitlines()[-1]
    assert verdict.startswith("Consistent, not signed: ")
    assert said in verdict
    assert said in " ".join(run("certificate", certificate).out.split())


def test_a_public_page_names_the_key(key: Path, tmp_path: Path, run: Run) -> None:
    words = ("--certificate", tmp_path / "c.json", "--sign-key", key, "--report", tmp_path / "page.html", "--public", "-q")
    assert run("anonymize", example.path(), "-o", tmp_path / "out.csv", *words).code == 0
    said = f"Consistent, signed by key ID {public_key(f'{key}.pub').id}, not checked"
    assert said in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_signature_that_cannot_be_written_leaves_no_certificate(
    key: Path, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_given: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("libra.certificate.document.signature_text", full)
    words = ("--certificate", tmp_path / "c.json", "--sign-key", key)
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (3, "", 1)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["hospital", "hospital.pub", "out.csv"]
