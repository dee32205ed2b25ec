"""A log is read by its description as it is read by detection, and by nothing but the description."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from agreement import ReadPublic
from libra import example
from libra.errors import InputError, MissingColumnError, UsageError
from libra.eventlog.description import Description
from libra.eventlog.ids import whose_cases
from libra.eventlog.log import EventLog
from libra.eventlog.read import batches_of

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
TIMES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "iso": (["2024-05-06T08:14:00Z", "2024-05-27T09:00:00.5+02:00"], {"timestamp_format": "iso", "zone": "file"}),
    "iso without a zone": (["2024-05-06 08:14:00", "2024-05-27"], {"timestamp_format": "iso", "zone": "none"}),
    "a zone here and there": (["2024-05-06T08:14:00Z", "2024-05-27T09:00:00"], {"timestamp_format": "iso", "zone": "utc"}),
    "day first": (["06.05.2024 08:14", "27.05.2024 9:03"], {"timestamp_format": "%d.%m.%Y %H:%M", "zone": "none"}),
    "month first": (["05/06/24 8:14 AM", "05/27/24 9:03 PM"], {"timestamp_format": "%m/%d/%y %I:%M %p", "zone": "none"}),
    "year first": (["24-05-06", "24-05-27", "99-01-01"], {"timestamp_format": "%y-%m-%d", "zone": "none"}),
    "names of months": (["6 May 2024", "27 Jun 2024"], {"timestamp_format": "%d %b %Y", "zone": "none"}),
    "of all kinds": (["6. Mai 2024", "2024-06-27 10:00"], {"timestamp_format": "any", "day_first": True, "zone": "none"}),
    "of all kinds, month first": (["Mai 6 2024", "06/27/2024"], {"timestamp_format": "any", "day_first": False}),
    "fractions": (["2024/05/06 08:14:01,5", "2024/05/06 08:14:02,25"], {"timestamp_format": "%Y/%m/%d %H:%M:%S,%f"}),
    "seconds": (["1714982400", "1714986000"], {"epoch_unit": "s", "zone": "file"}),
    "milliseconds": (["1714982400123", "1714986000456"], {"epoch_unit": "ms", "zone": "file"}),
}


def table(times: list[str]) -> str:
    rows = [f"c{i};step {i};{time};{i},5" for i, time in enumerate(times)]
    return "\n".join(["Case ID;Activity;When;Cost", *rows, ""])


def settled(text: str) -> str:
    """The file of a description after its reader found every guess right."""
    return re.sub(r"^# (?=.*  # CHECK THIS: )", "", text, flags=re.MULTILINE)


def check_same(
    source: Path | pl.DataFrame, found: Description, folder: Path, detected: EventLog | None = None, **keywords: Any
) -> EventLog:
    """The log as the file of its description reads it, which is as detection reads it, once what is open is settled."""
    (folder / "log.toml").write_text(settled(found.to_toml()), encoding="utf-8")
    assert Description.read(folder / "log.toml") == found
    ours = libra.read(source, description=folder / "log.toml")
    theirs = libra.read(source, **keywords) if detected is None else detected
    assert ours.equals(theirs)
    assert ours.has_zone == theirs.has_zone
    assert ours.role_columns == theirs.role_columns
    return ours


@pytest.mark.parametrize("name", TIMES)
def test_times_of_every_shape_are_read_as_by_detection(name: str, tmp_path: Path) -> None:
    times, expected = TIMES[name]
    file = tmp_path / "log.csv"
    file.write_text(table(times), encoding="utf-8")
    found = libra.describe(file)
    assert {key: getattr(found, key) for key in expected} == expected
    check_same(file, found, tmp_path)
    assert (found.delimiter, found.decimal, found.encoding) == (";", ",", "utf-8")


@pytest.mark.parametrize(
    "when",
    [
        pl.Series([NOON, NOON + timedelta(days=1)]),
        pl.Series([NOON.replace(tzinfo=None)] * 2),
        pl.Series([date(2024, 5, 6), date(2024, 5, 7)]),
        pl.Series([1714982400, 1714986000]),
        pl.Series([1714982400.5, 1714986000.25]),
        pl.Series([20240506, 20240527]),
        pl.Series(["06.05.2024", "27.05.2024"]),
    ],
)
def test_columns_of_every_type_are_read_as_by_detection(when: pl.Series, tmp_path: Path) -> None:
    frame = pl.DataFrame({"case": [1, 2], "activity": ["a", "b"], "time": when})
    check_same(frame, libra.describe(frame), tmp_path)
    file = tmp_path / "log.parquet"
    frame.write_parquet(file)
    check_same(file, libra.describe(file), tmp_path)


@pytest.mark.parametrize("name", ["bpic12", "bpic13", "bpic20", "sepsis"])
def test_the_public_logs_are_read_as_by_detection(name: str, shared_logs: Path, read_public: ReadPublic, tmp_path: Path) -> None:
    source = shared_logs / f"{name}.xes.gz"
    log = check_same(source, libra.describe(source), tmp_path, read_public(name))
    some = replace(log, events=log.events.filter(pl.col("@case") < 200), cases=log.cases.head(200))
    for ending in ("csv", "parquet"):
        file = tmp_path / f"log.{ending}"
        libra.write(some, file)
        found = libra.describe(file)
        assert found.zone == "file"
        check_same(file, found, tmp_path)


def test_what_was_given_is_written_as_given(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("Patient;Visit;Step;Done at\nP;1;Triage;06.05.2024 08:14\n", encoding="utf-8")
    found = libra.describe(file, case_id=["Patient", "Visit"], individual="Patient", day_first=True, drop_invalid=True)
    assert (found.case_id, found.individual, found.unit, found.drop_invalid) == (
        ("Patient", "Visit"),
        "Patient",
        "individual",
        True,
    )
    lines = found.to_toml().split("\n")
    for start in ('case_id = ["Patient", "Visit"]  # given by --case-id', "drop_invalid = true  # given by --drop-invalid"):
        assert any(line.startswith(start) for line in lines)
    assert 'individual = "Patient"  # given by --individual' in lines
    assert "day_first = true  # given by --day-first" in lines
    assert any(line.startswith('activity = ["Step"]  # detected by name: called "Step"') for line in lines)


def test_a_zone_that_was_given_is_held(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(table(["2024-05-06T08:00:00Z", "2024-05-06T08:00:00"]))
    with pytest.raises(InputError, match="carries no time zone"):
        libra.describe(file, zone="file")
    found = libra.describe(file, zone="file", drop_invalid=True)
    assert check_same(file, found, tmp_path, zone="file", drop_invalid=True).n_events == 1
    assert libra.describe(file, zone="utc").reasons["zone"] == "given by --zone"


def test_what_the_content_leaves_open_is_to_be_checked(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_bytes(table(["06.05.2024", "06.05.2024"]).replace("step", "Röntgen").encode("cp1252"))
    found = libra.describe(file)
    assert found.reasons["timestamp_format"].startswith("CHECK THIS: no date in")
    assert found.reasons["encoding"].startswith("CHECK THIS: not UTF-8")
    assert not any("CHECK" in why for key, why in found.reasons.items() if key not in ("timestamp_format", "encoding"))


@pytest.mark.parametrize(
    ("times", "keys"),
    [
        (["03/04/2024", "05/06/2024"], ["timestamp_format"]),
        (["06.05.24", "27.05.24"], ["timestamp_format"]),
        (["Mai 6 2024", "06/05/2024"], ["timestamp_format", "day_first"]),
        (["1714982400", "86400"], ["epoch_unit"]),
        (["2024-05-06T08:00:00", "2024-05-06T08:00:00Z"], ["zone"]),
        ([], ["timestamp_format", "zone"]),
    ],
)
def test_nothing_is_read_by_a_guess_until_somebody_settles_it(times: list[str], keys: list[str], tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(table(times))
    found = libra.describe(file)
    assert sorted(found.unsettled) == sorted(keys)
    text = found.to_toml()
    lines = [line for line in text.split("\n") if "CHECK THIS" in line]
    assert [line.split()[1] for line in lines] == keys
    assert all(line.startswith("# ") and line.endswith("; remove the first # if this is right") for line in lines)
    (tmp_path / "log.toml").write_text(text)
    with pytest.raises(InputError, match=rf"log\.toml, line \d+: {keys[0]} is open: .*Remove the # before {keys[0]} if its"):
        Description.read(tmp_path / "log.toml")
    for command in (libra.read, libra.anonymize):
        with pytest.raises(InputError, match=r"the description of .*log\.csv: \w+ is open: "):
            command(file, description=found)
    (tmp_path / "log.toml").write_text("\n".join(line for line in text.split("\n") if line not in lines))
    with pytest.raises(InputError):  # none of these keys has a default
        Description.read(tmp_path / "log.toml")
    (tmp_path / "log.toml").write_text(settled(text))
    assert Description.read(tmp_path / "log.toml") == found


def test_a_line_of_its_own_settles_what_was_open(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(table(["03/04/2024"]))
    text = libra.describe(file).to_toml()
    (tmp_path / "log.toml").write_text('timestamp_format = "%m/%d/%Y"\n' + text)
    assert (
        libra.read(file, description=tmp_path / "log.toml").timestamps.tolist()
        == libra.read(file, day_first=False).timestamps.tolist()
    )
    (tmp_path / "log.toml").write_text('epoch_unit = "s"\n' + text)
    assert Description.read(tmp_path / "log.toml").epoch_unit == "s"


def test_numbers_in_a_table_have_no_unit_until_somebody_settles_it(tmp_path: Path) -> None:
    frame = pl.DataFrame({"case": [1, 2], "activity": ["a", "b"], "time": [1714982400, 86400]})
    text = libra.describe(frame).to_toml()
    (tmp_path / "log.toml").write_text(text)
    with pytest.raises(InputError, match="epoch_unit is open"):
        libra.read(frame, description=tmp_path / "log.toml")
    (tmp_path / "log.toml").write_text("\n".join(line for line in text.split("\n") if "CHECK THIS" not in line))
    with pytest.raises(InputError, match="says nothing on how times are written"):
        libra.read(frame, description=tmp_path / "log.toml")


def test_a_column_found_by_content_says_so(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    rows = [f"{i % 7};{'ab'[i % 2]};2024-05-{i % 28 + 1:02}T00:00:00Z" for i in range(60)]
    file.write_text("\n".join(["x;y;z", *rows, ""]))
    assert libra.describe(file).reasons["timestamp"].startswith("detected by content: ")


def test_a_day_and_a_clock_in_two_columns_are_both_named(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("case,activity,date,time\n1,a,2024-05-06,08:30\n1,b,2024-05-27,9:15\n")
    found = libra.describe(file)
    assert (found.timestamp, found.clock) == ("date", "time")
    check_same(file, found, tmp_path)


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_a_date_with_a_time_of_its_own_is_refused_beside_a_described_clock(engine: str, tmp_path: Path) -> None:
    """Both times added up would be a moment that the file never names."""
    file, header = tmp_path / "log.csv", "case,activity,date,time\n1,a,2024-05-06,08:30\n1,b,2024-05-27,9:15\n"
    file.write_text(header, encoding="utf-8")
    described = libra.describe(file)
    file.write_text(f"{header}2,a,2024-05-08 10:15:00,09:30\n", encoding="utf-8")
    with pytest.raises(InputError, match='"2024-05-08 10:15:00" tells a time of day, and the others have theirs from "time"'):
        libra.anonymize(file, description=described, engine=engine)


def test_a_start_that_is_written_otherwise_is_left_out(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("case,activity,start time,end time\n1,a,1714982400,27.05.2024\n")
    found = libra.describe(file)
    assert (found.timestamp, found.start_timestamp) == ("end time", None)
    assert "left out" in found.reasons["start_timestamp"]
    assert libra.read(file, description=found).n_events == 1


def test_a_folder_of_csv_files_is_described_as_one(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(table(["27.05.2024"]))
    (tmp_path / "b.csv").write_text(table(["06.05.2024"]))
    found = libra.describe(tmp_path)
    assert found.timestamp_format == "%d.%m.%Y"
    assert libra.read(tmp_path, description=found).n_events == 2
    (tmp_path / "c.csv").write_text(table(["27.05.2024"]).replace(",", ".").replace(";", "|"))
    with pytest.raises(InputError, match=r"c\.csv: delimiter differs from a\.csv\."):
        libra.describe(tmp_path)


def test_traces_of_one_name_stay_cases_of_their_own(tmp_path: Path) -> None:
    event = '<event><string key="concept:name" value="a"/><date key="time:timestamp" value="2024-05-06T08:00:00Z"/></event>'
    trace = f'<trace><string key="concept:name" value="same"/>{event}</trace>'
    file = tmp_path / "log.xes"
    file.write_text(f"<log>{trace}{trace}</log>")
    found = libra.describe(file)
    assert found.case_id == ()
    assert check_same(file, found, tmp_path).n_cases == 2
    by_name = libra.describe(file, case_id="case:concept:name")
    assert by_name.case_id == ("case:concept:name",)
    assert check_same(file, by_name, tmp_path, case_id="case:concept:name").n_cases == 1


def test_xes_without_zones_is_described_so(tmp_path: Path) -> None:
    event = '<event><string key="concept:name" value="a"/><date key="time:timestamp" value="2024-05-06T08:00:00"/></event>'
    file = tmp_path / "log.xes"
    file.write_text(f'<log><trace><string key="concept:name" value="1"/>{event}</trace></log>')
    for given in ({}, {"zone": "none"}, {"zone": "none", "individual": "case:concept:name"}):
        found = libra.describe(file, **given)  # type: ignore[arg-type]  # keywords of read
        assert (found.zone, found.timestamp_format) == ("none", None)
        ours = libra.read(file, description=found)
        assert ours.equals(libra.read(file, **given))  # type: ignore[arg-type]  # keywords of read
        assert not ours.has_zone


def test_an_individual_that_a_file_remembers_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.parquet"
    libra.write(libra.read(example.path(), individual="case:concept:name"), file)
    found = libra.describe(file)
    assert (found.unit, found.individual) == ("individual", "case:concept:name")
    assert libra.read(file, description=found).equals(libra.read(file))
    rest = {key: value for key, value in found.to_dict().items() if key not in ("individual", "unit")}
    assert libra.read(file, description=Description(**rest)).individual is None


def test_a_log_in_memory_has_no_description(small_log: EventLog) -> None:
    with pytest.raises(UsageError, match="The log has been read already"):
        libra.describe(small_log)
    with pytest.raises(UsageError, match="The log has been read already"):
        libra.read(small_log, description=libra.describe(example.path()))


def test_describing_by_a_description_checks_it(tmp_path: Path) -> None:
    found = libra.describe(example.path())
    assert libra.describe(example.path(), description=found) == found
    file = tmp_path / "log.csv"
    file.write_text(table(["27.05.2024"]))
    with pytest.raises(InputError, match=r"this is CSV, and the description of .* describes XES"):
        libra.describe(file, description=found)


CSV: dict[str, Any] = {"format": "csv", "case_id": ["Case ID"], "activity": ["Activity"], "timestamp": "When", "zone": "none"}
CSV |= {"encoding": "utf-8", "delimiter": ";", "timestamp_format": "%d.%m.%Y", "source": "log.toml"}


@pytest.mark.parametrize(
    ("text", "change", "words"),
    [
        (
            table(["27.05.2024", "May 6"]),
            {},
            'line 3: timestamp "May 6" cannot be read. Correct timestamp_format, or drop such events',
        ),
        (table(["27.05.2024"]), {"delimiter": ","}, 'line 1: there is only one column, "Case ID;Activity;When;Cost". Remove'),
        (table(["27.05.2024"]), {"activity": ["Step"]}, 'activity in log.toml: there is no column "Step". The columns are'),
        (table(["27.05.2024"]), {"resource": "Who"}, 'resource in log.toml: there is no column "Who".'),
        (table(["27.05.2024"]), {"clock": "Uhr"}, 'clock in log.toml: there is no column "Uhr".'),
        (table(["27.05.2024", ""]), {}, "line 3: no timestamp. Fill it in, or drop such events with drop_invalid in log.toml."),
        (
            table(["27.05.2024", "x"]).replace("step 1", "Röntgen"),
            {"encoding": "ascii"},
            "line 3: byte 57 is not valid ascii text.",
        ),
        (
            table(["2024-05-27T08:00:00Z", "2024-05-27T08:00:00"]),
            {"timestamp_format": "iso", "zone": "file"},
            'line 3: timestamp "2024-05-27T08:00:00" carries no time zone, and zone in log.toml says "file": every time',
        ),
        (
            table(["2024-05-27T08:00:00", "2024-05-27T08:00:00Z"]),
            {"timestamp_format": "iso"},
            'line 3: timestamp "2024-05-27T08:00:00Z" carries a time zone, and',
        ),
        (table(["27.05.2024"]), {"timestamp_format": None, "epoch_unit": "s"}, 'line 2: timestamp "27.05.2024" cannot be read.'),
        (table(["27.05.2024"]) + "c;d\n", {}, "line 3: there are 2 fields where the header has 4."),
    ],
)
def test_what_does_not_fit_is_refused_in_every_engine(text: str, change: dict[str, Any], words: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(text, encoding="utf-8")
    described = Description(**(CSV | change))
    with pytest.raises(InputError) as caught:
        libra.read(file, description=described)
    assert words in str(caught.value)
    with pytest.raises(InputError) as streamed:
        libra.anonymize(file, description=described, engine="polars-streaming")
    assert str(streamed.value) == str(caught.value)


def test_a_missing_column_says_so_by_type(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text(table(["27.05.2024"]))
    with pytest.raises(MissingColumnError) as caught:
        libra.read(file, description=Description(**(CSV | {"activity": ["Step"]})))
    assert caught.value.lacking == {"activity": ["Step"]}


@pytest.mark.parametrize(
    ("when", "change", "words"),
    [
        (pl.Series([NOON]), {"zone": "none"}, 'carries a time zone, and --zone says "none": no time carries one'),
        (pl.Series([NOON.replace(tzinfo=None)]), {}, 'carries no time zone, and --zone says "file"'),
        (pl.Series(["2024-05-06"]), {}, "holds text or numbers, and log.toml says nothing on how times are written"),
        (pl.Series([1.5e9]), {}, "holds text or numbers, and log.toml says nothing on how times are written"),
    ],
)
def test_a_table_of_other_types_is_refused(when: pl.Series, change: dict[str, Any], words: str) -> None:
    frame = pl.DataFrame({"case": [1], "activity": ["a"], "time": when})
    said: dict[str, Any] = {"format": "table", "case_id": ["case"], "activity": ["activity"], "timestamp": "time", "zone": "file"}
    described = Description(**(said | change), source="log.toml")
    ways: tuple[Callable[[], object], ...] = (
        lambda: libra.read(frame, description=described),
        lambda: list(batches_of(frame, described.options())),
    )
    for read in ways:
        with pytest.raises(InputError) as caught:
            read()
        assert words in str(caught.value).replace("zone in log.toml", "--zone")


def test_xes_whose_times_are_not_dates_is_refused(tmp_path: Path) -> None:
    found = libra.describe(example.path())
    event = '<event><string key="concept:name" value="a"/><string key="time:timestamp" value="2024-05-06T08:00:00Z"/></event>'
    file = tmp_path / "log.xes"
    file.write_text(f'<log><trace><string key="concept:name" value="1"/>{event}</trace></log>')
    said: dict[str, Any] = {"format": "xes", "activity": ["concept:name"], "timestamp": "time:timestamp", "zone": "file"}
    assert libra.read(file).n_events == 1
    for described in (found, Description(**said)):
        with pytest.raises(InputError):
            libra.read(file, description=described)
    with pytest.raises(InputError, match="is not declared as a date throughout"):
        libra.read(file, description=Description(**said))


def test_nothing_is_detected_beside_a_description(tmp_path: Path) -> None:
    """Columns with perfect names and content play no role unless they are named."""
    file = tmp_path / "log.csv"
    file.write_text("case id,activity,timestamp,resource,a,b,c\n1,x,2024-05-06T08:00:00Z,desk,p,q,06.05.2024\n")
    said = {"case_id": ["a"], "activity": ["b"], "timestamp": "c", "delimiter": ","}
    log = libra.read(file, description=Description(**(CSV | said)))
    assert log.role_columns == {"case_id": "a", "activity": "b", "timestamp": "c"}


def test_files_of_a_folder_show_each_other_how_they_are_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(table(["05/06/2024"]))
    (tmp_path / "b.csv").write_text(table(["05/27/2024"]).replace("step 0", '"step 0"'))
    found = libra.describe(tmp_path)
    assert (found.timestamp_format, found.quote) == ("%m/%d/%Y", '"')
    assert "CHECK" not in found.reasons["timestamp_format"]
    assert libra.read(tmp_path, description=found).timestamps.tolist() == libra.read(tmp_path).timestamps.tolist()


def test_traces_that_share_a_name_are_of_one_individual_by_description_too(tmp_path: Path) -> None:
    event = '<event><string key="concept:name" value="a"/><date key="time:timestamp" value="2024-05-06T08:00:00Z"/></event>'
    trace = f'<trace><string key="concept:name" value="same"/>{event}</trace>'
    file = tmp_path / "log.xes"
    file.write_text(f"<log>{trace}{trace}</log>")
    found = libra.describe(file, individual="case:concept:name")
    for log in (libra.read(file, individual="case:concept:name"), libra.read(file, description=found)):
        assert (log.n_cases, len(set(whose_cases(log).tolist()))) == (2, 1)
