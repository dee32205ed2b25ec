"""Writing CSV and TSV in UTF-8: one row an event, in pm4py's column convention, in slices.

Quotes carry the type: text always stands in quotes, numbers, booleans and timestamps never do, a missing value is an empty field
and empty text is `""`. No text cell is ever taken for a formula by a spreadsheet: one that could be gets an apostrophe in front,
which our reader takes off again. Times are in ISO 8601, with a fraction of the second only where their column has any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import BinaryIO

import polars as pl

from libra._system.randomness import SEEDED_PREFIX
from libra.eventlog.in_parts import slices
from libra.eventlog.log import EventLog, in_tables
from libra.eventlog.metadata import DRAWN_WITH_A_SEED, LogMetadata
from libra.eventlog.names import CASE_INDEX, CASE_NAME, CASE_PREFIX, column
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.xes.write import NAME_INDIVIDUAL, default_metadata

FORMULA = r"^'*[=+\-@\t\r]"
SECOND = 1_000_000  # microseconds
AWKWARD = rf'["\x00]|{FORMULA}'


def write_csv(log: EventLog, stream: BinaryIO, separator: str = ",", progress: Progress = no_progress) -> list[str]:
    """Write a log as a table and tell what could not be kept. Progress counts events."""
    table, left_out, done = None, list[str](), 0
    for part in log.parts():
        cases = part.cases.select(pl.all().name.prefix(CASE_PREFIX))
        if table is None:
            columns = [*cases, *in_tables(part.events, part.instances).drop(CASE_INDEX)]
            fine = {times.name: log.finer_than(SECOND, times) for times in columns if times.dtype == pl.Datetime}
            table = CsvTable(stream, [values.name for values in columns], fine, separator)
            left_out = _left_out(part)
        for rows in slices(part):
            events = in_tables(rows, part.instances)
            table.write(pl.concat([cases[events[CASE_INDEX]], events.drop(CASE_INDEX)], how="horizontal"))
            done += events.height
            progress(done, log.n_events)
    return [*(table.notes() if table is not None else ()), *left_out]


class CsvTable:
    """A table on its way out, some rows at a time."""

    def __init__(self, stream: BinaryIO, columns: Sequence[str], fine: Mapping[str, bool], separator: str = ",") -> None:
        """Write the header. `fine` has the columns of times, and whether a fraction of the second is written."""
        self._stream, self._separator = stream, separator
        self._time_formats = {name: f"%Y-%m-%dT%H:%M:%S{'%.6f' if finer else ''}+00:00" for name, finer in fine.items()}
        self._lossy = {name: None for name in columns if "\x00" in name}
        stream.write((separator.join(header_of(name) for name in columns) + "\n").encode())

    def write(self, rows: pl.DataFrame) -> None:
        """Write these rows below those that are there."""
        texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
        awkward = rows.select(column(name).str.contains(AWKWARD).any() for name in texts).row(0, named=True)
        with_nul = rows.select(column(name).str.contains("\x00", literal=True).any() for name in texts if awkward[name])
        self._lossy.update((found.name, None) for found in with_nul if found.item())
        cells = rows.with_columns(
            *(_quoted(name, awkward[name], name in self._lossy) for name in texts),
            *(column(name).dt.to_string(form) for name, form in self._time_formats.items()),
        )
        text = BytesIO()
        cells.write_csv(text, include_header=False, separator=self._separator, quote_style="never")
        self._stream.write(text.getvalue())

    def notes(self) -> list[str]:
        """What could not be kept of the rows so far."""
        return [f'NUL characters of "{header_of(name)}" were replaced: a table cannot hold them.' for name in self._lossy]


def _quoted(name: str, awkward: bool, with_nul: bool) -> pl.Expr:
    text = column(name)
    if with_nul:
        text = text.str.replace_all("\x00", "\ufffd", literal=True)
    if awkward:
        text = text.str.replace_all('"', '""', literal=True)
        text = pl.when(text.str.contains(FORMULA)).then(pl.lit("'") + text).otherwise(text)
    return pl.concat_str(pl.lit('"'), text, pl.lit('"')).alias(name)


def header_of(name: str) -> str:
    """How the name of a column is spelled."""
    name = name.replace("\x00", "\ufffd")
    if re.search(FORMULA, name):
        name = f"'{name}"
    plain = name == name.strip() != "" and not re.search(r"[,;|\t\r\n\"']", name)
    return name if plain else '"' + name.replace('"', '""') + '"'


def _left_out(log: EventLog) -> list[str]:
    notes, header = [], log.metadata
    if log.cases[CASE_NAME].str.starts_with(SEEDED_PREFIX).all():  # what the header says of the seed, every id says as well
        header = replace(header, attributes=tuple(one for one in header.attributes if one != DRAWN_WITH_A_SEED))
    if header not in (LogMetadata(), default_metadata(log)):
        notes.append("A table cannot hold the attributes, globals and classifiers of the log's header: they were left out.")
    if log.individual is not None:
        notes.append(f'A table cannot say that "{log.individual}" names the individual. {NAME_INDIVIDUAL}')
    return notes
