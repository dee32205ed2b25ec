"""What an XES file says is what the log holds; what it must not say is refused in one line."""

from __future__ import annotations

import gzip
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from libra.errors import InputError
from libra.eventlog.files import FileFormat
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, Classifier
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import read
from libra.eventlog.xes.read import read_xes

HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n<log xes.version="1849.2016" xmlns="http://www.xes-standard.org/">\n'
TIME = '<date key="time:timestamp" value="2024-05-06T08:00:00.250+02:00"/>'


def event(label: str, extra: str = "", time: str = TIME) -> str:
    return f'<event><string key="concept:name" value="{label}"/>{time}{extra}</event>'


def trace(name: str, *events: str, extra: str = "") -> str:
    return f'<trace><string key="concept:name" value="{name}"/>{extra}{"".join(events)}</trace>\n'


def read_text(folder: Path, text: str | bytes, options: ReadOptions | None = None) -> EventLog:
    path = folder / "log.xes"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read(path, options or ReadOptions())


def test_values_keep_their_types(tmp_path: Path) -> None:
    extra = (
        '<int key="n" value="-7"/><float key="f" value="1.5"/><boolean key="yes" value="true"/>'
        '<boolean key="capital" value="False"/><float key="big" value="INF"/><id key="identity:id" value="6ba7b810"/>'
        '<date key="due" value="9999-12-31T00:00:00Z"/><string key="empty" value=""/>'
    )
    row = read_text(tmp_path, HEADER + trace("1", event("A", extra)) + "</log>").events.row(0, named=True)
    assert row == {
        "@case": 0,
        "concept:name": "A",
        "time:timestamp": datetime(2024, 5, 6, 6, 0, 0, 250_000, tzinfo=UTC),
        "n": -7,
        "f": 1.5,
        "yes": True,
        "capital": False,
        "big": float("inf"),
        "identity:id": "6ba7b810",
        "due": datetime(9999, 12, 31, tzinfo=UTC),
        "empty": "",
    }


def test_the_header_survives(tmp_path: Path) -> None:
    header = (
        '<extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>'
        '<global scope="trace"><string key="concept:name" value="none"/></global>'
        '<global scope="event"><int key="n" value="3"/></global>'
        '<classifier name="Both" keys="concept:name \'two words\'"/>'
        '<string key="concept:name" value="the log"><date key="made" value="2024-01-01T00:00:00Z"/></string>'
        '<list key="places"><values><string key="place" value="A"/><string key="place" value="B"/></values></list>'
    )
    metadata = read_text(tmp_path, HEADER + header + trace("1", event("A")) + "</log>").metadata
    assert metadata.name == "the log"
    assert metadata.attributes[0].children == (Attribute("made", "date", datetime(2024, 1, 1, tzinfo=UTC)),)
    assert [child.value for child in metadata.attributes[1].children] == ["A", "B"]
    assert metadata.case_globals == (Attribute("concept:name", "string", "none"),)
    assert metadata.event_globals == (Attribute("n", "int", 3),)
    assert metadata.classifiers == (Classifier("Both", ("concept:name", "two words")),)
    assert metadata.extensions[0].prefix == "concept"


def test_nested_and_list_attributes_are_named_in_a_note(tmp_path: Path) -> None:
    nested = '<string key="ward" value="7"><int key="bed" value="3"/></string>'
    listed = '<list key="drugs"><values><string key="drug" value="x"/></values></list>'
    log = read_text(tmp_path, HEADER + trace("1", event("A", nested + listed)) + "</log>")
    assert log.events["ward"].to_list() == ["7"]
    assert "drugs" not in log.events.columns
    assert any("ward" in note for note in log.notes)
    assert any("drugs" in note for note in log.notes)


def test_file_order_is_kept_within_a_case_even_against_the_clock(tmp_path: Path) -> None:
    early = '<date key="time:timestamp" value="2020-01-01T00:00:00Z"/>'
    log = read_text(tmp_path, HEADER + trace("1", event("late"), event("tie"), event("early", time=early)) + "</log>")
    assert log.events["concept:name"].to_list() == ["late", "tie", "early"]
    assert any("--sort-by-time" in note for note in log.notes)
    path = tmp_path / "log.xes"
    assert read(path, ReadOptions(sort_by_time=True)).events["concept:name"].to_list() == ["early", "late", "tie"]


