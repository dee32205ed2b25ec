"""`-` is a log on stdin or stdout: through real pipes, whole or not at all, and no copy of it stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from libra import example

from .conftest import LIBRA2022, TABLE, Answer, Run

AS_CSV = ("--input-format", "csv", "--output-format", "csv")


def _command(folder: Path, *words: str | Path) -> dict[str, object]:
    (folder / "tmp").mkdir(exist_ok=True)
    return {
        "args": [sys.executable, "-m", "libra", *map(str, words)],
        "cwd": folder,
        "env": os.environ | {"TMPDIR": str(folder / "tmp")},
    }


def piped(folder: Path, given: bytes, *words: str | Path) -> tuple[int, bytes, str]:
    """What a command in a pipe gives; nothing is left in its folder for temporary files."""
    done = subprocess.run(**_command(folder, *words), input=given, capture_output=True, check=False)  # type: ignore[call-overload]
    assert list((folder / "tmp").iterdir()) == []
    return done.returncode, done.stdout, done.stderr.decode()


def test_a_release_through_a_pipe_is_the_release_of_the_file(tmp_path: Path, run: Run) -> None:
    log, out = tmp_path / "log.csv", tmp_path / "out.csv"
    run("convert", example.path(), log)
    run("anonymize", log, "-o", out, "--seed", "3")
    certificate = tmp_path / "c.json"
    words = ("anonymize", "-", "-o", "-", *AS_CSV, "--seed", "3", "--certificate", certificate)
    code, released, told = piped(tmp_path, log.read_bytes(), *words)
    assert (code, released) == (0, out.read_bytes())
    assert "Wrote the log to stdout and" in told
    assert str(tmp_path / "tmp") not in told
    assert json.loads(certificate.read_text())["output"]["bytes"] == len(released)


@pytest.mark.parametrize("kind", ["csv.gz", "xes", "parquet"])
def test_every_format_goes_through_a_pipe_and_back(kind: str, tmp_path: Path) -> None:
    code, packed, _ = piped(tmp_path, TABLE.encode(), "convert", "-", "-", "--input-format", "csv", "--output-format", kind)
    assert code == 0
    code, table, told = piped(tmp_path, packed, "convert", "-", "-o", "-", "--output-format", "csv")
    assert (code, len(table.splitlines())) == (0, len(TABLE.splitlines())), told


def test_a_log_that_cannot_be_read_gives_nothing_and_is_called_stdin(tmp_path: Path) -> None:
    broken = TABLE.replace("2024-05-07T10:00:00Z", "soon").encode()
    code, out, told = piped(tmp_path, broken, "convert", "-", "-", *AS_CSV)
    assert (code, out) == (3, b"")
    assert told.startswith('libra: stdin.csv, line 9: timestamp "soon" cannot be read')


def test_an_empty_release_is_written_and_the_exit_code_is_1(tmp_path: Path, rare: Path) -> None:
    code, out, told = piped(tmp_path, rare.read_bytes(), "anonymize", "-", "-o", "-", *AS_CSV, *LIBRA2022)
    assert (code, out) == (1, b"case:concept:name,concept:name,time:timestamp\n")
    assert "this log is empty" in told


def test_what_reads_one_log_reads_stdin(tmp_path: Path, table: Path) -> None:
    given = TABLE.encode()
    assert json.loads(piped(tmp_path, given, "inspect", "-", "--json")[1])["cases"] == 3
    assert b'case_id = ["case id"]' in piped(tmp_path, given, "describe", "-", "--input-format", "csv")[1]
    assert json.loads(piped(tmp_path, given, "measure", "-", table, "--json")[1])["dfg_l1"] == 0
    assert json.loads(piped(tmp_path, given, "measure", table, "-", "--json")[1])["dfg_l1"] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM")
def test_nothing_stays_when_it_is_ended_while_it_reads(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    words = _command(tmp_path, "inspect", "-")
    with subprocess.Popen(**words, stdin=pipe, stdout=pipe, stderr=pipe) as process:  # type: ignore[call-overload]
        process.stdin.write(TABLE.encode())
        process.stdin.flush()
        until = time.monotonic() + 120
        while not list((tmp_path / "tmp").glob("libra-*/stdin")) and time.monotonic() < until:
            time.sleep(0.05)
        assert list((tmp_path / "tmp").iterdir()) != []
        process.send_signal(signal.SIGTERM)
        process.wait()
        assert process.returncode == 128 + signal.SIGTERM
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("anonymize", "log.csv", "-o", "-"), "The log goes to stdout. Name its format: --output-format csv."),
        (("convert", "log.csv", "-"), "The log goes to stdout. Name its format: --output-format csv."),
        (("convert", "log.csv", "-", "--output-format", "docx"), '--output-format "docx" is unknown. Use xes, csv, tsv'),
        (("convert", "log.csv", "out.csv", "--output-format", "csv"), "--output-format needs a log named -."),
        (("inspect", "log.csv", "--input-format", "csv"), "--input-format needs a log named -."),
        (("convert", "log.csv", "-", "--output-format", "csv", "--json"), "--json goes to stdout as well."),
        (("anonymize", "log.csv", "-o", "-", "--output-format", "csv", "--engine", "spark"), "Spark writes folders."),
        (("measure", "-", "-"), "Only one log can be read from stdin."),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(words: tuple[str, ...], told: str, run: Run) -> None:
    answer: Answer = run(*words)
    assert (answer.code, answer.out) == (2, "")
    assert told in answer.err


def test_a_closed_stdout_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(TABLE)
    words = ["anonymize", "log.csv", "-o", "-", "--output-format", "csv", "--certificate", "c.json"]
    command = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "libra", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2
    assert "stdout is closed" in done.stderr
    assert not (tmp_path / "c.json").exists()
