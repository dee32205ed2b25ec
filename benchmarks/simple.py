"""Control flow by libra with nearly all of the budget, beside TraVaS, which releases nothing else: `python -m benchmarks.simple`.

The public logs, the bundled example, and simulated logs of a few variants: distinct traces of three to six of eight activities,
each followed by 100 to 1,000 cases. For each epsilon `dfg_l1` and `variant_tv` as means over seeds, and how many times those of
TraVaS they are. Where both are below the slack, the ratio says nothing and counts as kept. The first seed may be given.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import libra
from benchmarks.measured import logs, tell, verdict
from libra import example
from libra.eventlog.cases import Cases, Integers, traces_of
from libra.eventlog.log import EventLog
from libra.measures.distances import total_variation
from libra.measures.edges import pair_edges
from libra.measures.utility import dfg_l1, paired_variants
from libra.mechanisms.fresh_log import log_of

NAMES = ("urineweginfectie", "sepsis", "bpic13", "bpic20", "bpic12", "hospital", "bpic14f", "roadtraffic")
SIMULATED = ((5, 1), (5, 2), (12, 1), (12, 2), (40, 1), (40, 2))  # how many variants, and the seed
EPSILONS, DELTA, SEEDS = (0.1, 1.0, 5.0), 1e-4, 6
MOST = {"model": 1.5, "drop": 1.1}  # times the figures of TraVaS, by what becomes of rare cases
SLACK = 0.001  # up to which figures are near zero
HOUR = 3_600_000_000


def simulated(variants: int, seed: int) -> EventLog:
    """A log of so many variants, each of 100 to 1,000 cases."""
    random = np.random.Generator(np.random.PCG64(seed))
    words: set[tuple[int, ...]] = set()
    while len(words) < variants:
        words.add(tuple(random.integers(0, 8, random.integers(3, 7)).tolist()))
    rows = np.repeat(np.arange(variants), random.integers(100, 1_001, variants))
    traces = traces_of([list(word) for word in sorted(words)]).take(random.permutation(rows))
    micros: Integers = traces.rows * HOUR + np.arange(len(traces.codes))
    cases = Cases(traces.codes, micros, traces.offsets, np.zeros(len(traces), np.int64), 8)
    return log_of(cases, "abcdefgh", seeded=False)


def originals() -> Iterator[tuple[str, EventLog]]:
    """Every log, with its name."""
    for path in dict.fromkeys((*logs(*NAMES), example.path())):
        yield path.name.partition(".")[0], libra.read(path)
    for variants, seed in SIMULATED:
        yield f"{variants} variants, {seed}", simulated(variants, seed)


def figures(log: EventLog, seed: int, **asked: object) -> tuple[float, float]:
    """`dfg_l1` and `variant_tv` of a release."""
    released = libra.anonymize(log, delta=DELTA, seed=seed, **asked).log  # type: ignore[arg-type]  # keywords of mechanisms
    one, other = paired_variants(log, released).select("original", "anonymized").to_numpy().T
    return dfg_l1(pair_edges(log, released)) or 0.0, total_variation(one, other)


def main() -> None:
    """Print the table."""
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    table = Table(
        "log", "epsilon", title=f"control=0.98 beside travas: dfg_l1 and variant_tv (mean of {SEEDS} seeds), times, kept"
    )
    for heading in ("travas", *(f"tail {tail}" for tail in MOST)):
        table.add_column(heading, justify="right")
    for name, log in originals():
        for epsilon in EPSILONS:
            ways: list[dict[str, Any]] = [{"tail": tail, "budget": {"control": 0.98}} for tail in MOST]
            means = [
                np.mean([figures(log, seed, epsilon=epsilon, **asked) for seed in range(first, first + SEEDS)], axis=0)
                for asked in ({"mechanism": "travas"}, *ways)
            ]
            cells = []
            for most, found in zip(MOST.values(), means[1:], strict=True):
                times = found / np.maximum(means[0], 1e-9)
                kept = [verdict(bool(ratio <= most or one <= SLACK)) for ratio, one in zip(times, found, strict=True)]
                said = " ".join(f"{ratio:.2f}" if one > SLACK else "-" for ratio, one in zip(times, found, strict=True))
                cells.append(f"{found[0]:.4f} {found[1]:.4f} ({said}) {' '.join(kept)}")
            table.add_row(name, f"{epsilon:g}", f"{means[0][0]:.4f} {means[0][1]:.4f}", *cells)
        tell(name)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
