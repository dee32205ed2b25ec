"""Writing XES that is valid against IEEE 1849-2016, in slices of events, each built by Polars as one piece of text.

What is written reads back equal: timestamps to the microsecond, numbers to the last digit. A header that says nothing gets
defaults; any other is repeated as it was, less what the log contradicts. Memory stays a small multiple of one slice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.in_parts import slices
from libra.eventlog.log import XES_TYPES, EventLog
from libra.eventlog.metadata import VALUE_TYPES, Attribute, AttributeType, AttributeValue, Classifier, Extension, LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, LIFECYCLE, TIMESTAMP, column
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.pairing import as_events

_EXTENSIONS = {
    "concept": "Concept", "time": "Time", "lifecycle": "Lifecycle", "org": "Organizational", "identity": "Identity",
    "cost": "Cost", "semantic": "Semantic", "micro": "Micro", "swevent": "Software_Event", "swcomm": "Software_Communication",
    "swtelemetry": "Software_Telemetry",
}  # fmt: skip
NAME_INDIVIDUAL = "Give --individual when you read the file."
IDENTITY = "identity:id"
UUID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
NOT_XML = "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
AWKWARD = '[&<>"\x00-\x1f\ufffe\uffff]'


def column_type(column: pl.Series) -> AttributeType:
    """The XES type of a column: an identity is an id if all its values are UUIDs."""
    if column.name == IDENTITY and column.dtype == pl.String and column.str.contains(UUID).all():
        return "id"
    return XES_TYPES[column.dtype.base_type()]


def default_metadata(log: EventLog) -> LogMetadata:
    """What the header of a log says that brought none: the attributes each case and event has, and the usual classifiers."""
    unknown = Attribute(ACTIVITY, "string", "UNKNOWN")
    event_globals = [unknown, Attribute(TIMESTAMP, "date", datetime(1970, 1, 1, tzinfo=UTC))]
    classifiers = [Classifier("Activity", (ACTIVITY,))]
    paired = log.instances == "pair"
    if paired or (LIFECYCLE in log.events.columns and log.events.schema[LIFECYCLE] == pl.String):
        classifiers.append(Classifier("Activity_and_lifecycle", (ACTIVITY, LIFECYCLE)))
        if paired or not log.events[LIFECYCLE].null_count():
            event_globals.append(Attribute(LIFECYCLE, "string", "complete"))
    return LogMetadata((), (Attribute(CASE_NAME, "string", "UNKNOWN"),), tuple(event_globals), tuple(classifiers))


def written_metadata(log: EventLog) -> LogMetadata:
    """The metadata that a reader of the written file will find."""
    return plan_header(as_events(log) if log.instances == "pair" else log)[0]


def plan_header(log: EventLog) -> tuple[LogMetadata, list[str]]:
    """The metadata to write, with the extensions in use, and a note for everything that cannot be kept."""
    given = log.metadata
    if not (given.attributes or given.case_globals or given.event_globals or given.classifiers or given.extensions):
        given = default_metadata(log)
    notes: list[str] = []
    attributes = _expressible(given.attributes, notes)
    case_globals = _true_globals(_expressible(given.case_globals, notes), log.cases, "case", notes)
    event_globals = _true_globals(_expressible(given.event_globals, notes), log.events, "event", notes)
    classifiers = []
    for classifier in given.classifiers:
        unknown = not set(classifier.keys) <= set(log.events.columns) and log.n_events
        if unknown or any("'" in key for key in classifier.keys):
            why = "it names attributes that no event has" if unknown else "XES cannot write its keys"
            notes.append(f'The classifier "{classifier.name}" was left out: {why}.')
        else:
            classifiers.append(classifier)
    keys = [*log.events.columns, *log.cases.columns, *(a.key for a in (*attributes, *case_globals, *event_globals))]
    used = {key.partition(":")[0] for key in keys if ":" in key}
    address = "http://www.xes-standard.org/{}.xesext".format
    extensions = {prefix: Extension(name, prefix, address(prefix)) for prefix, name in _EXTENSIONS.items() if prefix in used}
    extensions |= {extension.prefix: extension for extension in given.extensions}
    return LogMetadata(attributes, case_globals, event_globals, tuple(classifiers), tuple(extensions.values())), notes


def _expressible(attributes: Iterable[Attribute], notes: list[str]) -> tuple[Attribute, ...]:
    """With values of the stated types only, and containers, which the standard does not know, as lists."""
    kept = []
    for attribute in attributes:
        children = _expressible(attribute.children, notes)
        if attribute.type == "container":
            notes.append(f'The container "{attribute.key}" was written as a list: IEEE 1849 has no containers.')
        if attribute.type in ("list", "container"):
            kept.append(Attribute(attribute.key, "list", None, children))
        elif attribute.value is None:
            notes.append(f'"{attribute.key}" in the header of the log was left out: it has no value.')
        elif isinstance(attribute.value, VALUE_TYPES[attribute.type]):
            kept.append(Attribute(attribute.key, attribute.type, attribute.value, children))
        else:
            notes.append(f'"{attribute.key}" in the header of the log is not of type {attribute.type} and was written as text.')
            kept.append(Attribute(attribute.key, "string", _plain(attribute.value), children))
    return tuple(kept)


def _true_globals(stated: tuple[Attribute, ...], frame: pl.DataFrame, level: str, notes: list[str]) -> tuple[Attribute, ...]:
    kept = []
    for attribute in stated:
        column = frame[attribute.key] if attribute.key in frame.columns and attribute.key != CASE_INDEX else None
        if frame.is_empty() or (column is not None and not column.null_count() and column_type(column) == attribute.type):
            kept.append(attribute)
        else:
            notes.append(f'"{attribute.key}" is no longer declared as global: not every {level} has it with that type.')
    return tuple(kept)


def header_lines(metadata: LogMetadata) -> Iterator[str]:
    """The lines of a file up to its first trace; `metadata` comes from `plan_header`."""
    stated = (*metadata.attributes, *metadata.case_globals, *metadata.event_globals)
    features = "nested-attributes" if any(attribute.children for attribute in stated) else ""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<log xes.version="1849.2016" xes.features="{features}" xmlns="http://www.xes-standard.org/">'
    for extension in metadata.extensions:
        name = re.sub(r"^(?=[^A-Za-z_])", "_", re.sub(r"[^\w.-]", "_", extension.name))
        yield f'\t<extension name="{escape(name)}" prefix="{escape(extension.prefix)}" uri="{escape(extension.uri)}"/>'
    for scope, attributes in (("trace", metadata.case_globals), ("event", metadata.event_globals)):
        if attributes:
            yield f'\t<global scope="{scope}">'
            yield from _attribute_lines(attributes, "\t\t")
            yield "\t</global>"
    for classifier in metadata.classifiers:
        keys = " ".join(f"'{key}'" if not key or re.search(r"\s", key) else key for key in classifier.keys)
        yield f'\t<classifier name="{escape(classifier.name)}" keys="{escape(keys)}"/>'
    yield from _attribute_lines(metadata.attributes, "\t")


def _attribute_lines(attributes: Iterable[Attribute], indent: str) -> Iterator[str]:
    for attribute in attributes:
        opening, closing = f'{indent}<{attribute.type} key="{escape(attribute.key)}"', f"{indent}</{attribute.type}>"
        if attribute.type == "list":
            yield f"{opening}>"
            yield f'{indent}\t<values key="values">'  # the schema asks for a key here; nobody reads it
            yield from _attribute_lines(attribute.children, f"{indent}\t\t")
            yield from (f"{indent}\t</values>", closing)
            continue
        opening = f'{opening} value="{escape(_plain(attribute.value))}"'
        if attribute.children:
            yield f"{opening}>"
            yield from _attribute_lines(attribute.children, f"{indent}\t")
            yield closing
        else:
            yield f"{opening}/>"


def _plain(value: AttributeValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return aware.isoformat(timespec="microseconds" if value.microsecond % 1000 else "milliseconds")
    return str(value)


def escape(text: str) -> str:
    """Text as it stands between the quotes of an XML attribute; what XML 1.0 cannot hold becomes U+FFFD."""
    return re.sub(NOT_XML, "\ufffd", text).translate({ord(letter): reference for letter, reference in ESCAPES.items()})


def write_xes(log: EventLog, stream: BinaryIO, progress: Progress = no_progress) -> list[str]:
    """Write a log as XES and tell what could not be kept; instances become start and complete events. Progress counts rows."""
    notes, of_cases, of_events, done = list[str](), list[_Attribute](), list[_Attribute](), 0
    for made in log.parts():
        part = as_events(made) if log.instances == "pair" else made  # in XES an event has one time
        if not of_events:
            metadata, notes = plan_header(part)
            stream.write("".join(f"{line}\n" for line in header_lines(metadata)).encode())
            of_cases = [_Attribute(values, "\t\t", log) for values in part.cases]
            of_events = [_Attribute(values, "\t\t\t", log) for values in part.events.drop(CASE_INDEX)]
        written = 0
        for events in slices(part):
            stream.write(_traces(part, events, written, of_cases, of_events))
            written += events.height
            progress(done + written * made.n_events // part.n_events, log.n_events)
        done += made.n_events
    stream.write(b"</log>\n")
    lossy = dict.fromkeys(attribute.key for attribute in of_cases + of_events if attribute.lossy)
    notes.extend(f'Characters of "{escape(key)}" that XML cannot hold were replaced.' for key in lossy)
    if log.individual is not None:
        notes.append(f'XES cannot say that "{log.individual}" names the individual. {NAME_INDIVIDUAL}')
    return notes


def _traces(
    log: EventLog, events: pl.DataFrame, begin: int, of_cases: Sequence[_Attribute], of_events: Sequence[_Attribute]
) -> bytes:
    """The text of a slice of events, which begins at this event of the log."""
    first, last = events[CASE_INDEX][0], events[CASE_INDEX][-1]
    bounds = log.case_offsets[first : last + 2] - begin
    cases = log.cases[first : last + 1]
    heads = cases.select(_text(["\t<trace>\n", *_pieces(cases, of_cases)])).to_series()

    def marked(positions: npt.NDArray[np.int64]) -> pl.Series:
        marks = np.zeros(events.height, bool)
        marks[positions[(positions >= 0) & (positions < events.height)]] = True
        return pl.Series(marks)

    head = pl.when(marked(bounds[:-1])).then(heads.gather(events[CASE_INDEX] - first))
    end = pl.when(marked(bounds[1:] - 1)).then(pl.lit("\t</trace>\n"))
    text = _text([head, "\t\t<event>\n", *_pieces(events, of_events), "\t\t</event>\n", end])
    written: bytes = events.select(text.str.join("").cast(pl.Binary)).item()
    return written


class _Attribute:
    """How the values of one column are spelled."""

    def __init__(self, values: pl.Series, indent: str, log: EventLog) -> None:
        self.key = values.name
        self.type = column_type(values)
        self.opening = f'{indent}<{self.type} key="{escape(self.key)}" value="'
        self.lossy = re.search(NOT_XML, self.key) is not None
        finer_than_millis = self.type == "date" and log.finer_than(1000, values)
        self.time_format = f"%Y-%m-%dT%H:%M:%S{'%.6f' if finer_than_millis else '%.3f'}+00:00"

    def needs_care(self) -> pl.Expr:
        """Whether any value is not spelled in XML the way Polars spells it."""
        values = column(self.key)
        if self.type == "string":
            return values.str.contains(AWKWARD).any()
        return values.is_infinite().any() if self.type == "float" else pl.lit(False).alias(self.key)

    def value(self, part: pl.DataFrame, with_care: bool) -> pl.Expr:
        """The values of the column as text of an XML attribute."""
        values = column(self.key)
        if self.type == "date":
            return values.dt.to_string(self.time_format)
        spelled = values.cast(pl.String)
        if with_care and self.type == "float":
            return spelled.replace({"inf": "INF", "-inf": "-INF"})
        if with_care:
            if part.select(values.str.contains(NOT_XML).any()).item():
                self.lossy = True
                spelled = spelled.str.replace_all(NOT_XML, "\ufffd")
            return spelled.str.replace_many(list(ESCAPES), list(ESCAPES.values()))
        return spelled


def _pieces(part: pl.DataFrame, attributes: Sequence[_Attribute]) -> Iterator[pl.Expr | str]:
    """The elements of all attributes, in turn; a missing value makes no element."""
    care = part.select(attribute.needs_care() for attribute in attributes).row(0)
    for attribute, with_care in zip(attributes, care, strict=True):
        element = (attribute.opening, attribute.value(part, with_care), '"/>\n')
        if part[attribute.key].null_count():
            yield _text(element, ignore_nulls=False)
        else:
            yield from element


def _text(pieces: Iterable[pl.Expr | str], ignore_nulls: bool = True) -> pl.Expr:
    """One text a row, of constants and columns."""
    return pl.concat_str([pl.lit(piece) if isinstance(piece, str) else piece for piece in pieces], ignore_nulls=ignore_nulls)
