"""Reading XES at once or in batches: most of it on a fast way, all of it with an XML parser's strictness.

The file is taken in stretches of whole traces. Plain ones go through `read_plain`, all else through the expat parser `XesParser`,
which sees the document as if the plain traces were not there, and so still finds what is cut off, wrongly nested or not XML.
In batches roles and types are found in the first traces, and what does not fit them further on is an `InputError`.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO
from xml.parsers import expat

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.parallel import in_order
from libra.errors import InputError
from libra.eventlog.attributes import no_column, plain_values
from libra.eventlog.files import FileFormat, open_input
from libra.eventlog.in_parts import attribute_column
from libra.eventlog.instances import COMPLETE, START, keys_of
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.names import (
    ACTIVITY,
    CASE_ID,
    CASE_INDEX,
    CASE_NAME,
    CASE_PREFIX,
    INSTANCE,
    LIFECYCLE,
    RESOURCE,
    START_TIMESTAMP,
    TIMESTAMP,
)
from libra.eventlog.notes import OpenChoice
from libra.eventlog.options import Place, Progress, ReadOptions
from libra.eventlog.pairing import Deciders, closes, transition_of
from libra.eventlog.select import Transitions
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.tables.flat import decided
from libra.eventlog.tables.in_batches import RowsInBatches, late_start, refuse_late_instances
from libra.eventlog.tables.timestamps import usable_moments, zone_misfit
from libra.eventlog.xes import assemble as assembly
from libra.eventlog.xes.parsers import RefusedError, XesParser, not_xml, read_plain

STRETCH = 4_000_000  # bytes of text at a time: few enough for the processor's cache, enough to vectorize
TRACE, TRACE_END = b"<trace", b"</trace>"
DECLARED = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)""")
_TRACE = "@trace"
SAMPLE = 50_000  # events to decide on


def read_xes(path: Path, fmt: FileFormat, options: ReadOptions) -> EventLog:
    """The log in an XES file, compressed as `fmt` says."""
    return assembly.assemble(read_content(path, fmt, options), path, options)


def read_content(path: Path, fmt: FileFormat, options: ReadOptions) -> assembly.Content:
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


class Document:
    """One reading: the parser, and how many bytes went past it."""

    def __init__(self, path: Path, fmt: FileFormat, encoding: str | None) -> None:
        self.path, self.fmt, self.encoding = path, fmt, encoding
        try:
            self.parser = XesParser(encoding)
        except (LookupError, ValueError) as error:
            raise InputError(f"the encoding {encoding} is not known", place=str(path), remedy="Correct --encoding") from error
        self.skipped = 0
        self.is_utf8: bool | None = None  # then bytes can be cut and taken as they are
        self.at_rest = False  # a trace may stand here
        self.junk_after_log = False

    def pieces(self, progress: Progress) -> Generator[assembly.Piece]:
        """All traces, some at a time; progress tells how far the file was taken in, and more of it is read ahead."""
        at = [(0, 1)]

        def noted(*step: int) -> None:
            at[0] = (step[0], step[1])

        with open_input(self.path, self.fmt.compression, noted) as stream:
            stretches = ((stretch, at[0]) for stretch in _stretches(stream))
            for stretch, step, plain in in_order(lambda read: (*read, read_plain(read[0])), stretches):
                piece = self._read(stretch, plain)
                progress(*step)
                if piece is not None:
                    yield piece
        self._feed(b"", final=True)  # the file has ended: so must the log
        yield self.parser.take()

    def notes(self) -> list[str]:
        """What could not be kept, as sentences; complete after the last piece."""
        junk = ["Content after the end of the log (</log>) was ignored."] if self.junk_after_log else []
        return [*junk, *self.parser.notes()]

    def content(self, pieces: Iterable[assembly.Piece]) -> assembly.Content:
        """What stands in these pieces."""
        cases, events = assembly.Columns(), assembly.Columns()
        case_of_event: list[npt.NDArray[np.int64]] = []
        for piece in pieces:
            case_of_event.append(piece.case_of_event + cases.height)
            cases.add(piece.case_parts, piece.n_cases)
            events.add(piece.event_parts, len(piece.case_of_event))
        of_events, of_cases = events.frame(), cases.frame()
        notes = list(dict.fromkeys([*self.notes(), *cases.notes(), *events.notes()]))
        times = (events.first_unreadable, events.first_declared(), events.zones)
        return assembly.Content(of_events, np.concatenate(case_of_event), of_cases, self.parser.metadata, notes, *times)

    def _read(self, stretch: bytes, plain: assembly.Piece | None) -> assembly.Piece | None:
        """Take in the next stretch of the file: as plain traces where it is nothing else and stands where traces may stand."""
        if plain is not None and self.is_utf8 and self.parser.between_traces:
            with self._errors_placed():
                self.at_rest = self.at_rest or self.parser.at_rest()
            if self.at_rest:
                self.skipped += len(stretch)
                return plain
        if self.is_utf8 is None:
            if not stretch:
                raise InputError("the file is empty", place=str(self.path), remedy="Export the log again")
            declared = DECLARED.search(stretch[:200])
            name = self.encoding or (declared[1].decode() if declared else "utf-8")
            self.is_utf8 = name.lower() in ("utf-8", "utf8") and not stretch.startswith((b"\xfe\xff", b"\xff\xfe"))
        self._feed(stretch)
        return self.parser.take() if self.parser.between_traces else None

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


