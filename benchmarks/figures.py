"""The figures of docs/how-it-works.md: what `libra` loses of public logs, as a Markdown table on stdout.

    python -m benchmarks.figures LOGS_FOLDER                  all XES files of a folder, at three budgets
    python -m benchmarks.figures LOGS_FOLDER --subsampling    the same budget with and without subsamples

Every figure is the mean over some seeds, so that the same version gives the same table. Progress goes to stderr. The figures are
computed from the originals: for a log that is not public they are confidential.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from libra._system.randomness import Randomness
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.measures import measure
from libra.mechanisms.libra import Libra

DELTA = 1e-4
EPSILONS = (0.1, 1.0, 5.0)
MEASURES = ("dfg_l1", "edge_precision", "unseen_variant_share", "edge_duration_w1_log", "arrival_w1_days", "emd_freq")
OF_EMPTY = ("edge_duration_w1_log", "emd_freq")  # an empty log has a dfg_l1 of 1 and no arrivals
SUBSAMPLED_LOGS = ("bpic13", "roadtraffic", "sepsis")
SUBSAMPLED_EPSILONS = (1.0, 0.1)
SUBSAMPLES = ((1.0, 1), (0.5, 1), (0.1, 1), (0.2, 5), (0.05, 20))  # the rate, and how many
NONE = "-"
Measured = Mapping[str, float | None]


def main(words: Sequence[str] | None = None) -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.figures", description="What libra loses of public logs.")
    parser.add_argument("folder", type=Path, help="where the logs are, as NAME.xes or NAME.xes.gz")
    parser.add_argument("--seeds", type=int, default=3, help="how many runs each figure is the mean of")
    parser.add_argument("--subsampling", action="store_true", help="compare ways to subsample instead")
    said = parser.parse_args(words)
    logs = sorted(said.folder.glob("*.xes*"))
    rows = subsampling_table(logs, said.seeds) if said.subsampling else table(logs, said.seeds)
    for cells in rows:
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
        sys.stdout.flush()


def table(logs: Iterable[Path], seeds: int) -> Iterator[tuple[str, ...]]:
    """Heading, rule and a row a log: each measure at the three budgets, then what an empty log scores."""
    yield ("log", *(f"`{name}`" for name in MEASURES), *(f"`{name}`, empty log" for name in OF_EMPTY))
    yield ("---",) + ("---:",) * (len(MEASURES) + len(OF_EMPTY))
    for path in logs:
        log = read(path, ReadOptions())
        runs = [utilities(log, Libra(epsilon=epsilon, delta=DELTA), seeds, name_of(path)) for epsilon in EPSILONS]
        empty = vars(measure(log, empty_log(log)))
        yield (
            name_of(path),
            *(" / ".join(shown(mean(run, name)) for run in runs) for name in MEASURES),
            *(shown(mean([empty], name)) for name in OF_EMPTY),
        )


def subsampling_table(logs: Iterable[Path], seeds: int) -> Iterator[tuple[str, ...]]:
    """Heading, rule and a row for every log and budget: `dfg_l1` for each way to subsample, with public names."""
    yield ("log", "epsilon", *(_way(rate, runs) for rate, runs in SUBSAMPLES))
    yield ("---",) + ("---:",) * (1 + len(SUBSAMPLES))
    for path in logs:
        if name_of(path) not in SUBSAMPLED_LOGS:
            continue
        log = read(path, ReadOptions())
        for epsilon in SUBSAMPLED_EPSILONS:
            ways = [Libra(epsilon, DELTA, labels="public", gamma=rate, subsamples=runs) for rate, runs in SUBSAMPLES]
            found = [mean(utilities(log, way, seeds, name_of(path)), "dfg_l1") for way in ways]
            yield (name_of(path), f"{epsilon:g}", *map(shown, found))


def utilities(log: EventLog, libra: Libra, seeds: int, name: str) -> list[Measured]:
    """What some runs lose, a seed each."""
    found: list[Measured] = []
    for seed in range(seeds):
        found.append(vars(measure(log, libra.anonymize(log, Randomness(seed)).log)))
        said = f"epsilon {libra.epsilon:g}, {_way(libra.plan.rate, libra.plan.runs)}, seed {seed}"
        print(f"{name}, {said}: dfg_l1 {found[-1]['dfg_l1']}", file=sys.stderr, flush=True)
    return found


def mean(runs: Sequence[Measured], name: str) -> float | None:
    """The mean of a measure; None where it is not defined for a run, because its log is empty."""
    values = [run[name] for run in runs]
    known = [value for value in values if value is not None]
    return fmean(known) if len(known) == len(values) else None


def shown(value: float | None) -> str:
    """A figure with three digits or, below one, with three decimals.

    Example:
        >>> [shown(value) for value in (0.01234, 12.34, 5270.8, None)]
        ['0.012', '12.3', '5,271', '-']
    """
    if value is None:
        return NONE
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def name_of(log: Path) -> str:
    """A log is known by its file name up to the first dot."""
    return log.name.partition(".")[0]


def _way(rate: float, runs: int) -> str:
    return "all cases" if rate == 1 and runs == 1 else f"{runs} x {rate:g}"


if __name__ == "__main__":
    main()
