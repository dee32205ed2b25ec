"""Every trace of an XES file is a case of its own in batches too, and what the first traces do not tell is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from libra.eventlog.batches.batches import batches_of
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import read

from .agreement import ENOUGH, agree, in_batches, outcome, read_little

TIME = '<date key="time:timestamp" value="2024-05-06T08:00:00.250+02:00"/>'
NAIVE = '<date key="time:timestamp" value="2024-05-06T08:00:00"/>'
NEVER = '<date key="time:timestamp" value="n/a"/>'
WORDS = '<string key="time:timestamp" value="2024-05-06"/>'
YEAR_ONE = '<date key="time:timestamp" value="0001-01-01T00:00:00Z"/>'
WHO = '<string key="who" value="{}"/>'


def event(label: str, extra: str = "", time: str = TIME, kind: str = "string") -> str:
    return f'<event><{kind} key="concept:name" value="{label}"/>{time}{extra}</event>'


def trace(name: str | None, *events: str, extra: str = "") -> str:
    named = "" if name is None else f'<string key="concept:name" value="{name}"/>'
    return f"<trace>{named}{extra}{''.join(events)}</trace>\n"


FOUR = [trace(str(i), event("A"), event("B"), extra=WHO.format(i % 2)) for i in range(4)]
LOGS: dict[str, list[str]] = {
    "plain": FOUR,
    "the same name": [trace("1", event("A")), trace("1", event("B")), trace("1 (2)", event("C"))],
    "no name": [*FOUR, trace(None, event("A"))],
    "no names": [trace(None, event("A")), trace(None, event("A"))],
    "a blank name": [*FOUR, trace("  ", event("A")), trace(" ", event("A"))],
    "no events": [trace("1"), trace("2")],
    "some without events": [trace("1"), *FOUR, trace("5")],
    "comments": ["<!-- <trace> -->", *FOUR, "<!-- x -->", *FOUR],
    "a naive time": [*FOUR, trace("5", event("A", time=NAIVE))],
    "naive times": [trace(str(i), event("A", time=NAIVE)) for i in range(4)],
    "no time": [*FOUR, trace("5", event("A", time=""))],
    "a bad time": [*FOUR, trace("5", event("A"), event("B", time=NEVER))],
    "a bad time first": [trace("5", event("A"), event("B", time=NEVER)), *FOUR],
    "times as words": [trace(str(i), event("A", time=WORDS)) for i in range(4)],
    "a time as words": [*FOUR, trace("5", event("A", time=WORDS))],
    "year one": [*FOUR, trace("5", event("A", time=YEAR_ONE))],
    "no activity": [*FOUR, trace("5", f"<event>{TIME}</event>")],
    "a blank activity": [*FOUR, trace("5", event(" "))],
    "whole activities": [trace(str(i), event("007", kind="int"), event("8", kind="int")) for i in range(4)],
    "whole activities and words": [
        trace("1", event("007", kind="int")),
        trace("2", event("x")),
        trace("3", event("1.10", kind="float")),
    ],
    "numbers of two kinds": [trace(str(i), event("007", kind="int")) for i in range(4)]
    + [trace("5", event("1.5", kind="float"))],
    "numbers that are none": [trace(str(i), event("007", kind="int")) for i in range(4)] + [trace("5", event("x", kind="int"))],
    "transitions": [
        trace(str(i), event("A", f'<string key="lifecycle:transition" value="{t}"/>'))
        for i, t in enumerate(("start", "COMPLETE", "complete"))
    ],
    "case in events": [trace("1", event("A", '<string key="case:x" value="v"/><string key="@case" value="w"/>'))],
    "cut off": [*FOUR, "<trace>"],
}
OPTIONS = {
    "as it is": ReadOptions(),
    "dropping": ReadOptions(drop_invalid=True, allow_empty=True),
    "individual": ReadOptions(roles=RoleNames(individual="who"), drop_invalid=True),
    "the case": ReadOptions(roles=RoleNames(individual="case:concept:name"), drop_invalid=True),
    "by who": ReadOptions(roles=RoleNames(case_id=("who",)), drop_invalid=True),
    "resource": ReadOptions(roles=RoleNames(resource="who"), drop_invalid=True),
    "both": ReadOptions(roles=RoleNames(activity=("concept:name", "case:who"))),
    "complete": ReadOptions(lifecycle_keep=("complete",)),
    "renamed": ReadOptions(roles=RoleNames(activity=("event:case:x",))),
}


def written(folder: Path, name: str) -> Path:
    path = folder / "log.xes.gz"
    path.write_bytes(gzip.compress(f'<?xml version="1.0" encoding="UTF-8"?>\n<log>{"".join(LOGS[name])}</log>'.encode()))
    return path


@pytest.mark.parametrize("choice", OPTIONS)
@pytest.mark.parametrize("name", LOGS)
def test_traces_are_read_as_in_memory(tmp_path: Path, name: str, choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, ENOUGH, 61, ENOUGH)
    agree(written(tmp_path, name), OPTIONS[choice])


@pytest.mark.parametrize("choice", OPTIONS)
@pytest.mark.parametrize("name", LOGS)
def test_what_the_first_trace_does_not_tell_is_refused_and_never_read_otherwise(
    tmp_path: Path, name: str, choice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_little(monkeypatch, 1, 1, 60, 60)
    agree(written(tmp_path, name), OPTIONS[choice], may_refuse=True)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a naive time", 'case "5", event 1: timestamp "2024-05-06T08:00:00" carries no time zone, and those before it do.'),
        ("a time as words", 'case "5", event 1: "time:timestamp" is declared as string here, and as date before.'),
        (
            "numbers of two kinds",
            'case "5", event 1: the attribute "concept:name" is from here on not of the type it had (Int64).',
        ),
    ],
)
def test_a_refusal_names_the_case_and_the_event(tmp_path: Path, name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, 1, 60, 60)
    refusal = outcome(in_batches, written(tmp_path, name), ReadOptions())
    assert isinstance(refusal, str)
    assert says in refusal


def test_roles_zone_and_notes_are_those_of_memory(tmp_path: Path) -> None:
    for name in ("plain", "naive times", "some without events"):
        log, events = read(written(tmp_path, name), ReadOptions()), batches_of(tmp_path / "log.xes.gz", ReadOptions())
        assert len(list(events)) == 1
        assert (events.roles, events.has_zone(), set(events.notes())) == (log.roles, log.has_zone, set(log.notes))
