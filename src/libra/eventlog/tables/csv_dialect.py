"""How a CSV file is written: delimiter, quotes, line ends, header.

In: the text of a file as UTF-8. Out: a `Dialect`. Only the beginning of the file is looked at, but for the question whether
quotation marks enclose fields at all.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from libra.errors import InputError
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.csv_layout import Dialect, row_start

_DELIMITERS = (",", ";", "\t", "|")
_HEAD = 1 << 16
_HEAD_ROWS = 100


def find_dialect(data: bytes, options: ReadOptions, *, tabs: bool, source: str) -> Dialect:
    r"""Detect the dialect of UTF-8 text; `tabs` is what the file's name suggests.

    Example:
        >>> find_dialect(b"sep=;\nCase ID;Cost\n1;2,5\n", ReadOptions(), tabs=False, source="a.csv")
        Dialect(delimiter=';', quote=None, line_end='\n', header=('Case ID', 'Cost'), body=19)
    """
    start = len(data) - len(data.lstrip(b"\r\n"))
    delimiter = options.delimiter
    excel = re.match(rb"sep=(.)\r?[\r\n]", data[start : start + 16])
    if excel:
        delimiter = delimiter or excel[1].decode("latin-1")
        start += excel.end()
    head = data[start : start + _HEAD].decode("utf-8", "ignore")
    quote = _quote(head, source) if options.quote is None else options.quote
    line_end = options.line_end or _line_end(head, quote or '"')
    delimiter = delimiter or _delimiter(head, quote, tabs)
    if len(delimiter.encode()) != 1:
        raise InputError(f'"{delimiter}" cannot be a delimiter', place=source, remedy="Give one plain character with --delimiter")
    quoting = is_quoting(data, start, delimiter, line_end, quote) if options.quote is None else bool(quote)
    shape = Dialect(delimiter, quote if quoting else None, line_end)
    header = tuple(_rows(head, delimiter, shape.quote)[0])
    body = start + row_start(memoryview(data)[start:], shape, 1)
    if line_end == "\n" and len(_rows(data[start:body].decode("utf-8", "ignore"), delimiter, shape.quote)) > 1:
        raise two_line_ends(f"{source}, line 1")
    return replace(shape, header=header, body=len(data) - len(data[body:].lstrip(b"\r\n")))


def _quote(head: str, source: str) -> str:
    """The double quote, or the single one where the header stands in it: rows do not decide how others are read."""
    first = re.split(r"[\r\n]", head, maxsplit=1)[0]
    if len(first) > 1 and first.startswith("'") and first.endswith("'"):
        return "'"
    single = re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=$|[,;\t|\r\n])", head, re.MULTILINE)
    if '"' not in head and len(single) >= max(head.count("\n"), 2):
        remedy = "Put the column names in single quotes as well, or use double quotes"
        raise InputError("fields stand in single quotes, and the column names do not", place=f"{source}, line 1", remedy=remedy)
    return '"'


def _line_end(head: str, quote: str) -> str:
    """What ends a line: a carriage return only where no line feed stands outside of quotes."""
    bare = re.sub(rf"{quote}[^{quote}]*(?:{quote}|\Z)", "", head)
    return "\r" if "\r" in bare and "\n" not in bare else "\n"


def _delimiter(head: str, quote: str, tabs: bool) -> str:
    """The delimiter that gives most rows as many fields as the header, at least two."""
    complete = head if len(head) < _HEAD // 2 else head[: max(head.rfind("\n"), head.rfind("\r")) + 1]

    def score(delimiter: str) -> tuple[bool, float, bool, int]:
        rows = [row for row in _rows(complete, delimiter, quote) if row]
        width = len(rows[0]) if rows else 1
        same = sum(len(row) == width for row in rows) / max(len(rows), 1)
        return width > 1, round(same, 1), delimiter == "\t" and tabs, width

    return max(_DELIMITERS, key=score)


def two_line_ends(place: str) -> InputError:
    """The error for a file with lines that end in a carriage return and lines that end in a line feed."""
    what = "some lines end in a carriage return and some in a line feed"
    return InputError(what, place=place, remedy="Write all line ends alike")


def _rows(text: str, delimiter: str, quote: str | None) -> list[list[str]]:
    lines = io.StringIO(text, newline="")
    plain = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote) if quote else plain
    return [row for row, _ in zip(reader, range(_HEAD_ROWS), strict=False)]


def is_quoting(data: bytes, start: int, delimiter: str, line_end: str, quote: str) -> bool:
    """Whether any field from a row's start on begins with a quote; where none does, a quote is a character like any other."""
    return data.startswith(quote.encode(), start) or any(
        data.find((m + quote).encode(), start) >= 0 for m in (line_end, delimiter)
    )
