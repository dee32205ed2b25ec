"""The audit: does a mechanism keep what it claims? An attempt to refute it, from the outside.

In: a log, a mechanism and a claim. The mechanism runs thousands of times on a small log with and without a canary. From the
first runs the most telling event is chosen for each canary; fresh runs then say how likely it is on each side, with exact bounds.
Out: an `Audit`. The promise: a claim that is true is refuted with probability `MISTAKEN` at most, whatever the mechanism. A
claim that is not refuted may still be false: an audit can only find what it looks for, and only what is large enough.
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
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.measures.audit.canaries import NAMES, THRESHOLD, Canary, Case, Setting, log_of_cases, setting_of
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
Seen: TypeAlias = tuple[int, int, Floats]  # the number of the job, which log, and the figures that are seen of it, one row a run


@dataclass(frozen=True)
class Effort:
    """How hard to try.

    Attributes:
        runs: How many runs in all, both sides and all canaries together.
        seconds: When to stop, whatever was done by then.
        processes: How many runs at once.
        seed: For the same audit again; None for fresh randomness.

    Example:
        >>> Effort(runs=5)
        Traceback (most recent call last):
        libra.errors.UsageError: runs has to be a whole number from 200 to 10,000,000, not 5.
    """

    runs: int = 10_000
    seconds: float = 240.0
    processes: int = 1
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
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
    """Try to refute what a mechanism claims.

    Args:
        log: What the small logs are made of.
        mechanism: What is audited.
        claim: What to test of a release; None for the guarantee that it states.
        effort: How many runs, how long, and how many at once.
        canaries: The names of those to try; None for all.
        progress: Called with the runs done and the runs in all.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.mechanisms.mechanism import mechanism
        >>> made = mechanism("libra", {"epsilon": 1.0, "delta": 0.01})
        >>> audit(simulate(cases=200), made, effort=Effort(runs=200), canaries=["joins a frequent variant"]).refuted
        False
    """
    begin = time.monotonic()
    names = _checked_names(canaries)
    most_cases = getattr(mechanism, "most_cases", None) or 1
    setting = setting_of(log, labels_public=not getattr(mechanism, "private_labels", False), most_cases=most_cases)
    individuals = log.individual is not None
    try:
        release = mechanism.anonymize(log_of_cases(setting.base(1), individuals=individuals), Randomness(), no_progress)
    except UsageError as error:
        raise UsageError(f"On the small log that an audit is made on: {error}") from error
    effort = effort or Effort()
    runs = Runs(mechanism, effort.processes, effort.seed, individuals)
    trial = _Trial(runs, setting, (claim or stated_claim)(release), effort, begin, progress)
    findings, notes = trial.findings(names)
    return Audit(
        mechanism=mechanism.name,
        parameters=release.parameters,
        claim=trial.claim,
        findings=tuple(findings),
        runs=trial.runs.done + trial.probes,
        seconds=time.monotonic() - begin,
        mistaken=MISTAKEN,
        notes=tuple(notes),
    )


def stated_claim(release: Release) -> Claim:
    """The guarantee that a release states of itself."""
    promised = release.guarantee
    if promised.epsilon is None or promised.delta is None:
        raise UsageError(f"{release.mechanism} states no epsilon. Say which one to test: --epsilon.")
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
        raise UsageError(f"{release.mechanism} states no epsilon. Say which one to test: --epsilon.")
    return Claim(implied, delta_of_guarantee(delta), "implied by what its authors claim")


def _checked_names(said: str | Sequence[str] | None) -> list[str]:
    names = list(NAMES) if said is None else [said] if isinstance(said, str) else list(dict.fromkeys(said))
    for name in names:
        if name not in NAMES:
            raise UsageError(f'There is no canary "{name}". There is: {", ".join(NAMES)}.')
    if not names:
        raise UsageError("An audit takes one canary at least. Leave the list out for all of them.")
    return names


class _Trial:
    """One audit under way."""

    def __init__(self, runs: Runs, setting: Setting, claim: Claim, effort: Effort, begin: float, progress: Progress) -> None:
        self.runs, self.setting, self.claim, self.effort, self.begin = runs, setting, claim, effort, begin
        self.probes = 0
        self.told: Callable[[int], None] = lambda done: progress(min(done, effort.runs), effort.runs)

    def findings(self, names: list[str]) -> tuple[list[Finding], list[str]]:
        """What each canary proves, the most telling first; and what there is to note."""
        notes, at_threshold = [], 0
        if THRESHOLD in names:
            found = self._threshold()
            if found is None:
                notes.append(f"No variant of up to {LARGEST_THRESHOLD} cases shows in the release: none was put at a threshold.")
                names = [name for name in names if name != THRESHOLD]
            if not names:
                raise UsageError(f"Nothing was tried. {notes[0]} Take other canaries, or a larger epsilon or delta.")
            at_threshold = found or 0
        canaries = [canary for canary in self.setting.canaries(at_threshold) if canary.name in names]
        base = self.setting.base(at_threshold)
        sight = Sight(base, canaries)
        logs = [base, *([*base, *canary.cases] for canary in canaries)]
        each = max(int(CHOOSING * self.effort.runs / len(logs)), 1)
        chosen_from = self._seen(logs, dict.fromkeys(range(len(logs)), each), sight, until=CHOOSING)
        events = [
            self._event(canary, sight, with_it, chosen_from[0]) for canary, with_it in zip(canaries, chosen_from[1:], strict=True)
        ]
        favourite = max(range(len(canaries)), key=lambda i: events[i].promised - self.claim.of_group(canaries[i].size).epsilon)
        confirmed = self._seen(logs, self._wanted(len(canaries), favourite), sight, until=1.0)
        if self.runs.cut_short:
            notes.append("Time was up before all runs were done: --time-limit allows more.")
        findings = [
            self._finding(canary, event, sight, with_it, confirmed[0], _mistaken(len(canaries), favourite=i == favourite))
            for i, (canary, event, with_it) in enumerate(zip(canaries, events, confirmed[1:], strict=True))
        ]
        return sorted(findings, key=lambda finding: finding.claim.epsilon - finding.epsilon_low), notes

    def _threshold(self) -> int | None:
        """The number of cases at which one more makes a variant show, as far as a few runs tell; None where none does."""
        probe = Canary(THRESHOLD, self.setting.probe[:1])

        def shows(cases: int) -> float:
            base = self.setting.base(cases)
            sight = Sight(base, [probe])
            column = next(i for i, figure in enumerate(sight.figures) if figure.kind == "variant")
            runs = replace(self.runs, processes=1)
            (seen,) = runs.seen([base], {0: PROBES}, sight, self._deadline(CHOOSING))
            self.probes += runs.done
            return float((seen[:, column] > 0).mean()) if len(seen) else 0.0

        low, high = 0, 1
        while (often := shows(high)) < SHOWS:
            low, high = high, 2 * high
            if high > LARGEST_THRESHOLD:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if shows(middle) >= often / 2 else (middle, high)
        return high - 1

    def _deadline(self, share: float) -> float:
        return self.begin + share * self.effort.seconds

    def _seen(self, logs: Sequence[Sequence[Case]], wanted: dict[int, int], sight: Sight, until: float) -> list[Floats]:
        return self.runs.seen(logs, wanted, sight, self._deadline(until), self.told)

    def _event(self, canary: Canary, sight: Sight, with_canary: Floats, without: Floats) -> Event:
        columns, n = sight.columns(canary), min(len(with_canary), len(without))
        return telling_event(with_canary[:n, columns], without[:n, columns], self.claim.of_group(canary.size).delta)

    def _wanted(self, n_canaries: int, favourite: int) -> dict[int, int]:
        """The runs of each log that are left to confirm: most of them for the favourite and for the log without a canary."""
        left = max(self.effort.runs - self.runs.done, 0)
        others = left * (1 - FAVOURITE) / (n_canaries - 1) if n_canaries > 1 else 0
        both = left * (FAVOURITE if n_canaries > 1 else 1.0) / 2
        return {0: int(both)} | {i + 1: int(both if i == favourite else others) for i in range(n_canaries)}

    def _finding(
        self, canary: Canary, event: Event, sight: Sight, with_canary: Floats, without: Floats, mistaken: float
    ) -> Finding:
        columns = sight.columns(canary)
        return Finding(
            canary=canary.name,
            cases=canary.size,
            claim=self.claim.of_group(canary.size),
            event=_in_words(event, [sight.figures[column] for column in columns]),
            likelier_with=event.with_canary,
            bound=bound_of(event, with_canary[:, columns], without[:, columns], mistaken),
            mistaken=mistaken,
        )


def _mistaken(n_canaries: int, *, favourite: bool) -> float:
    """The share of a finding in the mistakes that are allowed."""
    if n_canaries == 1:
        return MISTAKEN
    return MISTAKEN * (FAVOURITE if favourite else (1 - FAVOURITE) / (n_canaries - 1))


def _in_words(event: Event, figures: Sequence[Figure]) -> str:
    if event.figure is None:
        return f"all figures, weighed together, are {'high' if event.above else 'low'}"
    figure = figures[event.figure]
    return f"{figure}: {'at least' if event.above else 'below'} {figure.told(event.threshold)}"


@dataclass
class Runs:
    """Runs of a mechanism on small logs.

    When time is up, no more are begun and those under way count: the clock decides, never what comes out.

    Attributes:
        mechanism: What runs.
        processes: How many at once; 1 is this one.
        seed: For the same draws again; None takes the operating system's.
        individuals: Whether the logs say whose case is whose.
    """

    mechanism: Mechanism
    processes: int = 1
    seed: int | None = None
    individuals: bool = False
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
        events = [log_of_cases(cases, individuals=self.individuals) for cases in logs]
        results: list[Seen] = []
        run = partial(_run, self.mechanism, events, sight)
        jobs = self._jobs(wanted)
        with pooled(run, _until(jobs, deadline, at_least=len(wanted)), self.processes) as finished:
            for seen in finished:
                results.append(seen)
                self.done += len(seen[2])
                told(self.done)
        results.sort(key=lambda seen: seen[0])
        nothing = np.zeros((0, len(sight.figures)))
        seen_of_each = [np.concatenate([nothing, *(rows for _, of, rows in results if of == log)]) for log in range(len(logs))]
        self.cut_short |= any(len(seen_of_each[log]) < n for log, n in wanted.items())
        return seen_of_each

    def _jobs(self, wanted: Mapping[int, int]) -> Iterator[Job]:
        """All runs, a few at a time and the logs in turn, so that none is behind when time is up."""
        jobs = [(begin / n, log, min(AT_ONCE, n - begin)) for log, n in wanted.items() for begin in range(0, n, AT_ONCE)]
        for number, (_, log, n) in enumerate(sorted(jobs)):
            yield number, log, n, None if self._seeds is None else int(self._seeds.integers(LARGEST_SEED))


def _until(jobs: Iterator[Job], deadline: float, at_least: int) -> Iterator[Job]:
    """The jobs that are begun before the deadline; so many of them in any case."""
    for number, job in enumerate(jobs):
        if number >= at_least and time.monotonic() >= deadline:
            return
        yield job


def _run(mechanism: Mechanism, logs: Sequence[EventLog], sight: Sight, job: Job) -> Seen:
    number, log, n, seed = job
    random = Randomness(seed)
    return number, log, np.array([sight.of(mechanism.anonymize(logs[log], random, no_progress).log) for _ in range(n)])
