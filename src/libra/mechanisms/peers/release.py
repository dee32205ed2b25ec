"""From control flow to a release: traces with counts become a log, with times of our private model or with placeholders.

In: what a query about control flow gave, and a gate to the cases it was asked about. Out: a `Release`. Times are asked for
through the gate, for the labels that the released traces have; everything else is post-processing. Without the model, timestamps
are the same for every log and say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from libra.errors import UsageError
from libra.eventlog.cases import Cases, Integers, Traces
from libra.eventlog.log import EventLog
from libra.mechanisms.fresh_log import fresh_log, log_of
from libra.mechanisms.libra.algorithm import notes_on_delta, notes_on_zone
from libra.mechanisms.libra.times import generate_times, release_times
from libra.mechanisms.peers.arguments import Times
from libra.mechanisms.peers.counted import Counted
from libra.mechanisms.peers.placeholders import PLACEHOLDERS, placeholder_times
from libra.mechanisms.release import CONTENTS, Claim, Release
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gate import Gate
from libra.privacy.guarantee import A_SECOND_RUN, Guarantee
from libra.privacy.randomness import SEED_NOTE, Randomness

if TYPE_CHECKING:
    from libra.privacy.ledger import Ledger

MOST_EVENTS = 100_000_000
NO_TIMES = "{} releases no times: timestamps are placeholders, a minute from event to event. --times model makes some."
EMPTY = (
    "The anonymized log is empty: nothing in this log stood out from the noise. A larger --epsilon would help{}. "
    f"{A_SECOND_RUN}"
)
PERSONS_NOTE = "{} protects cases, not persons: the column of the individual does not count."


def contents_of(times: Times) -> str:
    """What the released log holds.

    Example:
        >>> contents_of("model").startswith("case ids made anew, activities, timestamps;")
        True
    """
    return CONTENTS if times == "model" else PLACEHOLDERS


class ControlFlowMechanism(Protocol):
    """What is needed of a mechanism to make a release from its query."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def times(self) -> Times:
        """Whether times are modelled."""

    @property
    def time_zone(self) -> str:
        """Whose hours and days they are in."""

    @property
    def mu_times(self) -> float | None:
        """What may be spent on them."""

    def parameters(self) -> dict[str, Any]:
        """What it was asked with."""

    def claim(self) -> Claim | None:
        """The figures behind a promise that is only claimed."""

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is promised."""


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What a query gave.

    Attributes:
        counted: Traces with counts, in the codes of `labels`.
        labels: What the codes stand for.
        gate: The gate to the cases that were asked about.
    """

    counted: Counted
    labels: tuple[str, ...]
    gate: Gate


def release_of(made: ControlFlowMechanism, log: EventLog, answer: Answer, random: Randomness) -> Release:
    """The release of a mechanism whose query gave this answer."""
    counted = answer.counted
    if int(counted.traces.lengths @ counted.counts) > MOST_EVENTS:
        raise UsageError(f"{made.name} would release more than {MOST_EVENTS:,} events. Ask for a larger --epsilon or --prune.")
    counted, labels = in_names(counted, answer.labels)
    traces = counted.repeated()
    modelled = made.times == "model"
    if modelled:
        zone = made.time_zone if log.has_zone else "UTC"
        released = _with_model(made, traces, labels, answer.gate, random, zone)
    else:
        released = fresh_log(_cases(traces, placeholder_times(traces.offsets), len(labels)), labels, random)
    persons = log.individual is not None
    promised = made.guarantee(seeded=random.seeded, individuals=persons)
    ledger = _counted_ledger(answer.gate, promised) if promised.kind == "proved" else None
    return Release(
        log=released,
        mechanism=made.name,
        parameters=made.parameters() | ({"time_zone": zone} if modelled else {}),
        guarantee=promised,
        seeded=random.seeded,
        claimed=made.claim(),
        notes=(
            *_notes(made, released, random.seeded, persons and promised.kind == "claimed"),
            *notes_on_delta(promised, released.n_cases),
            *(notes_on_zone(made.time_zone, has_zone=log.has_zone) if modelled else ()),
        ),
        ledger=ledger,
        contents=contents_of(made.times),
        has_times=modelled,
    )


def _counted_ledger(gate: Gate, promised: Guarantee) -> Ledger:
    """What went through the gate, if it is within the promise."""
    ledger = gate.ledger()
    if promised.epsilon is None or promised.delta is None or delta_of_ledger(ledger, promised.epsilon) > promised.delta:
        raise AssertionError("more was released than the guarantee allows; nothing is given out")
    return ledger


def _with_model(
    made: ControlFlowMechanism, traces: Traces, labels: tuple[str, ...], gate: Gate, random: Randomness, zone: str
) -> EventLog:
    """The traces with times that come from noisy tables, the case that starts first coming first."""
    if made.mu_times is None:
        raise AssertionError("times are asked for and nothing may be spent on them")
    if not len(traces):
        return log_of(_cases(traces, traces.codes, len(labels)), labels, seeded=random.seeded)
    figures = release_times(gate.with_labels(labels), traces, len(labels), made.mu_times, zone)
    cases = _cases(traces, generate_times(figures, traces, len(labels), zone, random), len(labels))
    order = np.argsort(cases.micros[cases.offsets[:-1]], kind="stable")
    return log_of(cases.take(order), labels, seeded=random.seeded)


def in_names(counted: Counted, labels: Sequence[str]) -> tuple[Counted, tuple[str, ...]]:
    """Traces in codes of the labels that occur in them, so that nothing depends on what does not: the most frequent come first.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> found, names = in_names(Counted(traces_of([[2], [], [1, 2]]), np.array([3, 9, 5])), ["admit", "leave", "call"])
        >>> found.traces.to_lists(), found.counts.tolist(), names
        ([[1, 0], [0]], [5, 3], ('call', 'leave'))
    """
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


def _notes(made: ControlFlowMechanism, released: EventLog, seeded: bool, persons: bool) -> Iterator[str]:
    if seeded:
        yield SEED_NOTE
    if made.times == "none" and released.n_cases:
        yield NO_TIMES.format(made.name)
    if not released.n_cases:
        yield EMPTY.format(", or a smaller --prune" if hasattr(made, "prune") else "")
    if persons:
        yield PERSONS_NOTE.format(made.name)
