"""What goes where: results on stdout, notes and progress on stderr, and no progress where nobody is watching."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from libra.cli import output
from libra.cli.output import progress_bar
from libra.eventlog.options import no_progress

from .conftest import LIBRA2022, TABLE, Run


@pytest.mark.parametrize("command", ["inspect", "convert", "measure", "anonymize", "epsilon", "demo", "doctor"])
def test_json_is_one_document_and_nothing_else_on_stdout(command: str, crowd: Path, shell: Run) -> None:
    arguments = {
        "inspect": (crowd,),
        "convert": (crowd, "log.xes"),
        "measure": (crowd, crowd),
        "anonymize": (crowd, "-o", "out.csv", *LIBRA2022, "--seed", "1"),
    }.get(command, ())
    answer = shell(command, *arguments, "--json")
    assert answer.code == 0, answer.err
    assert isinstance(json.loads(answer.out), dict)
    assert all(line.startswith("note: ") for line in answer.err.splitlines())
    assert bool(answer.err) == (command != "doctor")


def test_json_is_plain_ascii_whatever_the_log_says(table: Path, shell: Run) -> None:
    table.write_text(TABLE.replace("register", "été \U0001f600"), encoding="utf-8")
    answer = shell("inspect", table, "--json", PYTHONIOENCODING="ascii")
    assert answer.out.isascii()
    assert "été \U0001f600" in json.loads(answer.out)["top_variants"][0]["trace"]


def test_a_terminal_without_unicode_gets_escapes_and_no_error(table: Path, shell: Run) -> None:
    table.write_text(TABLE.replace("register", "été"), encoding="utf-8")
    answer = shell("inspect", table, PYTHONIOENCODING="ascii")
    assert answer.code == 0
    assert r"\xe9t\xe9" in answer.out


def test_no_colour_codes_in_a_pipe(table: Path, shell: Run) -> None:
    answer = shell("inspect", table)
    assert "\x1b" not in answer.out + answer.err


def test_no_progress_where_stderr_is_no_terminal() -> None:
    with progress_bar("reading", quiet=False) as progress:
        assert progress is no_progress


class _Terminal(io.StringIO):
    """A stream that claims to be watched by somebody."""

    def isatty(self) -> bool:
        return True


def _drawn(monkeypatch: pytest.MonkeyPatch, *, quiet: bool) -> str:
    """What a terminal sees of a read of two steps."""
    terminal = _Terminal()
    monkeypatch.setenv("TERM", "xterm")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", terminal)
        with progress_bar("reading [bold]log.csv", quiet=quiet) as progress:
            progress(1, 2)
            progress(2, 2)
    return terminal.getvalue()


def test_a_short_read_shows_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _drawn(monkeypatch, quiet=False) == ""


def test_a_long_read_shows_a_bar_on_stderr_unless_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "PATIENCE_SECONDS", 0.0)
    drawn = _drawn(monkeypatch, quiet=False)
    assert "reading [bold]log.csv" in drawn
    assert "100%" in drawn
    assert _drawn(monkeypatch, quiet=True) == ""
    assert capsys.readouterr().out == ""
