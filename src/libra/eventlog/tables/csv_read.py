"""CSV and TSV to an `EventLog`.

In: a path, its format, the user's choices. Out: a log. Columns that play a role are text, as it is written. The dialect and the
types of all others are found from the file, quoting carries type (a column in quotes beside columns without is text), an unquoted
empty field is missing, `""` is empty text. Errors name the line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import polars as pl

from libra.eventlog.files import open_input
from libra.eventlog.formats import FileFormat
from libra.eventlog.log import EventLog
from libra.eventlog.names import ROLE_COLUMN
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.csv_dialect import find_dialect
from libra.eventlog.tables.csv_encoding import to_utf8
from libra.eventlog.tables.csv_rows import column_names, parse_rows, unguarded
from libra.eventlog.tables.csv_types import infer_types
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.roles import REQUIRED, find_roles

_PIECE = 1 << 22
_HEADER = 1 << 16


def read_csv(path: Path, fmt: FileFormat, options: ReadOptions) -> EventLog:
    r"""Read a CSV or TSV file as a log.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "log.csv"
        >>> _ = file.write_text("case;activity;time\n1;triage;2024-05-06T08:00:00Z\n")
        >>> read_csv(file, FileFormat("csv"), ReadOptions()).activities
        ['triage']
    """
    return log_of([csv_table(path, fmt, options)], options, str(path))


@dataclass(frozen=True)
class CsvTable:
    """The rows of a file as text, what it says on which columns are text, where a row stands, and what is worth knowing."""

    frame: pl.DataFrame
    text: set[str]
    place: Callable[[int], str]
    delimiter: str
    notes: list[str]


def csv_table(path: Path, fmt: FileFormat, options: ReadOptions) -> CsvTable:
    """The rows of a CSV or TSV file."""
    source = str(path)
    with open_input(path, fmt.compression, options.progress) as stream:
        data = b"".join(iter(lambda: stream.read(_PIECE), b""))
    data, notes = to_utf8(data, options, source)
    dialect = find_dialect(data, options, tabs=fmt.kind == "tsv", source=source)
    names = column_names(dialect, source)
    header_lines = data.count(dialect.line_end.encode(), 0, dialect.body)
    body = data[dialect.body :]
    del data
    layout, frame, place = parse_rows(body, dialect, names, source, header_lines)
    notes += [
        f'A column without a name is called "{name}".'
        for name, given in zip(names, dialect.header, strict=True)
        if not given.strip() and frame[name].null_count() < frame.height
    ]
    text = {name for name, says_text in zip(names, layout.says_text, strict=True) if says_text}
    return CsvTable(frame, text, place, dialect.delimiter, notes)


def log_of(tables: Sequence[CsvTable], options: ReadOptions, source: str) -> EventLog:
    """The log that files hold together: one table, whatever else is in the file in which a row stands."""
    frame = tables[0].frame if len(tables) == 1 else pl.concat([table.frame for table in tables], how="diagonal")
    ends = list(accumulate(table.frame.height for table in tables))

    def place(row: int) -> str:
        number = bisect_right(ends, row)
        return tables[number].place(row - (ends[number - 1] if number else 0))

    roles = find_roles(frame, options, source)
    playing = {name for role in roles for name in role.columns}
    text = playing.union(*(table.text for table in tables))
    frame, more = infer_types(frame, text, options.decimal, tables[0].delimiter)
    notes = dict.fromkeys(note for table in tables for note in table.notes)
    return from_flat(
        frame.with_columns(unguarded(values) for values in frame if values.dtype == pl.String),
        options,
        place=place if frame.height else lambda _row: source,
        source=source,
        roles=roles,
        notes=[*notes, *more],
    )


def has_standard_header(path: Path, fmt: FileFormat) -> bool:
    """Whether a CSV file calls its columns as we write them; then it is UTF-8 with ISO timestamps, as we write those."""
    with open_input(path, fmt.compression) as stream:
        header = stream.read(_HEADER).split(b"\n")[0]
    return all(ROLE_COLUMN[role].encode() in header for role in REQUIRED)
