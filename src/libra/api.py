"""The functions people call: read, write, convert, inspect, measure.

Thin on purpose. Each takes a path, a data frame or an `EventLog`, turns keyword arguments into the options of the
reader, and hands over to the module that does the work. The command line calls the same functions, so that a
notebook and a shell give the same answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict, Unpack

from libra.errors import InputError, UsageError
from libra.eventlog.options import Progress, ReadOptions, RoleNames, no_progress

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from libra.eventlog.log import EventLog
    from libra.eventlog.summary import Summary
    from libra.measures import Utility

    Source: TypeAlias = str | Path | EventLog | pl.DataFrame | pl.LazyFrame | pd.DataFrame


class ReadKeywords(TypedDict, total=False):
    """What may be said about how a log is read; everything left out is found from the data."""

    case_id: str | Sequence[str]
    activity: str | Sequence[str]
    timestamp: str | None
    start_timestamp: str | None
    lifecycle: str | None
    resource: str | None
    individual: str | None
    lifecycle_keep: str | Sequence[str]
    timestamp_format: str | None
    day_first: bool | None
    delimiter: str | None
    encoding: str | None
    decimal: str | None
    sort_by_time: bool
    drop_invalid: bool
    allow_empty: bool
    progress: Progress


def read(source: Source, **keywords: Unpack[ReadKeywords]) -> EventLog:
    """Read an event log from a file or a data frame.

    Args:
        source: A path (XES, CSV, TSV or Parquet, also packed), a pandas or Polars frame, or an `EventLog`.
        **keywords: `case_id`, `activity` (a column or several), `timestamp`, `start_timestamp`, `lifecycle`, `resource`,
            `individual` name the columns where they are not found by themselves; `lifecycle_keep` keeps only these
            transitions; `timestamp_format` (strftime codes), `day_first`, `delimiter`, `encoding`, `decimal` settle what is
            otherwise detected; `sort_by_time` orders each case by time; `drop_invalid` leaves out events without a usable
            case id, activity or timestamp; `allow_empty` accepts a log without events; `progress` is called with the
            bytes done and the bytes in all.

    Returns:
        The log; `log.roles` says which column was taken for what and why, `log.notes` what else is worth knowing.

    Raises:
        LibraError: The source cannot be read; the text names the place and the remedy.

    Example:
        >>> import libra, libra.example
        >>> log = libra.read(libra.example.path())
        >>> log.n_cases
        2000
    """
    from libra.eventlog import read as reader

    return reader.read(source, read_options(**keywords))


def write(log: Source, path: str | Path, *, progress: Progress = no_progress) -> tuple[str, ...]:
    """Write a log to a file, whole or not at all; the name says the format and the packing.

    Returns:
        Notes on what that format could not keep.

    Example:
        >>> import libra, libra.example, tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> notes = libra.write(libra.read(libra.example.path()), folder / "emergency.parquet")
        >>> [file.name for file in folder.iterdir()]
        ['emergency.parquet']
    """
    from libra.eventlog import write as writer

    return writer.write(read(log), Path(path), progress)


def convert(source: Source, target: str | Path, **keywords: Unpack[ReadKeywords]) -> tuple[str, ...]:
    """Read a log and write it under another name and in the format that name says; keywords as for `read`.

    Returns:
        Notes on how the log was read and on what the new format could not keep.

    Example:
        >>> import libra, libra.example, tempfile
        >>> target = Path(tempfile.mkdtemp()) / "emergency.csv"
        >>> notes = libra.convert(libra.example.path(), target)
        >>> target.exists()
        True
    """
    check_target(source, target)
    log = read(source, **keywords)
    return (*log.notes, *write(log, target, progress=keywords.get("progress", no_progress)))


def inspect(source: Source, **keywords: Unpack[ReadKeywords]) -> Summary:
    """The figures of a log, its columns, its most frequent variants, and how many cases stand out; keywords as for `read`.

    Example:
        >>> import libra, libra.example
        >>> summary = libra.inspect(libra.example.path())
        >>> summary.cases
        2000
    """
    from libra.eventlog.summary import summarize

    return summarize(read(source, **keywords))


def measure(original: Source, anonymized: Source, **keywords: Unpack[ReadKeywords]) -> Utility:
    """How far a log is from its original, in the measures of the field; keywords as for `read`.

    Keywords that do not fit the anonymized log (it often has other column names) are left aside for it.

    Example:
        >>> import libra, libra.example
        >>> utility = libra.measure(libra.example.path(), libra.example.path())
        >>> utility.emd_freq, utility.dfg_l1
        (0.0, 0.0)
    """
    from libra.measures import measure as compare

    return compare(*read_pair(original, anonymized, **keywords))


def read_pair(original: Source, anonymized: Source, **keywords: Unpack[ReadKeywords]) -> tuple[EventLog, EventLog]:
    """Read the two logs of a comparison; the second may be empty and may have other columns than the keywords say."""
    from libra.eventlog import read as reader
    from libra.eventlog.names import LIFECYCLE
    from libra.eventlog.select import keep_lifecycle

    options = read_options(**keywords)
    first = reader.read(original, options)
    as_given = replace(options, allow_empty=True, lifecycle_keep=())
    try:
        second = reader.read(anonymized, as_given)
    except InputError:
        as_found = ReadOptions(
            sort_by_time=options.sort_by_time, drop_invalid=options.drop_invalid, allow_empty=True, progress=options.progress
        )
        if as_given == as_found:
            raise
        second = reader.read(anonymized, as_found).with_notes(
            "What was said about columns and formats does not fit the anonymized log, so it was read as found."
        )
    if options.lifecycle_keep and second.n_events and LIFECYCLE in second.events.columns:
        second = keep_lifecycle(second, options.lifecycle_keep, str(anonymized) if isinstance(anonymized, str | Path) else "")
    return first, second


def read_options(
    *,
    case_id: str | Sequence[str] = (),
    activity: str | Sequence[str] = (),
    timestamp: str | None = None,
    start_timestamp: str | None = None,
    lifecycle: str | None = None,
    resource: str | None = None,
    individual: str | None = None,
    lifecycle_keep: str | Sequence[str] = (),
    timestamp_format: str | None = None,
    day_first: bool | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    sort_by_time: bool = False,
    drop_invalid: bool = False,
    allow_empty: bool = False,
    progress: Progress = no_progress,
) -> ReadOptions:
    """The options of the reader from keywords.

    Example:
        >>> read_options(case_id="Patient", day_first=True).roles.case_id
        ('Patient',)
    """
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise UsageError(f'The delimiter "{delimiter}" is not one character. Use , or ; or | or tab.')
    if decimal not in (None, ".", ","):
        raise UsageError(f'The decimal sign "{decimal}" is neither . nor a comma.')
    return ReadOptions(
        roles=RoleNames(
            _several(case_id), _several(activity), timestamp, start_timestamp, lifecycle, resource, individual=individual
        ),
        lifecycle_keep=_several(lifecycle_keep),
        timestamp_format=timestamp_format,
        day_first=day_first,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        sort_by_time=sort_by_time,
        drop_invalid=drop_invalid,
        allow_empty=allow_empty,
        progress=progress,
    )


def check_target(source: Source, target: str | Path) -> None:
    """Refuse a target that cannot be written before any time is spent on reading the source."""
    from libra.eventlog.formats import output_format

    path = Path(target)
    output_format(path)
    if isinstance(source, str | Path) and path.exists() and Path(source).exists() and path.samefile(source):
        raise UsageError(f"{path}: the output would replace the input. Name another output file.")
    if not path.resolve().parent.is_dir():
        raise InputError("there is no such folder", place=str(path.parent), remedy="Create it first, or write elsewhere")


def _several(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
