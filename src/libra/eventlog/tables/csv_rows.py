"""The rows of a CSV file, or of a part of one, as a frame of text.

In: bytes from one row's start to another's end, and their dialect. Out: a frame without blank lines, and a function that says on
which line of the file a row stands. A row with more or fewer fields than the header, or with misplaced quotation marks, is an
`InputError` that names its line.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Sequence

import polars as pl

from libra.errors import InputError
from libra.eventlog.columns import unnamed
from libra.eventlog.names import ROLE_COLUMN
from libra.eventlog.tables.csv_dialect import two_line_ends
from libra.eventlog.tables.csv_layout import Dialect, Layout, bare_line_feed, row_start, scan
from libra.eventlog.tables.csv_types import infer_types
from libra.eventlog.tables.role_names import rank

_GUARDED = r"^'+[=+\-@\t\r]"


def parse_rows(
    body: bytes, dialect: Dialect, names: Sequence[str], source: str, lines_before: int
) -> tuple[Layout, pl.DataFrame, Callable[[int], str]]:
    r"""How the rows are laid out, their fields as text, and where each stands; `lines_before` stand before them in the file.

    Example:
        >>> _, frame, place = parse_rows(b"1,a\n\n2,b\n", Dialect(",", None, "\n", ("n", "x")), ["n", "x"], "a.csv", 1)
        >>> frame.rows(), place(1)
        ([('1', 'a'), ('2', 'b')], 'a.csv, line 4')
    """
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
    if not sure and not any(_is_known(name) for name in header) and any(_is_data(name) for name in header):
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
