"""Whoever leaves out most of a log is told where the log is looked at, and not by a release."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import Run

GOOD, BAD = "2024-05-27T08:00:00Z", "n/a"
NOTE = "note: More than half of the events were left out."
EVENT = '<event><string key="concept:name" value="a"/><date key="time:timestamp" value="{}"/></event>'


def write(folder: Path, ending: str, times: list[str]) -> Path:
    file = folder / f"log.{ending}"
    if ending == "csv":
        file.write_text("\n".join(["case,activity,time", *(f"{i},a,{time}" for i, time in enumerate(times)), ""]))
    else:
        cases = (f'<trace><string key="concept:name" value="{i}"/>{EVENT.format(t)}</trace>' for i, t in enumerate(times))
        file.write_text(f"<log>{''.join(cases)}</log>")
    return file


@pytest.mark.parametrize("ending", ["csv", "xes"])
@pytest.mark.parametrize(("times", "told"), [([GOOD, BAD, BAD], True), ([GOOD, BAD], False)])
def test_losing_most_events_is_told_where_a_log_is_looked_at(
    ending: str, times: list[str], told: bool, tmp_path: Path, run: Run
) -> None:
    file = write(tmp_path, ending, times)
    for command in (("inspect", file), ("convert", file, tmp_path / "clean.csv")):
        answer = run(*command, "--drop-invalid")
        assert answer.code == 0
        assert (NOTE in answer.err) == told
    released = run("anonymize", file, "-o", tmp_path / "out.csv", "--drop-invalid")
    assert released.code == 0
    assert "More than half" not in released.err + released.out
    assert "left out" in released.err
