"""XES of any size to batches of events: every trace a case of its own, numbered in file order.

In: a path, its format, the user's choices. Out: `EventBatches`. The file goes through the same parser as in memory, some whole
traces at a time. Roles and types are found in the first traces; what does not fit them further on is an `InputError`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl

from libra.eventlog.batches.event_batches import EventBatches
from libra.eventlog.batches.xes_traces import FirstTraces, FlatTraces, StandardTraces
from libra.eventlog.formats import FileFormat
from libra.eventlog.options import Progress, ReadOptions
from libra.eventlog.xes.assemble import by_standard, frames_of, iso_times, keys_of, placer, without_events
from libra.eventlog.xes.columns import Columns
from libra.eventlog.xes.parts import Piece
from libra.eventlog.xes.read import AHEAD, Document

SAMPLE = 50_000  # events to decide on


def xes_batches(path: Path, fmt: FileFormat, options: ReadOptions) -> EventBatches:
    """The events of an XES file.

    Example:
        >>> from libra import example
        >>> next(iter(xes_batches(example.path(), FileFormat("xes", "gz"), ReadOptions()))).columns
        ['case', 'activity', 'micros']
    """
    reading = _XesFile(path, fmt, options)
    roles, has_zone = ((), True) if reading.traces is None else (reading.traces.roles, reading.traces.has_zone)
    has_individual = any(role.role == "individual" for role in roles)
    return EventBatches(roles, reading.notes, has_individual, reading.height, has_zone, reading.batches)


class _XesFile:
    """One file: what its first traces say about it, and a way through all of them."""

    def __init__(self, path: Path, fmt: FileFormat, options: ReadOptions) -> None:
        self.path, self.fmt, self.options = path, fmt, options
        self.document = Document(path, fmt, options.encoding)
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
        self.height = int(seen * size / max(read, 1) * under_way)
        if not seen and not options.allow_empty:
            raise without_events(path)
        self._first = self._decided(pieces) if seen else None
        self.traces = self._fresh()

    def batches(self) -> Iterator[pl.DataFrame]:
        """All events."""
        self.traces = traces = self._fresh()
        if traces is None:
            return
        before = 0
        with closing(self._pieces(self.options.progress)) as pieces:
            for piece in pieces:
                if len(piece.case_of_event):
                    events = traces.events(piece, before)
                    if events.height:
                        yield events
                before += piece.n_cases
        traces.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        return tuple(dict.fromkeys([*self.document.notes(), *([] if self.traces is None else self.traces.notes())]))

    def _pieces(self, progress: Progress) -> Generator[Piece]:
        self.document = Document(self.path, self.fmt, self.options.encoding)
        return self.document.pieces(progress)

    def _decided(self, pieces: list[Piece]) -> FirstTraces:
        """The first traces as they are in memory."""
        cases, events = Columns(), Columns()
        case_of_event = []
        for piece in pieces:
            case_of_event.append(piece.case_of_event + cases.height)
            cases.add(piece.case_parts, piece.n_cases)
            events.add(piece.event_parts, len(piece.case_of_event))
        content = self.document.content(cases, events, np.concatenate(case_of_event))
        notes = list(content.notes)
        of_events, of_cases = frames_of(content, notes)
        key_of = keys_of(of_events, content)
        of_events = iso_times(of_events, content, placer(of_events, of_cases, self.path), self.options)
        return FirstTraces(self.path, self.options, pieces, of_events, of_cases, key_of, notes, content.zones)

    def _fresh(self) -> StandardTraces | FlatTraces | None:
        first = self._first
        if first is None:
            return None
        standard = by_standard(first.events, first.cases, self.options, self.path)
        return StandardTraces(first) if standard else FlatTraces(first)
