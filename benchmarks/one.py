"""One measurement in a process of its own: `python -m benchmarks.one TASK TOOL LOG`, a JSON line on stdout.

Imports and, for all but reading, the reading come before the clocks start: that on the wall and that of the CPU, which counts all
threads. Memory is what the task adds at its peak, and that peak itself.
"""

from __future__ import annotations

import contextlib
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import r4pm

from benchmarks.peer_tasks import TASKS as PEER_TASKS
from libra._system.randomness import Randomness
from libra.eventlog.log import EventLog
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.eventlog.write import write
from libra.measures import measure
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.plan import DEFAULT_BUDGET
from libra.mechanisms.libra2022 import Libra2022
from libra.reporting.build import draft_of_release

Task = Callable[[], object]


def read_with_libra(log: Path, _folder: Path) -> Task:
    """Read into an EventLog, the checks included."""
    return lambda: read(log, ReadOptions())


def read_with_r4pm(log: Path, _folder: Path) -> Task:
    """Read into r4pm's frame."""
    return lambda: r4pm.df.import_xes(str(log))


def write_with_libra(log: Path, folder: Path, suffix: str) -> Task:
    """Write a log that is in memory."""
    loaded = read(log, ReadOptions())
    return lambda: write(loaded, folder / f"out{suffix}")


def write_with_r4pm(log: Path, folder: Path, suffix: str) -> Task:
    """Write r4pm's own frame of the same log."""
    frame, _ = r4pm.df.import_xes(str(log))
    return lambda: r4pm.df.export_xes(frame, str(folder / f"out{suffix}"))


def measure_with_libra(log: Path, _folder: Path) -> Task:
    """All measures of the log against a random half of its cases, nothing computed beforehand."""
    whole = read(log, ReadOptions())
    kept = np.random.default_rng(1).random(whole.n_cases) < 0.5
    half = whole.events.filter(kept[whole.events["@case"].to_numpy()])
    renumbered = (np.cumsum(kept) - 1)[half["@case"].to_numpy()]
    sample = EventLog(half.with_columns(pl.Series("@case", renumbered)), whole.cases.filter(kept))
    fresh = EventLog(whole.events, whole.cases, whole.metadata)
    return lambda: measure(fresh, sample)


def anonymize_with_libra(log: Path, _folder: Path) -> Task:
    """Anonymize a log of which nothing is computed yet, with the operating system's randomness."""
    loaded = read(log, ReadOptions())
    fresh = EventLog(loaded.events, loaded.cases, loaded.metadata)
    return lambda: Libra(epsilon=1, delta=1e-5).anonymize(fresh, Randomness())


def anonymize_attributes_with_libra(log: Path, _folder: Path) -> Task:
    """The same with the attributes that `make bench-attributes` releases."""
    from benchmarks.attributes import ATTRIBUTES, declared_of

    loaded = read(log, ReadOptions())
    fresh, asked = EventLog(loaded.events, loaded.cases, loaded.metadata), tuple(declared_of(log.name.partition(".")[0], loaded))
    budget = DEFAULT_BUDGET.with_attributes(ATTRIBUTES)
    return lambda: Libra(epsilon=1, delta=1e-5, attributes=asked, budget=budget).anonymize(fresh, Randomness())


def anonymize_file_with_libra(log: Path, folder: Path) -> Task:
    """The whole command, in a process of its own: start, read, anonymize, write."""
    command = [sys.executable, "-m", "libra", "anonymize", str(log), "-o", str(folder / "out.xes.gz"), "--quiet"]
    return lambda: subprocess.run(command, check=True)


def anonymize_with_libra2022(log: Path, _folder: Path) -> Task:
    """Anonymize a log of which nothing is computed yet, with the operating system's randomness; bpic12 with COMPLETE only."""
    loaded = read(log, ReadOptions(lifecycle_keep=("COMPLETE",) if log.name.startswith("bpic12.") else ()))
    fresh = EventLog(loaded.events, loaded.cases, loaded.metadata)
    return lambda: Libra2022(alpha=10, b=2, gamma=0.05, delta=1e-4).anonymize(fresh, Randomness())


def report_with_libra(log: Path, folder: Path) -> Task:
    """Write the confidential report of a release, of two logs of which nothing is computed yet."""
    loaded = read(log, ReadOptions())
    release = Libra(epsilon=1, delta=1e-5).anonymize(loaded, Randomness())
    released = EventLog(release.log.events, release.log.cases, release.log.metadata)
    fresh = EventLog(loaded.events, loaded.cases, loaded.metadata)
    return lambda: draft_of_release(replace(release, log=released), fresh).report().save(folder / "report.html")


TASKS: dict[tuple[str, str], Callable[[Path, Path], Task]] = {
    ("read", "libra"): read_with_libra,
    ("read", "r4pm"): read_with_r4pm,
    ("write .xes", "libra"): lambda log, folder: write_with_libra(log, folder, ".xes"),
    ("write .xes", "r4pm"): lambda log, folder: write_with_r4pm(log, folder, ".xes"),
    ("write .xes.gz", "libra"): lambda log, folder: write_with_libra(log, folder, ".xes.gz"),
    ("write .xes.gz", "r4pm"): lambda log, folder: write_with_r4pm(log, folder, ".xes.gz"),
    ("measure", "libra"): measure_with_libra,
    ("report", "libra"): report_with_libra,
    ("anonymize libra", "libra"): anonymize_with_libra,
    ("anonymize attributes", "libra"): anonymize_attributes_with_libra,
    ("anonymize a file", "libra"): anonymize_file_with_libra,
    ("anonymize libra2022", "libra"): anonymize_with_libra2022,
    **PEER_TASKS,
}


def main(task: str, tool: str, log: str) -> None:
    """Run one task and print its seconds, its CPU seconds, the megabytes it added, those at its peak, the kilobytes written."""
    with tempfile.TemporaryDirectory() as folder:
        run = TASKS[task, tool](Path(log), Path(folder))
        before = _reset_peak()
        start, start_cpu = time.perf_counter(), time.process_time()
        run()
        seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
        peak = _peak()
        kilobytes = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1000
        result = {"seconds": seconds, "cpu": cpu, "megabytes": peak - before, "peak_megabytes": peak, "kilobytes": kilobytes}
        sys.stdout.write(json.dumps(result) + "\n")


def _reset_peak() -> float:
    """Forget the peak so far where the system can, and say what is in use now."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> float:
    return _status("VmHWM")


def peak_of(process: int) -> float:
    """The megabytes that another process had in use at its peak; 0 where the system does not tell."""
    with contextlib.suppress(OSError):
        return _megabytes(Path(f"/proc/{process}/status").read_text(), "VmHWM")
    return 0.0


def _status(field: str) -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return _megabytes(status.read_text(), field)


def _megabytes(status: str, field: str) -> float:
    found = re.search(rf"{field}:\s+(\d+)", status)
    return int(found[1]) / 1024 if found else float("nan")


if __name__ == "__main__":
    main(*sys.argv[1:])
