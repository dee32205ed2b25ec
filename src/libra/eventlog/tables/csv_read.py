"""CSV and TSV to events: at once, or in pieces for files larger than memory.

Columns that play a role are text, as it is written. The types of all others are found from the file; quoting carries type (a
column in quotes beside columns without is text), an unquoted empty field is missing, `""` is empty text. Errors name the line.
"""

from __future__ import annotations

import contextlib
import csv
import io
from bisect import bisect_right
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

import polars as pl

from libra.errors import InputError
from libra.eventlog.files import FileFormat, input_format, open_input
from libra.eventlog.log import EventLog
from libra.eventlog.names import ROLE_COLUMN, unnamed
from libra.eventlog.notes import listed
from libra.eventlog.options import Place, Progress, ReadOptions, no_progress
from libra.eventlog.tables.csv_text import (
    Dialect,
    Layout,
    Utf8Decoder,
    bare_line_feed,
    find_dialect,
    is_quoting,
    last_row_end,
    refuse_blank,
    row_start,
    scan,
    two_line_ends,
)
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.in_batches import Table, TableBatches
from libra.eventlog.tables.roles import REQUIRED, find_roles, rank
from libra.eventlog.tables.timestamps import iso_timestamps

_WHOLE = r"^-?(?:0|[1-9][0-9]*)$"
_POWER = r"[eE][+-][0-9]+"  # without a sign or a decimal mark it may be a code, such as ward 3E2
_NUMBER = rf"^(?:-?(?:(?:0|[1-9][0-9]*)(?:{_POWER})?|(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|NaN|-?inf)$"
_COMMA_NUMBER = rf"^-?(?:0|[1-9][0-9]*)(?:(?:{_POWER})?|,[0-9]+(?:[eE][+-]?[0-9]+)?)$"
_WITH_GROUPS = r"^-?[0-9]{1,3}(?:(?:[.'\s][0-9]{3})*(?:,[0-9]+)?|(?:,[0-9]{3})*(?:\.[0-9]+)?)$"
_POINT_GROUPS = r"^-?[0-9]{1,3}(?:\.[0-9]{3})+$"
_GROUP = r"^-?[1-9][0-9]{0,2}[.,'\s][0-9]{3}(?:[^0-9]|$)"
_TRUTH = r"^(?:true|false|True|False|TRUE|FALSE)$"
_ISO_TIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}"
_SAMPLE = 50
_GUARDED = r"^'+[=+\-@\t\r]"
_BLOCK = 1 << 22
_HEADER = 1 << 16
HEAD = 1 << 23  # bytes to decide on
PIECE = 1 << 23  # bytes at a time
_QUOTE = b'"'


def infer_types(
    frame: pl.DataFrame, text: Collection[str], decimal: str | None, delimiter: str
) -> tuple[pl.DataFrame, list[str]]:
    """Give every column but those of `text` its type; `decimal` is the user's word for the decimal mark."""
    columns = {name: unnamed(frame[name]) for name in frame.columns if name not in text}
    typed: dict[str, pl.Series] = {}
    with_comma: list[str] = []
    notes: list[str] = []
    for name, values in columns.items():
        found = _typed(values)
        if found is not None:
            typed[name] = found
        elif _all(values, _COMMA_NUMBER):
            with_comma.append(name)
    with_point = [
        name for name in typed if typed[name].dtype == pl.Float64 and columns[name].str.contains(".", literal=True).any()
    ]
    if decimal is None:
        points = any(not _all(columns[name], _POINT_GROUPS) for name in with_point)
        decimal = "," if delimiter != "," and with_comma and not points else "."
    if decimal == ",":
        typed = {name: values for name, values in typed.items() if name not in with_point}
    if decimal == "," and with_comma:
        notes.append(f"The numbers in {listed(with_comma)} were read with a decimal comma.")
        for name in with_comma:
            typed[name] = columns[name].str.replace(",", ".", literal=True).cast(pl.Float64)
    grouped = [name for name, values in columns.items() if name not in typed and _has_groups(values)]
    if grouped:
        notes.append(f"The numbers in {listed(grouped)} are written with thousands separators and were kept as text.")
    naive = [name for name in typed if isinstance(typed[name].dtype, pl.Datetime) and _is_naive(columns[name])]
    if naive:
        notes.append(f"The dates in {listed(naive)} carry no time zone and were read as UTC.")
    return frame.with_columns(values.alias(name) for name, values in typed.items()), notes


