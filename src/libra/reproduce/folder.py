"""The logs of a folder, read as the paper read them.

In: a folder. Out: its logs by name, all in memory, so that an unreadable one is told before anything is computed. Activities and
times are all that the tables need; attributes are dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from libra.errors import InputError
from libra.eventlog.files import KNOWN, format_of_name
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, LIFECYCLE, TIMESTAMP
from libra.eventlog.options import Progress, ReadOptions
from libra.eventlog.read import read
from libra.eventlog.select import keep_lifecycle
from libra.reproduce.paper import ONLY_COMPLETE, known_as


def log_files(folder: Path) -> list[Path]:
    """The files of a folder whose ending says that they are logs, by name; a .txt is taken for a word to the reader.

    Example:
        >>> from libra import example
        >>> [path.name for path in log_files(example.path().parent)]
        ['emergency.xes.gz']
    """
    try:
        there = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    except FileNotFoundError as error:
        raise InputError("there is no such folder", place=str(folder), remedy="Check --logs") from error
    except NotADirectoryError as error:
        raise InputError("this is a file", place=str(folder), remedy="Name the folder that it is in with --logs") from error
    except (OSError, ValueError) as error:
        raise InputError("this folder cannot be read", place=str(folder), remedy="Name another one with --logs") from error
    files = [path for path in there if format_of_name(path) and not _is_text(path)]
    if not files:
        raise InputError("there is no event log in this folder", place=str(folder), remedy=f"A log's name ends in {KNOWN}")
    _refuse_doubles(files)
    return files


def read_logs(files: Sequence[Path], progress_on: Callable[[Path], AbstractContextManager[Progress]]) -> dict[str, EventLog]:
    """The logs of these files, each under its name up to the first dot; `progress_on` shows how far the reading of one is.

    Example:
        >>> from contextlib import nullcontext
        >>> from libra import example
        >>> from libra.eventlog.options import no_progress
        >>> logs = read_logs([example.path()], lambda _: nullcontext(no_progress))
        >>> logs["emergency"].events.columns
        ['@case', 'concept:name', 'time:timestamp']
    """
    logs = {}
    for path in files:
        with progress_on(path) as progress:
            log = read(path, ReadOptions(progress=progress))
        if known_as(path.name) in ONLY_COMPLETE and LIFECYCLE in log.events.columns:
            log = keep_lifecycle(log, ["COMPLETE"], str(path))
        events = log.events.select(CASE_INDEX, ACTIVITY, TIMESTAMP)
        logs[path.name.partition(".")[0]] = replace(log, events=events, cases=log.cases.select(CASE_NAME), individual=None)
    return logs


def _is_text(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").removesuffix(".zip").endswith(".txt")


def _refuse_doubles(files: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for path in files:
        double = seen.setdefault(known_as(path.name), path)
        if double != path:
            what = f"{double.name} and {path.name} would have the same name in the tables"
            raise InputError(what, place=str(path.parent), remedy="Rename one of them, or take it out")
