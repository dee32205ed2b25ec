"""CSV and TSV to events: at once, or in pieces for files larger than memory.

Columns that play a role are text, as it is written. The types of all others are found from the file; quoting carries type (a
column in quotes beside columns without is text), an unquoted empty field is missing, `""` is empty text. Errors name the line.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections import deque
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, suppress
from copy import copy
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import polars as pl

from libra.errors import InputError
from libra.eventlog.attributes import Attribute, from_text
from libra.eventlog.files import FileFormat, input_format, open_input
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import INSTANCE, ROLE_COLUMN, unnamed
from libra.eventlog.notes import listed
from libra.eventlog.options import Place, Progress, ReadOptions, no_progress
from libra.eventlog.tables import csv_text
from libra.eventlog.tables.csv_text import Dialect, misquoted
from libra.eventlog.tables.flat import decided, from_flat
from libra.eventlog.tables.in_batches import TableBatches
from libra.eventlog.tables.roles import REQUIRED, find_roles, rank
from libra.eventlog.tables.timestamps import iso_timestamps
from libra.eventlog.tables.values import COMMA_NUMBER, POWER

_WHOLE = r"^-?(?:0|[1-9][0-9]*)$"
_NUMBER = rf"^(?:-?(?:(?:0|[1-9][0-9]*)(?:{POWER})?|(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|NaN|-?inf)$"
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
_TYPES: dict[str, tuple[pl.DataType, ...]] = {
    "boolean": (pl.Boolean(),), "category": (), "number": (pl.Int64(), pl.Float64()), "date": (UTC_MICROSECONDS,)
}  # fmt: skip


def infer_types(
    frame: pl.DataFrame, text: Collection[str], decimal: str | None, delimiter: str
) -> tuple[pl.DataFrame, list[str]]:
    """Give every column but those of `text` its type; `decimal` is the user's word for the decimal mark."""
    columns = {name: unnamed(frame[name]) for name in frame.columns if name not in text}
    typed = {name: found for name, values in columns.items() if (found := _typed(values)) is not None}
    with_comma = [name for name, values in columns.items() if name not in typed and _all(values, COMMA_NUMBER)]
    with_point = [
        name for name in typed if typed[name].dtype == pl.Float64 and columns[name].str.contains(".", literal=True).any()
    ]
    notes: list[str] = []
    if guessed := decimal is None:
        points = any(not _all(columns[name], _POINT_GROUPS) for name in with_point)
        decimal = "," if delimiter != "," and with_comma and not points else "."
    if decimal == ",":
        typed = {name: values for name, values in typed.items() if name not in with_point}
    if decimal == "," and with_comma:
        notes += [f"The numbers in {listed(with_comma)} were read with a decimal comma."] if guessed else []
        typed |= {name: columns[name].str.replace(",", ".", literal=True).cast(pl.Float64) for name in with_comma}
    rest = {name: values for name, values in columns.items() if name not in typed}
    grouped = [name for name, values in rest.items() if _all(values, _WITH_GROUPS) and values.str.contains(_GROUP).any()]
    if grouped:
        notes.append(f"The numbers in {listed(grouped)} are written with thousands separators and were kept as text.")
    dates = {name: columns[name].drop_nulls()[0] for name in typed if isinstance(typed[name].dtype, pl.Datetime)}
    naive = [name for name, first in dates.items() if not (first.endswith("Z") or "+" in first or "-" in first[10:])]
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
    return iso_timestamps(values) if _all(values, _ISO_TIME) else None


def _all(values: pl.Series, pattern: str) -> bool:
    sample = values.head(1000).drop_nulls().head(_SAMPLE)
    return (
        values.null_count() < values.len()
        and bool(sample.str.contains(pattern).all())
        and bool(values.str.contains(pattern).all(ignore_nulls=True))
    )


