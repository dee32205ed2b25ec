from __future__ import annotations

import gzip
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libra.errors import InputError
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.tables.csv_read import read_csv
from libra.eventlog.tables.csv_write import write_csv
from strategies import event_logs

HEADER = "case,activity,time"
ROW = "1,register,2024-05-06T08:00:00Z"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


def read(file: Path, text: str | bytes, options: ReadOptions | None = None) -> EventLog:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_csv([file], options or ReadOptions(), str(file))


def refusal(file: Path, text: str | bytes, options: ReadOptions | None = None) -> str:
    with pytest.raises(InputError) as error:
        read(file, text, options)
    return str(error.value).removeprefix(str(file))


def attribute(file: Path, values: list[str], separator: str = ",", options: ReadOptions | None = None) -> pl.Series:
    lines = [separator.join(["case", "activity", "time", "x"])]
    lines += [separator.join(["1", "register", "2024-05-06T08:00:00Z", value]) for value in values]
    return read(file, "\n".join(lines), options).events["x"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(file: Path, delimiter: str) -> None:
    log = read(file, f'{HEADER}\n1,"a,b;c|d",2024-05-06T08:00:00Z\n2,leave,2024-05-06T09:00:00Z\n'.replace(",", delimiter))
    assert log.activities == sorted(["a,b;c|d".replace(",", delimiter), "leave"])


def test_the_users_delimiter_is_followed(file: Path) -> None:
    text = f"{HEADER}\n{ROW}\n".replace(",", "#")
    assert read(file, text, ReadOptions(delimiter="#")).activities == ["register"]
    assert refusal(file, text).startswith(', line 1: there is only one column, "case#activity#time". Remove any lines above')


def test_excels_separator_line_is_honoured(file: Path) -> None:
    log = read(file, "sep=;\r\ncase;activity;time\r\n1;a,b;2024-05-06T08:00:00Z\r\n")
    assert log.activities == ["a,b"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read_and_blank_lines_are_skipped(file: Path, line_end: str) -> None:
    log = read(file, line_end.join(["", HEADER, "", ROW, "", ",,", ROW.replace("1", "2", 1), "", ""]))
    assert log.cases["concept:name"].to_list() == ["1", "2"]


def test_line_breaks_and_quotes_within_fields_are_kept(file: Path) -> None:
    assert read(file, f'{HEADER}\n1,"say ""a""\r\nand, b",2024-05-06T08:00:00Z\n').activities == ['say "a"\r\nand, b']


def test_single_quotes_are_quotes_where_evidently_used(file: Path) -> None:
    log = read(file, "'case','activity','time'\n'1','a,b','2024-05-06T08:00:00Z'\n'1','c','2024-05-06T08:00:00Z'\n")
    assert log.activities == ["a,b", "c"]


def test_a_quote_inside_text_is_a_character_where_no_field_is_quoted(file: Path) -> None:
    assert read(file, f'{HEADER}\n1,5" pipe,2024-05-06T08:00:00Z\n').activities == ['5" pipe']


@pytest.mark.parametrize(
    ("encoding", "notes"),
    [("utf-8", 0), ("utf-8-sig", 0), ("utf-16", 0), ("cp1252", 1)],
)
def test_encodings_are_found(file: Path, encoding: str, notes: int) -> None:
    log = read(file, f"{HEADER}\n1,Prüfung €,2024-05-06T08:00:00Z\n".encode(encoding))
    assert log.activities == ["Prüfung €"]
    assert len(log.notes) == notes


def test_big_endian_utf16_is_found(file: Path) -> None:
    assert read(file, b"\xfe\xff" + f"{HEADER}\n{ROW}\n".encode("utf-16-be")).activities == ["register"]


def test_the_users_encoding_is_followed(file: Path) -> None:
    data = f"{HEADER}\n1,Ωμέγα,2024-05-06T08:00:00Z\n".encode("iso-8859-7")
    assert read(file, data, ReadOptions(encoding="iso-8859-7")).activities == ["Ωμέγα"]
    assert refusal(file, data, ReadOptions(encoding="utf-8")).startswith(
        ", line 2: byte 22 is not valid utf-8 text. Name the right"
    )
    assert refusal(file, data, ReadOptions(encoding="klingon")).startswith(': there is no encoding "klingon"')


def test_bytes_that_are_no_text_are_refused(file: Path) -> None:
    assert refusal(file, b"PK\x03\x04\x00\x81rest").startswith(", line 1: this is a binary file, not text. Export the log as CSV")
    assert refusal(file, f"{HEADER}\n1,".encode() + b"\x81\xfe").startswith(", line 2: byte 22 is not valid cp1252 text")


@pytest.mark.parametrize("text", ["", " \n\r\n"])
def test_an_empty_file_is_refused(file: Path, text: str) -> None:
    assert refusal(file, text) == ": the file is empty. Export the log again."


def test_a_header_without_events_is_refused_unless_allowed(file: Path) -> None:
    assert refusal(file, HEADER + "\n") == ": there are no events. Check that the export is complete."
    log = read(file, HEADER + "\n", ReadOptions(allow_empty=True))
    assert log.n_cases == log.n_events == 0
    assert log.events.columns == ["@case", "concept:name", "time:timestamp"]


def test_a_file_without_a_header_is_refused(file: Path) -> None:
    expected = ", line 1: the first line looks like data, not like column names. Add a header line."
    assert refusal(file, f"{ROW}\n{ROW}\n") == expected


def test_duplicate_column_names_are_refused(file: Path) -> None:
    assert refusal(file, "case,activity,time,cost,cost\n") == (
        ', line 1: several columns are called "cost". Give each column its own name.'
    )


def test_a_column_without_a_name_gets_a_number_and_an_empty_one_vanishes(file: Path) -> None:
    log = read(file, f"{HEADER},,\n{ROW},5,\n")
    assert log.events["column_4"].to_list() == [5]
    assert log.notes == ('A column without a name is called "column_4".',)
    assert "column_5" not in log.events.columns


@pytest.mark.parametrize(("row", "fields"), [("2,leave", 2), ("2,leave,2024-05-06T08:00:00Z,x", 4)])
def test_ragged_rows_are_refused_with_their_line(file: Path, row: str, fields: int) -> None:
    text = f'{HEADER}\n1,"two\nlines",2024-05-06T08:00:00Z\n\n{ROW}\n{row}\n{ROW}\n'
    assert refusal(file, text).startswith(f", line 6: there are {fields} fields where the header has 3.")


def test_misplaced_quotes_are_refused_with_their_line(file: Path) -> None:
    assert refusal(file, f'{HEADER}\n{ROW}\n1,"a"b,2024-05-06T08:00:00Z\n').startswith(
        ", line 3: quotation marks do not enclose a whole field here."
    )


@pytest.mark.parametrize(
    "row", ['1,b,2024-01-02,see "x,y",', '1,b,2024-01-02,5" pipe,\n1,b,2024-01-02,6" pipe,', '1,b,2024-01-02,see """x,y""",']
)
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_quote_amid_a_field_does_not_enclose_its_end(file: Path, row: str, end: str) -> None:
    text = f'case,activity,time,u,v\n1,a,2024-01-01,"q\nr",\n{row}{end}'
    assert refusal(file, text).startswith(", line 4: quotation marks do not enclose a whole field here. Put such a field")


def test_quotes_around_words_amid_a_field_are_characters(file: Path) -> None:
    log = read(file, f'{HEADER},u,v\n{ROW},see "x" now,"say ""a,b"""\n{ROW},""," ""c"" , d"\n')
    assert log.events["u"].to_list() == ['see "x" now', ""]
    assert log.events["v"].to_list() == ['say "a,b"', ' "c" , d']


def test_lines_that_end_in_a_carriage_return_may_hold_line_feeds_in_quotes(file: Path) -> None:
    log = read(file, f'{HEADER}\r1,"a\nb",2024-05-06T08:00:00Z\r{ROW}\r')
    assert log.events["concept:name"].to_list() == ["a\nb", "register"]


def test_unreadable_timestamps_are_refused_with_their_line_also_after_quoted_line_breaks(file: Path) -> None:
    text = f'{HEADER}\n1,"a\nb\nc",2024-05-06T08:00:00Z\n\n,,\n1,d,n/a\n'
    assert refusal(file, text) == (
        ', line 7: timestamp "n/a" cannot be read. '
        "Give the format with --timestamp-format, or drop such events with --drop-invalid."
    )


@pytest.mark.parametrize(
    ("row", "what"),
    [
        (",a,2024-05-06", "no case id"),
        ('1,"  ",2024-05-06', "no activity"),
        ("1,a,", "no timestamp"),
        ('1,"",2024-05-06', "no activity"),
    ],
)
def test_what_every_event_needs_is_missed_with_its_line(file: Path, row: str, what: str) -> None:
    text = f"{HEADER}\n{ROW}\n{row}\n"
    assert refusal(file, text) == f", line 3: {what}. Fill it in, or drop such events with --drop-invalid."
    log = read(file, text, ReadOptions(drop_invalid=True))
    assert log.n_events == 1
    assert any("were left out" in note for note in log.notes)


def test_a_file_without_usable_columns_says_what_it_saw(file: Path) -> None:
    message = refusal(file, "alpha,beta\nx,y\n")
    assert '"alpha", "beta"' in message
    assert "--case-id" in message


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["1", "-20", ""], pl.Int64()),
        (["9223372036854775807", "-9223372036854775808"], pl.Int64()),
        (["9223372036854775808"], pl.String()),
        (["00123", "00456"], pl.String()),
        (["+49", "+50"], pl.String()),
        (["1", "2.5"], pl.Float64()),
        (["10.0", "20.0"], pl.Float64()),
        (["1e-7", "NaN", "inf", "-inf"], pl.Float64()),
        (["1e+300", "1.5E3"], pl.Float64()),
        (["3E2", "1E4"], pl.String()),
        (["\uff11.\uff15", "\uff12"], pl.String()),
        (["true", "false"], pl.Boolean()),
        (["TRUE", "False", ""], pl.Boolean()),
        (["2024-05-06T08:00:00+02:00", ""], UTC_MICROSECONDS),
        (["2024-05-06 08:00:00"], UTC_MICROSECONDS),
        (["2024-05-06", "2024-05-07"], pl.String()),
        (["1", "x"], pl.String()),
        (["1", '""'], pl.String()),
    ],
)
def test_types_are_found_over_the_whole_column(file: Path, values: list[str], dtype: pl.DataType) -> None:
    assert attribute(file, values).dtype == dtype


