"""Whether a released log looks like what its certificate says of it: what can be seen in the log itself.

A released log has the columns that are promised and no other, ids that are counted from 1, and no header; if its guarantee is
proved, cases are in the order in which they start, no time falls within a case, and instances start before they are completed.
Whoever brings a raw log into this form passes: only a signature shows who vouches for it.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.randomness import SEEDED_PREFIX
from libra.certificate.check import SHOWN, Check, judged
from libra.certificate.document import data_files
from libra.engines.control_flow_tables import PrefixLevel
from libra.errors import InputError, LibraError
from libra.eventlog.attributes import Attribute, by_level, plain_values
from libra.eventlog.files import FileFormat, input_format, open_input
from libra.eventlog.in_parts import part_schema
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import (
    ACTIVITY,
    CASE_ID,
    CASE_INDEX,
    CASE_NAME,
    CASE_PREFIX,
    LIFECYCLE,
    OTHER,
    PSEUDONYM,
    RESOURCE,
    START_TIMESTAMP,
    TIMESTAMP,
)
from libra.eventlog.options import InstanceMode, ReadOptions
from libra.eventlog.read import read
from libra.eventlog.tables.csv_write import header_of
from libra.eventlog.tables.frames import KEY, remembering
from libra.eventlog.xes.write import header_lines, written_metadata
from libra.mechanisms.fresh_log import PLACEHOLDERS, fresh_metadata, id_prefix, placeholder_times
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.attributes.columns import schema_of
from libra.mechanisms.libra.generate import first_cases
from libra.mechanisms.libra.releases import ATTRIBUTES, EVENT_ATTRIBUTES, RELEASES, TIMES
from libra.mechanisms.mechanism import HOMES
from libra.mechanisms.release import WITH_ATTRIBUTES, instances_in
from libra.privacy.gate import VARIANT_COUNTS

CONTENT = "content"
LONGEST = 60  # characters of a column's name
ROUNDED = 1e-9  # relative: what a number in floats may be off from its decimals
BLOCK = 1 << 20
HEAD = 1 << 20  # bytes of a table that its first line is in
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"  # no name, no comment, no time
OF_SPARK = "org.apache.spark."
OF_ARROW = "ARROW:schema"
ATTRIBUTE = rb'\t\t\t<(?:string|int|float|boolean|date|id) key="[^"<]*+" value="[^"<]*+"/>\n'
TRACE = (
    rb'\t<trace>\n\t\t<string key="concept:name" value="[^"<]*+"/>\n%b'
    rb'(?:\t\t<event>\n\t\t\t<string key="concept:name" value="[^"<]*+"/>\n\t\t\t<date key="time:timestamp" value="[^"<]*+"/>\n'
    rb"%b\t\t</event>\n)++\t</trace>\n"
)
TRANSITION = rb'\t\t\t<string key="lifecycle:transition" value="[^"<]*+"/>\n'
OF_EVENTS: dict[InstanceMode | None, bytes] = {
    "pair": TRANSITION + rb'\t\t\t<string key="concept:instance" value="[0-9]++"/>\n',
    "events": b"(?:%b)?+" % TRANSITION,
}
FALLS = "it has a case whose times fall"
TRACE_END, LOG_END = b"\t</trace>\n", b"</log>\n"


def content(document: Mapping[str, Any], output: Path) -> Check:
    """Whether the log in the file goes with the certificate."""
    try:
        log, problems = _read_back(document, output)
        problems += content_of_log(document, log)
        if not problems and document["mechanism"] in HOMES:
            problems += departures_of_file(output, log, _declared(document), seeded=document["guarantee"]["seeded"])
    except LibraError as error:
        problems = [f"it cannot be read: {str(error).removesuffix('.')}"]
    return content_check(problems)


def _read_back(document: Mapping[str, Any], output: Path) -> tuple[EventLog, list[str]]:
    """The log in the file, and where that does not go with the instances that the certificate speaks of."""
    mode = instances_in(document["contents"])
    log = read(output, ReadOptions(allow_empty=True, instances="events"))  # what is in the file: transitions may be an attribute
    if mode != "pair":
        if mode == "events" and LIFECYCLE not in log.events.columns:  # a column without any value is not kept
            log = replace(log, events=log.events.with_columns(pl.lit(None, pl.String).alias(LIFECYCLE)))
        return replace(log, instances=mode), []
    problems = []
    if START_TIMESTAMP in log.events.columns:  # a table; in XES starts are events
        if (log.events[START_TIMESTAMP] > log.events[TIMESTAMP]).any():
            problems.append("it has an activity that starts after it is completed")
        if not log.in_time_order:
            problems.append(FALLS)
    return read(log, ReadOptions(allow_empty=True, instances="pair")), problems


def content_check(problems: Iterable[str]) -> Check:
    """The check that has found these problems."""
    holds, fails = "The log in the file is one that such a run writes.", "The log in the file does not go with the certificate"
    return judged(CONTENT, problems, holds, fails, "The certificate was made up, or belongs to another run.")


def content_of_log(document: Mapping[str, Any], log: EventLog) -> Iterator[str]:
    """How a log differs from what a run with this certificate makes."""
    if log.cases[CASE_NAME].str.starts_with(SEEDED_PREFIX).any() and not document["guarantee"]["seeded"]:
        yield "its case ids say that it was drawn with a seed, and the certificate does not"
    elif document["mechanism"] in HOMES:  # what other packages write is not known here
        yield from _other_form(document, log)
    if "cases" in document and log.n_cases != document["cases"]:
        yield f"it has {log.n_cases:,} cases, and the certificate says {document['cases']:,}"
    ledger = document.get("ledger", ())
    bounds = [entry["bound"] for entry in ledger if entry["purpose"] == VARIANT_COUNTS and "bound" in entry]
    if document["mechanism"] != Libra.name and len(bounds) == 1 and log.n_cases and log.variants.counts.min() <= bounds[0]:
        yield f"it has a variant of {bounds[0]} cases or fewer, and with this noise none is released"
    levels = sum(entry["purpose"] == PrefixLevel.purpose for entry in ledger)
    if levels and log.n_cases and np.diff(log.case_offsets).max() >= levels:
        yield f"it has a trace of {levels} events or more, and {levels} levels of prefixes give shorter ones"
    if document["contents"] == PLACEHOLDERS:
        if not np.array_equal(log.timestamps, placeholder_times(log.case_offsets)):
            yield "its timestamps are other than the placeholders that the certificate speaks of"
        return
    counted = {RELEASES[entry["purpose"]].topic for entry in ledger if entry["purpose"] in RELEASES}
    if ledger and log.n_events and not counted & {*TIMES}:
        yield "it has times, and the ledger counts none"
    there = {*log.events.columns, *(CASE_PREFIX + name for name in log.cases.columns)} & set(_declared(document))
    for topic, asked in zip((ATTRIBUTES, EVENT_ATTRIBUTES), by_level(attributes_of(document)), strict=True):
        if topic not in counted and there & {one.name for one in asked}:
            yield f"it has {topic}, and the ledger counts none"
    for attribute in attributes_of(document):
        if attribute.name in there:
            yield from (f'its attribute "{attribute.name[:LONGEST]}" has {found}' for found in _undeclared(attribute, log))
    if RESOURCE in there and not document["parameters"].get("resource_names") and _has_names(document, log):
        yield "it has names of resources, and the certificate promises R1, R2 and so on"


def _other_form(document: Mapping[str, Any], log: EventLog) -> Iterator[str]:
    """Columns, header, ids and the order of times."""
    seeded = document["guarantee"]["seeded"]
    declared = _declared(document)
    promised = {CASE_INDEX, ACTIVITY, TIMESTAMP, CASE_ID, *declared}
    if instances_in(document["contents"]) == log.instances:
        promised |= set(part_schema(log.instances))
    of_events = [name for name in log.events.columns if name not in promised]
    if of_events and document["contents"] != WITH_ATTRIBUTES:
        yield f"its events have attributes that are not promised: {_named(of_events)}"
    if of_cases := [name for name in log.cases.columns if CASE_PREFIX + name not in promised]:
        yield f"its cases have attributes that are not promised: {_named(of_cases)}"
    fresh = EventLog(log.events, log.cases, fresh_metadata(log, seeded=seeded), instances=log.instances)
    if log.metadata not in (LogMetadata(), fresh.metadata, written_metadata(fresh)):
        yield "it has a header that no such log has"
    ids = id_prefix(seeded=seeded) + pl.int_range(1, log.n_cases + 1, eager=True).cast(pl.String)
    if not log.cases[CASE_NAME].equals(ids):
        yield f"its case ids are not {id_prefix(seeded=seeded)}1, {id_prefix(seeded=seeded)}2 and so on"
    if document["guarantee"]["kind"] == "proved" and log.n_cases:
        starts = np.minimum.reduceat(_first_times(log), log.case_offsets[:-1])
        later = np.diff(starts) >= 0
        later[first_cases(log.n_cases, log.n_events)[1:] - 1] = True
        if not later.all():
            yield "its cases are not in the order in which they start"
        if not log.in_time_order:
            yield FALLS


def attributes_of(document: Mapping[str, Any]) -> list[Attribute]:
    """The attributes that were asked for."""
    asked = (document.get("parameters") or {}).get("attributes") or () if document.get("mechanism") == Libra.name else ()
    return [Attribute.from_dict(one) for one in asked]


def _declared(document: Mapping[str, Any]) -> dict[str, pl.DataType]:
    """Their columns."""
    return schema_of(attributes_of(document))


def _undeclared(attribute: Attribute, log: EventLog) -> Iterator[str]:
    """What the values of an attribute are that its declaration does not allow."""
    values = log.cases[attribute.name.removeprefix(CASE_PREFIX)] if attribute.in_cases else log.events[attribute.name]
    try:
        found = plain_values(values, replace(attribute, lowest=None, highest=None, missing=()))
    except InputError:
        yield f"a value that is no {attribute.kind}"
        return
    if attribute.values is not None and not found.drop_nulls().is_in([*attribute.values, OTHER]).all():
        yield "a value that is not on its list"
    if attribute.kind == "number":
        low, high = attribute.bounds
        if not found.drop_nulls().is_between(low, high).all():
            yield "a number beyond its bounds"
        if ((values.cast(pl.Float64) * 10**attribute.decimals - found).abs() > ROUNDED * found.abs().clip(1)).any():
            yield "a number with more decimals than are declared"
    if attribute.kind == "date" and (plain_values(values, replace(attribute, unit="", lowest=None, highest=None)) != found).any():
        yield "a date with a time of day"
    if attribute.at is not None and (log.events[ACTIVITY].filter(found.is_not_null()) != attribute.at).any():
        yield f'a value on an event other than "{attribute.at[:LONGEST]}"'


def _has_names(document: Mapping[str, Any], log: EventLog) -> bool:
    """Whether resources have names that are neither declared nor of the form R1."""
    resource = next(one for one in attributes_of(document) if one.name == RESOURCE)
    found = log.events[RESOURCE].drop_nulls().cast(pl.String)
    return resource.values is None and not found.str.contains(PSEUDONYM).all()


def _first_times(log: EventLog) -> npt.NDArray[np.int64]:
    """For every event, or instance, when it began."""
    if log.instances != "pair":
        return log.timestamps
    began = log.events[START_TIMESTAMP].fill_null(log.events[TIMESTAMP]).to_physical().to_numpy()
    first: npt.NDArray[np.int64] = np.minimum(began, log.timestamps)
    return first


def _named(columns: list[str]) -> str:
    more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
    return ", ".join(name[:LONGEST] for name in columns[:SHOWN]) + more


def departures_of_file(
    output: Path, log: EventLog, attributes: Mapping[str, pl.DataType] | None = None, *, seeded: bool
) -> Iterator[str]:
    """What a file, or a folder of files, holds besides this log, which was read from it; `attributes` are those promised."""
    names = [CASE_ID, *(CASE_PREFIX + name for name in log.cases.columns[1:]), *log.events.columns[1:]]
    every = list(part_schema(log.instances, attributes)) if attributes else names  # a log in parts has empty columns as well
    for file in data_files(output).values() if output.is_dir() else [output]:
        form = input_format(file)
        if output.is_dir() and form.kind not in ("csv", "parquet"):
            yield f"the folder holds {file.name}, which is no part of the log"
            continue
        if form.compression == "gz":
            with open_input(file, "none") as stream:
                if stream.read(len(GZIP_HEAD)) != GZIP_HEAD:
                    yield "its packing says more than that it is packed"
        if form.compression == "zip":
            with zipfile.ZipFile(file) as archive:
                if len(archive.namelist()) != 1 or archive.comment:
                    yield "the archive holds more than the log"
        if form.kind == "parquet":
            yield from _of_parquet(file, (names, every), [LogMetadata(), fresh_metadata(log, seeded=seeded)])
        elif form.kind == "xes":
            yield from _of_xes(file, form, log, seeded, with_attributes=bool(attributes))
        else:
            separator = "\t" if form.kind == "tsv" else ","
            with open_input(file, form.compression) as stream:
                head = stream.read(HEAD)
            if not any(head.startswith(f"{separator.join(map(header_of, each))}\n".encode()) for each in (names, every)):
                yield f"its columns are not exactly {', '.join(names)}"


def _of_parquet(file: Path, either: tuple[list[str], list[str]], known: list[LogMetadata]) -> Iterator[str]:
    """What a Parquet file holds besides these columns; those without a value may be there or not."""
    with file.open("rb") as stream:
        schema = pl.read_parquet_schema(stream)
        stream.seek(0)
        remembered = pl.read_parquet_metadata(stream)
    times = schema.get(TIMESTAMP)
    timed = isinstance(times, pl.Datetime) and times.time_unit == "us"
    if list(schema) not in either or {schema[CASE_ID], schema[ACTIVITY]} != {pl.String()} or not timed:
        yield f"its columns are not exactly {', '.join(either[0])}, text and times"
    ours = [remembering(metadata)[KEY] for metadata in known]
    others = [key for key in remembered if key not in (KEY, OF_ARROW) and not key.startswith(OF_SPARK)]
    if others or remembered.get(KEY, ours[0]) not in ours:
        yield "it remembers more than its rows"


def _of_xes(file: Path, form: FileFormat, log: EventLog, seeded: bool, *, with_attributes: bool) -> Iterator[str]:
    """Whether the text is the header of such a log and then traces, with nothing between them."""
    fresh = EventLog(log.events, log.cases, fresh_metadata(log, seeded=seeded), instances=log.instances)
    head = "".join(f"{line}\n" for line in header_lines(written_metadata(fresh))).encode()
    plain = fresh.events.columns == [CASE_INDEX, ACTIVITY, TIMESTAMP]
    of_events, of_cases = OF_EVENTS.get(log.instances, b"" if plain else b"(?:%b)*+" % ATTRIBUTE), b""
    if with_attributes:
        of_events, of_cases = b"(?:%b)*+" % ATTRIBUTE, b"(?:%b)*+" % ATTRIBUTE.removeprefix(rb"\t")
    traces = re.compile(b"(?:%b)*+" % (TRACE % (of_cases, of_events)))
    with open_input(file, form.compression) as stream:
        if stream.read(len(head)) != head:
            yield "its header is not that of a released log"
            return
        rest = b""
        while block := stream.read(BLOCK):
            text = rest + block
            end = text.rfind(TRACE_END, max(0, len(rest) - len(TRACE_END)))
            cut = end + len(TRACE_END) if end >= 0 else 0
            if cut and not traces.fullmatch(text, 0, cut):
                yield "it has XML that is no part of the log"
                return
            rest = text[cut:]
    if rest != LOG_END:
        yield "it has XML that is no part of the log"
