"""`libra verify` and `libra certificate`: exit codes, lines and documents for people and for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import libra
from libra import example
from libra.certificate.document import checksum, schema

from .conftest import LIBRA2022, Run


@pytest.fixture
def released(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate and the log that it is about."""
    certificate, log = tmp_path / "c.json", tmp_path / "out.csv"
    libra.anonymize(example.path(), epsilon=2.0).write(log, certificate=certificate)
    return certificate, log


def test_what_holds_is_told_line_by_line_and_exits_0(released: tuple[Path, Path], run: Run) -> None:
    answer = run("verify", *released)
    assert (answer.code, answer.err) == (0, "")
    *lines, verdict = answer.out.splitlines()
    assert {line.split()[0] for line in lines} == {"ok"}
    assert [line.split()[1] for line in lines] == [
        *(
            "structure",
            "checksum",
            "expected",
            "parameters",
            "ledger",
            "figures",
            "total",
            "words",
            "randomness",
            "file",
            "content",
        ),
    ]
    assert verdict.startswith("Consistent, not signed: ")
    assert "Anyone could have written this certificate" in verdict
    assert "(2, 1e-05)-differential privacy" in verdict


def test_python_says_the_same(released: tuple[Path, Path], run: Run) -> None:
    found = libra.verify(*map(str, released))
    assert (found.ok, found.consistent, found.promised, found.signed, found.key_id) == (True, True, True, False, None)
    assert json.loads(run("verify", *released, "--json").out) == found.to_dict()


def test_one_changed_figure_exits_1_and_says_what_it_means(released: tuple[Path, Path], run: Run) -> None:
    certificate, log = released
    document = json.loads(certificate.read_text(encoding="utf-8"))
    document["ledger"][4]["noise"] *= 1.5
    certificate.write_text(json.dumps(document), encoding="utf-8")
    answer = run("verify", certificate, log)
    assert (answer.code, answer.err) == (1, "")
    failed = [line for line in answer.out.splitlines() if line.startswith("failed")]
    assert [line.split()[1] for line in failed] == ["checksum", "figures"]
    assert "Something in it was changed after it was written" in failed[0]
    assert "ledger[4].mu is" in failed[1]
    assert answer.out.splitlines()[-1] == "Not verified: checksum, figures."
    with_json = run("verify", certificate, log, "--json")
    assert (with_json.code, json.loads(with_json.out)["ok"]) == (1, False)
    assert (run("verify", certificate, log, "--quiet").code, run("verify", certificate, log, "--quiet").out) == (1, "")


def test_one_changed_byte_exits_1(released: tuple[Path, Path], run: Run) -> None:
    certificate, log = released
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    answer = run("verify", certificate, log)
    assert answer.code == 1
    assert "The certificate says nothing about it." in answer.out


def test_a_claim_that_is_what_it_says_exits_1_as_nothing_is_proved(tmp_path: Path, run: Run) -> None:
    words = ("-o", tmp_path / "out.csv", *LIBRA2022, "--certificate", tmp_path / "c.json", "--quiet")
    assert run("anonymize", example.path(), *words).code == 0
    answer = run("verify", tmp_path / "c.json", tmp_path / "out.csv")
    *lines, verdict = answer.out.splitlines()
    assert (answer.code, {line.split()[0] for line in lines}) == (1, {"ok"})
    assert verdict.startswith("Nothing is proved: ")
    assert "the certificate is what it says, but it promises nothing" in verdict
    with_json = run("verify", tmp_path / "c.json", tmp_path / "out.csv", "--json")
    found = json.loads(with_json.out)
    assert (with_json.code, found["ok"], found["promised"]) == (1, True, False)
    assert run("certificate", tmp_path / "c.json").code == 0


def test_a_seed_exits_1_and_is_not_private(tmp_path: Path, run: Run) -> None:
    words = ("-o", tmp_path / "out.csv", "--certificate", tmp_path / "c.json", "--seed", "1")
    said = run("anonymize", example.path(), *words)
    assert "libra verify" not in said.out
    answer = run("verify", tmp_path / "c.json", tmp_path / "out.csv")
    assert answer.code == 1
    assert answer.out.splitlines()[-1] == "Not verified: not private: seeded."


def test_another_version_is_told_where_something_fails_and_only_there(released: tuple[Path, Path], run: Run) -> None:
    certificate, log = released
    document = json.loads(certificate.read_text(encoding="utf-8")) | {"version": "0.0.9"}
    document["checksum"] = checksum(document)
    certificate.write_text(json.dumps(document), encoding="utf-8")
    assert run("verify", certificate, log).code == 0
    document["guarantee"]["caveats"].append("Cats are not hidden.")
    document["checksum"] = checksum(document)
    certificate.write_text(json.dumps(document), encoding="utf-8")
    answer = run("verify", certificate, log)
    assert answer.code == 1
    assert answer.out.count("It was issued by Libra 0.0.9") == 1


@pytest.mark.parametrize("command", ["verify", "certificate"])
@pytest.mark.parametrize("content", ["no json", "{}", '{"document": "Libra certificate", "version": "0.1.0"}'])
def test_what_is_no_certificate_exits_3_in_one_line(content: str, command: str, released: tuple[Path, Path], run: Run) -> None:
    certificate, log = released
    certificate.write_text(content, encoding="utf-8")
    answer = run(command, certificate, *((log,) if command == "verify" else ()))
    assert (answer.code, answer.out, answer.err.count("\n")) == (3, "", 1)
    assert str(certificate) in answer.err