def test_a_late_word_makes_a_column_of_numbers_text(file: Path) -> None:
    column = attribute(file, [str(number) for number in range(5000)] + ["none"])
    assert column.dtype == pl.String
    assert column[:2].to_list() == ["0", "1"]


def test_decimal_commas_are_recognized_beside_other_delimiters(file: Path) -> None:
    assert attribute(file, ["2,5", "-3", "0,25"], ";").to_list() == [2.5, -3.0, 0.25]
    assert attribute(file, ["2,5", "3"], ";", ReadOptions(decimal=".")).to_list() == ["2,5", "3"]
    assert attribute(file, ['"2,5"', "3"], ",", ReadOptions(decimal=",")).to_list() == [2.5, 3.0]


def test_a_decimal_comma_is_noted_only_if_it_was_guessed(file: Path) -> None:
    text = "case;activity;timestamp;m\n1;a;2024-05-06T08:00:00Z;2,5\n"
    note = 'The numbers in "m" were read with a decimal comma.'
    assert [note in read(file, text, ReadOptions(decimal=decimal)).notes for decimal in (None, ",")] == [True, False]


def test_a_decimal_point_elsewhere_speaks_against_decimal_commas(file: Path) -> None:
    log = read(file, "case;activity;time;x;y\n1;a;2024-05-06T08:00:00Z;1,500;2.5\n")
    assert (log.events["x"].to_list(), log.events["y"].to_list()) == (["1,500"], [2.5])


