"""Two logs to be compared, read with the same keywords: an original, and an anonymized log that may be written otherwise.

In: two sources, or the anonymized one alone, and the keywords of `libra.read`. Out: logs, the anonymized one with notes on what
did not count for it. It may be empty, and need not have the columns that the keywords name. A description is of the original
alone: an anonymized log has the standard's names, and is read as it is found.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from libra.errors import MissingColumnError
from libra.eventlog.options import ReadOptions, RoleNames, stage
from libra.keywords import ReadKeywords, read_options

if TYPE_CHECKING:
    from libra.api import Source
    from libra.eventlog.log import EventLog

TEXT_OPTIONS = ("encoding", "delimiter", "decimal", "timestamp_format", "epoch_unit", "zone")  # about how a table is written


def read_pair(original: Source, anonymized: Source, **keywords: Unpack[ReadKeywords]) -> tuple[EventLog, EventLog]:
    """Read the two logs of a comparison; the second may be empty, and need not have the columns that the keywords name.

    Where it lacks a named column, that role is found there by itself, with a note; all other choices stay, and every other error
    is raised as it is.
    """
    options = read_options(**keywords)
    said, ours, theirs = options, options, options
    if options.described:
        said = theirs = ReadOptions(progress=options.progress)
    else:
        ours, theirs = _options_of_each(original, anonymized, options)
    return _read(original, ours), _read_anonymized(anonymized, said, theirs)


def read_released(anonymized: Source, **keywords: Unpack[ReadKeywords]) -> EventLog:
    """Read an anonymized log alone, as `read_pair` does where the other one is not looked at."""
    options = read_options(**keywords)
    said = ReadOptions(progress=options.progress) if options.described else options
    return _read_anonymized(anonymized, said, said)


def _read(source: Source, options: ReadOptions) -> EventLog:
    from libra.eventlog import read as reader

    with stage(options.progress, "read", source) as told:
        return reader.read(source, replace(options, progress=told))


def _read_anonymized(anonymized: Source, said: ReadOptions, theirs: ReadOptions) -> EventLog:
    """The second log of a comparison, with notes on what did not count for it."""
    from libra.eventlog.names import LIFECYCLE
    from libra.eventlog.select import keep_lifecycle

    notes = _ignored(said, theirs)
    theirs = replace(theirs, allow_empty=True, lifecycle_keep=())
    try:
        log = _read(anonymized, theirs)
    except MissingColumnError as error:
        theirs, more = _without(theirs, error)
        log = _read(anonymized, theirs)
        notes += more
    log = log.with_notes(*notes)
    if said.lifecycle_keep and log.n_events:
        if LIFECYCLE in log.events.columns:
            name = str(anonymized) if isinstance(anonymized, str | Path) else ""
            return keep_lifecycle(log, said.lifecycle_keep, name)
        return log.with_notes("There is no lifecycle here, so --lifecycle-keep did not count for this log.")
    return log


def _options_of_each(original: Source, anonymized: Source, options: ReadOptions) -> tuple[ReadOptions, ReadOptions]:
    """The options of each log: what is said about how text is written counts for tables that are not of our own writing.

    The unit of epochs and the zone are said of the original; of another tool's table as well.
    """
    as_found = replace(options, encoding=None, delimiter=None, decimal=None, timestamp_format=None)
    first, second = _is_foreign_text(original), _is_foreign_text(anonymized)
    theirs = options if second or not first else as_found
    if not second:
        theirs = replace(theirs, epoch_unit=None, zone=None)
    return options if first or not second else as_found, theirs


def _ignored(said: ReadOptions, used: ReadOptions) -> list[str]:
    """A note on the flags about text that do not count for a log whose form is known."""
    flags = [f"--{name.replace('_', '-')}" for name in TEXT_OPTIONS if getattr(said, name) != getattr(used, name)]
    listed = " and ".join(filter(None, (", ".join(flags[:-1]), *flags[-1:])))
    return [f"{listed} did not count for this log, whose form is known."] if flags else []


def _is_foreign_text(source: Source) -> bool:
    """Whether a source is a CSV file that some other tool wrote."""
    from libra.eventlog.files import input_format
    from libra.eventlog.tables.csv_read import has_standard_header

    if not isinstance(source, str | Path):
        return False
    path = Path(source)
    fmt = input_format(path)
    return fmt.kind in ("csv", "tsv") and not has_standard_header(path, fmt)


def _without(options: ReadOptions, error: MissingColumnError) -> tuple[ReadOptions, list[str]]:
    """The options without the roles whose columns are missing, and a note on each; a format goes with the timestamp it is for."""
    unnamed = RoleNames()
    roles = replace(options.roles, **{role: getattr(unnamed, role) for role in error.lacking})
    notes = []
    for role, names in error.lacking.items():
        listed = " and no column ".join(f'"{name}"' for name in names)
        flags = f"--{role.replace('_', '-')}"
        if role == "timestamp" and options.timestamp_format:
            flags += " and --timestamp-format"
        notes.append(f"There is no column {listed} here, so {flags} did not count for this log.")
    timestamp_format = None if "timestamp" in error.lacking else options.timestamp_format
    return replace(options, roles=roles, timestamp_format=timestamp_format), notes