class XesBatches:
    """The events of an XES file as `EventBatches`: roles, types and the zone of times are as the first traces show."""

    def __init__(self, path: Path, fmt: FileFormat, options: ReadOptions) -> None:
        """Read the first traces."""
        self._path, self._fmt, self._options = path, fmt, options
        self.source, self.attributes = str(path), options.attributes
        done, pieces, seen = [(0, 1)], list[assembly.Piece](), 0
        with closing(self._pieces(lambda *step: done.append(step))) as all_pieces:
            for piece in all_pieces:
                pieces.append(piece)
                seen += len(piece.case_of_event)
                if seen >= SAMPLE:
                    break
        read, size = done[-1]
        self.estimated_events = int(seen * size / max(read, 1))
        self.roles, self.has_zone = tuple[FoundRole, ...](), True
        self.instances, self._instances_note, self._start_key = options.instances, "", START_TIMESTAMP
        self._first: assembly.XesFrames | None = None
        if not seen and not options.allow_empty:
            raise assembly.without_events(path)
        if seen:
            self._first = assembly.XesFrames(self._document.content(pieces), path, options)  # as they are in memory
            self._sample, self.roles, self._date_key = self._first.found_roles()
            self._key_of = self._first.key_of
            typed = options if self._date_key is None else replace(options, zone=None)
            self.instances, self._instances_note = decided(self._sample, self.roles, typed)
            if not self._first.by_standard:
                self._start_key = self._first.date_key(self._sample, self.roles, "start_timestamp") or ""
            self.has_zone, notes = self._first.zone_of(self._date_key)
            self._zone_notes = [note for note in notes if note == assembly.NAIVE or isinstance(note, OpenChoice)]
            either = options.zone == "utc" or any(isinstance(note, OpenChoice) for note in notes)
            self._held = None if either else self.has_zone  # what all times have to be like; None where either will do
        played = {role.role for role in self.roles}
        self.has_individual = "individual" in played
        by_keys = self._first is not None and self._first.by_standard and not options.described  # an event may come with any
        self.has_starts = "start_timestamp" in played or (by_keys and self.instances == "pair")
        self.has_transitions = "lifecycle" in played or by_keys
        self._begin()
        if self._rows is not None and self._date_key is None:
            self.has_zone = self._rows.times.has_zone

    def _begin(self) -> None:
        """One way through the traces: where other attributes than the standard's keys play roles, as through any table."""
        self._notes, self._used, self._keys = dict[str, None](), False, set[str]()
        self._deciders, self._start_zones = Deciders(), set[bool]()
        self._rows: RowsInBatches | None = None
        options, first = self._options, self._first
        if first is None:
            return
        self._notes = dict.fromkeys(self._zone_notes)
        if self.instances == "pair":
            self._start_zones.update(first.zones.get(self._start_key, {}))
        if first.by_standard:
            self._kinds = dict.fromkeys((START, COMPLETE), False)
            self._transitions = Transitions(options.lifecycle_keep, LIFECYCLE in first.events.columns, str(self._path))
            return
        of_rows = list(self.roles)
        for i, role in enumerate(self.roles):
            if role.role == "case_id" and role.columns == (CASE_ID,) and not options.roles.case_id:
                of_rows[i] = replace(role, columns=(_TRACE,))  # each trace is a case
        table = self._sample.with_columns(pl.Series(_TRACE, first.events[CASE_INDEX]).cast(pl.Int64))
        typed = options if self._date_key is None else replace(options, zone=None)
        self._rows = RowsInBatches(table, of_rows, typed, str(self._path), first.place, may_have_instance=True)

    def __iter__(self) -> Iterator[pl.DataFrame]:
        self._begin()
        if self._first is None:
            return
        before, rows = 0, self._rows
        with closing(self._pieces(self._options.progress)) as pieces:
            for piece in pieces:
                self._keys |= {part.key for part in piece.event_parts} | {CASE_PREFIX + part.key for part in piece.case_parts}
                if len(piece.case_of_event):
                    ids = assembly.texts(piece.case_parts, CASE_NAME, piece.n_cases)
                    place = assembly.placer(pl.Series(piece.case_of_event), ids, self._path, before)
                    traces = (piece, before, assembly.no_blank(ids), place)
                    events = self._standard(*traces) if rows is None else self._flat(rows, *traces)
                    if events.height:
                        yield events
                before += piece.n_cases
        for attribute in self.attributes:
            if not {attribute.name, self._key_of.get(attribute.name)} & self._keys:
                raise no_column(attribute.name, sorted(self._keys), self.source)
        if self._rows is not None:
            self._rows.finish()
        elif self._used:
            self._transitions.finish()

    def notes(self) -> tuple[str, ...]:
        """What was found so far."""
        if self._rows is None:
            note = self._instances_note
            of_rows = list(filter(None, [str(note) if self._deciders.enough else note]))
        else:
            of_rows = self._rows.notes()
        if self._options.zone is None:
            of_rows = [*assembly.zones_of_starts(self._start_zones, self._start_key, self.has_zone), *of_rows]
        return tuple(dict.fromkeys([*self._document.notes(), *self._notes, *of_rows]))

    def _pieces(self, progress: Progress) -> Generator[assembly.Piece]:
        self._document = Document(self._path, self._fmt, self._options.encoding)
        return self._document.pieces(progress)

    def _standard(self, piece: assembly.Piece, before: int, ids: pl.Series, place: Place) -> pl.DataFrame:
        """The events of the next traces, which have these ids; so many stand `before` them."""
        height, notes = len(piece.case_of_event), list[str]()
        columns = {
            CASE_INDEX: pl.Series(piece.case_of_event),
            ACTIVITY: assembly.no_blank(assembly.texts(piece.event_parts, ACTIVITY, height)),
            TIMESTAMP: self._times(piece, TIMESTAMP, place),
        }
        if self._options.lifecycle_keep or self.has_transitions:
            columns[LIFECYCLE] = assembly.texts(piece.event_parts, LIFECYCLE, height)
        columns |= self._more_columns(piece, place) | self._attributes(piece, before, ids, place)
        events = assembly.usable(pl.DataFrame(columns), ids, notes, place, self._options)
        self._used |= events.height > 0
        if self._options.lifecycle_keep:
            events = events.filter(self._transitions.keep(events[LIFECYCLE], None))
        start = events["start"] if "start" in events.columns else None
        if start is not None and self.instances is None and start.null_count() < len(start):
            raise late_start(place(int(start.is_not_null().arg_true()[0])))
        if isinstance(self._instances_note, OpenChoice):
            self._deciders.add([events[CASE_INDEX] + before], start, events[LIFECYCLE] if self.has_transitions else None)
        events = self._by_transition(events, place)
        if len(np.unique(piece.case_of_event)) < piece.n_cases:
            notes.append("Cases without events were left out.")
        self._notes.update(dict.fromkeys(notes))
        times = pl.col(TIMESTAMP).to_physical()
        said = ("is_start", "key", "transition", *(["start"] if self.instances == "pair" else []))
        more = [name for name in said if name in events.columns]
        more += map(attribute_column, self.attributes)
        return events.select(
            case=pl.col(CASE_INDEX) + before, activity=pl.col(ACTIVITY), micros=times, **{name: pl.col(name) for name in more}
        )

    def _more_columns(self, piece: assembly.Piece, place: Place) -> dict[str, pl.Series]:
        """What else is said of events that are activity instances, or parts of them."""
        height, more, paired = len(piece.case_of_event), dict[str, pl.Series](), self.instances == "pair"
        may_start = self.instances is None and not self._options.described
        if (paired and self.has_starts) or (may_start and any(part.key == START_TIMESTAMP for part in piece.event_parts)):
            more["start"] = self._times(piece, START_TIMESTAMP, place, start=True).to_physical()
        if not paired:
            return more
        instance, resource = (assembly.texts(piece.event_parts, key, height) for key in (INSTANCE, RESOURCE))
        known = not self._options.described or any(role.role == "resource" for role in self.roles)
        return more | {"key": keys_of(instance, resource if known else None, height)}

    def _attributes(self, piece: assembly.Piece, before: int, ids: pl.Series, place: Place) -> dict[str, pl.Series]:
        """What events say of attributes, or their traces."""
        found, of_event = {}, pl.Series(piece.case_of_event)

        def trace(case: int) -> str:
            return f'{self._path}, case "{ids[case]}"' if ids[case] else f"{self._path}, trace {before + case + 1}"

        for attribute in self.attributes:
            key = self._key_of.get(attribute.name, attribute.name)
            if attribute.in_cases:
                said = assembly.texts(piece.case_parts, key.removeprefix(CASE_PREFIX), piece.n_cases)
                values = plain_values(said, attribute, trace).gather(of_event)
            else:
                values = plain_values(assembly.texts(piece.event_parts, key, len(piece.case_of_event)), attribute, place)
            found[attribute_column(attribute)] = values
        return found

    def _by_transition(self, events: pl.DataFrame, place: Place) -> pl.DataFrame:
        """The events that come, by their transitions."""
        if self.instances == "pair" and self.has_starts:
            before = pl.col("start") < pl.col(TIMESTAMP).to_physical()
            events = events.with_columns(pl.when(before).then("start").alias("start"))
        if not self.has_transitions:
            opens = [pl.lit(False).alias("is_start")] if self.instances == "pair" else []
            return events.with_columns(opens)
        if self.instances == "events":
            return events.with_columns(pl.col(LIFECYCLE).alias("transition"))
        transitions = transition_of(events[LIFECYCLE])
        completes = closes(transitions)
        if self.instances is None:
            if not self._options.described:
                refuse_late_instances(self._kinds, transitions, None, place)
            return events
        if self.instances == "pair":
            events = events.with_columns((transitions == START).fill_null(False).alias("is_start"))
            completes = completes | events["is_start"]
        return events.filter(completes)

    def _flat(self, rows: RowsInBatches, piece: assembly.Piece, before: int, ids: pl.Series, place: Place) -> pl.DataFrame:
        """The same, where other attributes play roles."""
        n_events, columns = len(piece.case_of_event), {}

        def trace(case: int) -> str:
            return f"{self._path}, trace {before + case + 1}"

        for name in rows.needed:
            key, is_time = self._key_of.get(name), name in rows.times_of
            if name == _TRACE:
                named = ids.is_not_null().to_numpy()[piece.case_of_event]
                columns[name] = pl.Series(piece.case_of_event + before).set(pl.Series(~named), None)
            elif is_time and key is not None and key == self._date_key:
                columns[name] = self._times(piece, key, place)
            elif is_time and key is not None and key == self._start_key:
                columns[name] = self._times(piece, key, place, start=True)
            elif is_time and key is not None:
                columns[name] = assembly.typed_as(self._sample.schema[name], piece.event_parts, key, n_events, place)
            elif key is not None or not name.startswith(CASE_PREFIX):  # what no event of the first traces has
                columns[name] = assembly.texts(piece.event_parts, key or name, n_events)
            else:
                bare, parts = name.removeprefix(CASE_PREFIX), piece.case_parts
                typed = assembly.typed_as(self._sample.schema[name], parts, bare, piece.n_cases, trace) if is_time else None
                columns[name] = (assembly.texts(parts, bare, piece.n_cases) if typed is None else typed)[piece.case_of_event]
        return rows.events(pl.DataFrame(columns), place)

    def _times(self, piece: assembly.Piece, key: str, place: Place, *, start: bool = False) -> pl.Series:
        """The time of every event; null where there is none, or none that can be read and such events are dropped."""
        parts = [part for part in piece.event_parts if part.key == key]
        for part in parts:
            if part.type != "date" and len(part.owners):
                raise assembly.two_types(key, "date", part.type, place(int(part.owners[0])))
        text = assembly.spread([part.values for part in parts], [part.owners for part in parts], len(piece.case_of_event))
        read, naive = read_iso_dates(text)
        bad = read.is_null() & text.is_not_null()
        if bad.any() and not self._options.drop_invalid:
            row = int(bad.arg_true()[0])
            raise assembly.bad_time(text[row], place(row))
        zoned, held = ~naive & read.is_not_null(), self._held
        if start:  # whose zones are told in notes
            held = None if self.instances != "pair" or self._options.zone in (None, "utc") else self._options.zone == "file"
            if self.instances == "pair":
                self._start_zones.update(zone for zone, where in ((True, zoned), (False, naive)) if where.any())
            read, _ = usable_moments(read, read, self._options, place, optional=True)
        misfits = naive if held else zoned
        if held is not None and misfits.any():
            row = int(misfits.arg_true()[0])
            if self._options.zone is not None:
                raise zone_misfit(text[row], self._options.zone, place(row))
            what = "no time zone, and those before it do" if held else "a time zone, and those before it do not"
            what = f'timestamp "{text[row]}" carries {what}'
            raise InputError(what, place=place(row), remedy="Write all times with their zone")
        return read
