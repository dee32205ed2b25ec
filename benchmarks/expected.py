"""Whether the expected error of a release is right: what it says beside what it is.

    python -m benchmarks.expected                      how often the true error is within the interval, by log and by epsilon
    python -m benchmarks.expected --seeds 0-9 --fit    fit the constants of libra.mechanisms.libra.expected anew, and print them
    python -m benchmarks.expected --only durations --fit

On the public logs, halves of some, the bundled log and simulated ones. Constants were fitted to seeds 0 to 9 of logs that are not
`HELD_OUT`, and are judged by seeds 100 to 105 of all. Nothing here is private.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.optimize import minimize

import libra
from benchmarks.measured import logs
from libra import example
from libra._system.randomness import Randomness
from libra.eventlog.cases import Floats
from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_INDEX
from libra.example.simulate import simulate
from libra.measures.edges import pair_edges
from libra.measures.utility import dfg_l1, step_durations
from libra.mechanisms.libra import Libra, expected
from libra.mechanisms.libra.figures import weighted

NAMES = ("urineweginfectie", "sepsis", "bpic13", "bpic20", "bpic12", "hospital", "bpic14f", "roadtraffic")
HALVES = ("sepsis", "bpic20", "bpic12", "urineweginfectie")
SIMULATED = ((1000, 3), (5000, 4), (20_000, 5))
HELD_OUT = ("half of", "20000")
EPSILONS, DELTA = (0.05, 0.1, 0.5, 1.0, 5.0), 1e-4
POWERS, NOISES = (0.3, 0.5, 0.7, 1.0), (0.25, 0.5, 1.0, 2.0, 4.0)


class Run(NamedTuple):
    """A release, and how far it is off."""

    log: str
    epsilon: float
    said: expected.Expected
    counts: float | None
    durations: float | None
    terms: expected.Terms
    steps: Floats  # of each edge
    known: expected.Durations | None


def main() -> None:
    """Print coverage, or constants."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.expected", description="Is the expected error right?")
    parser.add_argument("--seeds", default="100-102", help="from which to which seed, such as 0-9")
    parser.add_argument("--logs", help="names of logs, separated by commas; all without it")
    parser.add_argument("--fit", action="store_true", help="fit the constants to these runs, without the logs that are held out")
    parser.add_argument("--only", choices=("counts", "durations"), help="what to fit")
    said = parser.parse_args()
    first, last = map(int, said.seeds.split("-"))
    wanted = None if said.logs is None else said.logs.split(",")
    runs = list(released(((name, log) for name, log in every_log() if wanted is None or name in wanted), range(first, last + 1)))
    if said.fit:
        runs = [run for run in runs if not any(part in run.log for part in HELD_OUT)]
        for of, fitted in (("counts", fit_counts), ("durations", fit_durations)):
            if said.only in (None, of):
                print(fitted(runs))
        return
    print("| | releases | counts within | counts, true/likely | durations within | durations, true/likely |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for group in (lambda run: run.log, lambda run: f"epsilon {run.epsilon:g}", lambda _: "all"):
        print("\n".join(coverage(runs, group)))


def every_log() -> Iterator[tuple[str, EventLog]]:
    """The public logs that are there, halves of some, the bundled log and simulated ones."""
    for path in dict.fromkeys((example.path(), *logs(*NAMES))):
        name, log = path.name.partition(".")[0], libra.read(path)
        yield name, log
        if name in HALVES:
            yield f"half of {name}", half_of(log)
    for cases, seed in SIMULATED:
        yield f"simulated {cases}", simulate(cases, seed)


def half_of(log: EventLog) -> EventLog:
    """About half of the cases of a log, always the same."""
    rows = np.flatnonzero(np.random.Generator(np.random.PCG64(5)).random(log.n_cases) < 0.5)
    place = pl.DataFrame({CASE_INDEX: rows, "place": np.arange(len(rows))}).cast(log.events.schema[CASE_INDEX])
    events = log.events.join(place, on=CASE_INDEX, how="inner", maintain_order="left")
    events = events.with_columns(pl.col("place").alias(CASE_INDEX)).drop("place")
    return replace(log, events=events, cases=log.cases[rows])


def released(every: Iterable[tuple[str, EventLog]], seeds: Sequence[int]) -> Iterator[Run]:
    """Releases that are not empty."""
    for name, log in every:
        for epsilon in EPSILONS:
            for seed in seeds:
                release = Libra(epsilon=epsilon, delta=DELTA).anonymize(log, Randomness(seed))
                print(f"{name}, epsilon {epsilon:g}, seed {seed}", file=sys.stderr, flush=True)
                if not release.log.n_events or release.expected is None:
                    continue
                edges, run = pair_edges(log, release.log), release.figures[0]
                flow = weighted(run.control, Randomness(run.draw))
                terms = expected.terms_of(run.control, run.times, *flow)
                steps, known = expected.edge_counts(run.control.n_labels, *flow), expected.durations_of(run.times)
                yield Run(name, epsilon, release.expected, dfg_l1(edges), step_durations(edges)[2], terms, steps, known)


def coverage(runs: Sequence[Run], group: Callable[[Run], str]) -> Iterator[str]:
    """A row of the table for each group."""
    for name in dict.fromkeys(map(group, runs)):
        some = [run for run in runs if group(run) == name]
        cells = []
        for of, true in (("dfg_l1", "counts"), ("edge_duration_w1_log", "durations")):
            pairs = [(getattr(run.said, of), getattr(run, true)) for run in some]
            known = [(one, value) for one, value in pairs if one is not None and value is not None]
            inside = np.mean([one.lowest <= value <= one.highest for one, value in known]) if known else np.nan
            middle = np.median([value / max(one.likely, 1e-9) for one, value in known]) if known else np.nan
            cells += [f"{inside:.2f}", f"{middle:.2f}"]
        yield f"| {name} | {len(some)} | {' | '.join(cells)} |"


def fit_counts(runs: Sequence[Run]) -> str:
    """The constants of the counts, as they are to be written."""
    used = [run for run in runs if run.counts and run.counts != 1 and len(run.steps)]
    kept = np.array([run.terms.kept for run in used])
    parts = np.array(
        [
            (one.edges, one.excess, one.left_out, one.left_out_noise, one.short, one.untold, one.untold**2, one.thin)
            for one in (run.terms for run in used)
        ]
    )

    def likely(by: Floats) -> Floats:
        return np.asarray(np.hypot(kept, np.hypot(*(parts[:, :2] * by[:2]).T)) + parts[:, 2:] @ by[2:])

    by, off = fitted(likely, np.array([run.counts for run in used]), [run.log for run in used], parts.shape[1])
    names = "EDGES, EXCESS, LEFT_OUT, LEFT_OUT_NOISE, SHORT, UNTOLD, UNTOLD_SQUARED, THIN"
    return f"{names} = {', '.join(f'{one:.3g}' for one in by)}  # logarithms of true/likely: {quantiles(off)}"


def fit_durations(runs: Sequence[Run]) -> str:
    """The constants of the durations, as they are to be written."""
    used = [run for run in runs if run.durations and run.known is not None and len(run.steps)]
    true, names, found = np.array([run.durations for run in used]), [run.log for run in used], []
    for noise in NOISES:
        for power in POWERS:
            parts = np.array([_parts(run, noise, power) for run in used])
            by, off = fitted(lambda by, parts=parts: parts @ by, true, names, 4)  # type: ignore[misc]  # each with its own
            found.append((float(_loss(off, names)), noise, power, by, off))
    _, noise, power, by, off = min(found, key=lambda one: one[0])
    constants = f"NOISE, POWER = {noise}, {power}\nFITTED = ({', '.join(f'{one:.3g}' for one in by)})"
    return f"{constants}  # logarithms of true/likely: {quantiles(off)}"


def _parts(run: Run, noise: float, power: float) -> tuple[float, ...]:
    assert run.known is not None  # others are not fitted to
    return expected.duration_parts(run.steps, run.known, run.said.dfg_l1.likely, noise, power)


def fitted(likely: Callable[[Any], Floats], true: Floats, names: list[str], size: int) -> tuple[Floats, Floats]:
    """Constants above zero for which the likely error is nearest to the true one, and logarithms of what is left."""

    def off(logs: Floats) -> Floats:
        return np.asarray(np.log(true / np.maximum(likely(np.exp(logs)), 1e-9)))

    starts = (np.random.default_rng(seed).normal(-1, 1, size) for seed in range(4))
    bounds = [(-6.0, 1.6)] * size
    best = min(
        (minimize(lambda x: _loss(off(x), names), start, method="L-BFGS-B", bounds=bounds) for start in starts), key=_value
    )
    return np.exp(best.x), off(best.x)


def _value(found: Any) -> float:
    return float(found.fun)


def _loss(off: Floats, names: list[str]) -> float:
    """How far off, each log counting the same; beyond a fifth, twice as far counts twice."""
    by_log = {name: names.count(name) for name in set(names)}
    return float(sum(value / by_log[name] for value, name in zip(np.sqrt(off**2 + 0.04), names, strict=True)))


def quantiles(off: Floats) -> str:
    """What is left of the error, for the widths of intervals."""
    return ", ".join(
        f"{share:g} %: {value:+.2f}" for share, value in zip((5, 50, 95), np.percentile(off, (5, 50, 95)), strict=True)
    )


if __name__ == "__main__":
    main()