def _column_names(dialect: Dialect, source: str, *, sure: bool) -> list[str]:
    """The names of the header, each its own; blank ones get a number. It may look like data where it is `sure` to be one."""
    header = [unguarded(pl.Series([name]))[0] for name in dialect.header]
    place, names = f"{source}, line 1", [name if name.strip() else f"column_{i}" for i, name in enumerate(header, 1)]
    known = (name in ROLE_COLUMN.values() or any(rank(role, name) for role in ROLE_COLUMN) for name in header)
    cells = [pl.Series([name.strip()]) for name in header]
    data = (_typed(cell) is not None or cell.str.contains(r"^\d{1,4}[-/.]\d")[0] is True for cell in cells)
    if not sure and not any(known) and any(data):
        raise InputError("the first line looks like data, not like column names", place=place, remedy="Add a header line")
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(f"several columns are called {listed(twice)}", place=place, remedy="Give each column its own name")
    if len(names) == 1:
        remedy = "Remove any lines above the header, or name what separates the fields with --delimiter"
        raise InputError(f'there is only one column, "{names[0][:60]}"', place=place, remedy=remedy)
    return names


def unguarded(values: pl.Series) -> pl.Series:
    """Text without the apostrophe that keeps spreadsheets from taking it for a formula."""
    text = unnamed(values)
    if not text.str.starts_with("'").any():
        return values
    guarded = text.str.contains(_GUARDED).fill_null(False)
    return text.str.slice(1).zip_with(guarded, text).alias(values.name)


def read_csv(files: Sequence[Path], options: ReadOptions, source: str) -> EventLog:
    """The log that CSV or TSV files hold together: one table, whatever else is in the file in which a row stands."""
    table = together([CsvFile(file, input_format(file), options) for file in files], source)
    roles = find_roles(table.frame, options, source)
    playing = {name for role in roles for name in role.columns}
    if decided(table.frame, roles, options)[0] == "pair":
        playing.add(INSTANCE)  # what has the same number is paired by the text that stands there
    described = {one.name: one for one in options.attributes if one.name in table.frame.columns}  # others are refused later
    plain = [from_text(unguarded(table.frame[name]), one, None, table.place).alias(name) for name, one in described.items()]
    frame, more = infer_types(table.frame.with_columns(plain), table.text | playing, options.decimal, table.dialect.delimiter)
    others = [values for values in frame if values.name not in described and values.dtype == pl.String]
    frame = frame.with_columns(*map(unguarded, others), *(_declared(table, frame, one, options) for one in described.values()))
    return from_flat(frame, options, place=table.place, source=source, roles=roles, notes=[*table.notes, *more])


def _declared(table: CsvFile, frame: pl.DataFrame, attribute: Attribute, options: ReadOptions) -> pl.Series:
    """An attribute of a description: in the type that all its values have if that is of its kind, else as text as it stands.

    `plain_values` makes the same of a value in both. Numbers as text get a decimal point.
    """
    typed, text = frame[attribute.name], unguarded(table.frame[attribute.name])
    fits = typed.dtype in _TYPES[attribute.kind]
    return typed if fits else from_text(text, attribute, options.decimal, table.place).alias(attribute.name)


def csv_batches(path: Path, fmt: FileFormat, options: ReadOptions) -> TableBatches:
    """The events of a CSV or TSV file of any size."""
    file = CsvFile(path, fmt, options, HEAD)
    roles = find_roles(file.frame, options, str(path))
    sample = _all_unguarded(file.frame)
    return TableBatches(
        str(path), options, sample, file.place, file.rows, file.height, roles=roles, notes=lambda: file.decoder.notes
    )


