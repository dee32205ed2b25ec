"""The head of an XES file: which extensions, globals, classifiers and attributes of the log are stated, and how.

In: a log with its metadata. Out: the opening lines of the file, and `written_metadata`, which is what a reader will find there.
A header that says nothing gets sensible defaults; any other is repeated as it was, less what the log contradicts. The order and
the types of the elements are those of IEEE 1849-2016. Names and keys that a log brings along are repeated even where the schema
asks for an XML name, as every tool does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import polars as pl

from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, AttributeType, AttributeValue, Classifier, Extension, LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, LIFECYCLE, TIMESTAMP

STANDARD_EXTENSIONS = tuple(
    Extension(name, prefix, f"http://www.xes-standard.org/{prefix}.xesext")
    for name, prefix in (
        ("Concept", "concept"),
        ("Time", "time"),
        ("Lifecycle", "lifecycle"),
        ("Organizational", "org"),
        ("Identity", "identity"),
        ("Cost", "cost"),
        ("Semantic", "semantic"),
        ("Micro", "micro"),
        ("Software_Event", "swevent"),
        ("Software_Communication", "swcomm"),
        ("Software_Telemetry", "swtelemetry"),
    )
)
IDENTITY = "identity:id"
UUID = r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"
ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}
_ESCAPE_TABLE = {ord(character): reference for character, reference in ESCAPES.items()}
NOT_XML = "[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
_COLUMN_TYPES: dict[type[pl.DataType], AttributeType] = {
    pl.String: "string",
    pl.Int64: "int",
    pl.Float64: "float",
    pl.Boolean: "boolean",
    pl.Datetime: "date",
}
_VALUE_TYPES: dict[AttributeType, type | tuple[type, ...]] = {
    "string": str,
    "id": str,
    "int": int,
    "float": (float, int),
    "boolean": bool,
    "date": datetime,
}


def column_type(column: pl.Series) -> AttributeType:
    """The XES type of a column: an identity is an id if all its values are UUIDs.

    Example:
        >>> column_type(pl.Series("age", [71])), column_type(pl.Series("identity:id", ["me"]))
        ('int', 'string')
    """
    if column.name == IDENTITY and column.dtype == pl.String and column.str.contains(UUID).all():
        return "id"
    return _COLUMN_TYPES[column.dtype.base_type()]


def default_metadata(log: EventLog) -> LogMetadata:
    """What the header of a log says that brought none: the attributes each case and event has, and the usual classifiers."""
    unknown = Attribute(ACTIVITY, "string", "UNKNOWN")
    event_globals = [unknown, Attribute(TIMESTAMP, "date", datetime(1970, 1, 1, tzinfo=UTC))]
    classifiers = [Classifier("Activity", (ACTIVITY,))]
    if LIFECYCLE in log.events.columns and log.events.schema[LIFECYCLE] == pl.String:
        classifiers.append(Classifier("Activity_and_lifecycle", (ACTIVITY, LIFECYCLE)))
        if not log.events[LIFECYCLE].null_count():
            event_globals.append(Attribute(LIFECYCLE, "string", "complete"))
    return LogMetadata((), (Attribute(CASE_NAME, "string", "UNKNOWN"),), tuple(event_globals), tuple(classifiers))


def written_metadata(log: EventLog) -> LogMetadata:
    """The metadata that a reader of the written file will find.

    Example:
        >>> from datetime import datetime
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["a"], "time:timestamp": [datetime(2024, 5, 6)]}),
        ...     pl.DataFrame({"concept:name": ["anna"]}),
        ... )
        >>> [c.name for c in written_metadata(log).classifiers]
        ['Activity']
    """
    return plan_header(log)[0]


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
        if not set(classifier.keys) <= set(log.events.columns) and log.n_events:
            notes.append(f'The classifier "{classifier.name}" was left out: it names attributes that no event has.')
        elif any("'" in key for key in classifier.keys):
            notes.append(f'The classifier "{classifier.name}" was left out: XES cannot write its keys.')
        else:
            classifiers.append(classifier)
    keys = [*log.events.columns, *log.cases.columns, *(a.key for a in (*attributes, *case_globals, *event_globals))]
    written = LogMetadata(attributes, case_globals, event_globals, tuple(classifiers), _extensions(given.extensions, keys))
    return written, notes


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
        elif isinstance(attribute.value, _VALUE_TYPES[attribute.type]):
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


def _extensions(given: tuple[Extension, ...], keys: Iterable[str]) -> tuple[Extension, ...]:
    used = {key.partition(":")[0] for key in keys if ":" in key}
    by_prefix = {extension.prefix: extension for extension in STANDARD_EXTENSIONS if extension.prefix in used}
    by_prefix.update((extension.prefix, extension) for extension in given)
    return tuple(by_prefix.values())


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
        opening = f'{indent}<{attribute.type} key="{escape(attribute.key)}"'
        if attribute.type == "list":
            yield f"{opening}>"
            yield f'{indent}\t<values key="values">'  # the schema asks for a key here; nobody reads it
            yield from _attribute_lines(attribute.children, f"{indent}\t\t")
            yield f"{indent}\t</values>"
            yield f"{indent}</list>"
        elif attribute.children:
            yield f'{opening} value="{escape(_plain(attribute.value))}">'
            yield from _attribute_lines(attribute.children, f"{indent}\t")
            yield f"{indent}</{attribute.type}>"
        else:
            yield f'{opening} value="{escape(_plain(attribute.value))}"/>'


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
    """Text as it stands between the quotes of an XML attribute; what XML 1.0 cannot hold becomes U+FFFD.

    Example:
        >>> escape('a "b" & c')
        'a &quot;b&quot; &amp; c'
    """
    return re.sub(NOT_XML, "\ufffd", text).translate(_ESCAPE_TABLE)
