"""Toy mechanisms whose privacy is known by hand, and what audits of them need."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from libra._system.randomness import Randomness
from libra.errors import MissingExtraError
from libra.eventlog.attributes import Attribute
from libra.eventlog.log import HOUR, EventLog
from libra.eventlog.options import Progress
from libra.measures.audit.canaries import OWNER, Case, log_of_cases
from libra.measures.audit.outcome import Claim
from libra.mechanisms.release import Release
from libra.privacy.guarantee import Guarantee

ODD = Case(("hello", "goodbye"), (0, HOUR))  # of no log that is audited
NO, YES = log_of_cases([ODD]), log_of_cases([ODD, ODD])


def claimed(epsilon: float, delta: float) -> Callable[[Release], Claim]:
    """A claim that is the same whatever is released."""
    return lambda _release: Claim(epsilon, delta, "by hand")


def released(log: EventLog, name: str, random: Randomness) -> Release:
    return Release(log, name, {"toy": True}, Guarantee("claimed", "nothing", "nobody"), random.seeded)


def some_log(*, individuals: bool = False) -> EventLog:
    """Forty cases of one variant, ten of another, and two of a third."""
    variants = (("register", "wait", "see doctor", "leave"), 40), (("register", "leave"), 10), (("register", "wait", "leave"), 2)
    numbered = [(trace, number) for trace, times in variants for number in range(times)]
    cases = [Case(trace, tuple(HOUR * (9 * n + place) for place in range(len(trace)))) for trace, n in numbered]
    return log_of_cases(cases, individuals=individuals)


@dataclass(frozen=True)
class Identity:
    """Releases the log as it is."""

    name: ClassVar[str] = "identity"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        return released(log, self.name, random)


@dataclass(frozen=True)
class Copying:
    """Releases the log without attributes, but for those that it is asked for: it copies these."""

    attributes: tuple[Attribute, ...] = ()
    name: ClassVar[str] = "copying"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        asked = [attribute.name.removeprefix("case:") for attribute in self.attributes]
        copied = [log.cases[name].sort()[-1:] for name in log.cases.columns if name in asked]
        return released(replace(NO, cases=NO.cases.select("concept:name").hstack(copied)), self.name, random)


@dataclass(frozen=True)
class Answering:
    """Says yes with probability p if a case with the rare value is there, and with probability q if none is."""

    p: float
    q: float
    name: ClassVar[str] = "answering"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        yes = random.uniform(1)[0] < (self.p if "rare" in log.cases["group"] else self.q)
        return released(YES if yes else NO, self.name, random)


def randomized_response(epsilon: float, *, inverted: bool = False) -> Answering:
    """The truth with a probability that is e^epsilon times that of a lie; inverted, the lie."""
    truth = 1 / (1 + math.exp(-epsilon))
    return Answering(1 - truth, truth) if inverted else Answering(truth, 1 - truth)


@dataclass(frozen=True)
class Odds:
    """Says yes; each case of the person called somebody multiplies the odds with e^epsilon, from e^(-1.5 epsilon) on."""

    epsilon: float
    name: ClassVar[str] = "odds"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        cases = int((log.cases[OWNER] == "somebody").sum())
        yes = random.uniform(1)[0] < 1 / (1 + math.exp(self.epsilon * (1.5 - cases)))
        return released(YES if yes else NO, self.name, random)


@dataclass(frozen=True)
class Leaking:
    """Gives each case of the person called somebody away with probability delta."""

    delta: float
    name: ClassVar[str] = "leaking"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        cases = int((log.cases[OWNER] == "somebody").sum())
        yes = bool((random.uniform(cases) < self.delta).any())
        return released(YES if yes else NO, self.name, random)


@dataclass(frozen=True)
class Showing:
    """Shows one case of each variant that has so many cases or more."""

    least: int
    name: ClassVar[str] = "showing"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        kept = [trace for trace, count in log.variants.traces.rows() if count >= self.least]
        traces = [tuple(log.activities[code] for code in trace) for trace in kept]
        return released(log_of_cases([Case(trace, (0,) * len(trace)) for trace in traces]), self.name, random)


@dataclass(frozen=True)
class Timed:
    """Releases as many cases as there are, at random times."""

    name: ClassVar[str] = "timed"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        times = random.below(10**9 * HOUR, 2).tolist()
        cases = [Case(("hello", "goodbye"), (min(times), max(times)))] * log.n_cases
        return released(log_of_cases(cases), self.name, random)


@dataclass(frozen=True)
class Threads:
    """Releases as many cases as the process may have threads."""

    name: ClassVar[str] = "threads"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        return released(log_of_cases([ODD] * int(os.environ["OMP_NUM_THREADS"])), self.name, random)


@dataclass(frozen=True)
class Failing:
    """Lacks something."""

    name: ClassVar[str] = "failing"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        raise MissingExtraError("luck", "luck")


@dataclass(frozen=True)
class Counting:
    """Releases one case more with every run, so that each run can be told from all others."""

    runs: list[int] = field(default_factory=list)
    name: ClassVar[str] = "counting"

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress) -> Release:
        self.runs.append(len(self.runs) + 1)
        return released(log_of_cases([ODD] * self.runs[-1]), self.name, random)
