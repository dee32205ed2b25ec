"""`libra audit`: what it prints and where, its exit codes, and how it ends when somebody loses patience."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typer.main import get_command

import libra.api
from libra._system.randomness import Randomness
from libra.cli.app import app
from libra.cli.audit import show_audit, verdict
from libra.cli.options import EXAMPLES
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.options import Progress
from libra.measures.audit import NAMES, Audit, Claim
from libra.measures.audit.canaries import FREQUENT, SLOW, THRESHOLD, VALUE
from libra.measures.audit.events import Bound
from libra.measures.audit.outcome import Finding
from libra.mechanisms.mechanism import HOMES
from libra.mechanisms.release import Release
from libra.privacy.guarantee import Guarantee

from .conftest import Run

COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # typer's own class is private
QUICK = ("--runs", "200", "--processes", "1", "--seed", "1", "--canary", FREQUENT)


@dataclass(frozen=True)
class Open:
    """Releases the log as it is, and claims to be private."""

    epsilon: float = 1.0
    delta: float = 1e-4
    alpha: float = 10.0
    subsamples: int | str | None = None
    name: ClassVar[str] = "open"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        return Release(log, self.name, asdict(self), Guarantee.proved(self.epsilon, self.delta), random.seeded)


@dataclass(frozen=True)
class Closed(Open):
    """Releases an empty log."""

    name: ClassVar[str] = "closed"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        return super().anonymize(empty_log(log), random, progress)


@dataclass(frozen=True)
class Silent:
    """Takes its time, and claims nothing."""

    name: ClassVar[str] = "silent"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        time.sleep(0.001)
        return Release(empty_log(log), self.name, {}, Guarantee("claimed", "nothing", "nobody"), random.seeded)


@pytest.fixture(autouse=True)
def _toys(monkeypatch: pytest.MonkeyPatch) -> None:
    for toy in (Open, Closed, Silent):
        monkeypatch.setitem(HOMES, toy.name, (__name__, toy.__name__))


def numbers_in(document: Any) -> list[float]:
    if isinstance(document, dict):
        return numbers_in(list(document.values()))
    if isinstance(document, list):
        return [number for part in document for number in numbers_in(part)]
    return [document] if isinstance(document, int | float) else []


@pytest.mark.parametrize(("toy", "code"), [("open", 1), ("closed", 0)])
def test_the_exit_code_is_1_if_the_claim_is_refuted(toy: str, code: int, table: Path, run: Run) -> None:
    answer = run("audit", table, "--mechanism", toy, *QUICK)
    assert answer.code == code
    assert ("Refuted: open is not (1, 0.01)-differentially private." in answer.out) == (code == 1)
    assert ("Not refuted: nothing was found" in answer.out) == (code == 0)


@pytest.mark.parametrize(("toy", "code"), [("open", 1), ("closed", 0)])
def test_json_is_one_document_with_finite_numbers(toy: str, code: int, crowd: Path, run: Run) -> None:
    answer = run("audit", crowd, "--mechanism", toy, *QUICK, "--json")
    document = json.loads(answer.out)
    assert (answer.code, document["refuted"]) == (code, code == 1)
    assert document["document"] == "Libra audit"
    assert document["mechanism"] == toy
    assert document["claim"] == {"epsilon": 1.0, "delta": 0.01, "source": "proved by Libra", "of_individuals": False}
    assert document["runs"] == 200
    (finding,) = document["findings"]
    assert finding["canary"] == FREQUENT
    assert finding["refutes"] == document["refuted"]
    assert document["epsilon_low"] == finding["epsilon_low"]
    assert len(numbers_in(document)) > 20
    assert all(math.isfinite(number) for number in numbers_in(document))
    assert document["notes"]
    assert answer.err.splitlines() == [f"note: {note}" for note in document["notes"]]


def test_parameters_of_the_mechanism_and_the_claim_reach_it(table: Path, run: Run) -> None:
    said = ("--alpha", "3", "--subsamples", "7", "--epsilon", "2.5", "--delta", "0.2")
    document = json.loads(run("audit", table, "--mechanism", "open", *QUICK, *said, "--json").out)
    assert document["parameters"] == {"epsilon": 2.5, "delta": 0.2, "alpha": 3.0, "subsamples": 7}
    assert (document["claim"]["epsilon"], document["claim"]["delta"]) == (2.5, 0.2)
    document = json.loads(run("audit", table, "--mechanism", "open", *QUICK, "--subsamples", "paper", "--json").out)
    assert document["parameters"] == {"epsilon": 1.0, "delta": 0.01, "alpha": 10.0, "subsamples": "paper"}


def test_what_is_said_on_the_command_line_is_what_is_asked_of_the_api(
    table: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def listen(_log: Path, **keywords: Any) -> None:
        asked.append(keywords)
        raise KeyboardInterrupt

    monkeypatch.setattr(libra.api, "audit", listen)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    run("audit", table)
    run(
        "audit",
        table,
        "--runs",
        "300",
        "--time-limit",
        "9",
        "--processes",
        "3",
        "--canary",
        SLOW,
        "--canary",
        VALUE,
        "--seed",
        "5",
    )
    defaults, said = ({key: value for key, value in one.items() if key != "progress"} for one in asked)
    guarantee, effort = (
        {"mechanism": "libra", "epsilon": None, "delta": 0.01},
        {"runs": 10_000, "time_limit": 240.0, "processes": 6},
    )
    reading = {"sort_by_time": False, "drop_invalid": False}
    assert defaults == guarantee | effort | {"canary": None, "seed": None} | reading
    assert said == defaults | {"runs": 300, "time_limit": 9.0, "processes": 3, "canary": [SLOW, VALUE], "seed": 5}


def test_a_canary_may_be_asked_for_again_and_again(table: Path, run: Run) -> None:
    more = ("--canary", SLOW, "--canary", THRESHOLD, "--canary", SLOW)
    document = json.loads(run("audit", table, "--mechanism", "open", *QUICK, *more, "--json").out)
    assert sorted(finding["canary"] for finding in document["findings"]) == sorted((FREQUENT, SLOW, THRESHOLD))


def test_quiet_leaves_the_outcome_and_nothing_else(crowd: Path, run: Run) -> None:
    answer = run("audit", crowd, "--mechanism", "open", *QUICK, "--quiet")
    assert (answer.code, answer.err) == (1, "")
    assert "Refuted: " in answer.out
    answer = run("audit", crowd, "--mechanism", "open", *QUICK, "--quiet", "--json")
    assert (answer.code, json.loads(answer.out)["refuted"], answer.err) == (1, True, "")


def test_notes_go_to_stderr(table: Path, run: Run) -> None:
    note = "No variant of up to 256 cases shows in the release: none was put at a threshold."
    answer = run("audit", table, "--mechanism", "closed", *QUICK, "--canary", THRESHOLD)
    assert (answer.code, answer.err) == (0, f"note: {note}\n")
    assert note not in answer.out
    answer = run("audit", table, "--mechanism", "closed", *QUICK, "--canary", THRESHOLD, "--json")
    assert json.loads(answer.out)["notes"] == [note]


def test_when_time_is_up_it_says_so_and_how_to_get_more(table: Path, run: Run) -> None:
    limits = ("--runs", "1000000", "--time-limit", "1", "--processes", "1", "--canary", FREQUENT, "--epsilon", "1")
    answer = run("audit", table, "--mechanism", "silent", *limits, "--json")
    assert answer.code == 0
    assert answer.err == "note: Time was up before all runs were done: --time-limit allows more.\n"
    document = json.loads(answer.out)
    assert 80 <= document["runs"] < 1_000_000
    assert document["claim"]["source"] == "asked for; its authors state no epsilon"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--mechanism", "nonsense"), 'There is no mechanism "nonsense".'),
        (("--mechanism", "lapras"), 'There is no mechanism "lapras".'),
        (("--canary", "sings"), f'Unknown canary "sings". Choose from: {", ".join(NAMES)}.'),
        (("--runs", "5"), "runs has to be a whole number from 200 to 10,000,000, not 5."),
        (("--runs", "many"), "--runs"),
        (("--time-limit", "0"), "the time limit has to be a number of seconds from 1 to 604,800, not 0.0."),
        (("--processes", "0"), "processes has to be a whole number from 1 to 256, not 0."),
        (("--seed", "-1"), "seed has to be a whole number from 0"),
        (("--epsilon", "0"), "epsilon has to be a number above 0"),
        (("--delta", "0.5"), "delta has to be a number above 0 and below 0.5"),
        (("--alpha", "3"), "libra does not take alpha."),
        (("--mechanism", "libra2022", "--tail", "drop"), "libra2022 does not take tail."),
        (("--mechanism", "libra2022", "--subsamples", "some"), "subsamples"),
        (("--mechanism", "libra2022", "--subsamples", "9" * 5000), "subsamples"),
        (("--mechanism", "silent", "--processes", "1"), "silent states no epsilon. Choose the one to test with --epsilon."),
    ],
)
@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_what_cannot_be_meant_is_one_line_and_exit_2(
    words: tuple[str, ...], told: str, flags: tuple[str, ...], table: Path, run: Run
) -> None:
    answer = run("audit", table, *words, *flags)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("libra: ")
    assert answer.err.count("\n") == 1
    assert told in answer.err
    assert len(answer.err) < 500


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_log_without_cases_or_without_a_file_is_bad_input(
    flags: tuple[str, ...], empty_table: Path, tmp_path: Path, run: Run
) -> None:
    for path in (empty_table, tmp_path / "missing.csv"):
        answer = run("audit", path, *QUICK, *flags)
        assert (answer.code, answer.out) == (3, "")
        assert answer.err.startswith(f"libra: {path}: ")
        assert answer.err.count("\n") == 1


def test_the_help_shows_the_flags_of_the_mechanisms(run: Run) -> None:
    shown = run("audit", "--help").out
    for flag in ("--tail", "--public-labels", "--gamma", "--alpha", "--set", "--canary", "--time-limit", "--case-id"):
        assert flag in shown


@pytest.mark.parametrize("example", EXAMPLES["audit"])
def test_every_example_of_the_help_parses(example: str) -> None:
    _, command, *words = example.split()
    assert COMMANDS[command].make_context(command, words).params["mechanism"] in HOMES


def found_with(*findings: Finding, of_individuals: bool = False) -> Audit:
    claim = Claim(1.0, 0.01, "by hand", of_individuals)
    return Audit("toy", {}, claim, findings, runs=1234, seconds=61.0, mistaken=0.01)


def finding(bound: Bound, *, likelier_with: bool = True) -> Finding:
    return Finding(FREQUENT, 1, Claim(1.0, 0.01, "by hand"), "the number of cases: at least 44", likelier_with, bound, 0.01)


@pytest.mark.parametrize(("likelier_with", "sides"), [(True, ("90 of 100", "7 of 300")), (False, ("7 of 300", "90 of 100"))])
def test_the_table_tells_which_side_is_which(
    likelier_with: bool, sides: tuple[str, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    show_audit(found_with(finding(Bound(90, 100, 7, 300, 0.8, 0.05), likelier_with=likelier_with)))
    out = capsys.readouterr().out
    (row,) = (line for line in out.splitlines() if line.strip().startswith(FREQUENT))
    assert row.index(f" {sides[0]}") < row.index(f" {sides[1]}")
    assert "2.76 !" in row
    assert out.strip().startswith("toy, at (1, 0.01) for one case, by hand")


def test_the_table_tells_whom_the_claim_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    show_audit(found_with(finding(Bound(0, 9, 0, 9, 0.0, 0.5)), of_individuals=True))
    assert capsys.readouterr().out.strip().startswith("toy, at (1, 0.01) for one individual, by hand")


def test_the_verdict_tells_what_was_proved_and_how_sure_that_is() -> None:
    proved, sure = verdict(found_with(finding(Bound(0, 9, 0, 9, 0.0, 0.5)), finding(Bound(90, 100, 7, 300, 0.8, 0.05))))
    assert proved == (
        "Refuted: toy is not (1, 0.01)-differentially private. A canary that joins a frequent variant gives itself away by the "
        "number of cases: at least 44. At delta 0.01 epsilon is at least 2.76; at epsilon 1 delta is at least 0.66."
    )
    assert sure == "A true claim is refuted like this with a probability of 0.01 at most. 1,234 runs in 61 seconds."


def test_the_verdict_tells_what_it_would_have_taken() -> None:
    found = found_with(finding(Bound(0, 9, 0, 9, 0.0, 0.5)))
    stands, needed = verdict(found)
    assert stands.startswith("Not refuted: nothing was found that (1, 0.01)-differential privacy forbids. This is not a proof.")
    assert f"about {found.runs_needed:,} runs per side" in needed


SLOW_MECHANISM = """
import os, sys, time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from libra.mechanisms.release import Release
from libra.privacy.guarantee import Guarantee