def test_quoted_columns_beside_bare_ones_are_text(file: Path) -> None:
    assert attribute(file, ['"1"', '"2"']).to_list() == ["1", "2"]
    assert attribute(file, ["", '"true"']).to_list() == [None, "true"]


def test_types_are_found_in_a_file_that_quotes_everything(file: Path) -> None:
    log = read(file, '"case","activity","time","x"\n"1","a","2024-05-06T08:00:00Z","5"\n')
    assert log.events["x"].to_list() == [5]


def test_an_empty_field_is_missing_and_quotes_make_it_empty_text(file: Path) -> None:
    assert attribute(file, ['""', "", '"a"']).to_list() == ["", None, "a"]


def test_an_empty_field_before_a_windows_line_end_is_missing(file: Path) -> None:
    log = read(file, f"{HEADER},x\r\n{ROW},\r\n{ROW},q\r\n")
    assert log.events["x"].to_list() == [None, "q"]


def test_one_guarding_apostrophe_is_taken_off(file: Path) -> None:
    assert attribute(file, ["'=1+1", "''-x", "'plain", "it's"]).to_list() == ["=1+1", "'-x", "'plain", "it's"]
    log = read(file, f"{HEADER},'=x\n{ROW},5\n")
    assert log.events["=x"].to_list() == [5]


