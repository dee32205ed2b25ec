"""Writing XES: a log goes out in slices of events, each built by Polars as one piece of text.

In: a log, whole or in parts, and a stream. Out: bytes that are valid against IEEE 1849-2016, and notes on what XES cannot hold.
What is written reads back equal: timestamps to the microsecond, numbers to the last digit. Memory stays a small multiple of one
slice, however long a case or large the log is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.columns import column
from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_INDEX
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.slices import slices
from libra.eventlog.xes.header import ESCAPES, NOT_XML, column_type, escape, header_lines, plan_header

AWKWARD = '[&<>"\x00-\x1f\ufffe\uffff]'


def write_xes(log: EventLog, stream: BinaryIO, progress: Progress = no_progress) -> list[str]:
    """Write a log as XES and tell what could not be kept. Progress counts events.

    Example:
        >>> import io
        >>> from datetime import datetime
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["a & b"], "time:timestamp": [datetime(2024, 5, 6)]}),
        ...     pl.DataFrame({"concept:name": ["anna"]}),
        ... )
        >>> write_xes(log, stream := io.BytesIO())
        []
        >>> print(stream.getvalue().decode()[-211:-1].expandtabs(2))
          <trace>
            <string key="concept:name" value="anna"/>
            <event>
              <string key="concept:name" value="a &amp; b"/>
              <date key="time:timestamp" value="2024-05-06T00:00:00.000+00:00"/>
            </event>
          </trace>
        </log>
    """
    notes, of_cases, of_events, done = list[str](), list[_Attribute](), list[_Attribute](), 0
    for part in log.parts():
        if not of_events:
            metadata, notes = plan_header(part)
            stream.write("".join(f"{line}\n" for line in header_lines(metadata)).encode())
            of_cases = [_Attribute(values, "\t\t", log) for values in part.cases]
            of_events = [_Attribute(values, "\t\t\t", log) for values in part.events.drop(CASE_INDEX)]
        before = done
        for events in slices(part):
            stream.write(_traces(part, events, done - before, of_cases, of_events))
            done += events.height
            progress(done, log.n_events)
    stream.write(b"</log>\n")
    lossy = dict.fromkeys(attribute.key for attribute in of_cases + of_events if attribute.lossy)
    notes.extend(f'Characters of "{escape(key)}" that XML cannot hold were replaced.' for key in lossy)
    if log.individual is not None:
        notes.append(f'XES cannot say that "{log.individual}" names the individual. Give --individual when you read the file.')
    return notes


def _traces(
    log: EventLog, events: pl.DataFrame, begin: int, of_cases: Sequence[_Attribute], of_events: Sequence[_Attribute]
) -> bytes:
    """The text of a slice of events, which begins at this event of the log."""
    first, last = events[CASE_INDEX][0], events[CASE_INDEX][-1]
    bounds = log.case_offsets[first : last + 2] - begin
    cases = log.cases[first : last + 1]
    heads = cases.select(_text(["\t<trace>\n", *_pieces(cases, of_cases)])).to_series()
    begins = _marked(events.height, bounds[:-1])
    ends = _marked(events.height, bounds[1:] - 1)
    text = [
        pl.when(begins).then(heads.gather(events[CASE_INDEX] - first)),
        "\t\t<event>\n",
        *_pieces(events, of_events),
        "\t\t</event>\n",
        pl.when(ends).then(pl.lit("\t</trace>\n")),
    ]
    written: bytes = events.select(_text(text).str.join("").cast(pl.Binary)).item()
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


def _marked(height: int, positions: npt.NDArray[np.int64]) -> pl.Series:
    """True at the positions that lie within the height."""
    marks = np.zeros(height, bool)
    marks[positions[(positions >= 0) & (positions < height)]] = True
    return pl.Series(marks)
