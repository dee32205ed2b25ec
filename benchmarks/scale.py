"""How cost grows with the log: seconds and peak memory beside a bare job that only groups and counts variants of the same file.

Each run is a process of its own. The logs are simulated, their rows in the order of time, cases interleaved as in a data lake.
The bare job is the physical limit: it reads two columns, groups events by case and counts distinct traces, and has all the memory
there is. Libra reads three columns, counts every table and draws noise; then it generates and writes a log, once of few cases and
once as large as the one it read, which the bare job does not. The same log with attributes is released with all of them and with
none: two of cases, a category and a number, and one of events.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measured import tell

EVENTS_A_CASE = 9  # about
SIZES = (1_000_000, 10_000_000, 100_000_000)  # events, about
SPARK_SIZES = (1_000_000, 10_000_000)
GAMMAS = (0.02, 0.1, 0.5)
EPSILONS, DELTA = (1.0, 0.1), 1e-9
MASTER = "local[2]"
FEW = ("--cases", "10000")  # what is written then costs next to nothing: the rest is reading, counting and noise
MOST_TIMES, MOST_GIGABYTES, MOST_GROWTH = 2.5, 4.0, 1.1

BARE_POLARS = """
import sys, polars as pl
events = pl.scan_parquet(sys.argv[1])
traces = events.group_by("case:concept:name").agg("concept:name")
print(traces.group_by("concept:name").agg(pl.len()).collect(engine="streaming").height)
"""
BARE_SPARK = """
import sys
from pyspark.sql import SparkSession, functions as F
session = SparkSession.builder.master(sys.argv[2]).config("spark.driver.memory", "6g").getOrCreate()
session.sparkContext.setLogLevel("OFF")
event = F.struct("time:timestamp", "concept:name")
traces = session.read.parquet(sys.argv[1]).groupBy("case:concept:name").agg(F.sort_array(F.collect_list(event)).alias("events"))
print(traces.groupBy(F.col("events")["concept:name"]).count().count())
"""
WITH_ATTRIBUTES = """
import sys, polars as pl
case, step = pl.col("case:concept:name").hash(1), pl.struct("case:concept:name", "concept:name").hash(2)
kinds, rooms = pl.Series([f"kind {i}" for i in range(12)]), pl.Series([f"room {i}" for i in range(24)])
of_case = {"case:kind": pl.lit(kinds).gather((case % 144).cast(float).sqrt().cast(int)), "case:age": (case // 144 % 95).cast(int)}
of_event = {"room": pl.lit(rooms).gather((pl.col("concept:name").hash(3) + step % 3) % 24)}
pl.scan_parquet(sys.argv[1]).with_columns(**of_case, **of_event).sink_parquet(sys.argv[2])
"""
DESCRIPTION = """
format = "table"
case_id = ["case:concept:name"]
activity = ["concept:name"]
timestamp = "time:timestamp"
zone = "file"
attributes."case:kind" = {kind = "category", release = true}
attributes."case:age" = {kind = "number", lowest = 0, highest = 120, release = true}
attributes."room" = {kind = "category", level = "event", release = true}
"""


@dataclass(frozen=True)
class Run:
    """How long a process took, and the most memory it and its children had at a time."""

    seconds: float
    gigabytes: float


def run(*command: str) -> Run:
    """Run a command to its end."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        most = 0
        while process.poll() is None:
            most = max(most, _resident(process.pid))
            time.sleep(0.1)
        if process.returncode:
            said.seek(0)
            raise SystemExit(f"{' '.join(command)[:200]} failed:\n{said.read().decode()[-2000:]}")
    return Run(time.perf_counter() - begin, most / 1e9)


def _resident(pid: int) -> int:
    """Bytes in memory of a process and of those that it has started."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    family = {pid}
    while added := {child for child, parent in parents.items() if parent in family} - family:
        family |= added
    pages = 0
    for one in family:
        with contextlib.suppress(OSError, IndexError):
            pages += int(Path(f"/proc/{one}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def simulated(folder: Path, events: int) -> Path:
    """The simulated log of about so many events; made once."""
    path = folder / f"events-{events}.parquet"
    if not path.exists():
        made = run(sys.executable, "-m", "libra", "simulate", "--cases", str(events // EVENTS_A_CASE), "-o", str(path))
        tell(f"simulate {events:,} events, {made.gigabytes:.2f} GB", seconds=made.seconds)
    return path


def anonymized(log: Path, *more: str, output: str = "out.parquet") -> Run:
    """The whole command, from starting Python to the file written."""
    with tempfile.TemporaryDirectory(dir=log.parent) as folder:
        command = (sys.executable, "-m", "libra", "anonymize", str(log), "-o", str(Path(folder) / output), "--quiet")
        return run(*command, "--delta", str(DELTA), *more)


def rows(folder: Path, sizes: list[int]) -> Iterator[dict[str, float | str]]:
    """One row a size and an engine, with the bare job beside it in turn."""
    for events in sizes:
        log = simulated(folder, events)
        size = log.stat().st_size / 1e6
        bare = run(sys.executable, "-c", BARE_POLARS, str(log))
        counting = anonymized(log, "--engine", "polars-streaming", *FEW)
        ours = anonymized(log, "--engine", "polars-streaming")
        tell(f"polars-streaming {events:,}", bare=bare.seconds, counting=counting.seconds, libra=ours.seconds)
        yield _row("polars-streaming", events, size, bare, counting, ours)
    for events in [size for size in sizes if size in SPARK_SIZES]:
        log = simulated(folder, events)
        size = log.stat().st_size / 1e6
        bare = run(sys.executable, "-c", BARE_SPARK, str(log), MASTER)
        counting = anonymized(log, "--engine", "spark", "--master", MASTER, *FEW)
        ours = anonymized(log, "--engine", "spark", "--master", MASTER)
        tell(f"spark {events:,}", bare=bare.seconds, counting=counting.seconds, libra=ours.seconds)
        yield _row("spark", events, size, bare, counting, ours)


def _row(engine: str, events: int, megabytes: float, bare: Run, counting: Run, ours: Run) -> dict[str, float | str]:
    return {
        "engine": engine,
        "events": events,
        "file": megabytes,
        "seconds": ours.seconds,
        "counting": counting.seconds,
        "gigabytes": max(ours.gigabytes, counting.gigabytes),
        "bare seconds": bare.seconds,
        "bare gigabytes": bare.gigabytes,
    }


def growth(found: list[dict[str, float | str]], engine: str) -> float:
    """The exponent with which seconds grow with events: the slope of a line through their logarithms."""
    points = [(math.log(float(row["events"])), math.log(float(row["seconds"]))) for row in found if row["engine"] == engine]
    mean_x, mean_y = (sum(point[axis] for point in points) / len(points) for axis in (0, 1))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def shown(found: list[dict[str, float | str]]) -> Iterator[str]:
    """The rows as a Markdown table, and what was to be reached."""
    yield "| engine | events | file | bare job | its memory | libra, few cases | ratio | libra, as many | ratio | memory |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for row in found:
        numbers = {name: float(value) for name, value in row.items() if name != "engine"}
        yield (
            f"| {row['engine']} | {numbers['events'] / 1e6:g} million | {numbers['file']:,.0f} MB "
            f"| {numbers['bare seconds']:.1f} s | {numbers['bare gigabytes']:.1f} GB "
            f"| {numbers['counting']:.1f} s | {numbers['counting'] / numbers['bare seconds']:.1f} "
            f"| {numbers['seconds']:.1f} s | {numbers['seconds'] / numbers['bare seconds']:.1f} | {numbers['gigabytes']:.1f} GB |"
        )
    yield ""
    for engine in dict.fromkeys(str(row["engine"]) for row in found):
        if sum(row["engine"] == engine for row in found) > 1:
            slope = growth(found, engine)
            yield f"Seconds of {engine} grow with the power {slope:.2f} of events (target: at most {MOST_GROWTH})."


def attributes(folder: Path, sizes: list[int]) -> Iterator[str]:
    """What attributes cost: the same file released with them and without."""
    yield "| events | file | without attributes | memory | with attributes | memory | ratio |"
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    described = folder / "attributes.toml"
    described.write_text(DESCRIPTION, encoding="utf-8")
    for events in sizes:
        log = folder / f"attributes-{events}.parquet"
        if not log.exists():
            run(sys.executable, "-c", WITH_ATTRIBUTES, str(simulated(folder, events)), str(log))
        said = ("--engine", "polars-streaming", "--description", str(described))
        plain, ours = anonymized(log, *said), anonymized(log, *said, "--all-attributes")
        tell(f"attributes {events:,}", without=plain.seconds, attributes=ours.seconds)
        yield (
            f"| {events / 1e6:g} million | {log.stat().st_size / 1e6:,.0f} MB | {plain.seconds:.1f} s | {plain.gigabytes:.1f} GB "
            f"| {ours.seconds:.1f} s | {ours.gigabytes:.1f} GB | {ours.seconds / plain.seconds:.1f} |"
        )


def subsamples(folder: Path, events: int) -> Iterator[str]:
    """What subsamples save, and what they cost; a small log is written, so that time is that of reading and counting."""
    from libra.mechanisms.libra.plan import make_plan

    log = simulated(folder, events)
    needed = [f"a variant needs (epsilon {epsilon:g})" for epsilon in EPSILONS]
    yield f"| gamma | seconds | memory | {' | '.join(needed)} |"
    yield f"|--:|--:|--:|{'--:|' * len(needed)}"
    for gamma in (*GAMMAS, 1.0):
        more = () if gamma == 1 else ("--gamma", str(gamma))
        ours = anonymized(log, "--engine", "polars-streaming", *FEW, *more)
        tell(f"gamma {gamma:g}", seconds=ours.seconds)
        least = [make_plan(epsilon, DELTA, rate=gamma).calibration.least_count / gamma for epsilon in EPSILONS]
        cells = " | ".join(f"{cases:,.0f} cases" for cases in least)
        yield f"| {gamma:g} | {ours.seconds:.1f} | {ours.gigabytes:.2f} GB | {cells} |"


def main() -> None:
    """Print all tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, nargs="*", default=list(SIZES), help="sizes of the logs")
    parser.add_argument("--folder", type=Path, default=Path("build/scale"), help="where simulated logs are kept")
    parser.add_argument("--attributes", action="store_true", help="only what attributes cost")
    parser.add_argument("--json", action="store_true", help="the rows alone, for scripts")
    said = parser.parse_args()
    said.folder.mkdir(parents=True, exist_ok=True)
    if said.attributes:
        print("\n".join(attributes(said.folder, said.events)))
        return
    found = list(rows(said.folder, said.events))
    if said.json:
        print(json.dumps(found))
        return
    print("\n".join((*shown(found), "", *attributes(said.folder, said.events), "", *subsamples(said.folder, max(said.events)))))


if __name__ == "__main__":
    main()
