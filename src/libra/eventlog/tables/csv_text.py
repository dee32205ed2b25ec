"""The text of a CSV file: its encoding, its dialect, and where fields and rows begin and end."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import numpy.typing as npt

from libra.errors import InputError
from libra.eventlog.files import is_text_encoding
from libra.eventlog.notes import encoding_is_open
from libra.eventlog.options import Place, ReadOptions

Bytes = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
_BOMS = {
    codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be",
}  # fmt: skip
_IN_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_SLICE = 1 << 21
_DELIMITERS = (",", ";", "\t", "|")
_FIRST_BYTES = 1 << 16
_FIRST_ROWS = 100


class Utf8Decoder:
    """The text of a file as UTF-8, piece by piece; `encoding` is the one that the text so far is in, None for UTF-8."""

    def __init__(self, options: ReadOptions, source: str) -> None:
        self.notes: list[str] = []
        self.encoding, self._source = options.encoding, source
        self._decoder: codecs.IncrementalDecoder | None = None
        self._begun = self._surely_utf8 = self._guessed = False
        self._held = b""  # the beginning of a character
        self._bytes = self._lines = self._lines_out = 0

    def decode(self, data: bytes, *, last: bool = False) -> bytes:
        """The next piece; what it has of a character that goes on in the next one waits for that."""
        for mark, of in () if self._begun else _BOMS.items():
            named = self.encoding is None or self.encoding.lower().replace("_", "-").startswith(of[:6].rstrip("-"))
            if data.startswith(mark) and named:
                self.encoding, data = of, data[len(mark) :]
                break
        self._begun = True
        if not self.encoding:
            self._refuse_binary(data, self._lines)
            data = self._as_utf8(self._held + data, last)
        if self.encoding:
            data = self._recoded(data, self.encoding, last)
        self._refuse_binary(data, self._lines_out)
        self._lines_out += data.count(b"\n")
        return data

    def _as_utf8(self, data: bytes, last: bool) -> bytes:
        """The data as it is if it is UTF-8; else, and where nothing before speaks against it, it is Windows-1252 from now on."""
        try:
            used = len(data) if data.isascii() else codecs.utf_8_decode(data, "strict", last)[1]
        except UnicodeDecodeError as error:
            self._held = b""
            if self._surely_utf8 or _IN_UTF8.search(data):
                raise self._not_valid("utf-8", data, error) from error
            self.encoding, self._guessed = "cp1252", True
            self.notes.append(encoding_is_open())
            return data
        data, self._held = data[:used], data[used:]
        self._surely_utf8 |= not data.isascii()
        self._bytes += len(data)
        self._lines += data.count(b"\n")
        return data

    def _recoded(self, data: bytes, encoding: str, last: bool) -> bytes:
        if self._guessed:
            seen = self._held + data
            found = _IN_UTF8.search(seen)
            self._held = data[-3:]
            if found:
                raise self._not_valid("utf-8 or cp1252", data, UnicodeDecodeError("utf-8", seen, found.start(), found.end(), ""))
        if not is_text_encoding(encoding):
            remedy = "Try --encoding utf-8 or cp1252"
            raise InputError(f'there is no encoding "{encoding}"', place=self._source, remedy=remedy)
        self._decoder = self._decoder or codecs.getincrementaldecoder(encoding)()
        try:
            text = self._decoder.decode(data, last).encode("utf-8")
        except UnicodeError as error:
            raise self._not_valid(encoding, data, error) from error
        self._bytes += len(data)
        self._lines += data.count(b"\n")
        return text

    def _not_valid(self, encoding: str, data: bytes, error: UnicodeError) -> InputError:
        at = error.start - (len(error.object) - len(data)) if isinstance(error, UnicodeDecodeError) else 0
        line = self._lines + data.count(b"\n", 0, max(at, 0)) + 1
        what = f"byte {self._bytes + at + 1:,} is not valid {encoding} text"
        return InputError(what, place=f"{self._source}, line {line}", remedy="Name the right encoding with --encoding")

    def _refuse_binary(self, data: bytes, lines: int) -> None:
        nul = data.find(b"\0")
        if nul >= 0:
            line = lines + data.count(b"\n", 0, nul) + 1
            remedy = "Export the log as CSV, or name the encoding with --encoding (such as utf-16-le)"
            raise InputError("this is a binary file, not text", place=f"{self._source}, line {line}", remedy=remedy)


@dataclass(frozen=True)
class Dialect:
    """How the fields of a file are told apart, what its columns are called, and at which byte the data begins."""

    delimiter: str
    quote: str | None
    line_end: str
    header: tuple[str, ...] = ()
    body: int = 0


def text_columns(body: bytes, dialect: Dialect, line: Place) -> npt.NDArray[np.bool_]:
    """Which columns are text because they stand in quotes where others do not; `line` says where a row is.

    It is an error where a row has more or fewer fields than the header, or where it is open if a quotation mark amid a field
    encloses anything: it would enclose the end of the field.
    """
    width, row = len(dialect.header), 0
    quoted, bare = np.zeros(width, bool), np.zeros(width, bool)
    for _, data, ends, row_ends in _slices(body, dialect):
        amid = _first_misquoted(data[: int(ends[-1])], dialect)
        if amid is not None:
            raise misquoted(line(row + int(np.searchsorted(ends[row_ends], amid))))
        fields = np.diff(row_ends, prepend=-1)
        starts = np.concatenate(([0], ends[:-1] + 1))
        sizes = ends - starts
        first = data[np.minimum(starts, len(data) - 1)]
        sizes[(sizes == 1) & (first == ord("\r"))] = 0
        wrong = fields != width
        if wrong.any():
            blank = wrong & (fields == 1) & (sizes[row_ends] == 0)
            ragged = np.flatnonzero(wrong & ~blank)
            if len(ragged):
                what = f"there are {int(fields[ragged[0]])} fields where the header has {width}"
                remedy = "Check the quotes in this line, or name the delimiter with --delimiter"
                raise InputError(what, place=line(row + int(ragged[0])), remedy=remedy)
            keep = np.ones(len(ends), bool)
            keep[row_ends[blank]] = False
            first, sizes = first[keep], sizes[keep]
        row += len(row_ends)
        in_quotes = (first == ord(dialect.quote or "\0")) & (sizes > 0)
        quoted |= in_quotes.reshape(-1, width).any(axis=0)
        bare |= ((sizes > 0) & ~in_quotes).reshape(-1, width).any(axis=0)
    says_text: npt.NDArray[np.bool_] = quoted & ~bare & bare.any()
    return says_text


def misquoted(place: str) -> InputError:
    """The error for quotation marks that open or close within a field."""
    remedy = "Put such a field in quotation marks as a whole, and double each one that belongs to the text"
    return InputError("quotation marks do not enclose a whole field here", place=place, remedy=remedy)


def row_start(body: bytes | memoryview, dialect: Dialect, row: int) -> int:
    """The byte at which a row begins, blank lines counted as rows."""
    seen = 0
    for begin, _, ends, row_ends in _slices(body, dialect):
        if row < seen + len(row_ends):
            return begin if row == seen else begin + int(ends[row_ends[row - seen - 1]]) + 1
        seen += len(row_ends)
    return len(body)


def last_row_end(text: bytes, dialect: Dialect) -> int:
    """Where the last whole row of a text ends that begins with a row; 0 where none does."""
    line_end, quote = dialect.line_end.encode(), (dialect.quote or "").encode()
    end = text.rfind(line_end)
    marks = text.count(quote, 0, end) if quote and end >= 0 else 0
    while end >= 0 and marks % 2:
        earlier = text.rfind(line_end, 0, end)
        marks -= text.count(quote, max(earlier, 0), end)
        end = earlier
    return end + 1


def bare_line_feed(body: bytes, dialect: Dialect) -> int | None:
    """Where the first line feed outside of quotes is; None where there is none."""
    found = _field_ends(np.frombuffer(body, np.uint8), replace(dialect, delimiter="\n", line_end="\n"))
    return next(map(int, found), None)


def _slices(body: bytes | memoryview, dialect: Dialect) -> Iterator[tuple[int, Bytes, Places, Places]]:
    """Whole rows at a time: where they begin, their bytes, where their fields end, and which of these ends are ends of rows."""
    data = np.frombuffer(body, np.uint8)
    begin, size = 0, _SLICE
    while begin < len(data):
        chunk = data[begin : begin + size]
        ends = _field_ends(chunk, dialect)
        row_ends = np.flatnonzero(chunk[ends] == ord(dialect.line_end))
        if begin + size >= len(data) and (not len(row_ends) or ends[row_ends[-1]] != len(chunk) - 1):
            ends = np.append(ends, len(chunk))  # the last row has no line end
            row_ends = np.append(row_ends, len(ends) - 1)
        if not len(row_ends):
            size *= 2  # a row longer than the slice
            continue
        ends = ends[: row_ends[-1] + 1]
        yield begin, chunk, ends, row_ends
        begin += int(ends[-1]) + 1
        size = _SLICE


def _first_misquoted(rows: Bytes, dialect: Dialect) -> int | None:
    """Where a quotation mark amid a field stands before the end of that field; None where there is none."""
    if dialect.quote is None:
        return None
    quote = ord(dialect.quote)
    quotes = np.flatnonzero(rows == quote)
    opening = quotes[::2]
    before = rows[opening - 1]
    amid = (opening > 0) & (before != ord(dialect.delimiter)) & (before != ord(dialect.line_end)) & (before != quote)
    if not amid.any():
        return None
    doubled = (opening > 0) & (before == quote)  # goes on with what the mark before has begun
    amid = amid[np.maximum.accumulate(np.where(doubled, 0, np.arange(len(opening))))]
    closing = np.append(quotes[1::2], [len(rows)] * (len(quotes) % 2))
    marks = np.flatnonzero((rows == ord(dialect.delimiter)) | (rows == ord(dialect.line_end)))
    wrong = amid & (np.searchsorted(marks, opening) < np.searchsorted(marks, closing))
    return int(opening[wrong][0]) if wrong.any() else None


def _field_ends(chunk: Bytes, dialect: Dialect) -> Places:
    """Delimiters and line ends outside of quotes, given that the chunk begins outside of them."""
    marks = (chunk == ord(dialect.delimiter)) | (chunk == ord(dialect.line_end))
    if dialect.quote is None:
        return np.flatnonzero(marks)
    is_quote = chunk == ord(dialect.quote)
    places = np.flatnonzero(marks | is_quote)
    quotes = is_quote[places]
    outside = (np.cumsum(quotes, dtype=np.uint8) & 1) == 0
    ends: Places = places[outside & ~quotes]
    return ends


def find_dialect(data: bytes, options: ReadOptions, *, tabs: bool, source: str) -> Dialect:
    """Detect the dialect of UTF-8 text; `tabs` is what the file's name suggests."""
    start = len(data) - len(data.lstrip(b"\r\n"))
    delimiter = options.delimiter
    excel = re.match(rb"sep=(.)\r?[\r\n]", data[start : start + 16])
    if excel:
        delimiter = delimiter or excel[1].decode("latin-1")
        start += excel.end()
    head = data[start : start + _FIRST_BYTES].decode("utf-8", "ignore")
    quote = _quote(head, source) if options.quote is None else options.quote
    mark = quote or '"'
    bare = re.sub(rf"{mark}[^{mark}]*(?:{mark}|\Z)", "", head)  # of what stands in quotes
    line_end = options.line_end or ("\r" if "\r" in bare and "\n" not in bare else "\n")
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