def _typed(values: pl.Series) -> pl.Series | None:
    """The values in the one type they all have; None for text."""
    if _all(values, _WHOLE):
        whole = values.cast(pl.Int64, strict=False)
        return whole if whole.null_count() == values.null_count() else None
    if _all(values, _NUMBER):
        return values.cast(pl.Float64)
    if _all(values, _TRUTH):
        return values.str.to_lowercase() == "true"
    if _all(values, _ISO_TIME):
        return iso_timestamps(values)
    return None


def _all(values: pl.Series, pattern: str) -> bool:
    sample = values.head(1000).drop_nulls().head(_SAMPLE)
    return (
        values.null_count() < values.len()
        and bool(sample.str.contains(pattern).all())
        and bool(values.str.contains(pattern).all(ignore_nulls=True))
    )


def _has_groups(values: pl.Series) -> bool:
    """Whether all values are numbers and some have thousands separators."""
    return _all(values, _WITH_GROUPS) and bool(values.str.contains(_GROUP).any())


def _is_naive(values: pl.Series) -> bool:
    first = values.drop_nulls()[0]
    return not first.endswith("Z") and "+" not in first and "-" not in first[10:]


def parse_rows(
    body: bytes, dialect: Dialect, names: Sequence[str], source: str, lines_before: int
) -> tuple[Layout, pl.DataFrame, Place]:
    """How the rows are laid out, their fields as text, and where each stands; `lines_before` stand before them in the file."""
    line_end = dialect.line_end.encode()
    blank_lines = body[: len(body) - len(body.lstrip(b"\r\n"))]  # Polars does not take them before the first row
    body, lines_before = body[len(blank_lines) :], lines_before + blank_lines.count(line_end)

    def line(row: int) -> str:
        return f"{source}, line {lines_before + body.count(line_end, 0, row_start(body, dialect, row)) + 1}"

    feed = bare_line_feed(body, dialect) if dialect.line_end == "\r" else None
    if feed is not None:
        raise two_line_ends(f"{source}, line {lines_before + body.count(line_end, 0, feed) + 1}")
    layout = scan(body, dialect)
    if layout.ragged_row is not None:
        raise InputError(
            f"there are {layout.ragged_fields} fields where the header has {len(names)}",
            place=line(layout.ragged_row),
            remedy="Check the quotes in this line, or name the delimiter with --delimiter",
        )
    if layout.misquoted_row is not None:
        raise misquoted(line(layout.misquoted_row))
    try:
        frame = _parse(body, dialect, names)
    except pl.exceptions.PolarsError as error:
        raise misquoted(f"{source}, line {lines_before + _line_of_misplaced_quote(body, dialect)}") from error
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if not blank.any():
        return layout, frame, line
    rows = (~blank).arg_true()
    return layout, frame.filter(~blank), lambda row: line(int(rows[row]))


def column_names(dialect: Dialect, source: str, *, sure: bool = False) -> list[str]:
    """The names of the header, each its own; blank ones get a number. It may look like data where it is `sure` to be one."""
    header = [unguarded(pl.Series([name]))[0] for name in dialect.header]
    place = f"{source}, line 1"
    known = (name in ROLE_COLUMN.values() or any(rank(role, name) for role in ROLE_COLUMN) for name in header)
    if not sure and not any(known) and any(_is_data(name) for name in header):
        raise InputError("the first line looks like data, not like column names", place=place, remedy="Add a header line")
    names = [name if name.strip() else f"column_{i}" for i, name in enumerate(header, 1)]
    twice = [f'"{name}"' for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"several columns are called {', '.join(twice)}", place=place, remedy="Give each column its own name")
    if len(names) == 1:
        raise InputError(
            f'there is only one column, "{names[0][:60]}"',
            place=place,
            remedy="Remove any lines above the header, or name what separates the fields with --delimiter",
        )
    return names


