"""From a plan to a comparison: what is known already is taken from the cache, the rest is run.

In: logs by name, the plan, limits, and where finished runs are kept. Out: a `Comparison`. A run that went beyond a limit is not
tried again with other seeds: they would take the time and fail alike.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache as remembered
from pathlib import Path

from libra.comparison.cache import Cache, user_cache
from libra.comparison.comparison import ComparedLog, Comparison
from libra.comparison.flags import in_our_words
from libra.comparison.handover import content_hash, packed
from libra.comparison.outcome import LIMITS, Missing, Outcome, Result
from libra.comparison.plan import Plan, Run
from libra.comparison.processes import Limits, found_by_processes
from libra.eventlog.log import EventLog, empty_log
from libra.measures import measure
from libra.privacy.arguments import checked_whole

MOST_PROCESSES = 1_000

Told = Callable[[int, int, str], None]
"""Called with the runs done, the runs in all, and what is running."""


def nobody_told(_done: int, _total: int, _running: str) -> None:
    """The progress of those who do not want to know."""


def checked_processes(said: int | None) -> int:
    """How many runs at once: as said, or one for each core that this process may use.

    Example:
        >>> checked_processes(2), checked_processes(None) >= 1
        (2, True)
    """
    if said is not None:
        return checked_whole("processes", said, 1, MOST_PROCESSES)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def cache_of(said: str | Path | bool) -> Cache | None:
    """Where finished runs are kept: a folder, the user's own (True) or nowhere (False).

    Example:
        >>> cache_of(False), cache_of("here").folder.name
        (None, 'here')
    """
    if isinstance(said, bool):
        return Cache(user_cache()) if said else None
    return Cache(Path(said))


def compare(
    logs: Mapping[str, EventLog],
    plan: Plan,
    limits: Limits,
    processes: int,
    cache: Cache | None = None,
    told: Told = nobody_told,
) -> Comparison:
    """Run all that is planned on all logs.

    Example:
        >>> from libra.comparison.plan import plan_of
        >>> from libra.comparison.setting import settings_of
        >>> from libra.example.simulate import simulate
        >>> plan = plan_of(settings_of("libra"), epsilon=1.0, delta=1e-4, seeds=1)
        >>> found = compare({"emergency": simulate(cases=300)}, plan, Limits(), processes=1)
        >>> found.outcomes[0].result.guarantee
        'proved'
    """
    runs = list(plan.runs(logs))
    contents = {name: content_hash(log) for name, log in logs.items()} if cache is not None else {}
    settled = _Settled()
    for run in runs:
        if run.refusal is not None:
            settled.settle(run, Missing("refused", run.refusal))
        elif cache is not None:
            kept = cache.found(run, contents[run.log], limits)
            if kept is not None:
                settled.settle(run, kept, cached=True)

    @remembered
    def data_of(name: str) -> bytes:
        return packed(logs[name])

    def watch(under_way: Sequence[Run]) -> None:
        others = f" and {len(under_way) - 1} more" if len(under_way) > 1 else ""
        told(len(settled.outcomes), len(runs), f"{under_way[0]}{others}" if under_way else "")

    with closing(found_by_processes(_wanted(runs, settled), data_of, limits, processes, watch)) as finished:
        for run, found in finished:
            settled.settle(run, found)
            if cache is not None:
                cache.keep(run, contents[run.log], found, limits)
    told(len(settled.outcomes), len(runs), "")
    compared = tuple(
        ComparedLog(name, measure(log, empty_log(log)), log.notes, has_individuals=log.individual is not None)
        for name, log in logs.items()
    )
    notes = (*plan.notes, *((cache.trouble,) if cache is not None and cache.trouble else ()))
    in_order = sorted(settled.outcomes.values(), key=_place(runs))
    return Comparison(compared, tuple(in_order), plan.epsilons, plan.delta, plan.seeds, limits, notes)


@dataclass
class _Settled:
    """What is known so far: the outcomes, and which kinds of runs went beyond a limit."""

    outcomes: dict[Run, Outcome] = field(default_factory=dict)
    beyond: dict[tuple[object, ...], Missing] = field(default_factory=dict)

    def settle(self, run: Run, found: Result | Missing, *, cached: bool = False) -> None:
        if isinstance(found, Missing) and found.why == "refused":
            found = replace(found, reason=in_our_words(found.reason, run.setting, run.parameters))
        elif isinstance(found, Missing) and found.why in LIMITS:
            self.beyond.setdefault(_but_for_seed(run), found)
        self.outcomes[run] = Outcome(run, found, cached)


def _wanted(runs: Sequence[Run], settled: _Settled) -> Iterator[Run]:
    """The runs that are still to be made, one at a time; those that another seed has shown to be hopeless are settled here."""
    for run in runs:
        if run in settled.outcomes:
            continue
        beyond = settled.beyond.get(_but_for_seed(run))
        if beyond is None:
            yield run
        else:
            settled.settle(run, beyond)


def _but_for_seed(run: Run) -> tuple[object, ...]:
    return run.log, run.setting.label, run.epsilon


def _place(runs: Sequence[Run]) -> Callable[[Outcome], tuple[int, int]]:
    """Where an outcome stands: by log, setting and epsilon in the order of the plan, then by seed."""
    first: dict[tuple[object, ...], int] = {}
    for run in runs:
        first.setdefault(_but_for_seed(run), len(first))
    seeds = {seed: place for place, seed in enumerate(dict.fromkeys(run.seed for run in runs))}
    return lambda outcome: (first[_but_for_seed(outcome.run)], seeds[outcome.run.seed])