def _delimiter(head: str, quote: str, tabs: bool) -> str:
    """The delimiter that gives most rows as many fields as the header, at least two."""
    complete = head if len(head) < _FIRST_BYTES // 2 else head[: max(head.rfind("\n"), head.rfind("\r")) + 1]

    def score(delimiter: str) -> tuple[bool, float, bool, int]:
        rows = [row for row in _rows(complete, delimiter, quote) if row]
        width = len(rows[0]) if rows else 1
        same = sum(len(row) == width for row in rows) / max(len(rows), 1)
        return width > 1, round(same, 1), delimiter == "\t" and tabs, width

    return max(_DELIMITERS, key=score)


def two_line_ends(place: str) -> InputError:
    """The error for a file with lines that end in a carriage return and lines that end in a line feed."""
    return InputError(
        "some lines end in a carriage return and some in a line feed", place=place, remedy="Write all line ends alike"
    )


def _rows(text: str, delimiter: str, quote: str | None) -> list[list[str]]:
    lines = io.StringIO(text, newline="")
    plain = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE)
    return list(islice(csv.reader(lines, delimiter=delimiter, quotechar=quote) if quote else plain, _FIRST_ROWS))


def is_quoting(data: bytes, start: int, delimiter: str, line_end: str, quote: str) -> bool:
    """Whether any field from a row's start on begins with a quote; where none does, a quote is a character like any other."""
    return data.startswith(quote.encode(), start) or any(
        data.find((m + quote).encode(), start) >= 0 for m in (line_end, delimiter)
    )
