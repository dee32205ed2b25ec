"""Two parsers of XES with the same outcome: a fast one for plain traces, and an exact one for everything else.

A plain trace is nothing but `<trace>`, `<event>`, their ends, and attributes `<type key="…" value="…"/>`, with space between.
Taken as a table whose lines end at `<` and whose fields end at `"`, such text has five columns, which Polars' CSV parser splits.
All else goes to `XesParser`, on the standard library's expat, so speed never decides what is read. It expands no entities from a
document type declaration and opens no file and no connection: a declaration is refused.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import cast
from xml.parsers import expat

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError
from libra.eventlog.metadata import Attribute, AttributeType, AttributeValue, Classifier, Extension, LogMetadata
from libra.eventlog.tables.dates import read_iso_dates
from libra.eventlog.xes.assemble import BOOLEANS, FLOATS, Part, Piece

ATTRIBUTE, TRACE, TRACE_END, EVENT, EVENT_END, NO_TAG = range(6)
TAGS = {"": NO_TAG, "trace>": TRACE, "/trace>": TRACE_END, "event>": EVENT, "/event>": EVENT_END}
SCALARS = ("string", "date", "int", "float", "boolean", "id")
TYPES = {f"{name} key=": name for name in SCALARS}
FOLLOWS = np.zeros((6, 6), bool)  # which structural tag may come after which
FOLLOWS[[TRACE, TRACE, EVENT, EVENT_END, EVENT_END, TRACE_END], [EVENT, TRACE_END, EVENT_END, EVENT, TRACE_END, TRACE]] = True
WHITE = "\t\n\r"
SPACE = " " + WHITE
ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]+));|&")
SCHEMA = dict.fromkeys(("tag", "key", "between", "value", "end"), pl.String)
NESTED = ("list", "container")
PROBE = "libra-probe"
PROBE_TAG = f"<{PROBE}/>".encode()


class _NotPlainError(Exception):
    """The text is not of the plain form."""


def read_plain(text: bytes) -> Piece | None:
    """The traces in `text`, or None where it is not of the plain form: whole traces, at most white space before them."""
    if not text.isascii() and (b"\xef\xbf\xbe" in text or b"\xef\xbf\xbf" in text):  # U+FFFE, U+FFFF: not XML
        return None
    try:  # one row a tag, after a first row with what stands before the first `<`
        tokens = pl.read_csv(
            text, has_header=False, separator='"', eol_char="<", quote_char=None, schema=SCHEMA, empty_string_is_null=False,
            missing_columns="insert", extra_columns="raise",
        )  # fmt: skip
        if tokens.height != np.count_nonzero(np.frombuffer(text, np.uint8) == ord("<")) + 1:
            return None
        return _piece(tokens[1:], _kinds(tokens, text)[1:], b"&" in text)
    except (_NotPlainError, pl.exceptions.PolarsError):  # more than four quotes in a tag, or bytes that are not UTF-8
        return None


def _kinds(tokens: pl.DataFrame, text: bytes) -> npt.NDArray[np.uint8]:
    """The kind of every tag, after checking the form of all tags by their few distinct beginnings and ends."""
    tags, ends = tokens["tag"].value_counts(), tokens["end"].value_counts()
    kind_of_tag = [ATTRIBUTE if tag in TYPES else TAGS.get(tag.rstrip(SPACE)) for tag in tags["tag"]]
    if tokens["tag"][0].strip(SPACE) or None in kind_of_tag:
        raise _NotPlainError
    kinds: npt.NDArray[np.uint8] = np.array(kind_of_tag, np.uint8)[
        tokens["tag"].cast(pl.Enum(tags["tag"])).to_physical().to_numpy()
    ]
    is_attribute = kinds == ATTRIBUTE
    if not (
        np.array_equal(tokens["between"] == " value=", is_attribute)
        and np.array_equal(tokens["between"] == "", ~is_attribute)
        and np.array_equal(tokens["end"] == "", ~is_attribute)
        and all(end == "" or end.rstrip(SPACE) in ("/>", " />") for end in ends["end"])
        and not ((tokens["key"] != "").to_numpy() > is_attribute).any()
        and not ((tokens["value"] != "").to_numpy() > is_attribute).any()
    ):
        raise _NotPlainError
    # All control characters stand between tags: none is in a key or value, where XML would turn it into a space or forbid it.
    between_tags = sum(count * sum(map(ending.count, WHITE)) for counts in (tags, ends) for ending, count in counts.iter_rows())
    if np.count_nonzero(np.frombuffer(text, np.uint8) < ord(" ")) != between_tags:
        raise _NotPlainError
    return kinds


def _piece(tokens: pl.DataFrame, kinds: npt.NDArray[np.uint8], has_entities: bool) -> Piece:
    structural = np.flatnonzero(kinds)
    order = kinds[structural]
    if not len(order) or order[0] != TRACE or structural[0] != 0 or order[-1] != TRACE_END or structural[-1] != len(kinds) - 1:
        raise _NotPlainError
    is_attribute = kinds == ATTRIBUTE
    within = np.repeat(order, np.diff(structural, append=len(kinds)))[is_attribute]  # the structural tag before each
    if not FOLLOWS[order[:-1], order[1:]].all() or (within == TRACE_END).any():
        raise _NotPlainError
    of_event = within == EVENT
    case = np.cumsum(kinds == TRACE, dtype=np.uint32) - 1
    event = np.cumsum(kinds == EVENT, dtype=np.uint32) - 1
    owner = np.where(of_event, event[is_attribute], case[is_attribute])
    attributes = tokens.lazy().filter(pl.Series(is_attribute)).select("tag", "key", "value").collect()
    attributes = attributes.with_columns(pl.Series("of_event", of_event), pl.Series("owner", owner))
    if has_entities:
        values = attributes["value"]
        escaped = values.filter(values.str.contains("&", literal=True)).unique().to_list()
        attributes = attributes.with_columns(values.replace(escaped, [REFERENCE.sub(_character, text) for text in escaped]))

    parts: dict[bool, list[Part]] = {True: [], False: []}
    seen: dict[tuple[bool, str], npt.NDArray[np.int64]] = {}
    by_key = attributes.partition_by("of_event", "tag", "key", as_dict=True, maintain_order=True)
    for (in_event, tag, raw), rows in by_key.items():
        key = REFERENCE.sub(_character, str(raw))
        owners = rows["owner"].to_numpy().astype(np.int64)
        taken = seen.get((bool(in_event), key))
        if (np.diff(owners) == 0).any() or (taken is not None and np.isin(owners, taken).any()):
            raise _NotPlainError  # an attribute given twice
        seen[bool(in_event), key] = owners if taken is None else np.concatenate((taken, owners))
        parts[bool(in_event)].append(Part(key, TYPES[str(tag)], owners, rows["value"]))
    return Piece(int(case[-1]) + 1, case[kinds == EVENT].astype(np.int64), parts[False], parts[True])


def _character(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name in ENTITIES:
        return ENTITIES[name]
    code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else 0
    if code in (9, 10, 13) or 32 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF:
        return chr(code)
    raise _NotPlainError


class RefusedError(Exception):
    """Something a log must not contain; the text says what."""


class _Owners:
    """Traces or events as they come in: how many, and their attributes by key and type."""

    def __init__(self) -> None:
        self.count = 0
        self.values: dict[tuple[str, str], tuple[list[int], list[str]]] = defaultdict(lambda: ([], []))

    def parts(self) -> list[Part]:
        found = self.values.items()
        return [Part(*of, np.array(owners, np.int64), pl.Series(values, dtype=pl.String)) for of, (owners, values) in found]


class XesParser:
    """Feeds on bytes; collects the header as metadata and traces as a piece that `take` hands over."""

    def __init__(self, encoding: str | None = None) -> None:
        self._parser = expat.ParserCreate(encoding)
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = _refuse_doctype
        if hasattr(self._parser, "SetReparseDeferralEnabled"):
            self._parser.SetReparseDeferralEnabled(False)  # what was fed is to be seen at once
        self._open: list[str] = []  # the open elements, without namespace prefix
        self._in_trace = False
        self._ignoring = 0  # the depth of an unknown element whose content is passed over; 0: none
        self._outer_key = ""  # the attribute of the trace or event that is open or was last
        self._keys: dict[str, set[str]] = {"trace": set(), "event": set()}  # given in the open trace and event
        self._collected = {"trace": _Owners(), "event": _Owners()}
        self._case_of_event: list[int] = []
        self._pending: list[tuple[str, str, list[Attribute]]] = []  # key, text and children of open ones, outermost first
        self._attributes: list[Attribute] = []
        self._globals: dict[str, list[Attribute]] = {"trace": [], "event": []}
        self._target = self._attributes  # where a finished attribute of the header goes
        self._classifiers: list[Classifier] = []
        self._extensions: list[Extension] = []
        self._probed = False
        self._probes: list[int] = []  # where they stand among the bytes fed
        self._fed = 0
        self.closed = False  # the log's end tag has been read
        self.nested: set[str] = set()  # attributes of traces and events that have attributes of their own
        self.lists: set[str] = set()
        self.repeated: set[str] = set()
        self.unknown: set[str] = set()  # elements that the standard does not have in their place

    def feed(self, text: bytes, final: bool = False) -> None:
        """Read on. Raises expat's error where the text is not XML, `RefusedError` where it must not be read."""
        self._fed += len(text)
        self._parser.Parse(text, final)

    @property
    def between_traces(self) -> bool:
        """Whether the log is open and nothing within it, but perhaps a comment or a tag that has not ended."""
        return self._open == ["log"]

    def at_rest(self) -> bool:
        """Whether a trace may stand here: an empty element of ours is seen as one, and not swallowed by a comment or a tag."""
        self._probed = False
        if self.between_traces:
            self._probes.append(self._fed)
            self.feed(PROBE_TAG)
        return self._probed

    @property
    def error_position(self) -> int:
        """The byte, of those of the document, at which the last error stands."""
        position = max(self._parser.ErrorByteIndex, 0)
        return position - len(PROBE_TAG) * sum(probe < position for probe in self._probes)

    @property
    def metadata(self) -> LogMetadata:
        """The header, as far as it has been read."""
        of_cases, of_events = map(tuple, self._globals.values())
        return LogMetadata(tuple(self._attributes), of_cases, of_events, tuple(self._classifiers), tuple(self._extensions))

    def notes(self) -> list[str]:
        """What could not be kept, as sentences."""
        found = {
            "Attributes nested in other attributes were left out, those in: {}.": self.nested - self.lists,
            "List attributes were left out: {}.": self.lists,
            "Attributes given twice to one event or case keep their first value: {}.": self.repeated,
            "Elements that XES does not have there were left out: {}.": self.unknown,
        }
        return [sentence.format(", ".join(sorted(names))) for sentence, names in found.items() if names]

    def take(self) -> Piece:
        """The traces read since the last call."""
        traces, events = self._collected["trace"], self._collected["event"]
        piece = Piece(traces.count, np.array(self._case_of_event, np.int64), traces.parts(), events.parts())
        self._collected = {"trace": _Owners(), "event": _Owners()}
        self._case_of_event = []
        return piece

    def _start(self, qualified: str, given: dict[str, str]) -> None:
        name = qualified.rpartition(":")[2]
        parent = self._open[-1] if self._open else None
        self._open.append(name)
        if self._ignoring:
            return
        if parent is None:
            if name != "log":
                raise RefusedError(f"its root element is <{qualified}>, not <log>")
        elif name in SCALARS or name in NESTED:
            key, value = given.get("key", ""), given.get("value", "")
            if self._in_trace:
                self._collect(name, parent, key, value)
            else:
                self._pending.append((key, value, []))
        elif (name, parent) in (("trace", "log"), ("event", "trace")):
            self._in_trace = True
            self._keys[name].clear()
            self._collected[name].count += 1
            if name == "event":
                self._case_of_event.append(self._collected["trace"].count - 1)
        elif parent == "log" and name == "global":
            self._target = self._globals.get(given.get("scope", "event"), [])
        elif parent == "log" and name == "classifier":  # a key with spaces in it stands between apostrophes
            stretches = enumerate(given.get("keys", "").split("'"))
            keys = [key for i, stretch in stretches for key in ([stretch] if i % 2 else stretch.split())]
            self._classifiers.append(Classifier(given.get("name", ""), tuple(keys)))
        elif parent == "log" and name == "extension":
            self._extensions.append(Extension(*(given.get(part, "") for part in ("name", "prefix", "uri"))))
        elif name == PROBE:
            self._probed = True
        elif name != "values":  # which wraps the items of a list
            self.unknown.add(name)
            self._ignoring = len(self._open)

    def _collect(self, kind: str, parent: str, key: str, value: str) -> None:
        if parent not in self._collected:
            self.nested.add(self._outer_key)
            return
        self._outer_key = key
        if kind in NESTED:
            self.lists.add(key)
        elif key in self._keys[parent]:
            self.repeated.add(key)
        else:
            self._keys[parent].add(key)
            owners, values = self._collected[parent].values[key, kind]
            owners.append(self._collected[parent].count - 1)
            values.append(value)

    def _end(self, _qualified: str) -> None:
        name = self._open.pop()
        if self._ignoring:
            self._ignoring = self._ignoring if len(self._open) >= self._ignoring else 0
        elif not self._open:
            self.closed = True
        elif name == "trace":
            self._in_trace = False
        elif name == "global":
            self._target = self._attributes
        elif self._pending and (name in SCALARS or name in NESTED):
            key, text, children = self._pending.pop()
            value = None if name in NESTED else _header_value(name, text)
            attribute = Attribute(key, cast("AttributeType", name), value, tuple(children))
            (self._pending[-1][2] if self._pending else self._target).append(attribute)


def _refuse_doctype(*_declaration: object) -> None:
    raise RefusedError("it has a document type declaration (DTD), which is refused because it can hide an attack")


def _header_value(kind: str, text: str) -> AttributeValue:
    """The value of a header attribute; text that is not of its type stays text."""
    try:
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(FLOATS.get(text, text))
    except ValueError:
        return text
    if kind == "boolean":
        return BOOLEANS.get(text.lower(), text)
    if kind == "date":
        read = read_iso_dates(pl.Series([text]))[0][0]
        return cast("AttributeValue", text if read is None else read)
    return text


def not_xml(error: expat.ExpatError, place: str) -> InputError:
    """What an error of the parser means to a person."""
    said = expat.errors.messages.get(error.code, str(error))
    if said in (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN):
        return InputError("the XML ends before the log does", place=place, remedy="It is cut off: copy or export it again")
    remedy = "Export the log again, or name its encoding with --encoding if it is not the one the file declares"
    return InputError(f"this is not well-formed XML ({said})", place=place, remedy=remedy)
