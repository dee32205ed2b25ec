"""By its description a file is read row by row: rows that come or go never change how the others are read.

Each pair of files differs in one individual's rows, such that detection reads the others in two ways. By the description of
either file the others are read identically, or the file is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import libra
from libra.errors import LibraError
from libra.eventlog.description import Description
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import batches_of

HEAD = "case;activity;time;note"
OTHERS = ["a;Röntgen;{};x", "a;leave;{};y", "b;Röntgen;{};z"]
Rows = list[tuple[str, str, int]]


def in_memory(file: Path, options: ReadOptions) -> Rows:
    from libra.eventlog.read import read

    flat = read(file, options).to_polars()
    micros = flat["time:timestamp"].to_physical().to_list()
    return list(zip(flat["case:concept:name"].to_list(), flat["concept:name"].to_list(), micros, strict=True))


def in_batches(file: Path, options: ReadOptions) -> Rows:
    frames = [batch.select(pl.col("case").cast(pl.String), "activity", "micros") for batch in batches_of(file, options)]
    return [row for frame in frames for row in frame.rows()]


def others(read: Callable[[Path, ReadOptions], Rows], file: Path, options: ReadOptions) -> Rows | None:
    try:
        return [row for row in read(file, options) if row[0] != "added"]
    except LibraError:
        return None


# What the others' times are, and the row of one more individual that would change how they are read.
FLIPS = {
    "the only date that shows that the month comes first": (["03/04/2024", "05/06/2024", "07/08/2024"], "05/27/2024", "utf-8"),
    "the only date that shows that the day comes first": (["03/04/2024", "05/06/2024", "07/08/2024"], "27/05/2024", "utf-8"),
    "a year that can only come first": (["24-05-06", "24-05-07", "24-05-08"], "99-05-06", "utf-8"),
    "a larger epoch": (["1714982400", "1714986000", "1714989600"], "1714982400000", "utf-8"),
    "a date among epochs": (["1714982400000", "1714986000000", "1714989600000"], "199912311200", "utf-8"),
    "a zone among times without": (
        ["2024-05-06T08:00:00", "2024-05-06T09:00:00", "2024-05-07T08:00:00"],
        "2024-05-06T08:00:00Z",
        "utf-8",
    ),
    "no zone among times with one": (
        ["2024-05-06T08:00:00Z", "2024-05-06T09:00:00Z", "2024-05-07T08:00:00Z"],
        "2024-05-06",
        "utf-8",
    ),
    "the only letter that is not UTF-8": (["2024-05-06", "2024-05-07", "2024-05-08"], "2024-05-09", "cp1252"),
    "a leap second": (["2024-05-06T08:00:00Z", "2024-05-06T09:00:00Z", "2024-05-07T08:00:00Z"], "2016-12-31T23:59:60Z", "utf-8"),
    "an end of the day": (["2024-05-06 08:00:00", "2024-05-06 09:00:00", "2024-05-07 08:00:00"], "2024-05-06 24:00:00", "utf-8"),
}


@pytest.mark.parametrize("drop_invalid", [False, True])
@pytest.mark.parametrize("name", FLIPS)
def test_one_more_row_never_changes_how_the_others_are_read(name: str, drop_invalid: bool, tmp_path: Path) -> None:
    times, added, encoding = FLIPS[name]
    rows = [row.format(time) for row, time in zip(OTHERS, times, strict=True)]
    without, with_it = tmp_path / "without.csv", tmp_path / "with.csv"
    without.write_bytes("\n".join([HEAD, *rows, ""]).encode("utf-8"))
    with_it.write_bytes(without.read_bytes() + f'added;Müller;{added};"quoted"\n'.encode(encoding))
    for origin in (without, with_it):
        try:
            found = replace(libra.describe(origin, drop_invalid=drop_invalid), reasons={})  # whatever was open is settled
        except LibraError:  # what cannot be read is not described either
            assert origin == with_it
            continue
        for read in (in_memory, in_batches):
            reading = others(read, without, found.options()), others(read, with_it, found.options())
            assert reading[0] == reading[1] or None in reading, read
            assert reading != (None, None), read


@pytest.mark.parametrize("name", FLIPS)
def test_without_a_description_a_release_is_refused_or_reads_the_others_as_before(name: str, tmp_path: Path) -> None:
    """What detection reads in two ways is refused on one side at least."""
    times, added, encoding = FLIPS[name]
    rows = [row.format(time) for row, time in zip(OTHERS, times, strict=True)]
    without, with_it = tmp_path / "without.csv", tmp_path / "with.csv"
    without.write_bytes("\n".join([HEAD, *rows, ""]).encode("utf-8"))
    with_it.write_bytes(without.read_bytes() + f"added;Müller;{added};x\n".encode(encoding))
    refused = []
    for file in (without, with_it):
        try:
            libra.anonymize(file, drop_invalid=True, seed=1)
        except LibraError:
            refused.append(file)
    options = ReadOptions(drop_invalid=True)
    same = others(in_memory, without, options) == others(in_memory, with_it, options)
    assert same or refused


VALUES = st.sampled_from(
    [
        *("03/04/2024", "27/05/2024", "05/27/2024", "24-05-06", "2024-05-06T08:00:00Z", "2024-05-06 08:00", "1714982400", ""),
        *("20240506", "1714982400000", "6 May 2024", "n/a", "06.05.2024 08:14", '"2024-05-06"', "2024-05-06T08:00:00+02:00"),
        *("1.5", "99-01-02"),
    ]
)
LABELS = st.sampled_from(["a", "7", "7.0", '"7"', "0.5", "Röntgen", "", "'=1", 'a"b', "true"])
ROWS = st.lists(st.tuples(LABELS, VALUES, LABELS), min_size=1, max_size=6)
SAID = st.sampled_from(
    [
        {"timestamp_format": "iso"},
        {"timestamp_format": "any", "day_first": True},
        {"timestamp_format": "any", "day_first": False},
        {"timestamp_format": "%d/%m/%Y"},
        {"timestamp_format": "%Y%m%d"},
        {"epoch_unit": "s"},
        {"epoch_unit": "ms"},
    ]
)


@given(rows=ROWS, added=ROWS, said=SAID, zone=st.sampled_from(["file", "none", "utc"]), quote=st.sampled_from(['"', ""]))
def test_rows_come_and_go_and_the_others_stay(
    rows: list[tuple[str, ...]],
    added: list[tuple[str, ...]],
    said: dict[str, object],
    zone: str,
    quote: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    columns = {"case_id": ["case"], "activity": ["activity"], "timestamp": "time", "encoding": "utf-8", "delimiter": ";"}
    found = Description(format="csv", zone=zone, quote=quote, drop_invalid=True, **columns, **said)  # type: ignore[arg-type]
    texts = [f"c{i};{label};{time};{note}" for i, (label, time, note) in enumerate(rows)]
    more = [f"added;{label};{time};{note}" for label, time, note in added]
    (folder / "without.csv").write_text("\n".join([HEAD, *texts, ""]), encoding="utf-8")
    (folder / "with.csv").write_text("\n".join([HEAD, *more, *texts, ""]), encoding="utf-8")
    options = replace(found.options(), allow_empty=True)
    reading = [others(in_memory, folder / name, options) for name in ("without.csv", "with.csv")]
    assert reading[0] == reading[1] or None in reading
    for file, expected in zip(("without.csv", "with.csv"), reading, strict=True):
        streamed = others(in_batches, folder / file, options)
        assert streamed == expected or (streamed is None and expected is None)
