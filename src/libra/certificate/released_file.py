"""Whether a file holds nothing but the log that is read from it: what a reader passes over could carry the original along.

In: a released file, or a folder of them, and the log in it. Out: what else is there, in words. CSV has the columns of the log in
its first line; Parquet has their types and what our writers remember; XES is what our writer writes, line by line. Archives hold
one file, and folders nothing but files of the log.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from libra.certificate.document import data_files
from libra.eventlog.files import FileFormat, input_format, open_input
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.names import ACTIVITY, CASE_ID, CASE_INDEX, TIMESTAMP
from libra.eventlog.tables.csv_write import header_of
from libra.eventlog.tables.parquet import KEY, remembering
from libra.eventlog.xes.write import header_lines, written_metadata
from libra.mechanisms.fresh_log import fresh_metadata

BLOCK = 1 << 20
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00"  # no name, no comment, no time
OF_SPARK = "org.apache.spark."
OF_ARROW = "ARROW:schema"
ATTRIBUTE = rb'\t\t\t<(?:string|int|float|boolean|date|id) key="[^"<]*+" value="[^"<]*+"/>\n'
TRACE = (
    rb'\t<trace>\n\t\t<string key="concept:name" value="[^"<]*+"/>\n'
    rb'(?:\t\t<event>\n\t\t\t<string key="concept:name" value="[^"<]*+"/>\n\t\t\t<date key="time:timestamp" value="[^"<]*+"/>\n'
    rb"%b\t\t</event>\n)++\t</trace>\n"
)
TRACE_END, LOG_END = b"\t</trace>\n", b"</log>\n"


def departures_of_file(output: Path, log: EventLog, *, seeded: bool) -> Iterator[str]:
    """What a file holds besides this log, which was read from it.

    Args:
        output: The file, or a folder.
        log: The log in it.
        seeded: Whether it was drawn with a seed, and says so in its header.

    Example:
        >>> import libra, libra.example, tempfile
        >>> file = Path(tempfile.mkdtemp()) / "log.xes"
        >>> log = libra.anonymize(libra.example.path()).log
        >>> _ = libra.write(log, file)
        >>> list(departures_of_file(file, log, seeded=False))
        []
        >>> _ = file.write_text(file.read_text().replace("</log>", "<!-- Anna was here --></log>"))
        >>> list(departures_of_file(file, log, seeded=False))
        ['it has XML that is no part of the log']
    """
    files = list(data_files(output).values()) if output.is_dir() else [output]
    for file in files:
        form = input_format(file)
        if output.is_dir() and form.kind not in ("csv", "parquet"):
            yield f"the folder holds {file.name}, which is no part of the log"
            continue
        yield from _of_packing(file, form)
        if form.kind == "parquet":
            yield from _of_parquet(file, log, seeded)
        elif form.kind == "xes":
            yield from _of_xes(file, form, log, seeded)
        else:
            yield from _of_csv(file, form, log)


def _of_packing(file: Path, form: FileFormat) -> Iterator[str]:
    if form.compression == "gz":
        with open_input(file, "none") as stream:
            if stream.read(len(GZIP_HEAD)) != GZIP_HEAD:
                yield "its packing says more than that it is packed"
    if form.compression == "zip":
        with zipfile.ZipFile(file) as archive:
            if len(archive.namelist()) != 1 or archive.comment:
                yield "the archive holds more than the log"


def _of_csv(file: Path, form: FileFormat, log: EventLog) -> Iterator[str]:
    names = [CASE_ID, *log.events.columns[1:]]
    separator = "\t" if form.kind == "tsv" else ","
    expected = f"{separator.join(map(header_of, names))}\n".encode()
    with open_input(file, form.compression) as stream:
        if stream.read(len(expected)) != expected:
            yield f"its columns are not exactly {', '.join(names)}"


def _of_parquet(file: Path, log: EventLog, seeded: bool) -> Iterator[str]:
    with file.open("rb") as stream:
        schema = pl.read_parquet_schema(stream)
        stream.seek(0)
        remembered = pl.read_parquet_metadata(stream)
    names = [CASE_ID, *log.events.columns[1:]]
    types = {name: schema.get(name) for name in (CASE_ID, ACTIVITY, TIMESTAMP)}
    timed = isinstance(times := types.pop(TIMESTAMP), pl.Datetime) and times.time_unit == "us"
    if list(schema) != names or set(types.values()) != {pl.String()} or not timed:
        yield f"its columns are not exactly {', '.join(names)}, text and times"
    ours = [remembering(metadata)[KEY] for metadata in (LogMetadata(), fresh_metadata(log, seeded=seeded))]
    others = [key for key in remembered if key not in (KEY, OF_ARROW) and not key.startswith(OF_SPARK)]
    if others or remembered.get(KEY, ours[0]) not in ours:
        yield "it remembers more than its rows"


def _of_xes(file: Path, form: FileFormat, log: EventLog, seeded: bool) -> Iterator[str]:
    """Whether the text is the header of such a log and then traces, with nothing between them."""
    fresh = EventLog(log.events, log.cases, fresh_metadata(log, seeded=seeded))
    head = "".join(f"{line}\n" for line in header_lines(written_metadata(fresh))).encode()
    attributes = b"" if fresh.events.columns == [CASE_INDEX, ACTIVITY, TIMESTAMP] else b"(?:%b)*+" % ATTRIBUTE
    traces = re.compile(b"(?:%b)*+" % (TRACE % attributes))
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
