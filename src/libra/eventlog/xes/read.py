"""Reading XES: one pass over the file, most of it on the fast way, all of it with an XML parser's strictness.

The file is taken in stretches of whole traces. A stretch of the plain form goes through `xes.tokens`; the header, the end, and
every stretch that is not plain go through the expat parser of `xes.exact`, which sees the document as if the plain traces were
not there, and so still finds what is cut off, wrongly nested or not XML. Memory: one stretch of text beside the typed columns.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import numpy as np
import numpy.typing as npt

from libra.errors import InputError
from libra.eventlog.files import FileFormat, open_input
from libra.eventlog.log import EventLog
from libra.eventlog.names import TIMESTAMP
from libra.eventlog.options import Progress, ReadOptions
from libra.eventlog.xes.assemble import Content, assemble
from libra.eventlog.xes.columns import Columns, Piece
from libra.eventlog.xes.exact import RefusedError, XesParser, not_xml
from libra.eventlog.xes.tokens import read_plain

STRETCH = 4_000_000  # bytes of text at a time: few enough for the processor's cache, enough to vectorize
AHEAD = 2  # stretches under way at a time
TRACE, TRACE_END = b"<trace", b"</trace>"
DECLARED = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)""")


def read_xes(path: Path, fmt: FileFormat, options: ReadOptions) -> EventLog:
    """The log in an XES file, compressed as `fmt` says.

    Example:
        >>> from libra import example
        >>> read_xes(example.path(), FileFormat("xes", "gz"), ReadOptions()).metadata.name
        'Emergency department (simulated)'
    """
    return assemble(read_content(path, fmt, options), path, options)


def read_content(path: Path, fmt: FileFormat, options: ReadOptions) -> Content:
    """What stands in an XES file, before anything in it plays a role."""
    document = Document(path, fmt, options.encoding)
    cases, events = Columns(), Columns()
    case_of_event: list[npt.NDArray[np.int64]] = []
    for piece in document.pieces(options.progress):
        case_of_event.append(piece.case_of_event + cases.height)
        cases.add(piece.case_parts, piece.n_cases)
        events.add(piece.event_parts, len(piece.case_of_event))
    return document.content(cases, events, np.concatenate(case_of_event))


def _stretches(stream: BinaryIO) -> Iterator[bytes]:
    """What stands before the first trace, then whole traces, then the rest."""
    mark, behind = TRACE, 0  # what to cut at, and how much of it belongs to the stretch that ends there
    held: list[bytes] = []
    while block := stream.read(STRETCH):
        border = (held[-1][-len(mark) :] if held else b"") + block[: len(mark)]
        held.append(block)
        if mark not in block and mark not in border:
            continue
        text = b"".join(held)
        if mark is TRACE:
            start = text.find(TRACE)
            yield text[:start]
            text, mark, behind = text[start:], TRACE_END, len(TRACE_END)
        end = text.rfind(mark)
        if end >= 0:
            yield text[: end + behind]
        held = [text[end + behind :] if end >= 0 else text]
    yield b"".join(held)


def _ahead(stretches: Iterator[bytes], pool: Executor) -> Iterator[tuple[bytes, Future[Piece | None]]]:
    """Every stretch with the attempt to read it as plain traces, which is under way while the ones before it are taken in."""
    waiting: deque[tuple[bytes, Future[Piece | None]]] = deque()
    for stretch in stretches:
        waiting.append((stretch, pool.submit(read_plain, stretch)))
        if len(waiting) > AHEAD:
            yield waiting.popleft()
    yield from waiting


class Document:
    """One reading: the parser, and how many bytes went past it."""

    def __init__(self, path: Path, fmt: FileFormat, encoding: str | None) -> None:
        self.path, self.fmt, self.encoding = path, fmt, encoding
        self.parser = _parser(path, encoding)
        self.skipped = 0
        self.is_utf8: bool | None = None
        self.at_rest = False  # a trace may stand here
        self.junk_after_log = False

    def pieces(self, progress: Progress) -> Generator[Piece]:
        """All traces, some at a time."""
        with open_input(self.path, self.fmt.compression, progress) as stream, ThreadPoolExecutor(AHEAD) as pool:
            for stretch, plain in _ahead(_stretches(stream), pool):
                piece = self._read(stretch, plain)
                if piece is not None:
                    yield piece
        self._feed(b"", final=True)  # the file has ended: so must the log
        yield self.parser.take()

    def notes(self) -> list[str]:
        """What could not be kept, as sentences; complete after the last piece."""
        junk = ["What stands behind the end of the log was ignored."] if self.junk_after_log else []
        return [*junk, *self.parser.notes()]

    def content(self, cases: Columns, events: Columns, case_of_event: npt.NDArray[np.int64]) -> Content:
        """What was read, given the attributes of all cases and events."""
        of_cases, of_events = cases.frame(), events.frame()
        notes = list(dict.fromkeys([*self.notes(), *cases.notes(), *events.notes()]))
        return Content(
            of_events,
            case_of_event,
            of_cases,
            self.parser.metadata,
            notes,
            events.first_unreadable.get(TIMESTAMP),
            events.first_declared(TIMESTAMP),
            events.zones,
        )

    def _read(self, stretch: bytes, plain: Future[Piece | None]) -> Piece | None:
        """Take in the next stretch of the file: as plain traces where it is nothing else and stands where traces may stand."""
        if self.is_utf8 and self.parser.between_traces and (piece := plain.result()) is not None and self._is_at_rest():
            self.skipped += len(stretch)
            return piece
        if self.is_utf8 is None:
            if not stretch:
                raise InputError("the file is empty", place=str(self.path), remedy="Export the log again")
            self.is_utf8 = _is_utf8(stretch, self.encoding)
        self._feed(stretch)
        return self.parser.take() if self.parser.between_traces else None

    def _is_at_rest(self) -> bool:
        if not self.at_rest:
            with self._errors_placed():
                self.at_rest = self.parser.at_rest()
        return self.at_rest

    def _feed(self, text: bytes, final: bool = False) -> None:
        self.at_rest = False
        if not self.junk_after_log:
            with self._errors_placed():
                self.parser.feed(text, final)

    @contextmanager
    def _errors_placed(self) -> Iterator[None]:
        """What the parser cannot take, as an error with its place; what it finds behind the log is only noted."""
        try:
            yield
        except expat.ExpatError as error:
            if not self.parser.closed:
                place = f"{self.path}, line {self._line(self.parser.error_position + self.skipped)}"
                raise not_xml(error, place) from error
            self.junk_after_log = True
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
    return name.lower() in ("utf-8", "utf8")