(Path(__file__).parent / f"imported-{os.getpid()}").touch()
if "spawn_main" in " ".join(sys.orig_argv):
    time.sleep(0.5)  # a process that is still starting


@dataclass(frozen=True)
class Patient:
    name: ClassVar[str] = "patient"

    def anonymize(self, log, random, progress):
        (Path(__file__).parent / f"ran-{os.getpid()}").touch()
        time.sleep(0.005)
        return Release(log, self.name, {}, Guarantee.proved(1.0, 0.01), random.seeded)
"""
IMPATIENT = """
import signal, sys
from libra.cli import main
from libra.mechanisms.mechanism import HOMES

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us, and however
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    HOMES["patient"] = ("slow_mechanism", "Patient")
    sys.exit(main(sys.argv[1:]))
"""


def alive_in_group(group: int) -> list[int]:
    """The processes of a group that have not ended; those that only wait for somebody to notice have."""
    states = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text(encoding="utf-8").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # gone while we looked
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            states[int(status.parent.name)] = fields[0]
    return sorted(states)


def ended_by(number: signal.Signals, moment: str, table: Path, folder: Path, *, whole_group: bool) -> tuple[int, str, str]:
    """How an audit in two processes ends that is sent a signal: exit code, stdout, stderr; and no process is left."""
    (folder / "slow_mechanism.py").write_text(SLOW_MECHANISM, encoding="utf-8")
    (folder / "impatient.py").write_text(IMPATIENT, encoding="utf-8")
    words = ("audit", str(table), "--mechanism", "patient", "--runs", "1000000", "--processes", "2", "--canary", FREQUENT)
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "impatient.py", *words], cwd=folder, start_new_session=True, **streams) as process:
        while len(list(folder.glob(f"{moment}-*"))) < 3:  # this one and two others
            assert process.poll() is None, "it was done before anybody could end it"
            time.sleep(0.005)
        assert len(alive_in_group(process.pid)) >= 3
        (os.killpg if whole_group else os.kill)(process.pid, number)
        out, err = process.communicate(timeout=600)
    patience = time.monotonic() + 600
    while alive_in_group(process.pid) and time.monotonic() < patience:
        time.sleep(0.01)
    assert alive_in_group(process.pid) == []
    return process.returncode, out, err


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")


@needs_proc
@pytest.mark.parametrize("moment", ["imported", "ran"], ids=["while processes start", "while they run"])
def test_an_interrupt_is_quiet_exits_130_and_leaves_no_process_behind(moment: str, table: Path, tmp_path: Path) -> None:
    """As from a terminal, which sends it to all processes."""
    assert ended_by(signal.SIGINT, moment, table, tmp_path, whole_group=True) == (130, "", "")


@needs_proc
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_whoever_ends_an_audit_ends_all_of_it(number: signal.Signals, code: int, table: Path, tmp_path: Path) -> None:
    ended, out, err = ended_by(number, "ran", table, tmp_path, whole_group=False)
    assert (ended, out) == (code, "")
    assert "Traceback" not in err  # Python may say that it cleaned up after a process that was killed


def test_the_published_mechanism_is_audited_in_two_processes_from_a_shell(crowd: Path, shell: Run) -> None:
    words = ("--mechanism", "libra2022", "--runs", "200", "--processes", "2", "--canary", SLOW, "--alpha", "2", "--seed", "1")
    answer = shell("audit", crowd, *words, "--json")
    document = json.loads(answer.out)
    assert answer.code == document["refuted"]
    assert document["parameters"]["alpha"] == 2
    assert document["claim"]["source"] == "implied by what its authors claim"
    assert document["runs"] == 200
    assert all(line.startswith("note: ") for line in answer.err.splitlines())