def _is_data(name: str) -> bool:
    cell = pl.DataFrame({"cell": [name.strip()]})
    return (
        infer_types(cell, (), None, ",")[0].schema["cell"] != pl.String
        or cell["cell"].str.contains(r"^\d{1,4}[-/.]\d")[0] is True
    )


def _parse(body: bytes, dialect: Dialect, names: Sequence[str]) -> pl.DataFrame:
    """All fields as text, by Polars; null where a field is empty and not in quotes."""
    schema = dict.fromkeys(names, pl.String())
    if not body:
        return pl.DataFrame(schema=schema)
    return pl.read_csv(
        body,
        has_header=False,
        schema=schema,
        separator=dialect.delimiter,
        quote_char=dialect.quote,
        eol_char=dialect.line_end,
        raise_if_empty=False,
    )


def misquoted(place: str) -> InputError:
    """The error for quotation marks that open or close within a field."""
    return InputError(
        "quotation marks do not enclose a whole field here",
        place=place,
        remedy="Put such a field in quotation marks as a whole, and double each one that belongs to the text",
    )


def _line_of_misplaced_quote(body: bytes, dialect: Dialect) -> int:
    """The line, counted from 1, at which the standard library's strict reader gives up."""
    text = io.StringIO(body.decode("utf-8"), newline="")
    reader = csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)
    with contextlib.suppress(csv.Error):
        for _ in reader:
            pass
    return reader.line_num


def unguarded(values: pl.Series) -> pl.Series:
    """Text without the apostrophe that keeps spreadsheets from taking it for a formula."""
    text = unnamed(values)
    if not text.str.starts_with("'").any():
        return values
    guarded = text.str.contains(_GUARDED).fill_null(False)
    return text.str.slice(1).zip_with(guarded, text).alias(values.name)


def read_csv(files: Sequence[Path], options: ReadOptions, source: str) -> EventLog:
    """The log that CSV or TSV files hold together: one table, whatever else is in the file in which a row stands."""
    table = together([open_csv(file, input_format(file), options) for file in files], source)
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
    place: Place
    notes: list[str]
    has_quotes: bool


def open_csv(path: Path, fmt: FileFormat, options: ReadOptions) -> OpenCsv:
    """The rows of a file as text."""
    source = str(path)
    with open_input(path, fmt.compression, options.progress) as stream:
        data = b"".join(iter(lambda: stream.read(_BLOCK), b""))
    decoder = Utf8Decoder(options, source)
    data = decoder.decode(data, last=True)
    dialect, names, header_lines, has_quotes = _head(data, fmt, options, source)
    data = data[dialect.body :]
    layout, frame, place = parse_rows(data, dialect, names, source, header_lines)
    nameless = [
        f'A column without a name is called "{name}".'
        for name, given in zip(names, dialect.header, strict=True)
        if not given.strip() and frame[name].null_count() < frame.height
    ]
    text = {name for name, says_text in zip(names, layout.says_text, strict=True) if says_text}
    return OpenCsv(decoder.encoding, dialect, frame, text, place, [*decoder.notes, *nameless], has_quotes)


def _head(text: bytes, fmt: FileFormat, options: ReadOptions, source: str) -> tuple[Dialect, list[str], int, bool]:
    """How a text is written, what its columns are called, how many lines its header takes, and whether it has quotes."""
    refuse_blank(text, source)
    dialect = find_dialect(text, options, tabs=fmt.kind == "tsv", source=source)
    names = column_names(dialect, source, sure=bool(options.described))
    return dialect, names, text.count(dialect.line_end.encode(), 0, dialect.body), (dialect.quote or '"').encode() in text


def together(files: Sequence[OpenCsv], source: str) -> OpenCsv:
    """The files of a folder as one table, with the words of the first on how they are written."""
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


def csv_batches(path: Path, fmt: FileFormat, options: ReadOptions) -> TableBatches:
    """The events of a CSV or TSV file of any size."""
    file = _CsvFile(path, fmt, options)
    roles = find_roles(file.sample, options, str(path))
    table = Table(str(path), _all_unguarded(file.sample), file.place, file.rows, file.height, notes=lambda: file.decoder.notes)
    return TableBatches(table, options, roles)


