"""Everything that the sound mechanism can release: by the purpose that stands in the ledger, what an entry has to look like."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from libra.engines import attribute_tables as attributes
from libra.engines import control_flow_tables as control
from libra.engines import event_tables as events
from libra.engines import time_tables as times
from libra.eventlog.attributes import by_level
from libra.mechanisms.libra.attributes.shares import VALUES
from libra.mechanisms.libra.plan import Plan
from libra.privacy.gate import KEPT_EVENT_VALUES, KEPT_LABELS, KEPT_VALUES, KEPT_VARIANTS, VARIANT_COUNTS, geometric_entry
from libra.privacy.ledger import (
    LABEL_SELECTION,
    ROUNDED_GAUSSIAN,
    TRUNCATED_GEOMETRIC,
    VALUE_SELECTION,
    VARIANT_SELECTION,
    Entry,
    Group,
    Ledger,
)

CLOSE = 1e-9  # relative: other machines round the last digits otherwise
ALWAYS_OF_TAIL = (control.Size.purpose, control.Lengths.purpose, control.BaseNorms.purpose)
OF_CERTAIN_EDGES = (control.Occurring.purpose, control.Together.purpose)
CHOICE, NAMES = "choice of what is shown", "choice of activity names"
COUNTS, TAIL = "counts of kept variants", "model of rare cases"
STARTS, DURATIONS, CLOCK = "when cases start", "how long cases and steps take", "hours and precision of times"
TIMES = (STARTS, DURATIONS, CLOCK)
ATTRIBUTES, EVENT_ATTRIBUTES = "attributes of cases", "attributes of events"
TABLES_OF_ATTRIBUTES = (attributes.ValueCounts, attributes.ValueGrains, attributes.PairCounts, attributes.Interactions)
TABLES_OF_EVENTS = (events.EventFills, events.EventNorms, events.EventCounts, events.NextCounts, events.EventGrains)
TABLES: tuple[tuple[str, Group, tuple[Any, ...]], ...] = (
    (CHOICE, "all", (control.RareCases,)),
    (COUNTS, "kept", (control.VariantCounts,)),
    (COUNTS, "all", (control.NearestCounts,)),
    (TAIL, "tail", (control.Size, control.Lengths, control.BaseNorms, control.ExcessNorms)),
    (TAIL, "tail", (control.BaseEdges, control.DoubtfulEdges, control.ExcessEdges, control.Contexts)),
    (TAIL, "tail", (control.Occurring, control.Together)),
    (STARTS, "all", (times.StartYears, times.StartWeeks, times.StartHours, times.StartDays)),
    (DURATIONS, "all", (times.CaseDurations, times.CaseDurationParts, times.GroupedTotals)),
    (DURATIONS, "all", (times.StepDurations, times.EdgeDurations, times.SlowPairs)),
    (CLOCK, "all", (times.Granularity, times.ActivityHours)),
    (ATTRIBUTES, "all", TABLES_OF_ATTRIBUTES),
    (EVENT_ATTRIBUTES, "all", TABLES_OF_EVENTS),
)


@dataclass(frozen=True)
class Released:
    """What an entry of some purpose has to look like."""

    topic: str  # what it is about, for people
    mechanism: str  # the kind of noise
    group: Group  # the cases it is counted from
    one_cell: bool  # whether the sensitivity is 1: a case falls into one cell, or is scaled down to as much

    def departures(self, entry: Entry) -> Iterator[str]:
        """How an entry differs from that."""
        if entry.mechanism != self.mechanism:
            yield f'its noise is "{entry.mechanism}", and that of this purpose is "{self.mechanism}"'
        if entry.group != self.group:
            yield f'it counts for the group "{entry.group}", and belongs to "{self.group}"'
        if self.one_cell and entry.sensitivity != 1:
            yield f"its sensitivity is {entry.sensitivity:g}, and one case moves it by 1"
        bounded = self.mechanism == TRUNCATED_GEOMETRIC
        if (entry.shows and (bounded or self.mechanism == ROUNDED_GAUSSIAN)) or (entry.bound is not None) != bounded:
            yield "it has figures that this noise does not have"


RELEASES: dict[str, Released] = {
    KEPT_LABELS: Released(NAMES, LABEL_SELECTION, "tail", one_cell=True),
    KEPT_VALUES: Released(ATTRIBUTES, VALUE_SELECTION, "all", one_cell=True),
    KEPT_EVENT_VALUES: Released(EVENT_ATTRIBUTES, VALUE_SELECTION, "all", one_cell=True),
    KEPT_VARIANTS: Released(CHOICE, VARIANT_SELECTION, "all", one_cell=True),
    VARIANT_COUNTS: Released(CHOICE, TRUNCATED_GEOMETRIC, "all", one_cell=True),
    **{
        table.purpose: Released(topic, ROUNDED_GAUSSIAN, group, issubclass(table, (control.OneCell, control.DoubtfulEdges)))
        for topic, group, tables in TABLES
        for table in tables
    },
}


def departures_from_plan(entries: Sequence[Entry], plan: Plan) -> Iterator[str]:
    """How the entries of a ledger depart from what a run of libra with this plan releases."""
    for number, entry in enumerate(entries):
        if entry.purpose not in RELEASES:
            yield f'ledger[{number}] is for "{entry.purpose[:60]}", which libra does not release'
            continue
        for departure in RELEASES[entry.purpose].departures(entry):
            yield f'ledger[{number}], "{entry.purpose}": {departure}'
    look = [] if plan.look is None else [(plan.look.mu, 0.0)]
    if plan.look is not None and [entry.purpose for entry in entries[:1]] != [control.RareCases.purpose]:
        yield f'"{control.RareCases.purpose}" does not come first, and decides what else is released'
    plan, _ = plan.taken(entries)
    noise, tail = plan.calibration, plan.tail
    second = control.NearestCounts.purpose if tail == "nearest" else control.VariantCounts.purpose
    fixed = {
        control.RareCases.purpose: look,
        KEPT_VARIANTS: [] if noise.geometric else [(noise.mu_variants, noise.variant_shows)],
        KEPT_LABELS: [(each.mu, noise.labels_show(number)) for number, each in enumerate(noise.label_rounds)],
        second: [(plan.mu_second, 0.0)] if plan.mu_second else [],
    }
    counted = [geometric_entry(*noise.geometric)] if noise.geometric else []
    found = _of_purpose(entries, VARIANT_COUNTS)
    alike = (
        _close(one.noise, two.noise) and replace(one, noise=two.noise) == two for one, two in zip(found, counted, strict=False)
    )
    if len(found) != len(counted) or not all(alike):
        yield f'"{VARIANT_COUNTS}" does not have the noise that these parameters give it, or stands there too often or not at all'
    for purpose in (
        control.RareCases.purpose,
        KEPT_LABELS,
        KEPT_VARIANTS,
        control.NearestCounts.purpose,
        control.VariantCounts.purpose,
    ):
        there, planned = [entry for entry in entries if entry.purpose == purpose], fixed.get(purpose, [])
        if len(there) != len(planned):
            yield f'"{purpose}" stands there {len(there)} times, and with these parameters it is released {len(planned)}'
        for entry, figures in zip(there, planned, strict=False):
            if not all(map(_close, (entry.mu or 0.0, entry.shows), figures)):
                yield f'"{purpose}" does not have the noise that these parameters give it'
    of_tail, of_times = of_topics(entries, (TAIL,)), of_topics(entries, TIMES)  # the tail may have less than the plan gives it
    if tail != "model" and of_tail:
        yield f'there are releases about rare cases, and with tail "{tail}" there are none'
    if plan.edges == "all" and any(entry.purpose == control.DoubtfulEdges.purpose for entry in of_tail):
        yield 'there is a second look at edges, and with edges "all" there is none'
    if plan.edges == "all" and any(entry.purpose in OF_CERTAIN_EDGES for entry in of_tail):
        yield 'there are releases about which activities rare cases have, and with edges "all" there are none'
    if tail == "model" and not set(ALWAYS_OF_TAIL) <= {entry.purpose for entry in of_tail}:
        yield "releases about rare cases are missing that every run makes"
    if Ledger(tuple(of_tail)).mu > plan.mu_tail * (1 + CLOSE):
        yield "releases about rare cases take more than the plan gives them"
    yield from _departures_of_attributes(of_topics(entries, (ATTRIBUTES,)), plan)
    yield from _departures_of_events(of_topics(entries, (EVENT_ATTRIBUTES,)), plan)
    if of_times and not _close(Ledger(tuple(of_times)).mu, plan.mu_times):
        yield "releases about times do not add up to what the plan gives them"


def _departures_of_attributes(entries: Sequence[Entry], plan: Plan) -> Iterator[str]:
    """The same for entries about attributes of cases: there are none, where nothing was generated, or all of them."""
    if not entries:
        return
    of_cases = by_level(plan.attributes)[0]
    if not of_cases:
        yield "there are releases about attributes of cases, and none is asked for"
        return
    spent = Ledger(tuple(entries)).mu
    if not any(_close(spent, plan.mu_of_cases * math.sqrt(share)) for share in (1.0, VALUES)):
        yield "releases about attributes of cases do not add up to what the plan gives them"
    counts, grains, scores, pairs = (_of_purpose(entries, table.purpose) for table in TABLES_OF_ATTRIBUTES)
    numbers = sum(attribute.kind in ("number", "date") for attribute in of_cases)
    others = len(of_cases) - numbers
    if len(grains) != numbers or not others + 2 * numbers <= len(counts) <= others + 3 * numbers:
        yield "there are more or fewer releases about attributes of cases than with these parameters"
    if len(scores) > 1 or len(scores) != len(pairs):
        yield "how attributes go together is released once, after the choice of pairs"
    if not all(entry.sensitivity**2 * (1 + CLOSE) >= 1 / 2 and entry.sensitivity <= 1 for entry in counts):
        yield f'"{attributes.ValueCounts.purpose}" has a sensitivity that no number of cells has'
    if any(entry.sensitivity < 1 for entry in scores) or any(entry.sensitivity**2 * (1 + CLOSE) < 1 / 4 for entry in pairs):
        yield "pairs of attributes have a sensitivity that no number of pairs has"
    yield from _departures_of_choices(_of_purpose(entries, KEPT_VALUES), KEPT_VALUES, plan, numbers, several=False)


def _departures_of_events(entries: Sequence[Entry], plan: Plan) -> Iterator[str]:
    """The same for entries about attributes of events."""
    if not entries:
        return
    of_events = by_level(plan.attributes)[1]
    if not of_events:
        yield "there are releases about attributes of events, and none is asked for"
        return
    if not _close(Ledger(tuple(entries)).mu, plan.mu_of_events * math.sqrt(len(of_events))):
        yield "releases about attributes of events do not add up to what the plan gives them"
    fills, norms, counts, following, grains = (_of_purpose(entries, table.purpose) for table in TABLES_OF_EVENTS)
    numbers = sum(attribute.kind in ("number", "date") for attribute in of_events)
    each = len(of_events)
    there = (len(fills), len(grains), len(counts), len(norms) - len(following))
    if there != (each, numbers, each + 2 * numbers, each + numbers) or len(following) > each:
        yield "there are more or fewer releases about attributes of events than with these parameters"
    if any(entry.sensitivity < 1 for entry in (*fills, *counts, *following, *grains)):
        yield "values of events have a sensitivity below 1, to which no case is clipped"
    yield from _departures_of_choices(_of_purpose(entries, KEPT_EVENT_VALUES), KEPT_EVENT_VALUES, plan, numbers, several=True)


def _departures_of_choices(entries: Sequence[Entry], purpose: str, plan: Plan, numbers: int, *, several: bool) -> Iterator[str]:
    """How choices of values depart from those planned; those of so many numbers may be left out."""
    noise = plan.calibration
    choices = [number for number, of_events in enumerate(noise.several) if of_events == several]
    planned = [(noise.value_choices[number].mu, noise.values_show(number)) for number in choices]
    for entry in entries:
        found = next((one for one in planned if all(map(_close, (entry.mu or 0.0, entry.shows), one))), None)
        if found is None:
            yield f'"{purpose}" does not have the noise that these parameters give it, or stands there too often'
            return
        planned.remove(found)
    if len(planned) > numbers:
        yield f'"{purpose}" is missing for a category'


def _of_purpose(entries: Sequence[Entry], purpose: str) -> list[Entry]:
    return [entry for entry in entries if entry.purpose == purpose]


def of_topics(entries: Sequence[Entry], topics: tuple[str, ...]) -> list[Entry]:
    """The entries that are about these topics."""
    return [entry for entry in entries if entry.purpose in RELEASES and RELEASES[entry.purpose].topic in topics]


def _close(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=CLOSE)
