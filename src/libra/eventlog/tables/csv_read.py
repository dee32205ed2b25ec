"""CSV and TSV to an `EventLog`.

In: a path, its format, the user's choices. Out: a log. The dialect and the types are found from the file, quoting carries type
(a column in quotes beside columns without is text), an unquoted empty field is missing, `""` is empty text. Errors name the line.
"""

from __future__ import annotations

import contextlib
import csv
import io
from pathlib import Path

import polars as pl

from libra.errors import InputError
from libra.eventlog.files import open_input
from libra.eventlog.formats import FileFormat
from libra.eventlog.log import EventLog
from libra.eventlog.names import ROLE_COLUMN
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.csv_dialect import find_dialect, to_utf8
from libra.eventlog.tables.csv_layout import Dialect, row_start, scan
from libra.eventlog.tables.csv_types import infer_types
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.role_names import rank
from libra.eventlog.tables.roles import REQUIRED, find_roles

_GUARDED = r"^'+[=+\-@\t\r]"
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
    source = str(path)
    with open_input(path, fmt.compression, options.progress) as stream:
        data = b"".join(iter(lambda: stream.read(_PIECE), b""))
    data, notes = to_utf8(data, options, source)
    dialect = find_dialect(data, options, tabs=fmt.kind == "tsv", source=source)
    names = _column_names(dialect, source)
    line_end = dialect.line_end.encode()
    header_lines = data.count(line_end, 0, dialect.body)
    body = data[dialect.body :]
    del data

    def line(row: int) -> str:
        return f"{source}, line {header_lines + body.count(line_end, 0, row_start(body, dialect, row)) + 1}"

    layout = scan(body, dialect)
    if layout.ragged_row is not None:
        raise InputError(
            f"there are {layout.ragged_fields} fields where the header has {len(names)}",
            place=line(layout.ragged_row),
            remedy="Check the quotes in this line, or name the delimiter with --delimiter",
        )
    if layout.misquoted_row is not None:
        raise _misquoted(line(layout.misquoted_row))
    try:
        frame = _parse(body, dialect, names)
    except pl.exceptions.PolarsError as error:
        raise _misquoted(f"{source}, line {header_lines + _line_of_misplaced_quote(body, dialect)}") from error
    rows = None
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if blank.any():
        rows, frame = (~blank).arg_true(), frame.filter(~blank)
    notes += [
        f'A column without a name is called "{name}".'
        for name, given in zip(names, dialect.header, strict=True)
        if not given.strip() and frame[name].null_count() < frame.height
    ]
    roles = find_roles(frame, options, source)
    text = {name for name, says_text in zip(names, layout.says_text, strict=True) if says_text}
    playing = {name for role in roles if role.role != "individual" for name in role.columns}
    frame, more = infer_types(frame, text | playing, options.decimal, dialect.delimiter)
    return from_flat(
        frame.with_columns(_unguarded(values) for values in frame if values.dtype == pl.String),
        options,
        place=lambda row: line(row if rows is None else int(rows[row])),
        source=source,
        roles=roles,
        notes=notes + more,
    )


def has_standard_header(path: Path, fmt: FileFormat) -> bool:
    """Whether a CSV file calls its columns as we write them; then it is UTF-8 with ISO timestamps, as we write those."""
    with open_input(path, fmt.compression) as stream:
        header = stream.read(_HEADER).split(b"\n")[0]
    return all(ROLE_COLUMN[role].encode() in header for role in REQUIRED)


def _column_names(dialect: Dialect, source: str) -> list[str]:
    """The names of the header, each its own; blank ones get a number."""
    header = [_unguarded(pl.Series([name]))[0] for name in dialect.header]
    place = f"{source}, line 1"
    if not any(_is_known(name) for name in header) and any(_is_data(name) for name in header):
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


def _is_known(name: str) -> bool:
    return name in ROLE_COLUMN.values() or any(rank(role, name) is not None for role in ROLE_COLUMN)


def _is_data(name: str) -> bool:
    cell = pl.DataFrame({"cell": [name.strip()]})
    return (
        infer_types(cell, (), None, ",")[0].schema["cell"] != pl.String
        or cell["cell"].str.contains(r"^\d{1,4}[-/.]\d")[0] is True
    )


def _parse(body: bytes, dialect: Dialect, names: list[str]) -> pl.DataFrame:
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


def _misquoted(place: str) -> InputError:
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


def _unguarded(values: pl.Series) -> pl.Series:
    """Text without the apostrophe that keeps spreadsheets from taking it for a formula."""
    if not values.str.starts_with("'").any():
        return values
    guarded = values.str.contains(_GUARDED).fill_null(False)
    return (
        values.to_frame()
        .select(pl.when(guarded).then(pl.col(values.name).str.slice(1)).otherwise(pl.col(values.name)))
        .to_series()
    )
