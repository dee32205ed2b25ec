"""Written XES keeps the standard: order of elements, types, spelling of values, escaping, a header that holds."""

from __future__ import annotations

import io
import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import polars as pl
import pytest
import xes_rules
from hypothesis import given
from xes_rules import NAMESPACE

from libra.eventlog import in_parts
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.metadata import Attribute, Classifier, Extension, LogMetadata
from libra.eventlog.xes.write import default_metadata, write_xes, written_metadata
from strategies import event_logs


def written(log: EventLog) -> tuple[bytes, list[str]]:
    notes = write_xes(log, stream := io.BytesIO())
    return stream.getvalue(), notes


def one_case(**attributes: list[Any]) -> EventLog:
    """A log of one case whose events have these attributes."""
    height = max((len(values) for values in attributes.values()), default=1)
    start = datetime(2024, 5, 6, tzinfo=UTC)
    events = {"@case": [0] * height, "concept:name": ["a"] * height, "time:timestamp": [start] * height, **attributes}
    return EventLog(pl.DataFrame(events), pl.DataFrame({"concept:name": ["anna"]}))


def values(log: EventLog, key: str) -> list[tuple[str, str]]:
    """Type and value of the attribute in each event that has it, as written."""
    root = xes_rules.check(written(log)[0])
    found = [child for event in root.iter(f"{NAMESPACE}event") for child in event if child.attrib["key"] == key]
    return [(xes_rules.tag(child), child.attrib["value"]) for child in found]


@given(event_logs())
def test_any_log_is_written_by_the_rules(log: EventLog) -> None:
    document, notes = written(log)
    root = xes_rules.check(document)
    assert notes == []
    traces = root.findall(f"{NAMESPACE}trace")
    assert [len(trace.findall(f"{NAMESPACE}event")) for trace in traces] == [
        int(n) for n in log.case_offsets[1:] - log.case_offsets[:-1]
    ]
    for frame, owner in ((log.cases, "trace"), (log.events.drop("@case"), "event")):
        for column in frame.select(pl.selectors.string()):
            spelled = [
                next((child.attrib["value"] for child in element if child.attrib.get("key") == column.name), None)
                for element in root.iter(NAMESPACE + owner)
            ]
            assert spelled == column.to_list()


