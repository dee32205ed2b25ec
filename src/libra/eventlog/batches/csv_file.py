"""CSV and TSV of any size to batches of events.

In: a path, its format, the user's choices. Out: `EventBatches`. The file is taken in pieces of some megabytes, cut where rows
end. Encoding, dialect, roles and the forms of values are found in the first piece, as `tables.csv_read` finds them in the whole
file; what does not fit them further on is an `InputError` that names its line.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import polars as pl

from libra.eventlog.batches.event_batches import EventBatches
from libra.eventlog.batches.table_rows import Place
from libra.eventlog.batches.tables import Table, table_batches
from libra.eventlog.files import open_input
from libra.eventlog.formats import FileFormat
from libra.eventlog.options import Progress, ReadOptions, no_progress
from libra.eventlog.tables.csv_dialect import find_dialect, is_quoting
from libra.eventlog.tables.csv_encoding import Utf8Decoder, refuse_blank
from libra.eventlog.tables.csv_layout import Dialect, last_row_end
from libra.eventlog.tables.csv_rows import column_names, misquoted, parse_rows, unguarded
from libra.eventlog.tables.roles import find_roles

HEAD = 1 << 23  # bytes to decide on
PIECE = 1 << 23  # bytes at a time
_QUOTE = b'"'


def csv_batches(path: Path, fmt: FileFormat, options: ReadOptions) -> EventBatches:
    r"""The events of a CSV or TSV file.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "log.csv"
        >>> _ = file.write_text("case;activity;time\n1;triage;2024-05-06T08:00:00Z\n")
        >>> [batch["activity"].to_list() for batch in csv_batches(file, FileFormat("csv"), ReadOptions())]
        [['triage']]
    """
    reading = _CsvFile(path, fmt, options)
    table = Table(
        reading.source, reading.sample, reading.place, reading.rows, reading.height, notes=lambda: reading.decoder.notes
    )
    return table_batches(table, options, reading.roles)


class _CsvFile:
    """One file: what its first rows say about it, and a way through all its rows."""

    def __init__(self, path: Path, fmt: FileFormat, options: ReadOptions) -> None:
        self.path, self.fmt, self.options, self.source = path, fmt, options, str(path)
        self.decoder = Utf8Decoder(options, self.source)
        self._head_share = 1.0  # of the file
        with closing(self._texts(no_progress)) as texts:
            text, last = next(texts, (b"", True))
        self.dialect, self._quotes_open = self._find_dialect(text)
        self.names = column_names(self.dialect, self.source, sure=bool(options.described))
        body = text[self.dialect.body :]
        rows = body if last else body[: last_row_end(body, self.dialect)]
        self._header_lines = text.count(self.dialect.line_end.encode(), 0, self.dialect.body)
        _, sample, self.place = parse_rows(rows, self.dialect, self.names, self.source, self._header_lines)
        self.height = int(sample.height / self._head_share)
        self.roles = find_roles(sample, options, self.source)
        self.sample = _unguarded(sample)

    def rows(self, names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Place]]:
        """All rows, some at a time."""
        lines, line_end = self._header_lines, self.dialect.line_end.encode()
        with closing(self._bodies()) as bodies:
            for body, dialect in bodies:
                _, frame, place = parse_rows(body, dialect, self.names, self.source, lines)
                yield _unguarded(frame[list(names)]), place
                lines += body.count(line_end)

    def _find_dialect(self, text: bytes) -> tuple[Dialect, bool]:
        """The dialect, and whether it is open what a quotation mark would mean: none has been seen."""
        refuse_blank(text, self.source)
        dialect = find_dialect(text, self.options, tabs=self.fmt.kind == "tsv", source=self.source)
        return dialect, dialect.quote is None and _QUOTE not in text and self.options.quote is None

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


def _unguarded(frame: pl.DataFrame) -> pl.DataFrame:
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