def test_ids_and_labels_keep_their_digits(file: Path) -> None:
    log = read(
        file,
        "case,activity,time,part\n007,1.50,2024-05-06T08:00:00Z,1.50\n",
        ReadOptions(roles=RoleNames(case_id=("case", "part"))),
    )
    assert log.cases["concept:name"].to_list() == ["007+1.50"]
    assert log.activities == ["1.50"]


def test_compressed_files_are_read(tmp_path: Path) -> None:
    text = f"{HEADER}\n{ROW}\n".encode()
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
    with zipfile.ZipFile(tmp_path / "a.csv.zip", "w") as archive:
        archive.writestr("a.csv", text)
    for name in ("a.csv.gz", "a.csv.zip"):
        assert read_csv([tmp_path / name], ReadOptions(), name).n_events == 1


def test_progress_ends_at_the_size_of_the_file(file: Path) -> None:
    steps: list[tuple[int, int]] = []
    read(file, f"{HEADER}\n{ROW}\n", ReadOptions(progress=lambda done, total: steps.append((done, total))))
    assert steps[-1] == (file.stat().st_size, file.stat().st_size)


def test_the_order_of_the_file_is_kept_within_a_case(file: Path) -> None:
    rows = [f"{case},{activity},2024-05-06T08:00:00Z" for case, activity in ("2a", "1b", "2c", "1a", "2b")]
    log = read(file, "\n".join([HEADER, *rows]))
    assert log.cases["concept:name"].to_list() == ["2", "1"]
    assert log.events["concept:name"].to_list() == ["a", "c", "b", "b", "a"]
    assert log.events["time:timestamp"].unique().to_list() == [datetime(2024, 5, 6, 8, tzinfo=UTC)]


def test_one_case_of_a_million_events_is_read(file: Path) -> None:
    log = read(file, f"{HEADER}\n" + f"{ROW}\n" * 1_000_000)
    assert (log.n_cases, log.n_events) == (1, 1_000_000)


def test_two_hundred_thousand_cases_of_one_event_are_read(file: Path) -> None:
    log = read(file, f"{HEADER}\n" + "".join(f"c{case},a,2024-05-06T08:00:00Z\n" for case in range(200_000)))
    assert log.n_cases == log.n_events == 200_000


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(log=event_logs(), kind=st.sampled_from(["csv", "tsv"]))
def test_any_log_survives_writing_and_reading(file: Path, log: EventLog, kind: str) -> None:
    file = file.with_suffix(f".{kind}")
    with file.open("wb") as stream:
        write_csv(log, stream, "," if kind == "csv" else "\t")
    back = read_csv([file], ReadOptions(allow_empty=True), str(file))
    assert back.equals(log)


@pytest.mark.parametrize("values", [["1.234,56", "12,50"], ["28,721.55", "1,000.00"]])
def test_numbers_with_thousands_separators_stay_text_with_a_note(file: Path, values: list[str]) -> None:
    rows = "".join(f"1;a;2024-05-06T08:00:00Z;{value}\n" for value in values)
    log = read(file, f"case;activity;time;cost\n{rows}")
    assert log.events["cost"].to_list() == values
    assert any("thousands separators" in note for note in log.notes)


def test_points_are_no_decimals_where_the_comma_is(file: Path) -> None:
    text = "case;activity;time;m;k\n1;a;2024-05-06T08:00:00Z;1.234;1,5\n1;b;2024-05-06T09:00:00Z;2.500;2\n"
    for options in (ReadOptions(decimal=","), ReadOptions()):
        log = read(file, text, options)
        assert (log.events["m"].to_list(), log.events["k"].to_list()) == (["1.234", "2.500"], [1.5, 2.0])
        assert any("thousands separators" in note for note in log.notes)
    assert read(file, text, ReadOptions(decimal=".")).events["m"].to_list() == [1.234, 2.5]


def test_times_of_day_from_their_own_column_are_added_with_a_note(file: Path) -> None:
    log = read(file, "case;activity;DATUM;UZEIT\n1;a;20240506;080000\n1;b;20240506;093015\n")
    assert [moment.strftime("%d %H:%M:%S") for moment in log.events["time:timestamp"]] == ["06 08:00:00", "06 09:30:15"]
    assert any("UZEIT" in note for note in log.notes)
