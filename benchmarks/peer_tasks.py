"""What `benchmarks.one` runs of the mechanisms of other authors: ours, and pm4py's of the same name, with the same settings.

Two things keep pm4py's from running today, and are stood in for here. Its Laplace query asks for `importlib.util.find_loader`,
which Python does not have; `find_spec` answers the same question. Its pripel needs diffprivlib, which does not import with
today's scikit-learn; mechanisms that give every value back take its place, which is less work than the real ones, not more.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import math
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from libra._system.randomness import Randomness
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions, no_progress
from libra.eventlog.read import read
from libra.mechanisms.mechanism import mechanism

Task = Callable[[], object]
EPSILON, PRUNE = 1.0, 0.01
END = {"LAPLACE": 1, "SACOFA": 0}  # whether the end comes after the longest trace, as one more symbol of pm4py's prefixes


def with_libra(name: str, log: Path, _folder: Path) -> Task:
    """The whole release, from a log of which nothing is computed yet, with the operating system's randomness."""
    loaded = read(log, ReadOptions())
    fresh = EventLog(loaded.events, loaded.cases, loaded.metadata)
    made = mechanism(name, {"epsilon": EPSILON, "prune": PRUNE})
    return lambda: made.anonymize(fresh, Randomness(), no_progress)


def query_with_pm4py(kind: str, log: Path, _folder: Path) -> Task:
    """pm4py's query, with prefixes of the same length, on the form of a log that it is fastest with."""
    loaded, ask = _loaded(log), _query(kind)
    return lambda: ask(loaded)


def pripel_with_pm4py(log: Path, _folder: Path) -> Task:
    """pm4py's pripel, on the answer of its own query."""
    with _quiet():
        from pm4py.algo.anonymization.pripel import algorithm as pripel
    loaded = _loaded(log)
    answer = _query("LAPLACE")(loaded)
    return lambda: pripel.apply(loaded, answer, EPSILON)


def _loaded(log: Path) -> Any:  # an event log of pm4py
    with _quiet():
        import pm4py

        return pm4py.read_xes(str(log), return_legacy_log_object=True)


def _query(kind: str) -> Callable[[Any], Any]:
    with _quiet():
        from pm4py.algo.anonymization.trace_variant_query import algorithm as query

    def ask(loaded: Any) -> Any:
        longest = math.ceil(sum(map(len, loaded)) / len(loaded)) + END[kind]
        said = {"epsilon": EPSILON, "k": longest, "p": PRUNE * len(loaded), "show_progress_bar": False}
        return query.apply(loaded, variant=query.Variants[kind], parameters=said)

    return ask


class _AsItIs:
    """A mechanism of diffprivlib that gives every value back."""

    def __init__(self, **_said: object) -> None:
        """Take any parameters."""

    def randomise(self, value: object) -> object:
        """The value."""
        return value


@contextlib.contextmanager
def _quiet() -> Any:
    """pm4py, with what it needs to be imported, and what it prints out of the way of the result."""
    vars(importlib.util).setdefault("find_loader", importlib.util.find_spec)
    if importlib.util.find_spec("diffprivlib") is None:
        for name in ("diffprivlib", "diffprivlib.mechanisms"):
            sys.modules[name] = types.ModuleType(name)
            sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None)
        vars(sys.modules["diffprivlib.mechanisms"])["__getattr__"] = lambda name: _AsItIs
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings(action="ignore"):
        yield


TASKS: dict[tuple[str, str], Callable[[Path, Path], Task]] = {
    ("prefix-laplace", "libra"): lambda log, folder: with_libra("prefix-laplace", log, folder),
    ("prefix-laplace", "pm4py"): lambda log, folder: query_with_pm4py("LAPLACE", log, folder),
    ("sacofa", "libra"): lambda log, folder: with_libra("sacofa", log, folder),
    ("sacofa", "pm4py"): lambda log, folder: query_with_pm4py("SACOFA", log, folder),
    ("pripel", "libra"): lambda log, folder: with_libra("pripel", log, folder),
    ("pripel", "pm4py"): pripel_with_pm4py,
}