def test_attributes_missing_in_some_events_are_null(tmp_path: Path) -> None:
    log = read_text(tmp_path, HEADER + trace("1", event("A", '<int key="n" value="1"/>'), event("B")) + "</log>")
    assert log.events["n"].to_list() == [1, None]


def test_an_attribute_of_two_types_is_read_as_text_with_a_note(tmp_path: Path) -> None:
    body = trace("1", event("A", '<int key="code" value="12"/>'), event("B", '<string key="code" value="M3"/>'))
    log = read_text(tmp_path, HEADER + body + "</log>")
    assert log.events["code"].to_list() == ["12", "M3"]
    assert any("code (int, string)" in note for note in log.notes)


def test_int_and_float_together_are_float(tmp_path: Path) -> None:
    body = trace("1", event("A", '<int key="v" value="12"/>'), event("B", '<float key="v" value="0.5"/>'))
    assert read_text(tmp_path, HEADER + body + "</log>").events["v"].to_list() == [12.0, 0.5]


def test_values_not_of_their_type_are_read_as_text_with_a_note(tmp_path: Path) -> None:
    big = "99999999999999999999"
    log = read_text(tmp_path, HEADER + trace("1", event("A", f'<int key="n" value="{big}"/>')) + "</log>")
    assert log.events["n"].to_list() == [big]
    assert any("n (int)" in note for note in log.notes)


@pytest.mark.parametrize("stretch", [64, 1_000_000])
def test_what_is_read_does_not_depend_on_where_the_file_is_cut(
    tmp_path: Path, stretch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("libra.eventlog.xes.read.STRETCH", stretch)
    kinds = [("int", "007"), ("float", "1.10"), ("int", "x1"), ("date", "2024-05-06T08:00:00+02:00"), ("boolean", "true")]
    body = "".join(trace(str(i), event("A", f'<{kind} key="code" value="{value}"/>')) for i, (kind, value) in enumerate(kinds))
    log = read_text(tmp_path, HEADER + body + "</log>")
    assert log.events["code"].to_list() == ["7", "1.1", "x1", "2024-05-06T06:00:00+00:00", "true"]
    assert any("code (boolean, date, float, int)" in note for note in log.notes)


def test_traces_that_share_a_name_stay_apart(tmp_path: Path) -> None:
    log = read_text(tmp_path, HEADER + trace("1", event("A")) + trace("1", event("B")) + trace("1 (2)", event("C")) + "</log>")
    assert log.n_cases == 3
    assert log.cases["concept:name"].n_unique() == 3


def test_traces_that_share_a_name_stay_apart_when_roles_are_named(tmp_path: Path) -> None:
    extra = '<string key="who" value="x"/>'
    body = trace("1", event("A", extra)) + trace("1", event("B", extra))
    assert read_text(tmp_path, HEADER + body + "</log>", ReadOptions(roles=RoleNames(resource="who"))).n_cases == 2


def test_traces_without_attributes_can_take_their_id_from_the_events(tmp_path: Path) -> None:
    extra = '<string key="visit" value="v1"/>'
    text = f"{HEADER}<trace>{event('A', extra)}</trace></log>"
    assert read_text(tmp_path, text, ReadOptions(roles=RoleNames(case_id=("visit",)))).cases["concept:name"].to_list() == ["v1"]


def test_event_attributes_with_reserved_names_are_renamed_with_a_note(tmp_path: Path) -> None:
    extra = "".join(f'<string key="{key}" value="x"/>' for key in ("@case", "case:x", "event:case:x"))
    log = read_text(tmp_path, HEADER + trace("1", event("A", extra), extra='<string key="@case" value="y"/>') + "</log>")
    assert set(log.events.columns[3:]) == {"event:@case", "event:case:x", "event:event:case:x"}
    assert log.cases["@case"].to_list() == ["y"]
    assert any("renamed" in note for note in log.notes)


def test_text_that_is_called_start_timestamp_is_not_one(tmp_path: Path) -> None:
    log = read_text(tmp_path, HEADER + trace("1", event("A", '<string key="start_timestamp" value="soon"/>')) + "</log>")
    assert "start_timestamp" not in [role.role for role in log.roles]
    assert "soon" in log.events.row(0)


def test_a_bad_date_of_the_trace_does_not_stand_in_the_way(tmp_path: Path) -> None:
    log = read_text(tmp_path, HEADER + trace("1", event("A"), extra='<date key="time:timestamp" value="unknown"/>') + "</log>")
    assert log.cases["time:timestamp"].to_list() == ["unknown"]


def test_cases_without_events_are_left_out_with_a_note(tmp_path: Path) -> None:
    log = read_text(tmp_path, HEADER + trace("none") + trace("one", event("A")) + "</log>")
    assert log.cases["concept:name"].to_list() == ["one"]
    assert log.notes == ("Cases without events were left out.",)


def test_times_without_zone_are_utc_with_a_note(tmp_path: Path) -> None:
    naive = '<date key="time:timestamp" value="2024-05-06T08:00:00"/>'
    log = read_text(tmp_path, HEADER + trace("1", event("A", time=naive)) + "</log>")
    assert log.events["time:timestamp"].to_list() == [datetime(2024, 5, 6, 8, tzinfo=UTC)]
    assert any("UTC" in note for note in log.notes)


def test_other_roles_can_be_named(tmp_path: Path) -> None:
    extra = '<string key="step" value="s"/>'
    body = trace("1", event("A", extra), event("B", extra), extra='<string key="patient" value="p"/>')
    roles = RoleNames(activity=("concept:name", "step"), individual="case:patient")
    log = read_text(tmp_path, HEADER + body + "</log>", ReadOptions(roles=roles))
    assert log.activities == ["A+s", "B+s"]
    assert log.individual == "patient"


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "windows-1252"])
@pytest.mark.parametrize("equals", ["=", " = "])
def test_declared_encodings_are_honoured(tmp_path: Path, encoding: str, equals: str) -> None:
    text = HEADER.replace('="UTF-8"', f'{equals}"{encoding}"') + trace("1", event("Röntgen Ã¼")) + "</log>"
    assert read_text(tmp_path, text.encode(encoding)).activities == ["Röntgen Ã¼"]


