"""How a CSV file is written: encoding, delimiter, quotes, line ends, header.

In: the bytes of a file. Out: the same text as UTF-8 and a `Dialect`, with notes on what was assumed. Only the beginning of
the file is looked at for the dialect; the encoding is checked throughout.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from dataclasses import replace

from libra.errors import InputError
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.csv_layout import Dialect, row_start

_DELIMITERS = (",", ";", "\t", "|")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_HEAD = 1 << 16
_HEAD_ROWS = 100
_BLANK = b" \t\r\n"


def to_utf8(data: bytes, options: ReadOptions, source: str) -> tuple[bytes, list[str]]:
    r"""The text of a file as UTF-8 without a mark; an `InputError` where it is no text.

    Example:
        >>> to_utf8("Müller".encode("cp1252"), ReadOptions(), "a.csv")
        (b'M\xc3\xbcller', ['The file is not UTF-8 and was read as Windows-1252; --encoding names another one.'])
    """
    notes: list[str] = []
    encoding = options.encoding
    for mark, of in _BOMS:
        if data.startswith(mark) and (encoding is None or encoding.lower().replace("_", "-").startswith(of[:6].rstrip("-"))):
            data, encoding = data[len(mark) :], of
            break
    if not encoding:
        _refuse_binary(data, source)
        if not _is_utf8(data):
            encoding = "cp1252"
            notes.append("The file is not UTF-8 and was read as Windows-1252; --encoding names another one.")
    if encoding:
        data = _recoded(data, encoding, source)
    _refuse_binary(data, source)
    if not data.strip(_BLANK):
        raise InputError("the file is empty", place=source, remedy="Export the log again")
    return data, notes


def _refuse_binary(data: bytes, source: str) -> None:
    nul = data.find(b"\0")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise InputError(
            "this is a binary file, not text",
            place=f"{source}, line {line}",
            remedy="Export the log as CSV, or name the encoding with --encoding (such as utf-16-le)",
        )


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode("utf-8") is not None
    except UnicodeDecodeError:
        return False


def _recoded(data: bytes, encoding: str, source: str) -> bytes:
    try:
        return data.decode(encoding).encode("utf-8")
    except LookupError as error:
        raise InputError(f'there is no encoding "{encoding}"', place=source, remedy="Try --encoding utf-8 or cp1252") from error
    except UnicodeError as error:
        at = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = data.count(b"\n", 0, at) + 1
        raise InputError(
            f"byte {at + 1:,} is not valid {encoding} text",
            place=f"{source}, line {line}",
            remedy="Name the right encoding with --encoding",
        ) from error


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
    quote = _quote(head)
    line_end = _line_end(head, quote)
    delimiter = delimiter or _delimiter(head, quote, tabs)
    if len(delimiter.encode()) != 1:
        raise InputError(f'"{delimiter}" cannot be a delimiter', place=source, remedy="Give one plain character with --delimiter")
    shape = Dialect(delimiter, quote if _is_quoting(data, start, delimiter, line_end, quote) else None, line_end)
    header = tuple(_rows(head, delimiter, shape.quote)[0])
    body = start + row_start(memoryview(data)[start:], shape, 1)
    return replace(shape, header=header, body=len(data) - len(data[body:].lstrip(b"\r\n")))


def _quote(head: str) -> str:
    """The double quote, or the single one where whole fields evidently stand in it."""
    single = re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=$|[,;\t|\r\n])", head, re.MULTILINE)
    return "'" if '"' not in head and len(single) >= max(head.count("\n"), 2) else '"'


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


def _rows(text: str, delimiter: str, quote: str | None) -> list[list[str]]:
    lines = io.StringIO(text, newline="")
    plain = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    reader = csv.reader(lines, delimiter=delimiter, quotechar=quote) if quote else plain
    return [row for row, _ in zip(reader, range(_HEAD_ROWS), strict=False)]


def _is_quoting(data: bytes, start: int, delimiter: str, line_end: str, quote: str) -> bool:
    """Whether any field begins with a quote; where none does, a quote is a character like any other."""
    return data.startswith(quote.encode(), start) or any(
        data.find((m + quote).encode(), start) >= 0 for m in (line_end, delimiter)
    )
