"""`libra anonymize`: what it refuses, before anything is read, and what it leaves behind when it cannot end well."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

import pytest

import libra
from libra import example
from libra.errors import UsageError
from libra.mechanisms.mechanism import HOMES

from .conftest import LIBRA2022, TABLE, Run

PARAMETERS = "alpha, b, gamma, delta, subsamples, trace_noise, signed_times, omega"
SOUND_PARAMETERS = (
    "epsilon, delta, tail, edges, budget, labels, time_zone, gamma, subsamples, cases, most_cases, attributes, resource_names"
)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mechanism", "lapras"), f'There is no mechanism "lapras". Available: {", ".join(HOMES)}.'),
        (("--set", "tail"), '"tail" is not a parameter. Write it as --set NAME=VALUE'),
        (("--set", "sides=6"), "libra does not take sides."),
        (("--epsilon", "0"), "epsilon has to be a number above 0"),
        (("--epsilon", "-1"), "epsilon has to be a number above 0"),
        (("--epsilon", "nan"), "epsilon has to be a number above 0"),
        (("--epsilon", "inf"), "epsilon has to be a number above 0"),
        (("--delta", "0"), "delta has to be a number above 0 and below 0.5"),
        (("--delta", "1"), "delta has to be a number above 0 and below 0.5"),
        (("--delta", "0.5"), "delta has to be a number above 0 and below 0.5, not 0.5."),
        (("--mechanism", "travas", "--delta", "0.5"), "delta has to be a number above 0 and below 0.5"),
        (
            ("--mechanism", "prefix-laplace", "--set", "split_budget=true", "--delta", "0.7"),
            "delta has to be a number above 0 and below 0.5",
        ),
        (("--delta", "nan"), "delta has to be a number above 0 and below 0.5"),
        (("--budget", "control=0"), "the share of control has to be a number above 0 and below 1"),
        (("--budget", "control=1,times=0"), "the share of control has to be a number above 0 and below 1"),
        (("--budget", "times=0"), "the share of times has to be a number above 0 and below 1"),
        (("--budget", "control=0.5,times=0.2"), "The shares of the budget have to add up to 1."),
        (
            ("--budget", "costs=0.5"),
            'There is no share of the budget called "costs". Say it as control=0.55,times=0.45',
        ),
        (("--budget", "half"), 'The budget "half" cannot be read. Say it as control=0.55,times=0.45'),
        (("--budget", "control=much"), "the share of control has to be a number above 0 and below 1"),
        (("--tail", "wag"), "tail is one of model, nearest, drop, not 'wag'."),
        (("--time-zone", "Mars/Base"), 'no time zone "Mars/Base". Use a name such as Europe/Amsterdam, or an offset'),
        (("--cases", "0"), "cases has to be a whole number from 1 to"),
        (("--gamma", "0"), "gamma has to be a number above 0"),
        (("--gamma", "1.5"), "gamma has to be a number above 0"),
        (("--subsamples", "0"), "subsamples has to be a whole number from 1 to"),
        (("--subsamples", "1001"), "subsamples has to be a whole number from 1 to 1,000, not 1001."),
        (("--epsilon", "1e-6", "--delta", "1e-12"), "would drown every log in noise. Ask for a larger one."),
        (("--budget", "times=1e-12"), "would drown every log in noise. Ask for a larger one."),
        (("--budget", "control=1e-12"), "would drown every log in noise. Ask for a larger one."),
        (("--subsamples", "paper"), "subsamples has to be a whole number from 1 to"),
        (("--alpha", "2"), f"libra does not take alpha. It takes {SOUND_PARAMETERS}."),
        (("--seed", "-1"), "seed has to be a whole number"),
        ((*LIBRA2022, "--tail", "drop"), "libra2022 does not take tail."),
        ((*LIBRA2022, "--epsilon", "1"), f"libra2022 does not take epsilon. It takes {PARAMETERS}"),
        ((*LIBRA2022, "--alpha", "1"), "alpha has to be a number above 1"),
        ((*LIBRA2022, "--alpha", "nan"), "alpha has to be a number above 1"),
        ((*LIBRA2022, "--b", "0"), "b has to be a number above 0"),
        ((*LIBRA2022, "--gamma", "0"), "gamma has to be a number from 1/1,000,000 to 1"),
        ((*LIBRA2022, "--gamma", "1.5"), "gamma has to be a number from 1/1,000,000 to 1"),
        ((*LIBRA2022, "--delta", "1"), "delta has to be a number above 0 and below 1"),
        ((*LIBRA2022, "--subsamples", "0"), "subsamples has to be a whole number"),
        ((*LIBRA2022, "--subsamples", "many"), "not 'many'; or say \"paper\"."),
        ((*LIBRA2022, "--subsamples", "9" * 5_000), 'or say "paper".'),
        ((*LIBRA2022, "--set", "omega=-1"), "omega has to be a number"),
        ((*LIBRA2022, "--seed", "-1"), "seed has to be a whole number"),
        ((*LIBRA2022, "--seed", "x"), "--seed"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error_before_anything_is_read(
    words: tuple[str, ...], told: str, tmp_path: Path, run: Run
) -> None:
    answer = run("anonymize", tmp_path / "missing.csv", "-o", tmp_path / "out.csv", *words)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err
    assert len(answer.err.splitlines()) == 1
    assert len(answer.err) < 300
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_to_write_to_and_nothing_to_explain_that_is_asked_for(tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", tmp_path / "missing.csv")
    assert (answer.code, answer.out) == (2, "")
    assert "Name the file to write: -o OUT." in answer.err
    answer = run("anonymize", tmp_path / "missing.csv", *LIBRA2022, "--explain")
    assert (answer.code, answer.out) == (2, "")
    assert "libra2022 has no plan to explain. Remove --explain or use libra." in answer.err


def _linked(table: Path) -> Path:
    (table.parent / "link.csv").symlink_to(table)
    return table.parent / "link.csv"


def _linked_hard(table: Path) -> Path:
    os.link(table, table.parent / "twin.csv")
    return table.parent / "twin.csv"


TARGETS: list[tuple[Callable[[Path], Path], int, str]] = [
    (lambda table: table, 2, "the output would replace the input"),
    (lambda table: table.parent / ".." / table.parent.name / table.name, 2, "the output would replace the input"),
    (_linked, 2, "the output would replace the input"),
    (_linked_hard, 2, "the output would replace the input"),
    (lambda table: table.parent / "out.docx", 2, "cannot tell the format to write"),
    (lambda table: table.parent / "nowhere" / "out.csv", 3, "there is no such folder"),
    (lambda table: table.parent, 2, "cannot tell the format to write"),
    (lambda table: Path(), 2, " .: cannot tell the format to write"),
]


@pytest.mark.parametrize(("target", "code", "told"), TARGETS)
def test_an_output_that_cannot_be_is_refused_and_the_source_stays(
    target: Callable[[Path], Path], code: int, told: str, table: Path, run: Run
) -> None:
    output = target(table)
    before = sorted(table.parent.iterdir())
    answer = run("anonymize", table, "-o", output, *LIBRA2022)
    assert (answer.code, answer.out, answer.err.count("\n")) == (code, "", 1)
    assert told in answer.err
    assert table.read_text(encoding="utf-8") == TABLE
    assert sorted(table.parent.iterdir()) == before


def test_an_output_that_cannot_be_is_refused_before_the_log_is_read(tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", tmp_path / "missing.csv", "-o", tmp_path / "out.docx", *LIBRA2022)
    assert "out.docx: cannot tell the format" in answer.err
    words = ("-o", tmp_path / "out.csv", *LIBRA2022, "--certificate", tmp_path / "nowhere" / "c.json")
    assert "nowhere: there is no such folder" in run("anonymize", tmp_path / "missing.csv", *words).err


@pytest.mark.parametrize("name", ["visits.csv", "link.csv", "out.csv", "./out.csv", "sub/../out.csv"])
def test_the_certificate_must_not_replace_the_log_or_its_copy(
    name: str, table: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    Path("sub").mkdir()
    _linked(table)
    answer = run("anonymize", table, "-o", "out.csv", *LIBRA2022, "--certificate", name)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert "would replace the" in answer.err
    assert table.read_text(encoding="utf-8") == TABLE
    assert not Path("out.csv").exists()


@pytest.mark.parametrize("flag", ["--certificate", "--model", "--report", "-o"])
@pytest.mark.parametrize(("read", "what"), [("--description", "description"), ("--labels", "list of labels")])
def test_no_output_replaces_what_is_read_beside_the_log(
    flag: str, read: str, what: str, table: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    Path("beside.csv").write_text("register", encoding="utf-8")
    Path("link.csv").symlink_to("beside.csv")
    for name in ("beside.csv", "./link.csv"):
        output = () if flag == "-o" else ("-o", "out.csv")
        answer = run("anonymize", table, read, "beside.csv", *output, flag, name)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
        assert f"would replace the {what}. Name another file." in answer.err
    assert Path("beside.csv").read_text(encoding="utf-8") == "register"
    assert not Path("out.csv").exists()


def test_no_output_replaces_the_secret_key(table: Path, run: Run) -> None:
    key = table.parent / "hospital"
    key.write_text("secret", encoding="utf-8")
    answer = run("anonymize", table, "-o", table.parent / "o.csv", "--certificate", key, "--sign-key", key)
    assert (answer.code, answer.out) == (2, "")
    assert "the certificate would replace the secret key" in answer.err
    with pytest.raises(UsageError, match="the certificate would replace the secret key"):
        libra.anonymize(table).write(table.parent / "o.csv", certificate=key, sign_key=key)
    assert key.read_text(encoding="utf-8") == "secret"


def test_a_certificate_that_cannot_be_written_stops_before_the_log_is_written(tmp_path: Path, run: Run) -> None:
    words = ("--certificate", tmp_path / "nowhere" / "c.json")
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", *LIBRA2022, *words)
    assert answer.code == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder in which even the administrator cannot make files")
@pytest.mark.parametrize("flag", ["--certificate", "--model"])
def test_a_folder_in_which_no_file_can_be_made_stops_before_the_log_is_written(flag: str, tmp_path: Path, run: Run) -> None:
    answer = run("anonymize", example.path(), "-o", tmp_path / "out.csv", flag, "/proc/x.json")
    assert (answer.code, answer.out) == (3, "")
    assert "/proc: " in answer.err
    assert list(tmp_path.iterdir()) == []


def _interrupted(*_args: object, **_keywords: object) -> str:
    raise KeyboardInterrupt


def _disk_full(*_args: object, **_keywords: object) -> str:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(("fails", "code"), [(_interrupted, 130), (_disk_full, 3)])
def test_a_log_that_is_cut_short_leaves_what_was_there(
    fails: Callable[[], str], code: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(_log: object, stream: BinaryIO, *_rest: object) -> None:
        stream.write(b"case,act")
        fails()

    (tmp_path / "old.csv").write_text("of yesterday", encoding="utf-8")
    monkeypatch.setattr("libra.eventlog.write.write_csv", half)
    for name in ("out.csv", "old.csv"):
        answer = run("anonymize", example.path(), "-o", tmp_path / name, *LIBRA2022, "--certificate", tmp_path / "c.json")
        assert (answer.code, answer.out) == (code, "")
    assert [file.name for file in tmp_path.iterdir()] == ["old.csv"]
    assert (tmp_path / "old.csv").read_text(encoding="utf-8") == "of yesterday"


@pytest.mark.parametrize(("fails", "code"), [(_interrupted, 130), (_disk_full, 3)])
def test_a_certificate_that_is_cut_short_leaves_a_whole_log_and_no_half_certificate(
    fails: Callable[[], str], code: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("libra.certificate.document.checksum", lambda _: "0" * 64)
    monkeypatch.setattr("libra.certificate.document.json", SimpleNamespace(dumps=fails))
    out, certificate = tmp_path / "out.csv", tmp_path / "c.json"
    answer = run("anonymize", example.path(), "-o", out, *LIBRA2022, "--certificate", certificate)
    assert (answer.code, answer.out) == (code, "")
    assert ("c.json" in answer.err) == (code == 3)
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    assert libra.read(out).n_cases > 0
    monkeypatch.undo()
    assert run("anonymize", example.path(), "-o", out, *LIBRA2022, "--certificate", certificate).code == 0
    assert json.loads(certificate.read_text(encoding="utf-8"))["mechanism"] == "libra2022"
