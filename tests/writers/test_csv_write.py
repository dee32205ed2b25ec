"""Written tables: quotes carry the type, no cell is a formula, and what a table cannot hold is told."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given

from libra.eventlog import in_parts
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.metadata import DRAWN_WITH_A_SEED, Classifier, LogMetadata
from libra.eventlog.tables.csv_write import write_csv
from libra.eventlog.xes.write import default_metadata
from strategies import event_logs


def table(log: EventLog, separator: str = ",") -> str:
    write_csv(log, stream := io.BytesIO(), separator)
    return stream.getvalue().decode()


def column(name: str, values: list[Any]) -> str:
    """The cells of an attribute as they stand in the file; no other cell of it has any of these characters: , and newline."""
    start = datetime(2024, 5, 6, tzinfo=UTC)
    events = {"@case": [0] * len(values), "concept:name": "a", "time:timestamp": start, name: values}
    log = EventLog(pl.DataFrame(events), pl.DataFrame({"concept:name": ["anna"]}))
    before = '"anna","a",2024-05-06T00:00:00+00:00,'
    return "|".join(line.removeprefix(before) for line in table(log).rstrip("\n").split("\n")[1:])


def test_text_is_quoted_and_nothing_else_is() -> None:
    assert column("s", ["x", 'say "hi"', "7", "", None]) == '"x"|"say ""hi"""|"7"|""|'
    assert column("n", [7, -8, None]) == "7|-8|"
    assert column("x", [0.5, 10.0, -0.0, math.nan, math.inf, -math.inf, None]) == "0.5|10.0|-0.0|NaN|inf|-inf|"
    assert column("b", [True, False, None]) == "true|false|"


def test_times_have_a_fraction_only_if_one_of_the_column_has() -> None:
    whole, part = datetime(2024, 5, 6, 8, tzinfo=UTC), datetime(2024, 5, 6, 8, 0, 0, 70, tzinfo=UTC)
    assert column("t", [whole, None]) == "2024-05-06T08:00:00+00:00|"
    assert column("t", [whole, part]) == "2024-05-06T08:00:00.000000+00:00|2024-05-06T08:00:00.000070+00:00"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "'=", "''@"])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(start: str) -> None:
    assert column("s", [f"{start}cmd|'/c calc'!A1"]) == f"\"'{start}cmd|'/c calc'!A1\""
    assert table(EventLog(*_frames({f"{start}x": ["v"]}))).startswith(
        f'case:concept:name,concept:name,time:timestamp,"\'{start}x"'
    )


def test_harmless_text_gets_no_apostrophe() -> None:
    assert column("s", ["a=b", "'quoted'", " =1", "1-2"]) == '"a=b"|"\'quoted\'"|" =1"|"1-2"'


@given(event_logs())
def test_any_log_is_a_table_without_formulas_that_holds_every_text(log: EventLog) -> None:
    rows = list(csv.reader(io.StringIO(table(log), newline="")))
    flat = log.to_polars()
    assert len(rows) == log.n_events + 1
    for name, cells in zip(flat.columns, zip(*rows[1:], strict=True), strict=False):
        if flat.schema[name] == pl.String:
            assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in cells)
            read = [re.sub(r"^'(?='*[=+\-@\t\r])", "", cell) for cell in cells]
            assert read == [text or "" for text in flat[name]]
    assert [re.sub(r"^'(?='*[=+\-@\t\r])", "", name) for name in rows[0]] == flat.columns


def test_missing_text_and_empty_text_differ() -> None:
    assert column("s", [None, "", "x"]) == '|""|"x"'


def test_tsv_is_separated_by_tabs(small_log: EventLog) -> None:
    assert table(small_log, "\t").splitlines()[0].split("\t")[:2] == ["case:concept:name", "case:age"]


def test_awkward_column_names_are_quoted() -> None:
    log = EventLog(*_frames({"a,b": [1], 'say "x"': [2], " end ": [3], "plain name": [4]}))
    assert table(log).splitlines()[0].endswith(',"a,b","say ""x"""," end ",plain name')


def test_nul_characters_are_replaced_and_told() -> None:
    notes = write_csv(EventLog(*_frames({"s": ["a\x00b"]})), stream := io.BytesIO())
    assert stream.getvalue().decode().endswith('"a\ufffdb"\n')
    assert notes == ['NUL characters of "s" were replaced: a table cannot hold them.']


def test_slices_do_not_show(small_log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = table(small_log)
    monkeypatch.setattr(in_parts, "SLICE_EVENTS", 3)
    assert table(small_log) == whole


def test_progress_ends_at_the_whole(small_log: EventLog) -> None:
    seen: list[tuple[int, int]] = []
    write_csv(small_log, io.BytesIO(), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(8, 8)]


def test_a_log_without_cases_is_a_header_line(small_log: EventLog) -> None:
    assert table(empty_log(small_log)) == "case:concept:name,concept:name,time:timestamp\n"


def test_what_a_table_cannot_hold_is_told(small_log: EventLog) -> None:
    assert write_csv(small_log, io.BytesIO()) == []
    assert write_csv(replace(small_log, metadata=default_metadata(small_log)), io.BytesIO()) == []
    of_ids = replace(small_log, cases=small_log.cases.with_columns(pl.format("seeded-{}", "concept:name").alias("concept:name")))
    marked = replace(default_metadata(small_log), attributes=(DRAWN_WITH_A_SEED,))
    assert write_csv(replace(of_ids, metadata=marked), io.BytesIO()) == []
    assert len(write_csv(replace(small_log, metadata=marked), io.BytesIO())) == 1
    with_header = replace(small_log, metadata=LogMetadata(classifiers=(Classifier("Cost", ("cost",)),)), individual="insurance")
    notes = write_csv(with_header, io.BytesIO())
    assert len(notes) == 2
    assert "classifiers" in notes[0]
    assert "insurance" in notes[1]


def _frames(attributes: dict[str, list[Any]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    events = {"@case": [0], "concept:name": ["a"], "time:timestamp": [datetime(2024, 5, 6, tzinfo=UTC)], **attributes}
    return pl.DataFrame(events), pl.DataFrame({"concept:name": ["anna"]})