class CsvFile:
    """A file: how it is written (as was said, or else as its first rows show), and its rows as text.

    `frame` has all rows, or those among the first bytes where only so many are to be looked at; `place` says where they stand.
    `text` are the columns that are text because they stand in quotes where others do not.
    """

    def __init__(self, path: Path, fmt: FileFormat, options: ReadOptions, first_bytes: int | None = None) -> None:
        self._path, self._fmt, self._options, self._source = path, fmt, options, str(path)
        self.decoder = csv_text.Utf8Decoder(options, self._source)
        self._head_share = 1.0  # of the file
        progress = options.progress if first_bytes is None else no_progress
        with closing(self._texts(progress, first_bytes)) as texts:
            text, last = next(texts, (b"", True))
        if not text.strip(b" \t\r\n"):
            raise InputError("the file is empty", place=self._source, remedy="Export the log again")
        self.dialect = csv_text.find_dialect(text, options, tabs=fmt.kind == "tsv", source=self._source)
        self._names = _column_names(self.dialect, self._source, sure=bool(options.described))
        self._header_lines = text.count(self.dialect.line_end.encode(), 0, self.dialect.body)
        self.has_quotes = (self.dialect.quote or '"').encode() in text
        text = text[self.dialect.body :]
        text = text if last else text[: csv_text.last_row_end(text, self.dialect)]
        says_text, self.frame, self.place = self._parsed(text, self.dialect, self._header_lines)
        self.text = {name for name, says in zip(self._names, says_text, strict=True) if says}
        self.height = int(self.frame.height / self._head_share)  # a guess
        nameless = [name for name, given in zip(self._names, self.dialect.header, strict=True) if not given.strip()]
        used = [name for name in nameless if self.frame[name].null_count() < self.frame.height]
        self.notes = [*self.decoder.notes, *(f'A column without a name is called "{name}".' for name in used)]

    def rows(self, names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Place]]:
        """All rows, some at a time."""
        lines = self._header_lines
        with closing(self._bodies()) as bodies:
            for body, dialect in bodies:
                _, frame, place = self._parsed(body, dialect, lines)
                frame = _all_unguarded(frame[list(names)])
                attributes = [one for one in self._options.attributes if one.name in names]
                plain = (from_text(frame[one.name], one, self._options.decimal, place).alias(one.name) for one in attributes)
                yield frame.with_columns(plain), place
                lines += body.count(dialect.line_end.encode())

    def _texts(self, progress: Progress, first_bytes: int | None) -> Generator[tuple[bytes, bool]]:
        """The text of the file, first what is decided on, then piece by piece; and whether it ends there."""
        self.decoder = csv_text.Utf8Decoder(self._options, self._source)
        done = [(1, 1)]

        def noted(*step: int) -> None:
            done[0] = (step[0], step[1])
            progress(*done[0])

        with open_input(self._path, self._fmt.compression, noted) as stream:
            blocks = iter(lambda: stream.read(_BLOCK), b"")
            block = b"".join(blocks) if first_bytes is None else stream.read(first_bytes)
            self._head_share = max(done[0][0], 1) / done[0][1]
            while block:
                following = stream.read(PIECE)
                yield self.decoder.decode(block, last=not following), not following
                block = following

    def _bodies(self) -> Generator[tuple[bytes, Dialect]]:
        """The rows as text, cut where rows end, with the dialect they are in."""
        dialect, lines = self.dialect, self._header_lines
        found_by_us = self._options.quote is None  # what encloses fields
        quotes_open = dialect.quote is None and not self.has_quotes  # none has been seen
        held, skip = b"", dialect.body
        with closing(self._texts(self._options.progress, HEAD)) as texts:
            for text, last in texts:
                held, skip = held + text[skip:], 0
                if _QUOTE in text and dialect.quote is None and found_by_us:
                    quoting = csv_text.is_quoting(held, 0, dialect.delimiter, dialect.line_end, _QUOTE.decode())
                    if quoting and not quotes_open:
                        marks = (held.find(before.encode() + _QUOTE) for before in (dialect.line_end, dialect.delimiter))
                        first = 0 if held.startswith(_QUOTE) else min(mark for mark in marks if mark >= 0) + 1
                        line = lines + held.count(dialect.line_end.encode(), 0, first) + 1
                        raise misquoted(f"{self._source}, line {line}")
                    dialect = replace(dialect, quote=_QUOTE.decode()) if quoting else dialect
                    quotes_open = False
                while len(held) > (0 if last else PIECE):
                    rows = _whole_rows(held, dialect, last)
                    if not rows:
                        break
                    yield rows, dialect
                    lines += rows.count(dialect.line_end.encode())
                    held = held[len(rows) :]

    def _parsed(self, body: bytes, dialect: Dialect, lines_before: int) -> tuple[Sequence[bool], pl.DataFrame, Place]:
        """Which columns say that they are text, all fields of some rows as text, and where each row stands.

        A field is null where it is empty and not in quotes. `lines_before` stand before the rows in the file.
        """
        line_end = dialect.line_end.encode()
        blank_lines = body[: len(body) - len(body.lstrip(b"\r\n"))]  # Polars does not take them before the first row
        body, lines_before = body[len(blank_lines) :], lines_before + blank_lines.count(line_end)

        def line(end: int) -> str:
            return f"{self._source}, line {lines_before + body.count(line_end, 0, end) + 1}"

        def place(row: int) -> str:
            return line(csv_text.row_start(body, dialect, row))

        feed = csv_text.bare_line_feed(body, dialect) if dialect.line_end == "\r" else None
        if feed is not None:
            raise csv_text.two_line_ends(line(feed))
        says_text, schema = csv_text.text_columns(body, dialect, place), dict.fromkeys(self._names, pl.String())
        try:
            frame = pl.DataFrame(schema=schema) if not body else pl.read_csv(
                body, has_header=False, schema=schema, separator=dialect.delimiter, quote_char=dialect.quote,
                eol_char=dialect.line_end, raise_if_empty=False,
            )  # fmt: skip
        except pl.exceptions.PolarsError as error:
            text = io.StringIO(body.decode("utf-8"), newline="")  # the standard library's strict reader gives up there
            reader = csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True)
            with suppress(csv.Error):
                deque(reader, maxlen=0)
            raise misquoted(f"{self._source}, line {lines_before + reader.line_num}") from error
        blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        if not blank.any():
            return says_text.tolist(), frame, place
        rows = (~blank).arg_true()
        return says_text.tolist(), frame.filter(~blank), lambda row: place(int(rows[row]))