class _CsvFile:
    """A file in pieces of some megabytes, cut where rows end; how it is written is decided by the first one."""

    def __init__(self, path: Path, fmt: FileFormat, options: ReadOptions) -> None:
        self.path, self.fmt, self.options, self.source = path, fmt, options, str(path)
        self.decoder = Utf8Decoder(options, self.source)
        self._head_share = 1.0  # of the file
        with closing(self._texts(no_progress)) as texts:
            text, last = next(texts, (b"", True))
        self.dialect, self.names, self._header_lines, has_quotes = _head(text, fmt, options, self.source)
        self._quotes_open = self.dialect.quote is None and not has_quotes and options.quote is None  # none has been seen
        body = text[self.dialect.body :]
        rows = body if last else body[: last_row_end(body, self.dialect)]
        _, self.sample, self.place = parse_rows(rows, self.dialect, self.names, self.source, self._header_lines)
        self.height = int(self.sample.height / self._head_share)

    def rows(self, names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Place]]:
        """All rows, some at a time."""
        lines, line_end = self._header_lines, self.dialect.line_end.encode()
        with closing(self._bodies()) as bodies:
            for body, dialect in bodies:
                _, frame, place = parse_rows(body, dialect, self.names, self.source, lines)
                yield _all_unguarded(frame[list(names)]), place
                lines += body.count(line_end)

    def _texts(self, progress: Progress) -> Generator[tuple[bytes, bool]]:
        """The text of the file, first what is decided on, then piece by piece; and whether it ends there."""
        self.decoder = Utf8Decoder(self.options, self.source)
        done = [(1, 1)]

        def noted(*step: int) -> None:
            done[0] = (step[0], step[1])
            progress(*done[0])

        with open_input(self.path, self.fmt.compression, noted) as stream:
            block = stream.read(HEAD)
            self._head_share = max(done[0][0], 1) / done[0][1]
            while block:
                following = stream.read(PIECE)
                yield self.decoder.decode(block, last=not following), not following
                block = following

    def _bodies(self) -> Generator[tuple[bytes, Dialect]]:
        """The rows as text, cut where rows end, with the dialect they are in."""
        dialect, quotes_open, lines = self.dialect, self._quotes_open, self._header_lines
        held, skip = b"", dialect.body
        with closing(self._texts(self.options.progress)) as texts:
            for text, last in texts:
                held, skip = held + text[skip:], 0
                if _QUOTE in text and dialect.quote is None and self.options.quote is None:
                    quoting = is_quoting(held, 0, dialect.delimiter, dialect.line_end, _QUOTE.decode())
                    if quoting and not quotes_open:
                        raise misquoted(f"{self.source}, line {lines + _line_of_first_quoted(held, dialect) + 1}")
                    dialect = replace(dialect, quote=_QUOTE.decode()) if quoting else dialect
                    quotes_open = False
                while len(held) > (0 if last else PIECE):
                    rows = _whole_rows(held, dialect, last)
                    if not rows:
                        break
                    yield rows, dialect
                    lines += rows.count(dialect.line_end.encode())
                    held = held[len(rows) :]


def _all_unguarded(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([unguarded(values) for values in frame])


def _whole_rows(text: bytes, dialect: Dialect, last: bool) -> bytes:
    """As many rows as fit a piece, or one that does not; nothing where no row ends."""
    size = PIECE
    while size < len(text):
        end = last_row_end(text[:size], dialect)
        if end:
            return text[:end]
        size *= 2
    return text if last else text[: last_row_end(text, dialect)]


def _line_of_first_quoted(text: bytes, dialect: Dialect) -> int:
    """The line, counted from 0, in which a field begins with a quotation mark."""
    line_end = dialect.line_end.encode()
    found = [text.find(before + _QUOTE) for before in (line_end, dialect.delimiter.encode())]
    first = 0 if text.startswith(_QUOTE) else min(place for place in found if place >= 0) + 1
    return text.count(line_end, 0, first)
