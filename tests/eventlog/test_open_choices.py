"""What the content leaves open is noted where a log is looked at, and refused where it is released with a guarantee."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import libra
from libra.errors import InputError
from libra.eventlog.notes import OpenChoice, encoding_is_open

SHOWN = "2024-05-27T08:00:00Z"
OPEN: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "day or month": (
        ["03/04/2024", "05/06/2024"],
        {"day_first": True},
        "Say --day-first or --month-first, or give a description",
    ),
    "day and month": (["03.04.2024 08:00", "05.06.2024 08:00"], {"timestamp_format": "%d.%m.%Y %H:%M"}, "Say --day-first or"),
    "the year": (["06.05.24", "27.05.24"], {"day_first": True}, "Give the format with --timestamp-format, or say --day-first or"),
    "the unit": (["1714982400", "1714982400000"], {"epoch_unit": "ms"}, "Say what they count with --epoch-unit s, ms, us or ns"),
    "a tiny number": (["1714982400", "86400"], {"epoch_unit": "s"}, "Say what they count with --epoch-unit"),
    "the zone": (["2024-05-06T08:00:00", SHOWN], {"zone": "utc"}, "Say --zone utc if those without are in UTC"),
}
CLEAR = {
    "a day beyond twelve": ["03/04/2024", "27/06/2024"],
    "a month beyond twelve": ["03/04/2024", "06/27/2024"],
    "no order to be told": ["04/04/2024", "05/05/2024"],
    "no zone at all": ["2024-05-06T08:00:00", "2024-05-06T09:00:00"],
    "different zones": ["2024-05-06T08:00:00+02:00", SHOWN],
    "one unit": ["1714982400", "1714986000"],
}


def write(folder: Path, times: list[str]) -> Path:
    file = folder / "log.csv"
    file.write_text("\n".join(["case,activity,time", *(f"{i},a,{time}" for i, time in enumerate(times)), ""]))
    return file


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
@pytest.mark.parametrize("name", OPEN)
def test_an_open_choice_is_refused_until_it_is_said(name: str, engine: str, tmp_path: Path) -> None:
    times, said, remedy = OPEN[name]
    file = write(tmp_path, times)
    with pytest.raises(InputError) as caught:
        libra.anonymize(file, engine=engine)
    assert remedy in str(caught.value)
    assert str(caught.value).startswith(f"{file}: ")
    assert libra.anonymize(file, engine=engine, **said).guarantee.kind == "proved"
    (tmp_path / "log.toml").write_text(libra.describe(file, **said).to_toml())
    assert libra.anonymize(file, engine=engine, description=tmp_path / "log.toml").guarantee.kind == "proved"


@pytest.mark.parametrize("name", OPEN)
def test_to_look_at_a_log_a_note_will_do(name: str, tmp_path: Path) -> None:
    file = write(tmp_path, OPEN[name][0])
    log = libra.read(file)
    assert any(isinstance(note, OpenChoice) for note in log.notes)
    assert libra.inspect(file).cases == 2
    assert libra.anonymize(file, mechanism="travas", epsilon=1.0, delta=0.01).notes is not None
    with pytest.raises(InputError, match=r"^the log, as it was read: "):
        libra.anonymize(log)


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
@pytest.mark.parametrize("name", CLEAR)
def test_what_the_content_settles_is_not_refused(name: str, engine: str, tmp_path: Path) -> None:
    assert libra.anonymize(write(tmp_path, CLEAR[name]), engine=engine).guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_a_missing_time_leaves_nothing_open(engine: str, tmp_path: Path) -> None:
    file = write(tmp_path, [SHOWN, "", SHOWN])
    assert libra.anonymize(file, engine=engine, drop_invalid=True).guarantee.kind == "proved"


def test_which_value_a_note_names_is_always_the_same(tmp_path: Path) -> None:
    file = write(tmp_path, [f"{day:02}/04/2024" for day in range(1, 11)] * 3)
    assert {next(note for note in libra.read(file).notes if "day first" in note).split('"')[3] for _ in range(5)} == {
        "01/04/2024"
    }


def test_another_column_that_shows_the_order_settles_it(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("case,activity,start_timestamp,end time\n1,a,27/05/2024,03/04/2024\n")
    for engine in ("polars", "polars-streaming"):
        assert libra.anonymize(file, engine=engine, instances="pair").guarantee.kind == "proved"


def test_what_is_open_about_a_start_matters_only_if_starts_are_released(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("case,activity,start_timestamp,end time\n1,a,03/04/2024,2024-05-27T08:00:00\n")
    for engine in ("polars", "polars-streaming"):
        with pytest.raises(InputError, match='no date in "start_timestamp" shows whether day or month comes first'):
            libra.anonymize(file, engine=engine)
        for settled in ({"instances": "complete"}, {"instances": "pair", "day_first": True}):
            assert libra.anonymize(file, engine=engine, **settled).guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
@pytest.mark.parametrize("starts", [("07:00", "07:30"), ("07:00", "07:00")], ids=["of events", "of cases"])
def test_a_common_name_for_starts_is_refused_until_it_is_said_what_it_is(
    starts: tuple[str, str], engine: str, tmp_path: Path
) -> None:
    """A single case with two different values would decide it for all."""
    file = tmp_path / "log.csv"
    rows = [f"1,a,2024-05-27T{start}:00Z,2024-05-27T0{8 + i}:00:00Z" for i, start in enumerate(starts)]
    file.write_text("\n".join(["case,activity,start time,end time", *rows]) + "\n")
    with pytest.raises(InputError, match=r'its values decide whether "start time" says when .* Say --instances pair'):
        libra.anonymize(file, engine=engine)
    for mode in ("pair", "complete", "events"):
        assert libra.anonymize(file, engine=engine, instances=mode).guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
@pytest.mark.parametrize(("start", "end"), [("2024-05-27T07:00:00", SHOWN), (SHOWN, "2024-05-27T11:00:00")])
def test_a_zone_that_only_starts_or_only_ends_carry_is_refused_until_it_is_said(
    start: str, end: str, engine: str, tmp_path: Path
) -> None:
    file = tmp_path / "log.csv"
    file.write_text(f"case,activity,start_timestamp,end time\n1,a,{start},{end}\n")
    with pytest.raises(InputError, match=r"carry a time zone and those in .* do not. Say --zone utc"):
        libra.anonymize(file, engine=engine, instances="pair")
    with pytest.raises(InputError, match=r"--zone says"):
        libra.anonymize(file, engine=engine, zone="file", instances="pair")
    assert libra.anonymize(file, engine=engine, zone="utc", instances="pair").guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_a_guessed_encoding_is_refused_until_it_is_said(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_bytes(f"case,activity,time\n1,Röntgen,{SHOWN}\n".encode("cp1252"))
    with pytest.raises(InputError, match=r"the file is not UTF-8, and nothing in it says what it is. Name the encoding"):
        libra.anonymize(file, engine=engine)
    assert libra.anonymize(file, engine=engine, encoding="cp1252").guarantee.kind == "proved"


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_xes_with_a_zone_here_and_there_is_refused(engine: str, tmp_path: Path) -> None:
    event = '<event><string key="concept:name" value="a"/><date key="time:timestamp" value="{}"/></event>'
    traces = "".join(
        f'<trace><string key="concept:name" value="{i}"/>{event.format(time)}</trace>'
        for i, time in enumerate(["2024-05-06T08:00:00", SHOWN])
    )
    file = tmp_path / "log.xes"
    file.write_text(f"<log>{traces}</log>")
    with pytest.raises(InputError, match="carry a time zone and others do not"):
        libra.anonymize(file, engine=engine)
    assert libra.anonymize(file, engine=engine, zone="utc").guarantee.kind == "proved"
    for zone, value in (("file", "2024-05-06T08:00:00"), ("none", SHOWN)):
        with pytest.raises(InputError, match=f'timestamp "{value}" carries'):
            libra.anonymize(file, engine=engine, zone=zone)  # type: ignore[arg-type]  # one of them


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_a_zone_is_about_the_times_that_are_used(engine: str, tmp_path: Path) -> None:
    times = f'<date key="time:timestamp" value="{SHOWN}"/><string key="when" value="2024-05-06"/>'
    event = f'<event><string key="concept:name" value="a"/>{times}</event>'
    file = tmp_path / "log.xes"
    file.write_text(f'<log><trace><string key="concept:name" value="1"/>{event}</trace></log>')
    assert libra.anonymize(file, engine=engine, timestamp="when", zone="none").guarantee.kind == "proved"
    with pytest.raises(InputError, match="carries no time zone"):
        libra.anonymize(file, engine=engine, timestamp="when", zone="file")


def test_numbers_among_dates_are_refused(tmp_path: Path) -> None:
    """Dropping what cannot be read would leave out everybody but the one whose number looks like a date."""
    file = write(tmp_path, ["1714982400000", "1714986000000", "199912311200"])
    for engine in ("polars", "polars-streaming"):
        with pytest.raises(InputError, match="could be Unix times, and others were read as dates"):
            libra.anonymize(file, engine=engine, drop_invalid=True)


def test_typed_columns_leave_nothing_open() -> None:
    frame = pl.DataFrame({"case": [1], "activity": ["a"], "time": [SHOWN]}).with_columns(pl.col("time").str.to_datetime("%+"))
    assert libra.anonymize(frame).guarantee.kind == "proved"


def test_an_open_choice_survives_another_process() -> None:
    note = pickle.loads(pickle.dumps(encoding_is_open()))  # noqa: S301  # our own
    assert isinstance(note, OpenChoice)
    assert (note, note.what, note.may_close) == (encoding_is_open(), encoding_is_open().what, False)


def test_times_without_a_zone_stay_so_when_another_column_plays_a_role(tmp_path: Path) -> None:
    log = libra.read(write(tmp_path, CLEAR["no zone at all"]))
    assert not log.has_zone
    assert not libra.read(log, individual="case:concept:name").has_zone


@pytest.mark.parametrize("engine", ["polars", "polars-streaming"])
def test_the_zone_of_xes_is_that_of_the_times_named(engine: str, tmp_path: Path) -> None:
    """Under any key; what zone other dates are in does not matter."""
    event = '<event><string key="concept:name" value="a"/><date key="{}" value="{}"/><date key="{}" value="{}"/></event>'
    traces = "".join(
        f'<trace><string key="concept:name" value="{i}"/>{event.format("done", done, "time:timestamp", SHOWN)}</trace>'
        for i, done in enumerate(["2024-05-06T08:00:00", SHOWN])
    )
    file = tmp_path / "log.xes"
    file.write_text(f"<log>{traces}</log>")
    assert libra.anonymize(file, engine=engine, zone="file").guarantee.kind == "proved"
    with pytest.raises(InputError, match='some timestamps in "done" carry a time zone and others do not'):
        libra.anonymize(file, engine=engine, timestamp="done")
    assert libra.anonymize(file, engine=engine, timestamp="done", zone="utc").guarantee.kind == "proved"
    with pytest.raises(InputError, match='timestamp "2024-05-06T08:00:00" carries no time zone'):
        libra.anonymize(file, engine=engine, timestamp="done", zone="file")
    assert libra.read(file, timestamp="done").n_cases == 2