def together(files: Sequence[CsvFile], source: str) -> CsvFile:
    """The files of a folder as one table, with the words of the first on how they are written."""
    ends = list(accumulate(file.frame.height for file in files))

    def place(row: int) -> str:
        number = bisect_right(ends, row)
        return files[number].place(row - (ends[number - 1] if number else 0)) if row < ends[-1] else source

    whole = copy(files[0])
    whole.frame = files[0].frame if len(files) == 1 else pl.concat([file.frame for file in files], how="diagonal")
    whole.text, whole.place = {name for file in files for name in file.text}, place
    whole.notes = list(dict.fromkeys(note for file in files for note in file.notes))
    return whole


def has_standard_header(path: Path, fmt: FileFormat) -> bool:
    """Whether a CSV file calls its columns as we write them; then it is UTF-8 with ISO timestamps, as we write those."""
    with open_input(path, fmt.compression) as stream:
        header = stream.read(_HEADER).split(b"\n")[0]
    return all(ROLE_COLUMN[role].encode() in header for role in REQUIRED)


def _all_unguarded(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([unguarded(values) for values in frame])


def _whole_rows(text: bytes, dialect: Dialect, last: bool) -> bytes:
    """As many rows as fit a piece, or one that does not; nothing where no row ends."""
    size = PIECE
    while size < len(text):
        end = csv_text.last_row_end(text[:size], dialect)
        if end:
            return text[:end]
        size *= 2
    return text if last else text[: csv_text.last_row_end(text, dialect)]
