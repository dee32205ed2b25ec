"""Models discovered from a release beside those of the original and of a random half of its cases, measured on the original.

The inductive miner at noise thresholds 0 and 0.2, and token-based replay for fitness and precision (pm4py). Models are discovered
from all cases, as variants with numbers of cases. Replay is slow, so they are measured on at most so many cases of the original,
the same for all models, drawn with a seed. Each model is made and measured in a process of its own, which has some minutes.
Releases are at epsilon 1 and delta 1e-4, with a seed each; the figures are means. Use public logs: nothing here is private.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.table import Table

import libra
from benchmarks.measured import logs, tell, verdict
from libra import example
from libra.eventlog.log import EventLog

NAMES = ("urineweginfectie", "bpic13", "bpic20", "roadtraffic", "bpic12", "bpic14f", "sepsis", "hospital")
OUT_OF_REACH = ("sepsis", "hospital")  # nearly every case is different: no target is set for them
NOISE = (0.0, 0.2)
SEEDS = 3
MEASURED_ON = 1_000  # cases
SECONDS = 300  # for a model
LEAST_FITNESS, PRECISION_LOST = 0.95, 0.05  # of the original's own model; and at most, in precision
Variants = Counter[tuple[str, ...]]
Found = Mapping[str, float]


def main() -> None:
    """Print the table."""
    table = Table(title=f"inductive miner, measured on up to {MEASURED_ON:,} cases of the original (mean of {SEEDS} releases)")
    for heading in ("log", "noise", "fitness: original", "half", "release", "precision: original", "half", "release", "targets"):
        table.add_column(heading, justify="left" if heading in ("log", "targets") else "right")
    for path in dict.fromkeys((example.path(), *logs(*NAMES))):
        name, log = path.name.partition(".")[0], libra.read(path)
        releases = [libra.anonymize(log, epsilon=1.0, delta=1e-4, seed=seed).log for seed in range(SEEDS)]
        drawn = np.random.Generator(np.random.PCG64(0)).permutation(log.n_cases)
        measured_on, half = variants_of(log, drawn[:MEASURED_ON]), variants_of(log, drawn[: log.n_cases // 2])
        for noise in NOISE:
            made = [[variants_of(log)], [half], [variants_of(release) for release in releases]]
            found = [[model(some, measured_on, noise, name) for some in several] for several in made]
            table.add_row(name, f"{noise:g}", *cells(found, "fitness"), *cells(found, "precision"), targets(name, found))
    Console(width=160).print(table)


def variants_of(log: EventLog, cases: np.ndarray | None = None) -> Variants:
    """The variants of a log, or of some of its cases, and how many follow each."""
    chosen = log.variants.of_case if cases is None else log.variants.of_case[cases]
    counts = np.bincount(chosen, minlength=len(log.variants)).tolist()
    traces = log.variants.traces["trace"].to_list()
    return Counter({tuple(log.activities[code] for code in trace): n for trace, n in zip(traces, counts, strict=True) if n})


def model(discovered_from: Variants, measured_on: Variants, noise: float, name: str) -> Found | None:
    """Fitness and precision of a model; None where that takes too long or there is nothing to discover it from."""
    if not discovered_from:
        return None
    asked = {"from": list(discovered_from.items()), "on": list(measured_on.items()), "noise": noise}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.discovery", "one"],
            input=json.dumps(asked).encode(),
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        tell(f"{name}, noise {noise:g}: given up", after=SECONDS)
        return None
    found: Found = json.loads(done.stdout)
    tell(f"{name}, noise {noise:g}: fitness {found['fitness']:.3f}, precision {found['precision']:.3f}", taken=found["seconds"])
    return found


def one() -> None:
    """Discover and measure the model that stdin asks for."""
    from time import perf_counter

    import pandas as pd
    import pm4py
    from pm4py.algo.discovery.inductive.dtypes.im_ds import IMDataStructureUVCL
    from pm4py.algo.discovery.inductive.variants.im import IMUVCL
    from pm4py.algo.discovery.inductive.variants.imf import IMFUVCL
    from pm4py.objects.process_tree.utils.generic import fold

    asked = json.load(sys.stdin)
    begin = perf_counter()
    variants = IMDataStructureUVCL(Counter({tuple(trace): count for trace, count in asked["from"]}))
    parameters = {"noise_threshold": asked["noise"]}
    miner = IMFUVCL if asked["noise"] else IMUVCL  # pm4py's own function takes events alone, and groups them anew
    net = pm4py.convert_to_petri_net(fold(miner(parameters).apply(variants, parameters)))
    traces = [trace for trace, count in asked["on"] for _ in range(count)]
    case = np.repeat(np.arange(len(traces)), [len(trace) for trace in traces])
    events = [activity for trace in traces for activity in trace]
    times = pd.Timestamp("2024-01-01", tz="UTC") + pd.to_timedelta(np.arange(len(events)), unit="s")
    log = pd.DataFrame({"case:concept:name": case.astype(str), "concept:name": events, "time:timestamp": times})
    fitness, precision = pm4py.fitness_token_based_replay(log, *net), pm4py.precision_token_based_replay(log, *net)
    found = {"fitness": fitness["log_fitness"], "precision": precision, "seconds": perf_counter() - begin}
    sys.stdout.write(json.dumps(found))


def cells(found: list[list[Found | None]], figure: str) -> list[str]:
    """A figure of the three kinds of models."""
    return ["-" if (value := mean(models, figure)) is None else f"{value:.3f}" for models in found]


def mean(models: list[Found | None], figure: str) -> float | None:
    """The mean of those that were finished."""
    values = [one[figure] for one in models if one is not None]
    return fmean(values) if values else None


def targets(name: str, found: list[list[Found | None]]) -> str:
    """Whether a release gives a model that is nearly as good as the original's own."""
    own, release = found[0][0], found[2]
    if name in OUT_OF_REACH or own is None or None in release:
        return "none" if name in OUT_OF_REACH else "unknown"
    fitness, precision = (mean(release, figure) or 0.0 for figure in ("fitness", "precision"))
    fits = f"fitness {verdict(fitness >= LEAST_FITNESS * own['fitness'])}"
    return f"{fits}, precision {verdict(precision >= own['precision'] - PRECISION_LOST)}"


if __name__ == "__main__":
    one() if sys.argv[1:] == ["one"] else main()
