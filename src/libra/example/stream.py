"""Simulating to a file: a log of any size, in memory that does not grow with it.

In: how many cases, the file, and what the log is made from: the bundled emergency department, or a released model. Out: the file,
whole or not at all, and how much is in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import polars as pl

from libra._system.arguments import checked_whole
from libra._system.randomness import LARGEST_SEED
from libra.errors import InputError, UsageError
from libra.eventlog.files import output_format
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.write import write, write_rows
from libra.example.simulate import HEADER, Department
from libra.mechanisms.libra.model_file import read_model
from libra.targets import check_target

Order = Literal["time", "case"]
MOST_CASES = 100_000_000_000
SEED = 2024  # where none is given


@dataclass(frozen=True)
class Simulated:
    """What was written.

    Attributes:
        output: The file.
        cases: How many cases are in it.
        events: How many events.
        order: "time" for rows in order of time, cases interleaved; "case" for one case after the other.
        notes: What the reader should know of it.
    """

    output: Path
    cases: int
    events: int
    order: Order
    notes: tuple[str, ...] = ()


def simulate(
    output: str | Path,
    cases: int,
    *,
    seed: int | None = None,
    model: str | Path | None = None,
    order: Order | None = None,
    starts: bool = False,
    progress: Progress = no_progress,
) -> Simulated:
    """Write a log of so many cases.

    Args:
        output: The file; its name says the format.
        cases: How many.
        seed: The same seed gives the same log; another one another.
        model: A released model to generate from; the bundled process if left out.
        order: "time" or "case"; if left out, by time where the format and the model allow it.
        starts: Whether it says when activities started: `start_timestamp` in tables, start and complete events in XES.
        progress: Called with what is done and what there is in all, in cases or in events.

    Raises:
        LibraError: The file cannot be written, the model cannot be read, or a parameter cannot be meant.

    Example:
        >>> import tempfile
        >>> done = simulate(Path(tempfile.mkdtemp()) / "log.parquet", 1000)
        >>> done.cases, done.order
        (1000, 'time')
    """
    output = Path(output)
    checked_whole("cases", cases, 1, MOST_CASES)
    if seed is not None:
        checked_whole("seed", seed, 0, LARGEST_SEED)
    kind = output_format(output).kind
    if order is not None and order not in get_args(Order):
        raise UsageError(f"order is one of {', '.join(get_args(Order))}, not {order!r}.")
    if starts and model is not None:
        raise UsageError("A model says itself whether activities have starts. Leave out --starts.")
    if order == "time" and (kind == "xes" or model is not None or starts):
        why = "XES holds" if kind == "xes" else "a model gives" if model is not None else "a log with starts has"
        raise UsageError(f"{output.name}: {why} whole cases, one after the other. Leave out --order time.")
    check_target("" if model is None else model, output)
    if model is not None:
        read = read_model(Path(model))
        log = read.planned(cases, seed).in_parts(seeded=read.seeded)
        if not log.n_cases:
            raise InputError("nothing can be generated from this model: it is that of an empty log", place=str(model))
        return _written(log, output, (read.statement,), progress)
    department = Department(cases, SEED if seed is None else seed, starts)
    if order == "case" or kind == "xes" or starts:
        return _written(department.case_by_case(), output, (), progress)
    counted = _Counted(department, progress)
    write_rows(counted.rows(), output, HEADER)
    return Simulated(output, cases, counted.events, "time")


def _written(log: EventLog, output: Path, notes: tuple[str, ...], progress: Progress) -> Simulated:
    return Simulated(output, log.n_cases, log.n_events, "case", (*notes, *write(log, output, progress)))


class _Counted:
    """The rows of a department on their way out, counted."""

    def __init__(self, department: Department, progress: Progress) -> None:
        self._department, self._progress = department, progress
        self.events = 0

    def rows(self) -> Iterator[pl.DataFrame]:
        for number, rows in enumerate(self._department.in_order_of_time()):
            yield rows
            self.events += rows.height
            self._progress(number + 1, self._department.slices + 1)
