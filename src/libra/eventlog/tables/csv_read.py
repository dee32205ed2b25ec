"""CSV and TSV to an `EventLog`.

In: a path, its format, the user's choices. Out: a log. Columns that play a role are text, as it is written. The dialect and the
types of all others are found from the file, quoting carries type (a column in quotes beside columns without is text), an unquoted
empty field is missing, `""` is empty text. Errors name the line.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import polars as pl

from libra.eventlog.files import open_input
from libra.eventlog.formats import FileFormat
from libra.eventlog.log import EventLog
from libra.eventlog.names import ROLE_COLUMN
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.csv_dialect import find_dialect
from libra.eventlog.tables.csv_encoding import Utf8Decoder, refuse_blank
from libra.eventlog.tables.csv_layout import Dialect
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
    return log_of([open_csv(path, fmt, options)], options, str(path))


def log_of(files: Sequence[OpenCsv], options: ReadOptions, source: str) -> EventLog:
    """The log that files hold together: one table, whatever else is in the file in which a row stands."""
    table = together(files, source)
    roles = find_roles(table.frame, options, source)
    playing = {name for role in roles for name in role.columns}
    frame, more = infer_types(table.frame, table.text | playing, options.decimal, table.dialect.delimiter)
    return from_flat(
        frame.with_columns(unguarded(values) for values in frame if values.dtype == pl.String),
        options,
        place=table.place,
        source=source,
        roles=roles,
        notes=[*table.notes, *more],
    )


@dataclass(frozen=True)
class OpenCsv:
    """The rows of a file as text, how it is written (what was said, or else found), and where a row stands.

    `text` are the columns that are text because they stand in quotes where others do not.
    """

    encoding: str
    dialect: Dialect
    frame: pl.DataFrame
    text: set[str]
    place: Callable[[int], str]
    notes: list[str]
    has_quotes: bool


def open_csv(path: Path, fmt: FileFormat, options: ReadOptions) -> OpenCsv:
    r"""The rows of a file as text.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "log.csv"
        >>> _ = file.write_text("case;activity\n1;triage\n")
        >>> open_csv(file, FileFormat("csv"), ReadOptions()).frame.rows()
        [('1', 'triage')]
    """
    source = str(path)
    with open_input(path, fmt.compression, options.progress) as stream:
        data = b"".join(iter(lambda: stream.read(_PIECE), b""))
    decoder = Utf8Decoder(options, source)
    data = decoder.decode(data, last=True)
    refuse_blank(data, source)
    dialect = find_dialect(data, options, tabs=fmt.kind == "tsv", source=source)
    names = column_names(dialect, source, sure=bool(options.described))
    header_lines = data.count(dialect.line_end.encode(), 0, dialect.body)
    has_quotes = (dialect.quote or '"').encode() in data
    body = data[dialect.body :]
    del data
    layout, frame, place = parse_rows(body, dialect, names, source, header_lines)
    nameless = [
        f'A column without a name is called "{name}".'
        for name, given in zip(names, dialect.header, strict=True)
        if not given.strip() and frame[name].null_count() < frame.height
    ]
    text = {name for name, says_text in zip(names, layout.says_text, strict=True) if says_text}
    return OpenCsv(decoder.encoding, dialect, frame, text, place, [*decoder.notes, *nameless], has_quotes)


def together(files: Sequence[OpenCsv], source: str) -> OpenCsv:
    r"""The files of a folder as one table, with the words of the first on how they are written.

    Example:
        >>> rows = pl.DataFrame({"n": ["1", "2"]})
        >>> one, two = (OpenCsv("utf-8", Dialect(",", None, "\n"), rows, set(), f"{n}, {{}}".format, [], False) for n in "ab")
        >>> together([one, two], "folder").place(2)
        'b, 0'
    """
    frame = files[0].frame if len(files) == 1 else pl.concat([file.frame for file in files], how="diagonal")
    ends = list(accumulate(file.frame.height for file in files))

    def place(row: int) -> str:
        number = bisect_right(ends, row)
        return files[number].place(row - (ends[number - 1] if number else 0)) if row < ends[-1] else source

    return replace(
        files[0],
        frame=frame,
        text=set[str]().union(*(file.text for file in files)),
        place=place,
        notes=list(dict.fromkeys(note for file in files for note in file.notes)),
    )


def has_standard_header(path: Path, fmt: FileFormat) -> bool:
    """Whether a CSV file calls its columns as we write them; then it is UTF-8 with ISO timestamps, as we write those."""
    with open_input(path, fmt.compression) as stream:
        header = stream.read(_HEADER).split(b"\n")[0]
    return all(ROLE_COLUMN[role].encode() in header for role in REQUIRED)
