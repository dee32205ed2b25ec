"""Mechanisms that ask for variants with noisy counts and make a log of them, with times of our private model or placeholders.

Where the guarantee is proved, everything goes through the gate; times are asked for through it for the labels that the released
traces have, and all else is post-processing.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from libra._system.arguments import checked, checked_whole, delta_of_guarantee
from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Unit
from libra.engines.polars import PolarsEngine, engine_of
from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, Traces
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.fresh_log import PLACEHOLDERS, fresh_log, log_of, placeholder_times
from libra.mechanisms.libra.algorithm import notes_on_delta, notes_on_zone
from libra.mechanisms.libra.dividing import SMALLEST_MU
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, Budget, checked_budget, checked_time_zone
from libra.mechanisms.libra.releases import CLOSE, RELEASES, TIMES, of_topics
from libra.mechanisms.libra.times.generate import generate_times
from libra.mechanisms.libra.times.release import release_times
from libra.mechanisms.peers import PeerMechanism
from libra.mechanisms.release import CONTENTS, Release
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import SLACK
from libra.privacy.gate import Gate
from libra.privacy.gaussian import checked_epsilon, mu_of
from libra.privacy.guarantee import A_SECOND_RUN
from libra.privacy.ledger import ROUNDED_GAUSSIAN, Entry, Ledger

Times: TypeAlias = Literal["none", "model"]
DEFAULT_PRUNE = 0.01
LONGEST = 1_000
MOST_EVENTS = 100_000_000
LARGEST_TIMES_MU = 20.0
HALVINGS = 40
DROWNS = "So small an epsilon, delta or share of the budget would drown the times in noise. Ask for a larger one."
NO_TIMES = "{} releases no times: timestamps are placeholders, a minute from event to event. --set times=model adds some."
EMPTY = "The anonymized log is empty: nothing in this log stood out from the noise. A larger --epsilon would help{}. "


@dataclass(frozen=True, eq=False, repr=False)
class Counted:
    """Some traces, and how many cases follow each: what a query about control flow gives.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> Counted(traces_of([[0, 1], [2]]), np.array([2, 1])).repeated().to_lists()
        [[0, 1], [0, 1], [2]]
    """

    traces: Traces
    counts: Integers

    def __len__(self) -> int:
        return len(self.traces)

    @property
    def n_cases(self) -> int:
        """How many cases follow all of them together."""
        return int(self.counts.sum())

    def repeated(self) -> Traces:
        """A trace for every case."""
        return self.traces.take(np.repeat(np.arange(len(self.traces)), self.counts))


def counted_of(cases: Cases) -> Counted:
    """The variants of some cases.

    Example:
        >>> cases = Cases(*map(np.array, ([0, 1, 0], [0, 0, 0], [0, 1, 2, 3], [0, 1, 0])), n_activities=2)
        >>> counted_of(cases).counts.tolist()
        [2, 1]
    """
    _, first, counts = np.unique(cases.variant, return_index=True, return_counts=True)
    return Counted(Traces(cases.codes, cases.offsets).take(first), counts)


class VariantQuery(PeerMechanism):
    """A mechanism made of a query: a frozen dataclass with these parameters, among others, and `_answer`."""

    private_labels: ClassVar[bool] = False

    epsilon: float
    delta: float
    times: Times
    budget: Budget | dict[str, float] | str
    time_zone: str
    shares: Budget

    def _check(self, **others: Any) -> None:
        """Normalize the parameters, set these others as they are, and refuse invalid ones."""
        if self.times not in ("none", "model"):
            raise UsageError(f"times is one of none, model, not {self.times!r}.")
        shares = checked_budget(self.budget)
        self._set(epsilon=checked_epsilon(self.epsilon), delta=delta_of_guarantee(self.delta), shares=shares, **others)
        self._set(budget=shares.to_dict(), time_zone=checked_time_zone(self.time_zone))
        if self.times == "none" and (shares != DEFAULT_BUDGET or self.time_zone != "UTC"):
            raise UsageError("budget and time_zone apply to modelled times only. Add --set times=model.")

    @property
    def proved(self) -> bool:
        """Whether the guarantee is proved with these parameters."""
        return False

    @property
    def accepts_empty(self) -> bool:
        """Whether a log without cases is taken: where the guarantee is proved, a refusal must not depend on a single case."""
        return self.proved

    @property
    def contents(self) -> str:
        """What a release holds."""
        return CONTENTS if self.times == "model" else PLACEHOLDERS

    @property
    def query_epsilon(self) -> float:
        """The epsilon of the query: its share where times are modelled, or all."""
        return self.epsilon * (self.shares.control if self.times == "model" else 1.0)

    @cached_property
    def mu_times(self) -> float | None:
        """What may be spent on times; where the guarantee is claimed, epsilons add up and times have all of delta."""
        return None if self.times == "none" else checked_mu(mu_of(self.shares.times * self.epsilon, self.delta))

    def parameters(self) -> dict[str, Any]:
        """What was asked for, as far as it played a part."""
        timed = self.times == "model"
        left_out = {*(() if timed else ("budget", "time_zone")), *(() if timed or self.proved else ("delta",))}
        return {name: value for name, value in super().parameters().items() if name not in left_out}

    @abstractmethod
    def _answer(self, engine: PolarsEngine, gate: Gate, random: Randomness) -> Counted:
        """The answer of the query, in codes of the labels of the engine; a proved one asks the gate alone."""

    def variants(self, cases: Cases, random: Randomness) -> Counted:
        """The answer of the query about some cases."""
        counted, labels = counted_of(cases), tuple(map(str, range(cases.n_activities)))
        engine = PolarsEngine(cases, np.unique(cases.variant), counted.traces, counted.counts, labels)
        return self._answer(engine, Gate(engine, random), random)

    def anonymize(self, log: EventLog, random: Randomness, progress: Progress = no_progress) -> Release:
        """The release of a log."""
        one_of_each = self.proved and log.individual is not None
        engine = engine_of(log, Unit(most_cases=1) if one_of_each else CASE, random)
        gate = Gate(engine, random)
        progress(1, 3)
        counted = self._answer(engine, gate, random)
        progress(2, 3)
        if int(counted.traces.lengths @ counted.counts) > MOST_EVENTS:
            raise UsageError(f"{self.name} would release more than {MOST_EVENTS:,} events. Ask for a larger --epsilon or prune.")
        counted, labels = in_names(counted, engine.labels)
        traces, zone = counted.repeated(), self.time_zone if log.has_zone else "UTC"
        timed, notes = self.times == "model", []
        if timed:
            released = self._with_model(traces, labels, gate, random, zone)
        else:
            released = fresh_log(_cases(traces, placeholder_times(traces.offsets), len(labels)), labels, random)
        ledger = gate.ledger() if self.proved else None
        if ledger is not None and delta_of_ledger(ledger, self.epsilon) > self.delta:
            raise AssertionError("more was released than the guarantee allows; nothing is given out")
        if not released.n_cases:
            notes.append(EMPTY.format(", or a smaller prune" if hasattr(self, "prune") else "") + A_SECOND_RUN)
        elif not timed:
            notes.append(NO_TIMES.format(self.name))
        promised = self.guarantee(seeded=random.seeded, individuals=log.individual is not None)
        notes += [*notes_on_delta(promised, released.n_cases)]
        notes += [*notes_on_zone(self.time_zone, has_zone=log.has_zone)] if timed else []
        parameters = self.parameters() | ({"time_zone": zone} if timed else {})
        release = self._release(log, released, random, notes=notes, parameters=parameters, ledger=ledger, has_times=timed)
        progress(3, 3)
        return release

    def _with_model(self, traces: Traces, labels: tuple[str, ...], gate: Gate, random: Randomness, zone: str) -> EventLog:
        """The traces with times that come from noisy tables, the case that starts first coming first."""
        if self.mu_times is None:
            raise AssertionError("times are asked for and nothing may be spent on them")
        if not len(traces):
            return log_of(_cases(traces, traces.codes, len(labels)), labels, seeded=random.seeded)
        figures = release_times(gate.with_labels(labels), traces, len(labels), self.mu_times, zone)
        cases = _cases(traces, generate_times(figures, traces, len(labels), zone, random), len(labels))
        order = np.argsort(cases.micros[cases.offsets[:-1]], kind="stable")
        return log_of(cases.take(order), labels, seeded=random.seeded)

    def departures(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger differ from what a run with these parameters writes."""
        of_times = of_topics(entries, TIMES)
        yield from self._other_query([entry for entry in entries if entry not in of_times])
        for entry in of_times:
            for departure in RELEASES[entry.purpose].departures(entry):
                yield f'"{entry.purpose}": {departure}'
        if of_times and self.mu_times is None:
            yield "there are releases about times, and with these parameters there are none"
        elif of_times and not math.isclose(Ledger(tuple(of_times)).mu, self.mu_times or 0.0, rel_tol=CLOSE):
            yield "releases about times do not add up to what these parameters give them"

    def _other_query(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger, those about times aside, differ from what the query writes."""
        return super().departures(entries)


def largest_mu(entries: Sequence[Entry], epsilon: float, delta: float) -> float:
    """The largest mu for Gaussian releases that stay, together with these entries, within (epsilon, delta)."""
    low, high = 0.0, LARGEST_TIMES_MU
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        together = Ledger((*entries, Entry("times", ROUNDED_GAUSSIAN, middle, 1.0)))
        low, high = (middle, high) if delta_of_ledger(together, epsilon) <= delta else (low, middle)
    return checked_mu(low * SLACK)


def checked_mu(mu: float) -> float:
    """A mu with which something is left of the times."""
    if mu < SMALLEST_MU:
        raise UsageError(DROWNS)
    return mu


def checked_prune(prune: float) -> float:
    """A share of the cases below 1, or a whole number of cases from 1 up."""
    prune = checked("prune", prune, lambda prune: 0 <= prune < 1e9, "from 0 to 1,000,000,000")
    if prune >= 1 and not prune.is_integer():
        raise UsageError(f"prune is a share of the cases below 1, or a whole number of cases, not {prune:g}.")
    return prune


def checked_max_length(max_length: int | None) -> int | None:
    """The number of events of the longest trace; None for the average."""
    return None if max_length is None else checked_whole("max_length", max_length, 1, LONGEST)


def in_names(counted: Counted, labels: Sequence[str]) -> tuple[Counted, tuple[str, ...]]:
    """Traces in codes of the labels that occur in them, so that nothing depends on others: the most frequent come first."""
    present = np.flatnonzero((counted.traces.lengths > 0) & (counted.counts > 0))
    traces, counts = counted.traces.take(present), counted.counts[present]
    used, codes = np.unique(traces.codes, return_inverse=True)
    names = sorted(labels[code] for code in used)
    position = {name: code for code, name in enumerate(names)}
    new = np.array([position[labels[code]] for code in used], np.int64)
    traces = Traces(new[codes] if len(codes) else traces.codes, traces.offsets)
    lists = traces.to_lists()
    order = np.array(sorted(range(len(traces)), key=lambda row: (-counts[row], lists[row])), np.int64)
    return Counted(traces.take(order), counts[order]), tuple(names)


def _cases(traces: Traces, micros: Integers, n_labels: int) -> Cases:
    return Cases(traces.codes, micros, traces.offsets, np.zeros(len(traces), np.int64), n_labels)
