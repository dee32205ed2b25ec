"""The paper's tables computed again: every log in every setting at every alpha, once for each seed.

In: logs in memory, and the settings to try. Out: a `Reproduction`. Same logs, same seeds: same figures, but for the seconds.
Every run starts from a log of which nothing is computed yet, so that the seconds are those of a first run.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from libra.errors import UsageError
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.options import Progress, no_progress
from libra.measures.edges import pair_edges
from libra.measures.utility import emd_freq, emd_time
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import PRINTED, Libra2022Claim
from libra.privacy.randomness import Randomness
from libra.reproduce.paper import REMARKS, TABLE_1, TABLE_2, TABLE_2_ALPHA, Cell, known_as
from libra.reproduce.results import Compared, Reproduction, Row
from libra.reproduce.settings import GAMMA, SETTINGS, SUBSAMPLES, B, Setting

ALPHAS = (2, 10, 100)
SEEDS = tuple(range(5))


@dataclass(frozen=True)
class _Distances:
    """EMD Freq and EMD Time of one anonymized log."""

    freq: float
    time: float


@dataclass(frozen=True)
class _Run:
    """One anonymization: how far its result is from the original, whether it is empty, and how long it took."""

    distances: _Distances
    empty: bool
    seconds: float


def reproduce(
    logs: Mapping[str, EventLog],
    settings: Sequence[Setting] = tuple(SETTINGS.values()),
    alphas: Sequence[float] = ALPHAS,
    seeds: Sequence[int] = SEEDS,
    progress: Progress = no_progress,
) -> Reproduction:
    """Anonymize each log as published and measure the result.

    Args:
        logs: By name; those of the paper are known by theirs, such as "sepsis".
        settings: The readings of the paper to try.
        alphas: The orders to try.
        seeds: One run for each.
        progress: Called with the runs done and the runs in all.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = reproduce({"emergency": simulate(cases=500)}, alphas=[10], seeds=[0, 1])
        >>> [(row.setting, row.emd_freq.mean < row.emd_freq.empty, row.in_paper) for row in found.rows]
        [('printed', True, False), ('text', True, False), ('stated', True, False)]
    """
    if not (logs and settings and alphas and seeds):
        raise UsageError("A reproduction needs at least one log, one setting, one alpha and one seed.")
    total = len(logs) * len(settings) * len(alphas) * len(seeds)
    rows: list[Row] = []
    for setting in settings:
        for name, log in logs.items():
            empty = _distances(log, empty_log(log))
            for alpha in alphas:
                mechanism = Libra2022(alpha, B, GAMMA, setting.delta, SUBSAMPLES, setting.trace_noise)
                runs = []
                for seed in seeds:
                    runs.append(_run(log, mechanism, seed))
                    progress(len(rows) * len(seeds) + len(runs), total)
                rows.append(_row(name, setting, alpha, runs, empty))
    remarks = tuple(REMARKS[known_as(name)] for name in logs if known_as(name) in REMARKS)
    return Reproduction(tuple(settings), tuple(alphas), tuple(seeds), tuple(rows), remarks)


def _run(log: EventLog, mechanism: Libra2022, seed: int) -> _Run:
    untouched = EventLog(log.events, log.cases)
    begin = time.perf_counter()
    released = mechanism.anonymize(untouched, Randomness(seed)).log
    seconds = time.perf_counter() - begin
    return _Run(_distances(log, released), not released.n_cases, seconds)


def _distances(original: EventLog, anonymized: EventLog) -> _Distances:
    edges = pair_edges(original, anonymized)
    return _Distances(emd_freq(edges), emd_time(edges))


def _row(name: str, setting: Setting, alpha: float, runs: Sequence[_Run], empty: _Distances) -> Row:
    cells = TABLE_1.get(known_as(name), {})
    printed = cells.get(alpha, Cell(None, None))
    empty_runs = sum(run.empty for run in runs)
    filled = empty_runs < len(runs)
    return Row(
        log=name,
        in_paper=alpha in cells,
        setting=setting.name,
        alpha=alpha,
        renyi_epsilon=Libra2022Claim(alpha, B, GAMMA, setting.delta, SUBSAMPLES).renyi_epsilon,
        printed_epsilon=PRINTED.get(alpha),
        emd_freq=_compared([run.distances.freq for run in runs if filled], printed.emd_freq, empty.freq),
        emd_time=_compared([run.distances.time for run in runs if filled], printed.emd_time, empty.time),
        empty_runs=empty_runs,
        seconds=statistics.fmean(run.seconds for run in runs),
        printed_seconds=TABLE_2.get(known_as(name)) if alpha == TABLE_2_ALPHA else None,
    )


def _compared(values: Sequence[float], printed: float | None, empty: float) -> Compared:
    mean = statistics.fmean(values) if values else None
    spread = math.sqrt(statistics.variance(values)) if len(values) > 1 else None
    return Compared(mean, spread, printed, empty)
