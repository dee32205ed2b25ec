"""The audit: does a mechanism keep what it claims? An attempt to refute it, from the outside.

The mechanism runs thousands of times on a small log with and without a canary. From the first runs the most telling event is
chosen for each canary; fresh runs then say how likely it is on each side, with exact bounds. The promise: a claim that is true is
refuted with probability `MISTAKEN` at most. One that is not refuted may still be false: an audit only finds what it looks for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from libra._system.arguments import checked, checked_whole, delta_of_guarantee
from libra._system.randomness import LARGEST_SEED, Randomness
from libra._system.workers import pooled
from libra.engines.contract import CASE
from libra.errors import UsageError
from libra.eventlog.attributes import Attribute
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.measures.audit.canaries import NAMES, RELEASED, THRESHOLD, Canary, Case, Setting, log_of_cases, setting_of
from libra.measures.audit.events import Event, bound_of, telling_event
from libra.measures.audit.outcome import Audit, Claim, Finding
from libra.measures.audit.sight import Figure, Sight
from libra.measures.distances import Floats
from libra.mechanisms.mechanism import Mechanism
from libra.privacy.gaussian import checked_epsilon

if TYPE_CHECKING:
    from libra.mechanisms.release import Release

MISTAKEN = 0.01
CHOOSING = 0.25  # the share of the runs that the events are chosen from
FAVOURITE = 0.6  # the share of the others, and of the mistakes allowed, that goes to the most promising canary
FEWEST, MOST = 200, 10_000_000
LONGEST = 7 * 24 * 3600.0
PROBES = 24  # runs at each number of cases that is tried for the threshold
LARGEST_THRESHOLD = 256
SHOWS = 0.2  # a variant that shows less often is not worth a canary
AT_ONCE = 20  # runs handed to a process at a time
Job: TypeAlias = tuple[int, int, int, int | None]  # its number, which log, how many runs, and the seed


@dataclass(frozen=True)
class Effort:
    """How hard to try.

    Example:
        >>> Effort(runs=5)
        Traceback (most recent call last):
        libra.errors.UsageError: runs has to be a whole number from 200 to 10,000,000, not 5.
    """

    runs: int = 10_000  # in all, both sides and all canaries together
    seconds: float = 240.0  # when to stop, whatever was done by then
    processes: int = 1  # how many runs at once
    seed: int | None = None  # for the same audit again; None for fresh randomness

    def __post_init__(self) -> None:
        """Refuse invalid values."""
        checked_whole("runs", self.runs, FEWEST, MOST)
        checked_whole("processes", self.processes, 1, 256)
        checked("the time limit", self.seconds, lambda seconds: 1 <= seconds <= LONGEST, f"of seconds from 1 to {LONGEST:,.0f}")
        if self.seed is not None:
            checked_whole("seed", self.seed, 0, LARGEST_SEED)


def audit(
    log: EventLog,
    mechanism: Mechanism,
    claim: Callable[[Release], Claim] | None = None,
    effort: Effort | None = None,
    canaries: str | Sequence[str] | None = None,
    progress: Progress = no_progress,
) -> Audit:
    """Try to refute what a mechanism claims, on small logs that are made of the cases of a log.

    `claim` says what to test of a release: by default the guarantee that it states. `canaries` are the names of those to try: by
    default all. `progress` is called with the runs done and the runs in all.
    """
    begin, effort = time.monotonic(), effort or Effort()
    names = list(NAMES) if canaries is None else [canaries] if isinstance(canaries, str) else list(dict.fromkeys(canaries))
    for name in names:
        if name not in NAMES:
            raise UsageError(f'Unknown canary "{name}". Choose from: {", ".join(NAMES)}.')
    if not names:
        raise UsageError("An audit needs at least one canary. Omit the list to try all of them.")
    asked = tuple(one for one in getattr(mechanism, "attributes", ()) if isinstance(one, Attribute)) or RELEASED
    protected = log.individual is not None and hasattr(mechanism, "most_cases")  # the individual, not each case by itself
    most_cases = (getattr(mechanism, "most_cases", None) or 1) if protected else None
    setting = setting_of(log, labels_public=not getattr(mechanism, "private_labels", False), most_cases=most_cases)
    individuals, notes, at_threshold, probes = log.individual is not None, [], 0, 0
    small = log_of_cases(setting.base(1), individuals=individuals, attributes=asked)
    try:
        release = mechanism.anonymize(small, Randomness(), no_progress)
    except UsageError as error:
        raise UsageError(f"On the small log of the audit: {error}") from error
    tested = (claim or stated_claim)(release)
    runs = Runs(mechanism, effort.processes, effort.seed, individuals, asked)
    if THRESHOLD in names:
        found, probes = _threshold(setting, runs, begin + CHOOSING * effort.seconds)
        if found is None:
            notes.append(f"No variant of up to {LARGEST_THRESHOLD} cases shows in the release: none was put at a threshold.")
            names = [name for name in names if name != THRESHOLD]
        if not names:
            raise UsageError(f"Nothing was tried. {notes[0]} Choose other canaries, or a larger epsilon or delta.")
        at_threshold = found or 0
    tried = [canary for canary in setting.canaries(at_threshold) if canary.name in names]
    findings = _findings(runs, setting.base(at_threshold), tried, tested, effort, begin, progress)
    if runs.cut_short:
        notes.append("Time was up before all runs were done: --time-limit allows more.")
    return Audit(
        mechanism=mechanism.name,
        parameters=release.parameters,
        claim=tested,
        findings=tuple(findings),
        runs=runs.done + probes,
        seconds=time.monotonic() - begin,
        mistaken=MISTAKEN,
        notes=tuple(notes),
    )


def stated_claim(release: Release) -> Claim:
    """The guarantee that a release states of itself."""
    promised = release.guarantee
    if promised.epsilon is None or promised.delta is None:
        raise UsageError(f"{release.mechanism} states no epsilon. Choose the one to test with --epsilon.")
    whole = promised.unit != CASE.statement()
    return Claim(promised.epsilon, promised.delta, f"{promised.kind} by {promised.source}", of_individuals=whole)


def implied_claim(release: Release, epsilon: float | None, delta: float) -> Claim:
    """The claim to test at this delta: the guarantee that is stated, or what the figure of the authors implies, or more."""
    if release.guarantee.epsilon is not None:
        return stated_claim(release)
    implied = None if release.claimed is None else release.claimed.implied_epsilon(delta)
    authors = "its authors state no epsilon" if implied is None else f"what its authors claim implies {implied:.3g}"
    if epsilon is not None:
        return Claim(checked_epsilon(epsilon), delta_of_guarantee(delta), f"asked for; {authors}")
    if implied is None:
        raise UsageError(f"{release.mechanism} states no epsilon. Choose the one to test with --epsilon.")
    return Claim(implied, delta_of_guarantee(delta), "implied by what its authors claim")


def _threshold(setting: Setting, runs: Runs, deadline: float) -> tuple[int | None, int]:
    """The number of cases at which one more makes a variant show, as far as a few runs tell, or None; and how many these are."""
    probes = 0

    def shows(cases: int) -> float:
        nonlocal probes
        base, own = setting.base(cases), replace(runs, processes=1)
        sight = Sight(base, [Canary(THRESHOLD, setting.probe[:1])], own.attributes)
        column = next(i for i, figure in enumerate(sight.figures) if figure.kind == "variant")
        (seen,) = own.seen([base], {0: PROBES}, sight, deadline)
        probes += own.done
        return float((seen[:, column] > 0).mean()) if len(seen) else 0.0

    low, high = 0, 1
    while (often := shows(high)) < SHOWS:
        low, high = high, 2 * high
        if high > LARGEST_THRESHOLD:
            return None, probes
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) >= often / 2 else (middle, high)
    return high - 1, probes


def _findings(
    runs: Runs, base: list[Case], canaries: list[Canary], claim: Claim, effort: Effort, begin: float, progress: Progress
) -> list[Finding]:
    """What each canary proves, the most telling first."""
    sight, logs = Sight(base, canaries, runs.attributes), [base, *([*base, *canary.cases] for canary in canaries)]
    columns = [sight.columns(canary) for canary in canaries]
    claims = [claim.of_group(canary.size) for canary in canaries]

    def seen(wanted: dict[int, int], until: float) -> list[Floats]:
        deadline = begin + until * effort.seconds
        return runs.seen(logs, wanted, sight, deadline, lambda done: progress(min(done, effort.runs), effort.runs))

    without, *with_each = seen(dict.fromkeys(range(len(logs)), max(int(CHOOSING * effort.runs / len(logs)), 1)), CHOOSING)
    events = []
    for with_it, own, promised in zip(with_each, columns, claims, strict=True):
        n = min(len(with_it), len(without))
        events.append(telling_event(with_it[:n, own], without[:n, own], promised.delta))
    favourite = max(range(len(canaries)), key=lambda i: events[i].promised - claims[i].epsilon)
    others, best = len(canaries) - 1, FAVOURITE if len(canaries) > 1 else 1.0
    left = max(effort.runs - runs.done, 0)  # to confirm: most for the favourite and for the log without a canary
    both, other = int(left * best / 2), int(left * (1 - best) / max(others, 1))
    wanted = {0: both} | {i + 1: both if i == favourite else other for i in range(len(canaries))}
    without, *with_each = seen(wanted, 1.0)
    findings = []
    for i, (canary, event, with_it, own) in enumerate(zip(canaries, events, with_each, columns, strict=True)):
        mistaken = MISTAKEN * (best if i == favourite else (1 - best) / others)
        words = _in_words(event, [sight.figures[column] for column in own])
        bound = bound_of(event, with_it[:, own], without[:, own], mistaken)
        findings.append(Finding(canary.name, canary.size, claims[i], words, event.with_canary, bound, mistaken))
    return sorted(findings, key=lambda finding: finding.claim.epsilon - finding.epsilon_low)


def _in_words(event: Event, figures: Sequence[Figure]) -> str:
    if event.figure is None:
        return f"all figures, weighed together, are {'high' if event.above else 'low'}"
    figure = figures[event.figure]
    return f"{figure}: {'at least' if event.above else 'below'} {figure.told(event.threshold)}"


@dataclass
class Runs:
    """Runs of a mechanism on small logs.

    When time is up, no more are begun and those under way count: the clock decides, never what comes out.
    """

    mechanism: Mechanism
    processes: int = 1  # how many runs at once; 1 is in this process
    seed: int | None = None  # for the same draws again; None takes the operating system's
    individuals: bool = False  # whether the logs say whose case is whose
    attributes: tuple[Attribute, ...] = RELEASED  # what the logs have
    done: int = field(default=0, init=False)
    cut_short: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Make the seeds of the jobs follow from the one seed."""
        self._seeds = None if self.seed is None else np.random.Generator(np.random.PCG64(self.seed))

    def seen(
        self,
        logs: Sequence[Sequence[Case]],
        wanted: Mapping[int, int],
        sight: Sight,
        deadline: float,
        told: Callable[[int], None] = lambda done: None,
    ) -> list[Floats]:
        """What is seen of each log in so many runs of it; fewer where the deadline comes first."""
        events = [log_of_cases(cases, individuals=self.individuals, attributes=self.attributes) for cases in logs]
        results = {}
        run = partial(_run, self.mechanism, events, sight)
        with pooled(run, self._jobs(wanted, deadline), self.processes) as finished:
            for number, log, rows in finished:
                results[number] = log, rows
                self.done += len(rows)
                told(self.done)
        seen = [results[number] for number in sorted(results)]
        nothing = np.zeros((0, len(sight.figures)))
        seen_of_each = [np.concatenate([nothing, *(rows for of, rows in seen if of == log)]) for log in range(len(logs))]
        self.cut_short |= any(len(seen_of_each[log]) < n for log, n in wanted.items())
        return seen_of_each

    def _jobs(self, wanted: Mapping[int, int], deadline: float) -> Iterator[Job]:
        """The runs that are begun before the deadline, a few at a time and the logs in turn; of every log some in any case."""
        jobs = [(begin / n, log, min(AT_ONCE, n - begin)) for log, n in wanted.items() for begin in range(0, n, AT_ONCE)]
        for number, (_, log, n) in enumerate(sorted(jobs)):
            seed = None if self._seeds is None else int(self._seeds.integers(LARGEST_SEED))
            if number >= len(wanted) and time.monotonic() >= deadline:
                return
            yield number, log, n, seed


def _run(mechanism: Mechanism, logs: Sequence[EventLog], sight: Sight, job: Job) -> tuple[int, int, Floats]:
    number, log, n, seed = job
    random = Randomness(seed)
    return number, log, np.array([sight.of(mechanism.anonymize(logs[log], random, no_progress).log) for _ in range(n)])
