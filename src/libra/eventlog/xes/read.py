"""Reading XES at once or in batches: most of it on a fast way, all of it with an XML parser's strictness.

The file is taken in stretches of whole traces. A stretch of the plain form goes through `read_plain`; the header, the end, and
every stretch that is not plain go through the expat parser `XesParser`, which sees the document as if the plain traces were
not there, and so still finds what is cut off, wrongly nested or not XML. In batches every trace is a case of its own, roles and
types are found in the first traces, and what does not fit them further on is an `InputError`.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError
from libra.eventlog.files import FileFormat, open_input
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_ID, CASE_INDEX, CASE_NAME, CASE_PREFIX, LIFECYCLE, TIMESTAMP
from libra.eventlog.notes import OpenChoice
from libra.eventlog.options import Place, Progress, ReadOptions
from libra.eventlog.select import Transitions
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.in_batches import RowsInBatches
from libra.eventlog.tables.roles import find_roles
from libra.eventlog.tables.timestamps import zone_misfit
from libra.eventlog.xes.assemble import (
    Content,
    XesFrames,
    assemble,
    bad_time,
    mixed_zones,
    no_blank,
    placer,
    roles_of,
    two_types,
    usable,
    without_events,
)
from libra.eventlog.xes.columns import NAIVE, Columns, Piece, XesColumns, spread, texts
from libra.eventlog.xes.parsers import RefusedError, XesParser, not_xml, read_plain

STRETCH = 4_000_000  # bytes of text at a time: few enough for the processor's cache, enough to vectorize
AHEAD = 2  # stretches under way at a time
TRACE, TRACE_END = b"<trace", b"</trace>"
DECLARED = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)""")
_TRACE = "@trace"
SAMPLE = 50_000  # events to decide on


def read_xes(path: Path, fmt: FileFormat, options: ReadOptions) -> EventLog:
    """The log in an XES file, compressed as `fmt` says."""
    return assemble(read_content(path, fmt, options), path, options)