def test_the_encoding_can_be_named(tmp_path: Path) -> None:
    text = (HEADER + trace("1", event("Röntgen")) + "</log>").encode("latin-1")
    assert read_text(tmp_path, text, ReadOptions(encoding="latin-1")).activities == ["Röntgen"]


def test_single_quotes_comments_and_prefixes_are_read(tmp_path: Path) -> None:
    text = (HEADER + "<!-- <trace> -->" + trace("1", event("A")) + "<!-- x --></log>").replace('"', "'")
    assert read_text(tmp_path, text).n_events == 1
    prefixed = '<x:log xmlns:x="http://www.xes-standard.org/">' + trace("1", event("A")).replace("<", "<x:").replace(
        "<x:/", "</x:"
    )
    assert read_text(tmp_path, prefixed + "</x:log>").n_events == 1


@pytest.mark.parametrize("opening", ["<!-- ", "<!-->", "<!--->", "<?hidden ", "<!-- <?x ?> "])
def test_what_is_commented_out_stays_out_however_the_file_is_cut(
    tmp_path: Path, opening: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("libra.eventlog.xes.read.STRETCH", 2_000)
    hidden = "".join(trace(f"h{i}", event("H")) for i in range(100))
    closing = " ?>" if opening.startswith("<?") else " -->"
    for text in (
        HEADER + opening + hidden + closing + trace("1", event("A")) + "</log>",
        HEADER + trace("1", event("A")) + opening + hidden + closing + "</log>",
    ):
        assert read_text(tmp_path, text).activities == ["A"]


def test_a_comment_across_plain_traces_hides_them(tmp_path: Path) -> None:
    hidden = "".join(trace(f"h{i}", event("H")) for i in range(50))
    log = read_text(tmp_path, HEADER + trace("1", event("A")) + f"<!-- {hidden} -->" + trace("2", event("B")) + "</log>")
    assert log.activities == ["A", "B"]


def test_what_stands_behind_the_log_is_ignored_with_a_note(tmp_path: Path) -> None:
    log = read_text(tmp_path, (HEADER + trace("1", event("A")) + "</log>").encode() + b"\n\x00\x05Mac OS X")
    assert log.n_events == 1
    assert "Content after the end of the log (</log>) was ignored." in log.notes


@pytest.mark.parametrize("packing", ["gz", "zip"])
def test_compressed_files_are_read(tmp_path: Path, packing: str) -> None:
    text = (HEADER + trace("1", event("A")) + "</log>").encode()
    path = tmp_path / f"log.xes.{packing}"
    if packing == "gz":
        path.write_bytes(gzip.compress(text))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("log.xes", text)
            archive.writestr("__MACOSX/._log.xes", b"junk")
    assert read(path, ReadOptions()).n_events == 1


def test_a_case_of_a_million_events_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.xes"
    path.write_text(HEADER + trace("1", *[event("A")] * 1_000_000) + "</log>")
    assert read_xes(path, FileFormat("xes"), ReadOptions()).n_events == 1_000_000


def test_200_000_cases_of_one_event_are_read(tmp_path: Path) -> None:
    path = tmp_path / "many.xes"
    path.write_text(HEADER + "".join(trace(str(i), event("A")) for i in range(200_000)) + "</log>")
    log = read_xes(path, FileFormat("xes"), ReadOptions())
    assert (log.n_cases, len(log.variants)) == (200_000, 1)


BOMB = '<!DOCTYPE log [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
EXTERNAL = '<!DOCTYPE log SYSTEM "file:///etc/passwd">'
NO_TIME = '<date key="time:timestamp" value="n/a"/>'
YEAR_ONE = '<date key="time:timestamp" value="0001-01-01T00:00:00Z"/>'
YEAR_9999 = '<date key="time:timestamp" value="9999-12-31T00:00:00Z"/>'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEADER + trace("1", event("A")), "ends before the log does"),
        ((HEADER + trace("1", event("A")))[:-40], "ends before the log does"),
        (
            HEADER + trace("1", event("A")).replace("</event>", "") + "</log>",
            "line 3: this is not well-formed XML (mismatched tag)",
        ),
        (BOMB + "<log>" + trace("1", event("&b;")) + "</log>", "document type declaration"),
        (EXTERNAL + "<log>" + trace("1", event("A")) + "</log>", "document type declaration"),
        ("case,activity\n1,A\n", "line 1: this is not well-formed XML"),
        ("<html><body/></html>", "root element is <html>, not <log>"),
        (HEADER + "</log>", "the log has no events"),
        (HEADER + trace("1") + "</log>", "the log has no events"),
        (
            HEADER + trace("1", event("A"), event("B", time=NO_TIME)) + "</log>",
            'case "1", event 2: timestamp "n/a" cannot be read',
        ),
        (HEADER + trace("1", event("A", time="")) + "</log>", "Name it with --timestamp"),
        (HEADER + trace("1", event("A"), event("B", time="")) + "</log>", 'case "1", event 2: no timestamp'),
        (HEADER + trace("1", event("A", time=YEAR_ONE)) + "</log>", "1678 to 2261"),
        (HEADER + trace("1", event("A", time=YEAR_9999)) + "</log>", "1678 to 2261"),
        (HEADER + trace("1", event("A"), f"<event>{TIME}</event>") + "</log>", 'case "1", event 2: no activity'),
        (HEADER + trace("1", event("A")) + f"<trace>{event('A')}</trace></log>", "trace 2, event 1: no case id"),
        (HEADER + f"<trace>{event('A')}</trace></log>", "trace 1, event 1: no case id"),
        (HEADER + trace(" ", event("A")) + "</log>", "event 1: no case id"),
        (HEADER + trace("1", event("")) + "</log>", "no activity"),
        (HEADER + trace("1", event("A")).replace("/>", " ", 1) + "</log>", "not well-formed"),
        (
            HEADER + trace("1", event("A")).replace("<event>", '<event>"&bogus;"') + "</log>",
            "not well-formed XML (undefined entity)",
        ),
        (HEADER + trace("1", event("&#٣٤;")) + "</log>", "not well-formed"),
        (HEADER + trace("1", event(f"&#{'9' * 5000};")) + "</log>", "not well-formed"),
        (HEADER + trace("1", event("\ufffe")) + "</log>", "not well-formed"),
        (HEADER + '<string key="a" ' + trace("1", event("A")) + ' value="b"/></log>', "not well-formed"),
        (HEADER + '<string key="a >' + trace("1", event("A")) + '" value="b"/></log>', "not well-formed"),
        (HEADER.replace("UTF-8", "US-ASCII") + trace("1", event("ü")) + "</log>", "not well-formed"),
    ],
)
def test_bad_xes_is_one_line_that_names_place_and_remedy(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        read_text(tmp_path, text)
    line = str(caught.value)
    assert says in line
    assert "log.xes" in line
    assert "\n" not in line
    assert caught.value.remedy


def test_bytes_of_another_encoding_are_an_error_with_the_line(tmp_path: Path) -> None:
    text = (HEADER + trace("1", event("A")) + trace("2", event("Röntgen")) + "</log>").encode("latin-1")
    with pytest.raises(InputError, match=r"line 4.*--encoding"):
        read_text(tmp_path, text)


def test_the_line_of_an_error_counts_the_plain_traces_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.eventlog.xes.read.STRETCH", 5_000)
    text = HEADER + "".join(trace(str(i), event("A")) for i in range(200)) + trace("x", "<event></evnt>") + "</log>"
    with pytest.raises(InputError, match="line 203"):
        read_text(tmp_path, text)


def test_unusable_events_can_be_dropped(tmp_path: Path) -> None:
    bad = [event("B", time=NO_TIME), event("C", time=YEAR_ONE), f"<event>{TIME}</event>"]
    log = read_text(
        tmp_path, HEADER + trace("1", event("A"), *bad) + trace("2", bad[0]) + "</log>", ReadOptions(drop_invalid=True)
    )
    assert log.events["concept:name"].to_list() == ["A"]
    assert log.cases["concept:name"].to_list() == ["1"]
    assert any("left out" in note for note in log.notes)


def test_a_time_that_plays_no_role_need_not_be_readable(tmp_path: Path) -> None:
    done = '<date key="done" value="2024-05-06T08:00:00Z"/>'
    text = HEADER + trace("1", event("A", done, time=NO_TIME)) + "</log>"
    assert read_text(tmp_path, text, ReadOptions(roles=RoleNames(timestamp="done"))).n_events == 1


def test_an_empty_log_may_be_allowed(tmp_path: Path) -> None:
    log = read_text(tmp_path, HEADER + "</log>", ReadOptions(allow_empty=True))
    assert (log.n_cases, log.n_events, log.activities, len(log.variants)) == (0, 0, [], 0)
    assert log.events.schema["time:timestamp"] == pl.Datetime("us", "UTC")


FACTS = {  # cases, events, activities, variants, cases of the most frequent variant
    "urineweginfectie": (1650, 6973, 10, 50, 719),
    "sepsis": (1050, 15214, 16, 846, 35),
    "bpic13": (7554, 65533, 4, 1511, 1754),
    "bpic12": (13087, 262200, 24, 4366, 3429),
    "bpic20": (10500, 56437, 17, 99, 4618),
    "hospital": (1143, 150291, 624, 981, 41),
    "bpic14f": (41353, 369485, 9, 14948, 1798),
    "roadtraffic": (150370, 561470, 11, 231, 56482),
}


@pytest.mark.parametrize("name", FACTS)
def test_public_logs_have_their_known_counts(name: str, shared_logs: Path) -> None:
    log = read(shared_logs / f"{name}.xes.gz", ReadOptions(instances="events"))
    assert (log.n_cases, log.n_events, len(log.activities), len(log.variants), log.variants.counts[0]) == FACTS[name]