def test_slices_may_cut_through_cases(small_log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = written(small_log)
    for events in (1, 2, 3, 5):
        monkeypatch.setattr(in_parts, "SLICE_EVENTS", events)
        assert written(small_log) == whole


def test_same_log_gives_same_bytes(small_log: EventLog) -> None:
    assert written(small_log) == written(EventLog(small_log.events, small_log.cases))


def test_progress_ends_at_the_whole(small_log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_parts, "SLICE_EVENTS", 3)
    seen: list[tuple[int, int]] = []
    write_xes(small_log, io.BytesIO(), lambda done, total: seen.append((done, total)))
    assert seen == [(3, 8), (6, 8), (8, 8)]


def test_a_log_without_cases_is_a_header() -> None:
    log = empty_log(one_case())
    root = xes_rules.check(written(log)[0])
    assert root.find(f"{NAMESPACE}trace") is None
    assert root.find(f"{NAMESPACE}classifier") is not None


def test_types_are_those_of_the_columns() -> None:
    log = one_case(n=[7], x=[0.5], b=[True], t=[datetime(2024, 1, 2, tzinfo=UTC)], s=["text"])
    spelled = [values(log, key)[0] for key in "nxbts"]
    assert spelled == [
        ("int", "7"),
        ("float", "0.5"),
        ("boolean", "true"),
        ("date", "2024-01-02T00:00:00.000+00:00"),
        ("string", "text"),
    ]


def test_numbers_are_spelled_so_that_they_read_back_equal() -> None:
    numbers = [0.1, 1e300, 5e-324, 1e16, -0.0, 1 / 3, 2.5e-7, 10.0]
    assert [float(value) for _, value in values(one_case(x=numbers), "x")] == numbers
    extremes = [-(2**63), 2**63 - 1]
    assert [int(value) for _, value in values(one_case(n=extremes), "n")] == extremes


def test_numbers_without_an_end_are_spelled_as_the_schema_does() -> None:
    assert [value for _, value in values(one_case(x=[math.inf, -math.inf, math.nan, 1.5]), "x")] == ["INF", "-INF", "NaN", "1.5"]


def test_times_have_milliseconds_and_microseconds_only_where_needed() -> None:
    second, milli, micro = (datetime(2024, 5, 6, 8, 0, 0, us, tzinfo=UTC) for us in (0, 7000, 7))
    assert [v for _, v in values(one_case(t=[second, milli]), "t")] == [
        "2024-05-06T08:00:00.000+00:00",
        "2024-05-06T08:00:00.007+00:00",
    ]
    assert values(one_case(t=[second, micro]), "t")[1] == ("date", "2024-05-06T08:00:00.000007+00:00")


def test_start_timestamp_is_a_date() -> None:
    assert values(one_case(start_timestamp=[datetime(2024, 5, 6, tzinfo=UTC)]), "start_timestamp")[0][0] == "date"


def test_identity_is_an_id_only_if_all_are_uuids() -> None:
    uuid = "123e4567-e89b-12d3-a456-426614174000"
    assert values(one_case(**{"identity:id": [uuid, None]}), "identity:id") == [("id", uuid)]
    assert values(one_case(**{"identity:id": [uuid, "me"]}), "identity:id")[0] == ("string", uuid)


def test_missing_values_make_no_element() -> None:
    assert values(one_case(x=[None, 1.0, None]), "x") == [("float", "1.0")]


def test_markup_and_white_space_survive_in_values_and_keys() -> None:
    awkward = ['<a href="x">&amp;</a>', "line\nbreak", "tab\there", "carriage\rreturn", " both ends ", "]]>", "'"]
    assert [value for _, value in values(one_case(s=awkward), "s")] == awkward
    key = '<k> & "q"\n'
    assert values(one_case(**{key: ["v"]}), key) == [("string", "v")]


def test_characters_that_xml_cannot_hold_are_replaced_and_told() -> None:
    log = one_case(s=["bell\x07", "\ufffe", "fine"], **{"k\x00": [1, 2, 3]})
    assert [value for _, value in values(log, "s")] == ["bell\ufffd", "\ufffd", "fine"]
    assert values(log, "k\ufffd") == [("int", "1"), ("int", "2"), ("int", "3")]
    assert written(log)[1] == [
        'Characters of "s" that XML cannot hold were replaced.',
        'Characters of "k\ufffd" that XML cannot hold were replaced.',
    ]


def test_the_individual_is_an_attribute_of_the_case_and_the_note_says_what_is_lost() -> None:
    log = EventLog(one_case().events, pl.DataFrame({"concept:name": ["c1"], "patient": ["anna"]}), individual="patient")
    document, notes = written(log)
    trace = xes_rules.check(document).find(f"{NAMESPACE}trace")
    assert trace is not None
    assert [child.attrib.get("key") for child in trace] == ["concept:name", "patient", None]
    assert notes == ['XES cannot say that "patient" names the individual. Give --individual when you read the file.']


def test_a_header_that_says_nothing_gets_defaults() -> None:
    log = one_case(**{"lifecycle:transition": ["complete"]})
    assert default_metadata(log) == written_metadata(log)
    root = xes_rules.check(written(log)[0])
    assert [c.attrib["keys"] for c in root.iter(f"{NAMESPACE}classifier")] == [
        "concept:name",
        "concept:name lifecycle:transition",
    ]
    assert [g.attrib["scope"] for g in root.iter(f"{NAMESPACE}global")] == ["trace", "event"]
    assert [e.attrib["prefix"] for e in root.iter(f"{NAMESPACE}extension")] == ["concept", "time", "lifecycle"]


def test_defaults_are_stable() -> None:
    log = one_case()
    again = replace(log, metadata=written_metadata(log))
    assert written_metadata(again) == written_metadata(log)
    assert written(again) == written(log)


def test_a_header_that_says_something_is_repeated_without_inventions() -> None:
    log = replace(one_case(), metadata=LogMetadata(attributes=(Attribute("concept:name", "string", "my log"),)))
    assert written_metadata(log) == log.metadata
    root = xes_rules.check(written(log)[0])
    assert root.find(f"{NAMESPACE}classifier") is None
    assert root.find(f"{NAMESPACE}global") is None


def test_header_attributes_are_written_with_what_is_nested_in_them() -> None:
    noon = datetime(2024, 5, 6, 12, tzinfo=timezone(timedelta(hours=2)))
    leaves = (Attribute("when", "date", noon), Attribute("yes", "boolean", True), Attribute("big", "float", math.inf))
    attributes = (
        Attribute("total", "int", 3, (Attribute("a < b", "int", 1, leaves),)),
        Attribute("items", "list", None, (Attribute("i", "string", "x"), Attribute("i", "string", "y"))),
    )
    log = replace(one_case(), metadata=LogMetadata(attributes))
    assert written_metadata(log) == log.metadata
    root = xes_rules.check(written(log)[0])
    assert root.attrib["xes.features"] == "nested-attributes"
    inner = root.find(f"{NAMESPACE}int/{NAMESPACE}int")
    assert inner is not None
    assert [child.attrib["value"] for child in inner] == ["2024-05-06T12:00:00.000+02:00", "true", "INF"]
    assert [child.attrib["value"] for child in root.findall(f"{NAMESPACE}list/{NAMESPACE}values/*")] == ["x", "y"]


def test_what_the_standard_cannot_say_in_a_header_is_told() -> None:
    attributes = (Attribute("box", "container", None, (Attribute("n", "int", "many"),)), Attribute("none", "date", None))
    log = replace(one_case(), metadata=LogMetadata(attributes))
    assert written_metadata(log).attributes == (Attribute("box", "list", None, (Attribute("n", "string", "many"),)),)
    document, notes = written(log)
    xes_rules.check(document)
    assert len(notes) == 3


def test_globals_that_do_not_hold_are_left_out_and_told() -> None:
    stated = (Attribute("concept:name", "string", "?"), Attribute("x", "float", 0.0), Attribute("n", "string", ""))
    log = replace(one_case(x=[1.0, None], n=[1, 2]), metadata=LogMetadata(event_globals=stated))
    document, notes = written(log)
    xes_rules.check(document)
    assert written_metadata(log).event_globals == stated[:1]
    assert [note.split('"')[1] for note in notes] == ["x", "n"]


def test_an_empty_log_keeps_its_whole_header() -> None:
    stated = LogMetadata(event_globals=(Attribute("x", "float", 0.0),), classifiers=(Classifier("X", ("x",)),))
    assert written_metadata(empty_log(replace(one_case(x=[1.0]), metadata=stated))) == stated


def test_classifiers_need_their_attributes() -> None:
    stated = (Classifier("Two words", ("concept:name", "the room")), Classifier("Gone", ("cost",)), Classifier("Odd", ("it's",)))
    log = replace(one_case(**{"the room": ["A"], "it's": ["B"]}), metadata=LogMetadata(classifiers=stated))
    document, notes = written(log)
    found = xes_rules.check(document).findall(f"{NAMESPACE}classifier")
    assert [(c.attrib["name"], c.attrib["keys"]) for c in found] == [("Two words", "concept:name 'the room'")]
    assert [note.split('"')[1] for note in notes] == ["Gone", "Odd"]


def test_extensions_are_those_in_use_and_those_declared() -> None:
    ours = Extension("3TU metadata", "meta_3TU", "http://www.xes-standard.org/meta_3TU.xesext")
    log = one_case(**{key: ["?"] for key in ("org:resource", "cost:total", "unknown:x")})
    root = xes_rules.check(written(replace(log, metadata=LogMetadata(extensions=(ours,))))[0])
    declared = {e.attrib["prefix"]: e.attrib["name"] for e in root.iter(f"{NAMESPACE}extension")}
    assert declared == {
        "concept": "Concept",
        "time": "Time",
        "org": "Organizational",
        "cost": "Cost",
        "meta_3TU": "_3TU_metadata",
    }
