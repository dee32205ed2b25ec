"""Every trace of an XES file is a case of its own in batches too, and what the first traces do not tell is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from agreement import ENOUGH, agree, in_batches, in_memory, outcome, read_little
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import batches_of, read

TIME = '<date key="time:timestamp" value="2024-05-06T08:00:00.250+02:00"/>'
NAIVE = '<date key="time:timestamp" value="2024-05-06T08:00:00"/>'
NEVER = '<date key="time:timestamp" value="n/a"/>'
WORDS = '<string key="time:timestamp" value="2024-05-06"/>'
YEAR_ONE = '<date key="time:timestamp" value="0001-01-01T00:00:00Z"/>'
MICROS = 1_714_975_200_250_000  # of TIME
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
    "a zone": [trace(str(i), event("A", time=NAIVE)) for i in range(4)] + [trace("5", event("A"))],
    "epochs, then words": [
        *(trace(str(i), event("A", '<int key="when" value="1714982400"/>')) for i in range(4)),
        trace("5", event("A", '<string key="when" value="noon"/>')),
    ],
    "a birthday": [*FOUR, trace("5", event("A", '<date key="born" value="1960-05-06"/>'))],
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
            "a zone",
            'case "5", event 1: timestamp "2024-05-06T08:00:00.250+02:00" carries a time zone, and those before it do not.',
        ),
        ("epochs, then words", 'case "5", event 1: the attribute "when" is from here on not of the type it had (Int64).'),
    ],
)
def test_a_refusal_names_the_case_and_the_event(tmp_path: Path, name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, 1, 60, 60)
    roles = RoleNames(timestamp="when") if name == "epochs, then words" else RoleNames()
    refusal = outcome(in_batches, written(tmp_path, name), ReadOptions(roles=roles))
    assert isinstance(refusal, str)
    assert says in refusal


def test_labels_of_any_declared_type_are_read_each_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_little(monkeypatch, 1, 1, 60, 60)
    for name in ("whole activities and words", "numbers of two kinds", "numbers that are none"):
        agree(written(tmp_path, name))
    assert [labels for labels, _, _ in in_batches(tmp_path / "log.xes.gz", ReadOptions())] == [["7"]] * 4 + [["x"]]


def test_traces_that_share_a_name_are_of_one_individual_where_the_name_says_whose_they_are(tmp_path: Path) -> None:
    file, by_name = written(tmp_path, "the same name"), ReadOptions(roles=RoleNames(individual="case:concept:name"))
    agree(file, by_name)
    assert in_memory(file, by_name) == [(["A"], [MICROS], 0), (["B"], [MICROS], 0), (["C"], [MICROS], 2)]


def test_the_zone_of_times_is_not_that_of_other_dates(tmp_path: Path) -> None:
    for roles in (RoleNames(), RoleNames(activity=("concept:name",))):
        assert read(written(tmp_path, "a birthday"), ReadOptions(roles=roles)).has_zone
        assert not read(written(tmp_path, "naive times"), ReadOptions(roles=roles)).has_zone
        assert not batches_of(written(tmp_path, "naive times"), ReadOptions(roles=roles)).has_zone


def test_roles_zone_and_notes_are_those_of_memory(tmp_path: Path) -> None:
    for name in ("plain", "naive times", "some without events"):
        log, events = read(written(tmp_path, name), ReadOptions()), batches_of(tmp_path / "log.xes.gz", ReadOptions())
        assert len(list(events)) == 1
        assert (events.roles, events.has_zone, set(events.notes())) == (log.roles, log.has_zone, set(log.notes))
