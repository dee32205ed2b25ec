"""Where the fields of a CSV file begin and end, found in one pass over its bytes.

In: the bytes after the header and their dialect. Out: for each column whether its values stand in quotes; on the way every row is
checked to have as many fields as the header. NumPy on slices of some megabytes, each from one row's start to another's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

_SLICE = 1 << 21
_CARRIAGE_RETURN = 13


@dataclass(frozen=True)
class Dialect:
    """How the fields of a file are told apart, what its columns are called, and at which byte the data begins."""

    delimiter: str
    quote: str | None
    line_end: str
    header: tuple[str, ...] = ()
    body: int = 0


@dataclass(frozen=True)
class Layout:
    """Which columns have values in quotes and which have values without.

    Then the first row that is ragged and its fields, or the first row in which a quotation mark amid a field would enclose the
    end of the field: whether it encloses anything is open.
    """

    quoted: npt.NDArray[np.bool_]
    bare: npt.NDArray[np.bool_]
    ragged_row: int | None = None
    ragged_fields: int = 0
    misquoted_row: int | None = None

    @property
    def says_text(self) -> npt.NDArray[np.bool_]:
        """The columns that are text because they stand in quotes where others do not."""
        return self.quoted & ~self.bare & (self.bare.any() and self.quoted.any())


def scan(body: bytes, dialect: Dialect) -> Layout:
    r"""Find the layout of the rows of a file.

    Example:
        >>> scan(b'"1",2\n"3",4\n', Dialect(",", '"', "\n", ("a", "b"), 0)).says_text.tolist()
        [True, False]
    """
    width = len(dialect.header)
    quoted, bare = np.zeros(width, bool), np.zeros(width, bool)
    row = 0
    for _, data, ends, row_ends in _slices(body, dialect):
        misquoted = _first_misquoted(data[: int(ends[-1])], dialect)
        fields = np.diff(row_ends, prepend=-1)
        starts = np.concatenate(([0], ends[:-1] + 1))
        sizes = ends - starts
        first = data[np.minimum(starts, len(data) - 1)]
        sizes[(sizes == 1) & (first == _CARRIAGE_RETURN)] = 0
        wrong = fields != width
        if misquoted is not None:
            return Layout(quoted, bare, misquoted_row=row + int(np.searchsorted(ends[row_ends], misquoted)))
        if wrong.any():
            blank = wrong & (fields == 1) & (sizes[row_ends] == 0)
            ragged = np.flatnonzero(wrong & ~blank)
            if len(ragged):
                return Layout(quoted, bare, row + int(ragged[0]), int(fields[ragged[0]]))
            keep = np.ones(len(ends), bool)
            keep[row_ends[blank]] = False
            first, sizes = first[keep], sizes[keep]
        row += len(row_ends)
        in_quotes = (first == ord(dialect.quote or "\0")) & (sizes > 0)
        quoted |= in_quotes.reshape(-1, width).any(axis=0)
        bare |= ((sizes > 0) & ~in_quotes).reshape(-1, width).any(axis=0)
    return Layout(quoted, bare)


def row_start(body: bytes | memoryview, dialect: Dialect, row: int) -> int:
    """The byte at which a row begins, blank lines counted as rows."""
    seen = 0
    for begin, _, ends, row_ends in _slices(body, dialect):
        if row < seen + len(row_ends):
            return begin if row == seen else begin + int(ends[row_ends[row - seen - 1]]) + 1
        seen += len(row_ends)
    return len(body)


def last_row_end(text: bytes, dialect: Dialect) -> int:
    r"""Where the last whole row of a text ends that begins with a row; 0 where none does.

    Example:
        >>> last_row_end(b'1,a\n2,"b\n', Dialect(",", '"', "\n"))
        4
    """
    line_end, quote = dialect.line_end.encode(), (dialect.quote or "").encode()
    end = text.rfind(line_end)
    marks = text.count(quote, 0, end) if quote and end >= 0 else 0
    while end >= 0 and marks % 2:
        earlier = text.rfind(line_end, 0, end)
        marks -= text.count(quote, max(earlier, 0), end)
        end = earlier
    return end + 1


def bare_line_feed(body: bytes, dialect: Dialect) -> int | None:
    r"""Where the first line feed outside of quotes is; None where there is none.

    Example:
        >>> bare_line_feed(b'1,"a\nb"\r2,c\n', Dialect(",", '"', "\r"))
        11
    """
    found = _field_ends(np.frombuffer(body, np.uint8), replace(dialect, delimiter="\n", line_end="\n"))
    return int(found[0]) if len(found) else None


def _slices(
    body: bytes | memoryview, dialect: Dialect
) -> Iterator[tuple[int, npt.NDArray[np.uint8], npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """Whole rows at a time: where they begin, their bytes, where their fields end, and which of these ends are ends of rows."""
    data = np.frombuffer(body, np.uint8)
    begin, size = 0, _SLICE
    while begin < len(data):
        chunk = data[begin : begin + size]
        at_end = begin + size >= len(data)
        ends = _field_ends(chunk, dialect)
        row_ends = np.flatnonzero(chunk[ends] == ord(dialect.line_end))
        if at_end and (not len(ends) or ends[-1] != len(chunk) - 1 or not len(row_ends) or row_ends[-1] != len(ends) - 1):
            ends = np.append(ends, len(chunk))  # the last row has no line end
            row_ends = np.append(row_ends, len(ends) - 1)
        if not len(row_ends):
            size *= 2  # a row longer than the slice
            continue
        ends = ends[: row_ends[-1] + 1]
        yield begin, chunk, ends, row_ends
        begin += int(ends[-1]) + 1
        size = _SLICE


def _first_misquoted(rows: npt.NDArray[np.uint8], dialect: Dialect) -> int | None:
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


def _field_ends(chunk: npt.NDArray[np.uint8], dialect: Dialect) -> npt.NDArray[np.int64]:
    """Delimiters and line ends outside of quotes, given that the chunk begins outside of them."""
    marks = (chunk == ord(dialect.delimiter)) | (chunk == ord(dialect.line_end))
    if dialect.quote is None:
        return np.flatnonzero(marks)
    is_quote = chunk == ord(dialect.quote)
    places = np.flatnonzero(marks | is_quote)
    quotes = is_quote[places]
    outside = (np.cumsum(quotes, dtype=np.uint8) & 1) == 0
    ends: npt.NDArray[np.int64] = places[outside & ~quotes]
    return ends