def read_content(path: Path, fmt: FileFormat, options: ReadOptions) -> Content:
    """What stands in an XES file, before anything in it plays a role."""
    document = Document(path, fmt, options.encoding)
    return document.content(document.pieces(options.progress))


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

    def content(self, pieces: Iterable[Piece]) -> Content:
        """What stands in these pieces."""
        cases, events = Columns(), Columns()
        case_of_event: list[npt.NDArray[np.int64]] = []
        for piece in pieces:
            case_of_event.append(piece.case_of_event + cases.height)
            cases.add(piece.case_parts, piece.n_cases)
            events.add(piece.event_parts, len(piece.case_of_event))
        of_cases, of_events = cases.frame(), events.frame()
        return Content(
            of_events,
            np.concatenate(case_of_event),
            of_cases,
            self.parser.metadata,
            list(dict.fromkeys([*self.notes(), *cases.notes(), *events.notes()])),
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


class _Zone:
    """Whether the times under a key carry a zone, as the first of them show; None where times are no dates yet."""

    def __init__(self, first: XesFrames, key: str | None) -> None:
        first = copy(first)
        first.notes = [note for note in first.notes if note == NAIVE]
        self.has_zone, self.notes = first.checked_zone(key), first.notes
        either = first.options.zone == "utc" or any(isinstance(note, OpenChoice) for note in self.notes)
        self.held = None if either else self.has_zone  # what all times have to be like; None where either will do


class StandardTraces:
    """Traces whose roles are played by the standard's keys."""

    def __init__(self, first: XesFrames) -> None:
        self._path, self._options = first.path, first.options
        self.roles = roles_of(first.events, first.options)
        self._zone = _Zone(first, TIMESTAMP)
        self.has_zone = self._zone.has_zone
        self._transitions = Transitions(first.options.lifecycle_keep, LIFECYCLE in first.events.columns, str(first.path))
        self._notes = dict.fromkeys(self._zone.notes)
        self._used = False

    def events(self, piece: Piece, before: int) -> pl.DataFrame:
        """The events of the next traces, `before` which so many stand."""
        place = _placer(piece, self._path, before)
        height = len(piece.case_of_event)
        events = pl.DataFrame(
            [
                pl.Series(CASE_INDEX, piece.case_of_event),
                no_blank(texts(piece.event_parts, ACTIVITY, height)).alias(ACTIVITY),
                _times(piece, TIMESTAMP, place, self._options, self._zone.held).alias(TIMESTAMP),
                *([texts(piece.event_parts, LIFECYCLE, height).alias(LIFECYCLE)] if self._options.lifecycle_keep else []),
            ]
        )
        notes: list[str] = []
        events = usable(events, pl.DataFrame({CASE_NAME: no_blank(_names(piece))}), notes, place, self._options)
        self._used |= events.height > 0
        if self._options.lifecycle_keep:
            events = events.filter(self._transitions.keep(events[LIFECYCLE], None))
        if len(np.unique(piece.case_of_event)) < piece.n_cases:
            notes.append("Cases without events were left out.")
        self._notes.update(dict.fromkeys(notes))
        return events.select(
            (pl.col(CASE_INDEX) + before).alias("case"),
            pl.col(ACTIVITY).alias("activity"),
            pl.col(TIMESTAMP).to_physical().alias("micros"),
        )

    def finish(self) -> None:
        """All traces have come."""
        if self._used:
            self._transitions.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the traces so far."""
        return list(self._notes)


class FlatTraces:
    """Traces some of whose roles are played by other attributes, found as in any table."""

    def __init__(self, first: XesFrames, pieces: Sequence[Piece]) -> None:
        self._path, self._options, self._key_of = first.path, first.options, first.key_of
        table = first.flat_table([])
        self.roles = find_roles(table, first.options, str(first.path))
        by_role = {role.role: role.columns for role in self.roles}
        self._by_trace = by_role["case_id"] == (CASE_ID,) and not first.options.roles.case_id
        of_rows = [replace(role, columns=(_TRACE,)) if self._by_trace and role.role == "case_id" else role for role in self.roles]
        numbers = pl.Series(_TRACE, first.events[CASE_INDEX]).cast(pl.Int64)
        self._when, self._date_key = by_role["timestamp"][0], first.date_key(table, self.roles)
        self._zone = _Zone(first, self._date_key)
        typed = first.options if self._date_key is None else replace(first.options, zone=None)
        self._rows = RowsInBatches(table.with_columns(numbers), of_rows, typed, str(first.path), first.place)
        self.has_zone = self._rows.times.has_zone if self._date_key is None else self._zone.has_zone
        times = [name for name in self._rows.columns if self._is_time(name)]
        self._of_events = XesColumns(
            [self._key_of[name] for name in times if name in self._key_of], [piece.event_parts for piece in pieces]
        )
        of_cases = [name.removeprefix(CASE_PREFIX) for name in times if name not in self._key_of]
        self._of_cases = XesColumns(of_cases, [piece.case_parts for piece in pieces])

    def events(self, piece: Piece, before: int) -> pl.DataFrame:
        """The events of the next traces, `before` which so many stand."""
        place = _placer(piece, self._path, before)
        n_events = len(piece.case_of_event)
        of_events = self._of_events.frame(piece.event_parts, n_events, place)
        of_cases = self._of_cases.frame(piece.case_parts, piece.n_cases, lambda case: f"{self._path}, trace {before + case + 1}")
        columns = {}
        for name in self._rows.columns:
            key = self._key_of.get(name)
            if name == _TRACE:
                named = no_blank(_names(piece)).is_not_null().to_numpy()[piece.case_of_event]
                values = pl.Series(piece.case_of_event + before).set(pl.Series(~named), None)
            elif name == self._when and self._date_key is not None:
                values = _times(piece, self._date_key, place, self._options, self._zone.held)
            elif key is not None:
                values = of_events[key] if self._is_time(name) else texts(piece.event_parts, key, n_events)
            else:
                bare = name.removeprefix(CASE_PREFIX)
                of_case = of_cases[bare] if self._is_time(name) else texts(piece.case_parts, bare, piece.n_cases)
                values = of_case[piece.case_of_event]
            columns[name] = values
        return self._rows.events(pl.DataFrame(columns), place)

    def finish(self) -> None:
        """All traces have come."""
        self._rows.finish()

    def notes(self) -> list[str]:
        """What is worth knowing about the traces so far."""
        return [*self._zone.notes, *self._rows.notes()]

    def _is_time(self, name: str) -> bool:
        """Whether a column is read as times, by all that stands in it; everything else is text, each value by itself."""
        return name in self._rows.times_of and not (self._date_key is not None and name == self._when)


def _placer(piece: Piece, path: Path, before: int) -> Place:
    events = pl.DataFrame({CASE_INDEX: piece.case_of_event})
    return placer(events, pl.DataFrame({CASE_NAME: _names(piece)}), path, before)


def _names(piece: Piece) -> pl.Series:
    """What stands as the name of every trace, null where nothing does."""
    return texts(piece.case_parts, CASE_NAME, piece.n_cases)


def _times(piece: Piece, key: str, place: Place, options: ReadOptions, has_zone: bool | None) -> pl.Series:
    """The time of every event; null where there is none, or none that can be read and such events are dropped.

    `has_zone` is whether all of them carry a zone, or none does; None where either will do.
    """
    parts = [part for part in piece.event_parts if part.key == key]
    for part in parts:
        if part.type != "date" and len(part.owners):
            raise two_types(key, "date", part.type, place(int(part.owners[0])))
    text = spread([part.values for part in parts], [part.owners for part in parts], len(piece.case_of_event))
    read, naive = read_iso_dates(text)
    bad = read.is_null() & text.is_not_null()
    if bad.any() and not options.drop_invalid:
        row = int(bad.arg_true()[0])
        raise bad_time(text[row], place(row))
    misfits = naive if has_zone else ~naive & read.is_not_null()
    if has_zone is not None and misfits.any():
        row = int(misfits.arg_true()[0])
        if options.zone is not None:
            raise zone_misfit(text[row], options.zone, place(row))
        raise mixed_zones(text[row], place(row), has_zone=not has_zone)
    return read


class XesBatches:
    """The events of an XES file as `EventBatches`."""

    def __init__(self, path: Path, fmt: FileFormat, options: ReadOptions) -> None:
        """Decide on roles and types by the first traces."""
        self._path, self._fmt, self._options = path, fmt, options
        done: list[tuple[int, int]] = [(0, 1)]
        pieces: list[Piece] = []
        seen = 0
        with closing(self._pieces(lambda *step: done.append(step))) as all_pieces:
            for piece in all_pieces:
                pieces.append(piece)
                seen += len(piece.case_of_event)
                if seen >= SAMPLE:
                    break
        read, size = done[-1]
        under_way = 1 if read == size else 1 + AHEAD / max(len(pieces), 1)  # some more than what was seen has been read
        self.estimated_events = int(seen * size / max(read, 1) * under_way)
        if not seen and not options.allow_empty:
            raise without_events(path)
        self._first_pieces = pieces
        self._first = XesFrames(self._document.content(pieces), path, options) if seen else None  # as they are in memory
        self._traces = self._fresh()
        self.roles, self.has_zone = ((), True) if self._traces is None else (self._traces.roles, self._traces.has_zone)
        self.has_individual = any(role.role == "individual" for role in self.roles)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        """All events."""
        self._traces = traces = self._fresh()
        if traces is None:
            return
        before = 0
        with closing(self._pieces(self._options.progress)) as pieces:
            for piece in pieces:
                if len(piece.case_of_event):
                    events = traces.events(piece, before)
                    if events.height:
                        yield events
                before += piece.n_cases
        traces.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        return tuple(dict.fromkeys([*self._document.notes(), *([] if self._traces is None else self._traces.notes())]))

    def _pieces(self, progress: Progress) -> Generator[Piece]:
        self._document = Document(self._path, self._fmt, self._options.encoding)
        return self._document.pieces(progress)

    def _fresh(self) -> StandardTraces | FlatTraces | None:
        if self._first is None:
            return None
        return StandardTraces(self._first) if self._first.by_standard else FlatTraces(self._first, self._first_pieces)
