"""Reading XES: one pass over the file, most of it on the fast way, all of it with an XML parser's strictness.

The file is taken in stretches of whole traces. A stretch of the plain form goes through `xes.tokens`; the header, the end, and
every stretch that is not plain go through the expat parser of `xes.exact`, which sees the document as if the plain traces were
not there, and so still finds what is cut off, wrongly nested or not XML. Memory: one stretch of text beside the typed columns.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import polars as pl

from libra.errors import InputError
from libra.eventlog.files import open_input
from libra.eventlog.formats import FileFormat
from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_INDEX
from libra.eventlog.options import ReadOptions
from libra.eventlog.xes.assemble import assemble
from libra.eventlog.xes.exact import RefusedError, XesParser, not_xml
from libra.eventlog.xes.parts import Findings, Piece, frames_of, stack
from libra.eventlog.xes.tokens import read_plain

STRETCH = 4_000_000  # bytes of text at a time: few enough for the processor's cache, enough to vectorize
AHEAD = 2  # stretches under way at a time
TRACE, TRACE_END = b"<trace", b"</trace>"
DECLARED = re.compile(rb"""<\?xml[^>]*encoding=["']([A-Za-z0-9._-]+)""")
PENDING = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"))


def read_xes(path: Path, fmt: FileFormat, options: ReadOptions) -> EventLog:
    """The log in an XES file, compressed as `fmt` says.

    Example:
        >>> from libra import example
        >>> read_xes(example.path(), FileFormat("xes", "gz"), ReadOptions()).metadata.name
        'Emergency department (simulated)'
    """
    document = _Document(path, fmt, options.encoding)
    with open_input(path, fmt.compression, options.progress) as stream, ThreadPoolExecutor(AHEAD) as pool:
        for stretch, plain in _ahead(_stretches(stream), pool):
            document.read(stretch, plain)
    document.finish()
    findings = document.findings
    events = stack([events for events, _ in document.frames], findings)
    cases = stack([cases for _, cases in document.frames], findings)
    if CASE_INDEX not in events.columns:
        events = pl.DataFrame(schema={CASE_INDEX: pl.UInt32})
    return assemble(events, cases, document.parser.metadata, findings, document.notes(), path, options)


def _stretches(stream: BinaryIO) -> Iterator[bytes]:
    """What stands before the first trace, then whole traces, then the rest."""
    text = b""
    while (start := text.find(TRACE)) < 0 and (block := stream.read(STRETCH)):
        text += block
    start = len(text) if start < 0 else start
    yield text[:start]
    text = text[start:]
    searched = 0
    while True:
        end = text.rfind(TRACE_END, searched)
        if end >= 0:
            yield text[: end + len(TRACE_END)]
            text = text[end + len(TRACE_END) :]
        searched = max(len(text) - len(TRACE_END), 0)
        if not (block := stream.read(STRETCH)):
            break
        text += block
    yield text


def _ahead(stretches: Iterator[bytes], pool: Executor) -> Iterator[tuple[bytes, Future[Piece | None]]]:
    """Every stretch with the attempt to read it as plain traces, which is under way while the ones before it are taken in."""
    waiting: deque[tuple[bytes, Future[Piece | None]]] = deque()
    for stretch in stretches:
        waiting.append((stretch, pool.submit(read_plain, stretch)))
        if len(waiting) > AHEAD:
            yield waiting.popleft()
    yield from waiting


class _Document:
    """One reading: the parser, the frames so far, and how many bytes went past the parser."""

    def __init__(self, path: Path, fmt: FileFormat, encoding: str | None) -> None:
        self.path, self.fmt, self.encoding = path, fmt, encoding
        self.parser = _parser(path, encoding)
        self.findings = Findings()
        self.frames: list[tuple[pl.DataFrame, pl.DataFrame]] = []
        self.n_cases = self.n_events = 0
        self.skipped = 0
        self.is_utf8: bool | None = None
        self.pending = [False] * len(PENDING)  # a comment, CDATA section or instruction that has not ended yet
        self.junk_after_log = False

    def read(self, stretch: bytes, plain: Future[Piece | None]) -> None:
        """Take in the next stretch of the file: as plain traces where it is nothing else and stands where traces may stand."""
        at_ease = self.is_utf8 and self.parser.between_traces and not any(self.pending)
        if at_ease and (piece := plain.result()) is not None:
            self.skipped += len(stretch)
            self._add(piece)
            return
        if self.is_utf8 is None:
            self.is_utf8 = _is_utf8(stretch, self.encoding)
        self._feed(stretch)
        ends = [(stretch.rfind(opening), stretch.rfind(closing)) for opening, closing in PENDING]
        self.pending = [
            opening > closing or (open_before and closing < 0)
            for open_before, (opening, closing) in zip(self.pending, ends, strict=True)
        ]
        if self.parser.between_traces:
            self._add(self.parser.take())

    def finish(self) -> None:
        """The file has ended: so must the log."""
        self._feed(b"", final=True)
        self._add(self.parser.take())

    def notes(self) -> list[str]:
        """What the document itself gives reason to say."""
        junk = ["Something that is not XML stands behind the end of the log and was ignored."] if self.junk_after_log else []
        return [*junk, *self.parser.notes()]

    def _add(self, piece: Piece) -> None:
        if piece.n_cases:
            self.frames.append(frames_of(piece, self.n_cases, self.n_events, self.findings))
            self.n_cases += piece.n_cases
            self.n_events += len(piece.case_of_event)

    def _feed(self, text: bytes, final: bool = False) -> None:
        if self.junk_after_log:
            return
        try:
            self.parser.feed(text, final)
        except expat.ExpatError as error:
            if self.parser.closed:
                self.junk_after_log = True
                return
            place = f"{self.path}, line {self._line(self.parser.error_position + self.skipped)}"
            raise not_xml(error, place) from error
        except RefusedError as error:
            raise InputError(str(error), place=str(self.path), remedy="Export the log as plain XES") from error
        except (LookupError, ValueError) as error:  # an encoding that Python does not know or expat cannot use
            raise InputError(f"its encoding cannot be used ({error})", place=str(self.path), remedy="Save it as UTF-8") from error

    def _line(self, offset: int) -> int:
        """The line of a byte. The parser has not seen the plain stretches, so its own count would be wrong."""
        line = 1
        with open_input(self.path, self.fmt.compression) as stream:
            while offset > 0 and (block := stream.read(min(offset, STRETCH))):
                line += block.count(b"\n")
                offset -= len(block)
        return line


def _parser(path: Path, encoding: str | None) -> XesParser:
    try:
        return XesParser(encoding)
    except (LookupError, ValueError) as error:
        raise InputError(f"the encoding {encoding} is not known", place=str(path), remedy="Correct --encoding") from error


def _is_utf8(head: bytes, encoding: str | None) -> bool:
    """Whether the text is UTF-8, as told or as the file declares; then its bytes can be cut and taken as they are."""
    if head.startswith((b"\xfe\xff", b"\xff\xfe")):
        return False
    declared = DECLARED.search(head[:200])
    name = encoding or (declared[1].decode() if declared else "utf-8")
    return name.lower() in ("utf-8", "utf8", "us-ascii", "ascii")
