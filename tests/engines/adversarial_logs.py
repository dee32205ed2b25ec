"""Logs made to hurt, with times, and a strategy for every table that may be asked about them.

What hurts: one step over and over, traces of thousands of events, times that stand still or run backwards, gaps of a microsecond
and of centuries, times before 1970 and after 2100, the hour that a clock skips, equal cases, cases that are alone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import accumulate, cycle, islice
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from some_engines import Case, Trace, clips

from libra.engines import control_flow_tables as flow
from libra.engines import time_tables as times
from libra.engines.contract import Integers
from libra.eventlog.cases import traces_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST, LAST, *MOMENTS = (
    (datetime.fromisoformat(f"{moment}Z") - EPOCH) // timedelta(microseconds=1)
    for moment in (
        *(
            "1678-01-01T00:00:00",
            "2261-12-31T23:59:59",
            "1969-12-31T23:59:59.999999",
            "1970-01-01T00:00:00",
            "1970-01-04T23:59:59",
        ),
        *("1970-01-05T00:00:00", "2024-03-31T01:30:00", "2024-10-27T00:30:00", "2024-05-06T08:00:00", "2100-06-30T12:00:00"),
        *("2101-01-01T00:00:00", "2024-02-29T00:00:00.000001", "1900-03-01T00:00:00"),
    )
)
BOUNDS = [round(bound) for bound in times.part_bounds((0, 0, *(6,) * (times.TOTAL_BINS - 2)))]
ZONES = ("UTC", "Europe/Amsterdam", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia")
LONG = (1, 2, 3, 5, 40, 700, 5_000)

gaps = st.one_of(
    st.sampled_from((0, 0, 1, 999, 999_999, times.SECOND, times.MINUTE, times.HOUR - 1, times.HOUR, times.DAY, -1, -times.HOUR)),
    st.sampled_from(BOUNDS).flatmap(lambda bound: st.integers(bound - 2, bound + 2)),
    st.integers(0, 400 * times.DAY),
)


class Neighbours(NamedTuple):
    """A log, the case by which its neighbour has one more, where that stands, and what an earlier release may have given."""

    n_labels: int
    cases: list[Case]
    added: Case
    position: int
    kept: list[Trace]
    labels: list[int]

    @property
    def with_added(self) -> list[Case]:
        """The log with one case more."""
        return [*self.cases[: self.position], self.added, *self.cases[self.position :]]


@st.composite
def some_case(draw: st.DrawFn, n_labels: int) -> Case:
    """A pattern of labels over and over, or any short trace, at times that gaps over and over lead to."""
    pattern = draw(st.lists(st.integers(0, n_labels - 1), min_size=1, max_size=4) | st.permutations(range(n_labels)))
    length = draw(st.just(len(pattern)) | st.sampled_from(LONG))
    start = draw(st.sampled_from((FIRST, LAST, *MOMENTS)) | st.integers(FIRST, LAST))
    steps = islice(cycle(draw(st.lists(gaps, min_size=1, max_size=4))), length - 1)
    moments = accumulate(steps, initial=start)
    return tuple(zip(islice(cycle(pattern), length), (min(max(micros, FIRST), LAST) for micros in moments), strict=True))


def trace_of(case: Case) -> Trace:
    """The codes of a case."""
    return tuple(code for code, _ in case)


@st.composite
def neighbours(draw: st.DrawFn) -> Neighbours:
    """Two logs, one with one case more: a case like no other, like another, or with the trace of another at other times."""
    n_labels = draw(st.sampled_from((1, 2, 3, 7)))
    kinds = draw(st.lists(some_case(n_labels), min_size=1, max_size=4))
    cases = draw(st.lists(st.sampled_from(kinds), max_size=10))
    added = draw(st.sampled_from(kinds) | some_case(n_labels))
    traces = [trace_of(case) for case in (*kinds, added)]
    other = st.lists(st.integers(0, n_labels - 1), min_size=1, max_size=5).map(tuple)  # that nobody follows, perhaps
    kept = draw(st.lists(st.sampled_from(traces) | other, max_size=5, unique=True))
    labels = draw(st.lists(st.integers(0, n_labels - 1), min_size=1, unique=True))
    return Neighbours(n_labels, cases, added, draw(st.integers(0, len(cases))), kept, labels)


class Released(NamedTuple):
    """What a table may be made from: how many labels there are, and which variants were kept."""

    n_labels: int
    kept: list[Trace]


Request = st.SearchStrategy[Any]  # of a Table
zones = st.sampled_from(ZONES)


def cells(largest: int, most: int = 15) -> st.SearchStrategy[Integers]:
    """Some cells, ascending."""
    some = st.sets(st.integers(0, largest - 1), max_size=most) if largest else st.just(set())
    return some.map(lambda chosen: np.array(sorted(chosen), np.int64))


def edges(released: Released) -> st.SearchStrategy[Integers]:
    """Some edges, start and end among them."""
    return cells((released.n_labels + 1) ** 2)


def digits(base: int, length: int) -> st.SearchStrategy[tuple[int, ...]]:
    """So many digits, by a single draw."""
    return st.integers(0, base**length - 1).map(lambda number: tuple(number // base**place % base for place in range(length)))


parts = digits(7, times.TOTAL_BINS - 2).map(lambda some: (0, 0, *some))


@st.composite
def edge_cells(draw: st.DrawFn, released: Released) -> times.EdgeCells:
    """Some edges without start and end, and some of the labels that others lead to; groups of fine bins, cut in parts."""
    chosen, targets = draw(cells(released.n_labels**2)), draw(cells(released.n_labels, 3))
    ends = (1, 2, *draw(st.sets(st.integers(3, times.FINE_BINS), min_size=1, max_size=8).map(sorted)))
    rows = len(chosen) + len(targets) + 1
    weights = tuple(1 + digit for digit in draw(digits(times.WEIGHT, rows)))
    powers = np.floor(np.log2(np.diff(ends, prepend=0))).astype(int).tolist() * rows
    cut = tuple(min(some) for some in zip(draw(digits(7, len(powers))), powers, strict=True))
    return times.EdgeCells(released.n_labels, tuple(chosen.tolist()), tuple(targets.tolist()), weights, ends, cut)


@st.composite
def slow_pairs(draw: st.DrawFn, released: Released) -> times.SlowPairs:
    """Some pairs of edges, with any share of slow steps."""
    of = draw(edge_cells(released))
    rows = len(of.weights)
    slow = tuple(of.ends[digit] for digit in draw(digits(len(of.ends), rows)))
    shares = draw(digits(times.WEIGHT + 1, rows))
    pairs = draw(cells(released.n_labels**3))
    return times.SlowPairs(draw(clips | st.floats(0.01, 1)), of, slow, shares, tuple(pairs.tolist()))


@st.composite
def grouped_totals(draw: st.DrawFn, released: Released) -> times.GroupedTotals:
    """Some of the kept variants, and lengths of others."""
    cut, kept = draw(parts), list(dict.fromkeys(released.kept))
    lengths = tuple(sorted(draw(st.sets(st.integers(1, 9), max_size=4))))
    new_group = (0, *draw(digits(2, times.CaseDurationParts(cut).shape[0] - 1)))
    return times.GroupedTotals(traces_of(kept), lengths, cut, tuple(accumulate(new_group)))


@st.composite
def prefix_levels(draw: st.DrawFn, released: Released) -> flow.PrefixLevel:
    """Prefixes of one length: of kept variants, and others."""
    depth = draw(st.integers(0, 4))
    some = st.lists(st.integers(0, released.n_labels - 1), min_size=depth, max_size=depth).map(tuple)
    chosen = [trace[:depth] for trace in released.kept if len(trace) >= depth] + draw(st.lists(some, max_size=4))
    prefixes = np.array(list(dict.fromkeys(chosen)), np.int64).reshape(len(set(chosen)), depth)
    return flow.PrefixLevel(prefixes, released.n_labels)


years = st.sets(st.integers(0, times.YEARS - 1) | st.sampled_from((0, 54, 55, 130)), max_size=6).map(
    lambda some: tuple(sorted(some))
)
widths = st.sampled_from((1, 2, 4, 13, 52))


def known_labels(released: Released) -> st.SearchStrategy[Integers]:
    """Labels that may be known already."""
    labels = st.sets(st.integers(0, max(released.n_labels - 1, 0))) if released.n_labels else st.just(set[int]())
    return labels.map(lambda codes: np.array(sorted(codes), np.int64))


def usual(released: Released) -> st.SearchStrategy[dict[int, int]]:
    """Labels, and what is usual of each."""
    if not released.n_labels:
        return st.just({})
    return st.dictionaries(st.integers(0, released.n_labels - 1), st.integers(0, flow.PARTS))


def together(n_labels: int, of: dict[int, int], clip: float, halvings: int) -> flow.Together:
    """Products of deviations, with a clip that may be far below 1."""
    labels, shares = (np.array(some, np.int64) for some in (sorted(of), [of[label] for label in sorted(of)]))
    return flow.Together(n_labels, labels, shares, clip / 2**halvings)


REQUESTS: dict[type, Callable[[Released], Request]] = {
    flow.Size: lambda _: st.builds(flow.Size),
    flow.VariantCounts: lambda released: st.just(flow.VariantCounts(traces_of(released.kept))),
    flow.NearestCounts: lambda released: st.just(flow.NearestCounts(traces_of(released.kept), released.n_labels)),
    flow.LabelWeights: lambda released: st.builds(flow.LabelWeights, st.just(released.n_labels), known_labels(released)),
    flow.Lengths: lambda _: st.builds(flow.Lengths),
    flow.BaseNorms: lambda _: st.builds(flow.BaseNorms),
    flow.ExcessNorms: lambda released: st.builds(flow.ExcessNorms, edges(released), st.just(released.n_labels)),
    flow.BaseEdges: lambda released: st.builds(flow.BaseEdges, st.just(released.n_labels), clips, st.booleans()),
    flow.DoubtfulEdges: lambda released: st.builds(flow.DoubtfulEdges, st.just(released.n_labels), edges(released)),
    flow.ExcessEdges: lambda released: st.builds(flow.ExcessEdges, st.just(released.n_labels), clips, edges(released)),
    flow.Contexts: lambda released: st.builds(flow.Contexts, st.just(released.n_labels), edges(released), clips),
    flow.Occurring: lambda released: st.builds(flow.Occurring, st.just(released.n_labels), known_labels(released), clips),
    flow.Together: lambda released: st.builds(together, st.just(released.n_labels), usual(released), clips, st.integers(0, 9)),
    flow.CaseNumber: lambda _: st.builds(flow.CaseNumber),
    flow.RareCases: lambda _: st.builds(flow.RareCases, st.integers(1, 8)),
    flow.CaseLengths: lambda _: st.builds(flow.CaseLengths),
    flow.PrefixLevel: prefix_levels,
    times.StartYears: lambda _: st.builds(times.StartYears, zones),
    times.StartWeeks: lambda _: st.builds(times.StartWeeks, years, widths, zones),
    times.StartHours: lambda _: st.builds(times.StartHours, zones),
    times.StartDays: lambda _: st.builds(times.StartDays, zones),
    times.CaseDurations: lambda _: st.builds(times.CaseDurations),
    times.CaseDurationParts: lambda _: st.builds(times.CaseDurationParts, parts),
    times.GroupedTotals: grouped_totals,
    times.Granularity: lambda _: st.builds(times.Granularity, zones),
    times.StepDurations: lambda _: st.builds(times.StepDurations, clips),
    times.EdgeDurations: lambda released: st.builds(times.EdgeDurations, clips, edge_cells(released)),
    times.SlowPairs: slow_pairs,
    times.ActivityHours: lambda released: st.builds(
        times.ActivityHours, clips, st.just(released.n_labels), st.sampled_from((0, 1, times.HOUR, 30 * times.DAY)), zones
    ),
}
