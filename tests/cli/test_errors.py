"""How a command ends when something is wrong: one line on stderr, the promised exit code, no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import libra.api

from .conftest import Run


def _raise(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_args: object, **_keywords: object) -> None:
        raise error

    monkeypatch.setattr(libra.api, "read", fail)


@pytest.mark.parametrize(
    "arguments",
    [
        ("inspect",),
        ("inspect", "a.csv", "--nonsense"),
        ("nonsense",),
        ("convert", "a.csv"),
        ("inspect", "a.csv", "--delimiter", "ab"),
        ("inspect", "a.csv", "--encoding", "foo"),
    ],
)
def test_usage_errors_are_one_line_and_exit_2(arguments: tuple[str, ...], run: Run) -> None:
    answer = run(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("libra: ")
    assert answer.err.count("\n") == 1


def test_a_wrong_command_is_answered_with_the_right_one(run: Run) -> None:
    assert "'inspect'" in run("inspcet").err


@pytest.mark.parametrize("json_flag", [(), ("--json",)])
def test_a_missing_file_is_bad_input(json_flag: tuple[str, ...], tmp_path: Path, run: Run) -> None:
    missing = tmp_path / "missing.xes"
    answer = run("inspect", missing, *json_flag)
    assert (answer.code, answer.out) == (3, "")
    assert answer.err == f"libra: {missing}: there is no such file. Check the path.\n"


def test_columns_that_cannot_be_found_are_asked_for_by_flag(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text("alpha,beta\n1,2\n3,4\n", encoding="utf-8")
    answer = run("inspect", path)
    assert answer.code == 3
    assert answer.err.count("\n") == 1
    assert all(word in answer.err for word in ("numbers.csv", "alpha", "beta", "--"))


def test_an_unreadable_timestamp_is_named_with_its_line(table: Path, run: Run) -> None:
    table.write_text(table.read_text(encoding="utf-8").replace("2024-05-06T08:45:00Z", "n/a"), encoding="utf-8")
    answer = run("inspect", table)
    assert answer.code == 3
    assert "visits.csv, line 6" in answer.err
    assert '"n/a"' in answer.err
    assert "--drop-invalid" in answer.err
    assert run("inspect", table, "--drop-invalid").code == 0


def test_control_characters_in_an_error_are_shown_not_obeyed(tmp_path: Path, run: Run) -> None:
    answer = run("inspect", tmp_path / "a\x1b[31m.csv")
    assert r"a\x1b[31m.csv" in answer.err
    assert "\x1b" not in answer.err


def test_a_mistake_of_ours_is_one_line_and_exit_70(table: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _raise(ZeroDivisionError("oh\nno"), monkeypatch)
    answer = run("inspect", table)
    assert (answer.code, answer.out) == (70, "")
    assert answer.err == ("libra: internal error (ZeroDivisionError: oh); please report it with the output of LIBRA_DEBUG=1.\n")


def test_debugging_shows_the_traceback(table: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _raise(ZeroDivisionError(), monkeypatch)
    monkeypatch.setenv("LIBRA_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        run("inspect", table)


def test_too_little_memory_is_one_line(table: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _raise(MemoryError(), monkeypatch)
    answer = run("inspect", table)
    assert answer.code == 3
    assert "not enough memory" in answer.err


def test_an_interrupt_is_quiet_and_exits_130(table: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    _raise(KeyboardInterrupt(), monkeypatch)
    answer = run("inspect", table)
    assert (answer.code, answer.out, answer.err) == (130, "", "")


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_process_that_is_ended_leaves_nothing_behind(name: str, code: int, tmp_path: Path) -> None:
    if not hasattr(signal, name):
        pytest.skip(f"there is no {name} on this system")
    if signal.getsignal(getattr(signal, name)) == signal.SIG_IGN:
        pytest.skip(f"{name} is ignored here, as under nohup, and a process that is started inherits that")
    command = [sys.executable, "-m", "libra", "simulate", "--cases", "2000000000", "-o", "out.csv.gz"]  # that takes hours
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not any(part.stat().st_size for part in tmp_path.glob(".libra-*.part")):  # until writing is under way
            assert process.poll() is None, process.communicate()
            time.sleep(0.001)
        process.send_signal(getattr(signal, name))
        out, err = process.communicate()
    assert (process.returncode, out, err) == (code, "", "")
    assert list(tmp_path.iterdir()) == []


PANICS = """
import os, signal, sys
import polars as pl
import libra.api
from libra.cli import main

def read(*_args, **_keywords):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    except SystemExit:
        os.write(2, b"thread panicked")
        raise pl.exceptions.PanicException("called unwrap on an error") from None

libra.api.read = read
sys.exit(main(["inspect", sys.argv[1]]))
"""


def test_a_signal_that_meets_polars_within_python_code_ends_the_process_as_any_other(table: Path) -> None:
    """Polars makes a panic of whatever is raised there."""
    if signal.getsignal(signal.SIGTERM) == signal.SIG_IGN:
        pytest.skip("SIGTERM is ignored here, and a process that is started inherits that")
    done = subprocess.run([sys.executable, "-c", PANICS, str(table)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "", "")


LOSES = """
import os, signal, sys, time
import libra.api
from libra.cli import main

def read(*_args, **_keywords):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause()
    except SystemExit:
        pass  # as if it had been raised where nobody passes it on
    try:
        while True:
            time.sleep(0.01)
    finally:
        time.sleep(3 * libra.cli.LOST_AFTER)  # cleaning up takes its time
        print("cleaned up")

libra.api.read = read
sys.exit(main(["inspect", sys.argv[1]]))
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers on this system")
def test_a_signal_whose_exception_is_lost_ends_the_process_all_the_same_and_cleaning_up_is_not_cut_short(table: Path) -> None:
    if signal.getsignal(signal.SIGTERM) == signal.SIG_IGN:
        pytest.skip("SIGTERM is ignored here, and a process that is started inherits that")
    done = subprocess.run([sys.executable, "-c", LOSES, str(table)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (143, "cleaned up\n", "")


def test_signals_that_are_ignored_stay_ignored_and_others_are_put_back(
    table: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {}

    def look(*_args: object, **_keywords: object) -> None:
        seen.update({name: signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGHUP)})
        raise KeyboardInterrupt

    monkeypatch.setattr(libra.api, "read", look)
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN), signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        run("inspect", table)
        assert seen[signal.SIGHUP] is signal.SIG_IGN
        assert callable(seen[signal.SIGTERM])
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before[0])
        signal.signal(signal.SIGTERM, before[1])


@pytest.mark.parametrize("arguments", [("--help",), ("doctor", "--json"), ("doctor",)])
def test_a_reader_that_goes_away_is_no_error_message(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "libra", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full on this system")
def test_a_result_that_cannot_be_printed_is_one_line(table: Path) -> None:
    command = [sys.executable, "-m", "libra", "inspect", str(table), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("libra: the result cannot be written")
    assert done.stderr.count("\n") == 1


def test_a_closed_stdout_is_no_reason_to_fail(table: Path) -> None:
    command = f"{sys.executable} -m libra inspect {table} --json >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