def test_the_page_is_printed_written_or_given_as_it_is(released: tuple[Path, Path], run: Run) -> None:
    certificate, _ = released
    document = json.loads(certificate.read_text(encoding="utf-8"))
    answer = run("certificate", certificate)
    assert (answer.code, answer.err) == (0, "")
    assert document["in_plain_words"] in answer.out.splitlines()
    assert "####" in answer.out
    assert json.loads(run("certificate", certificate, "--json").out) == document
    page = certificate.with_suffix(".html")
    written = run("certificate", certificate, "-o", page)
    assert (written.code, written.out) == (0, f"Wrote {page}\n")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_a_page_of_what_does_not_hold_says_so(released: tuple[Path, Path], run: Run) -> None:
    certificate, _ = released
    text = certificate.read_text(encoding="utf-8")
    certificate.write_text(text.replace("73.2", "53.2").replace("88.1 %", "58.1 %"), encoding="utf-8")
    answer = run("certificate", certificate)
    assert answer.code == 1
    assert "DOES NOT HOLD: Checksum. It does not agree with the content: it says" in answer.out
    assert "note: This certificate does not hold. Checksum." in answer.err
    page = certificate.with_suffix(".html")
    written = run("certificate", certificate, "-o", page)
    assert (written.code, written.out) == (1, f"Wrote {page}\n")
    assert "This certificate does not hold." in page.read_text(encoding="utf-8")
    with_json = run("certificate", certificate, "--json", "--quiet")
    assert (with_json.code, with_json.err) == (1, "")
    assert json.loads(with_json.out) == json.loads(certificate.read_text(encoding="utf-8"))


def test_a_damaged_certificate_makes_no_page(released: tuple[Path, Path], run: Run) -> None:
    certificate, _ = released
    document = json.loads(certificate.read_text(encoding="utf-8"))
    del document["ledger"]
    certificate.write_text(json.dumps(document), encoding="utf-8")
    answer = run("certificate", certificate, "-o", certificate.with_suffix(".html"))
    assert (answer.code, answer.out) == (3, "")
    assert 'this certificate is damaged: it has no field "ledger". Ask for it again.' in answer.err
    assert not certificate.with_suffix(".html").exists()


def test_a_page_replaces_no_certificate_and_has_an_ending(released: tuple[Path, Path], run: Run) -> None:
    certificate, _ = released
    before = certificate.read_bytes()
    link = certificate.with_name("link.html")
    link.hardlink_to(certificate)
    assert run("certificate", certificate, "-o", link).code == 2
    assert run("certificate", certificate, "-o", certificate.with_suffix(".pdf")).code == 2
    assert run("certificate", certificate, "-o", certificate.parent / "none" / "page.html").code == 3
    assert certificate.read_bytes() == before


def test_the_schema_is_printed_without_a_certificate(run: Run) -> None:
    for words in (("--schema",), ("--schema", "--json")):
        answer = run("certificate", *words)
        assert (answer.code, json.loads(answer.out)) == (0, schema())
    assert run("certificate").code == 2


def test_control_characters_in_a_certificate_do_not_reach_the_terminal(released: tuple[Path, Path], run: Run) -> None:
    certificate, log = released
    document = json.loads(certificate.read_text(encoding="utf-8"))
    document["in_plain_words"] = document["guarantee"]["statement"] = document["output"]["file"] = "a\x1b[31mb\u202e"
    document["ledger"][0]["purpose"] = "p\x1b[2J"
    certificate.write_text(json.dumps(document), encoding="utf-8")
    for words in (("certificate", certificate), ("verify", certificate, log)):
        answer = run(*words)
        assert not {"\x1b", "\u202e"} & set(answer.out + answer.err)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns that shows no colours."""
    for name, value in {"TTY_COMPATIBLE": "1", "COLUMNS": "80", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("narrow")
def test_on_80_columns_lines_break_between_words_and_go_on_under_their_beginning(released: tuple[Path, Path], run: Run) -> None:
    certificate, log = released
    log.write_bytes(b"")
    lines = run("verify", certificate, log).out.splitlines()
    file = next(number for number, line in enumerate(lines) if line.startswith("failed  file "))
    margin = lines[file].index("It is another file")
    assert len(lines[file + 1 : -1]) >= 2
    assert all(line[:margin].isspace() and line[margin] != " " for line in lines[file + 1 : -1])
    page = run("certificate", certificate).out.splitlines()
    assert max(map(len, lines + page)) <= 80
    points = [number for number, line in enumerate(page) if line.startswith("- ")]
    for number in points:
        assert page[number + 1] == "" or page[number + 1][:2] in ("- ", "  ")
    assert any(page[number + 1].startswith("  ") for number in points)
    before, after = (next(line for line in page if line.startswith(name)) for name in ("before seeing", "after it"))
    assert (before.count("%"), after.count("%"), len(before)) == (4, 4, len(after))


@pytest.mark.usefixtures("narrow")
def test_a_command_to_copy_is_never_broken(tmp_path: Path, run: Run) -> None:
    log = tmp_path / f"{'a long name ' * 9}.csv"
    libra.anonymize(example.path(), epsilon=2.0).write(log, certificate=tmp_path / "c.json")
    assert run("certificate", tmp_path / "c.json").out.splitlines()[-1] == f"  libra verify c.json '{log.name}'"


def test_elsewhere_than_on_a_terminal_a_paragraph_is_a_line(released: tuple[Path, Path], run: Run) -> None:
    certificate, log = released
    log.write_bytes(b"")
    assert len(run("verify", certificate, log).out.splitlines()) == 11


def test_what_is_no_certificate_is_told_without_a_word_on_other_arguments(released: tuple[Path, Path], run: Run) -> None:
    _, log = released
    assert run("certificate", log).err.endswith("Name the file that --certificate wrote.\n")
    assert run("verify", log, log).err.endswith("Name the file that --certificate wrote, and the released log after it.\n")
