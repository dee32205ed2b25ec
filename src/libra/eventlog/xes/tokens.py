"""The fast way through XES: whole traces, cut into tokens by Polars' CSV parser.

A plain XES trace is nothing but `<trace>`, `<event>`, their ends, and attributes of the form `<type key="…" value="…"/>` with
white space between them. Taken as a table whose lines end at `<` and whose fields end at `"`, such text has five columns:
what opens the tag, the key, ` value=`, the value, and the tag's end. Parsing, splitting and UTF-8 validation are Rust's.

`read_plain` answers None as soon as anything is not exactly of this form (comments, nested attributes, single quotes, odd
spacing, unknown entities, an attribute given twice, …). The caller then gives the same bytes to the exact parser, so speed
never decides what is read: whatever `read_plain` accepts, an XML parser would read the same way.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.xes.columns import Part, Piece

ATTRIBUTE, TRACE, TRACE_END, EVENT, EVENT_END, NO_TAG = range(6)
TAGS = {"": NO_TAG, "trace>": TRACE, "/trace>": TRACE_END, "event>": EVENT, "/event>": EVENT_END}
TYPES = {f"{name} key=": name for name in ("string", "date", "int", "float", "boolean", "id")}
FOLLOWS = np.zeros((6, 6), bool)  # which structural tag may come after which
for before, after in ((TRACE, EVENT), (TRACE, TRACE_END), (EVENT, EVENT_END), (EVENT_END, EVENT), (EVENT_END, TRACE_END)):
    FOLLOWS[before, after] = True
FOLLOWS[TRACE_END, TRACE] = True

WHITE = "\t\n\r"
SPACE = " " + WHITE
ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
REFERENCE = re.compile(r"&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|([a-z]+));|&")
SCHEMA = dict.fromkeys(("tag", "key", "between", "value", "end"), pl.String)


class _NotPlainError(Exception):
    """The text is not of the plain form."""


def read_plain(text: bytes) -> Piece | None:
    """The traces in `text`, or None where it is not of the plain form: whole traces, at most white space before them.

    Example:
        >>> piece = read_plain(b'<trace><event><string key="concept:name" value="A &amp; B"/></event></trace>')
        >>> piece.event_parts[0].key, piece.event_parts[0].values.to_list()
        ('concept:name', ['A & B'])
        >>> read_plain(b"<trace><!-- not plain --></trace>") is None
        True
    """
    try:
        tokens = _tokens(text)
        kinds = _kinds(tokens, text)
        return _piece(tokens[1:], kinds[1:], b"&" in text)
    except _NotPlainError:
        return None


def _tokens(text: bytes) -> pl.DataFrame:
    """One row a tag, after a first row with what stands before the first `<`."""
    if not text.isascii() and (b"\xef\xbf\xbe" in text or b"\xef\xbf\xbf" in text):  # U+FFFE, U+FFFF: not XML
        raise _NotPlainError
    try:
        tokens = pl.read_csv(
            text,
            has_header=False,
            separator='"',
            eol_char="<",
            quote_char=None,
            schema=SCHEMA,
            empty_string_is_null=False,
            missing_columns="insert",
            extra_columns="raise",
        )
    except pl.exceptions.PolarsError as error:  # more than four quotes in a tag, or bytes that are not UTF-8
        raise _NotPlainError from error
    if tokens.height != np.count_nonzero(np.frombuffer(text, np.uint8) == ord("<")) + 1:
        raise _NotPlainError
    return tokens


def _kinds(tokens: pl.DataFrame, text: bytes) -> npt.NDArray[np.uint8]:
    """The kind of every tag, after checking the form of all tags by their few distinct beginnings and ends."""
    tags, ends = tokens["tag"].value_counts(), tokens["end"].value_counts()
    if tokens["tag"][0].strip(SPACE):
        raise _NotPlainError
    kind_of_tag = np.array([_kind(tag) for tag in tags["tag"]], np.uint8)
    kinds: npt.NDArray[np.uint8] = kind_of_tag[tokens["tag"].cast(pl.Enum(tags["tag"])).to_physical().to_numpy()]
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


def _kind(tag: str) -> int:
    kind = ATTRIBUTE if tag in TYPES else TAGS.get(tag.rstrip(SPACE))
    if kind is None:
        raise _NotPlainError
    return kind


def _piece(tokens: pl.DataFrame, kinds: npt.NDArray[np.uint8], has_entities: bool) -> Piece:
    structural = np.flatnonzero(kinds)
    order = kinds[structural]
    if not len(order) or order[0] != TRACE or structural[0] != 0 or order[-1] != TRACE_END or structural[-1] != len(kinds) - 1:
        raise _NotPlainError
    if not FOLLOWS[order[:-1], order[1:]].all():
        raise _NotPlainError

    is_attribute = kinds == ATTRIBUTE
    within = np.repeat(order, np.diff(structural, append=len(kinds)))[is_attribute]  # the structural tag before each
    if (within == TRACE_END).any():
        raise _NotPlainError
    of_event = within == EVENT
    case = np.cumsum(kinds == TRACE, dtype=np.uint32) - 1
    event = np.cumsum(kinds == EVENT, dtype=np.uint32) - 1
    owner = np.where(of_event, event[is_attribute], case[is_attribute])
    attributes = tokens.lazy().filter(pl.Series(is_attribute)).select("tag", "key", "value").collect()
    attributes = attributes.with_columns(pl.Series("of_event", of_event), pl.Series("owner", owner))
    if has_entities:
        attributes = attributes.with_columns(_unescaped(attributes["value"]))

    parts: dict[bool, list[Part]] = {True: [], False: []}
    seen: dict[tuple[bool, str], npt.NDArray[np.int64]] = {}
    for (in_event, tag, raw), rows in attributes.partition_by(
        "of_event", "tag", "key", as_dict=True, maintain_order=True
    ).items():
        key = _unescape(str(raw))
        owners = rows["owner"].to_numpy().astype(np.int64)
        taken = seen.get((bool(in_event), key))
        if (np.diff(owners) == 0).any() or (taken is not None and np.isin(owners, taken).any()):
            raise _NotPlainError  # an attribute given twice
        seen[bool(in_event), key] = owners if taken is None else np.concatenate((taken, owners))
        parts[bool(in_event)].append(Part(key, TYPES[str(tag)], owners, rows["value"]))
    is_event = kinds == EVENT
    return Piece(int(case[-1]) + 1, case[is_event].astype(np.int64), parts[False], parts[True])


def _unescaped(values: pl.Series) -> pl.Series:
    escaped = values.filter(values.str.contains("&", literal=True)).unique().to_list()
    return values.replace(escaped, [_unescape(text) for text in escaped]) if escaped else values


def _unescape(text: str) -> str:
    return REFERENCE.sub(_character, text)


def _character(reference: re.Match[str]) -> str:
    decimal, hexadecimal, name = reference.groups()
    if name in ENTITIES:
        return ENTITIES[name]
    code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else 0
    if code in (9, 10, 13) or 32 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF:
        return chr(code)
    raise _NotPlainError
