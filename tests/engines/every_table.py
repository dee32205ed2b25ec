"""Every table there is, and that two engines count all of them alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from libra.engines import attribute_tables as of_attributes
from libra.engines import control_flow_tables as flow
from libra.engines import event_tables as of_events
from libra.engines import time_tables as times
from libra.engines.contract import Engine, Integers
from libra.engines.counting import attributes as of_attributes_counted
from libra.engines.counting import events as of_events_counted
from libra.engines.counting.blocks import codes_among
from libra.engines.counting.count import TABLES, needs_cases
from libra.engines.polars import PolarsEngine
from libra.eventlog.cases import MISSING, Traces, traces_of

ZONE = "Europe/Amsterdam"


def every_table(engine: PolarsEngine, kept: Traces) -> list[Any]:
    """Every table that may be asked for, with parameters as an earlier release could have given them."""
    n = len(engine.labels)
    cells = np.arange(0, (n + 1) ** 2, 3)
    shown = tuple(range(0, min(n * n, 600), 2))
    targets, ends = tuple(range(0, n, 3)), (1, 2, 90, 91, 400, times.FINE_BINS)
    rows = len(shown) + len(targets) + 1
    weights, cut = (
        tuple(1 + row % times.WEIGHT for row in range(rows)),
        tuple((0, 0, row % 7, 0, 3, 6)[i] for row in range(rows) for i in range(6)),
    )
    edges = times.EdgeCells(n, shown, targets, weights, ends, cut)
    slow, shares = tuple(ends[row % 6] for row in range(rows)), tuple(row % times.WEIGHT for row in range(rows))
    parts = (0, 0, *(2,) * (times.TOTAL_BINS - 2))
    groups = tuple(i // 5 for i in range(times.CaseDurationParts(parts).shape[0]))
    asked: list[Any] = [
        flow.Size(),
        flow.VariantCounts(kept),
        flow.NearestCounts(kept, n),
        flow.LabelWeights(n, np.arange(0, n, 3)),
        flow.Lengths(),
        flow.BaseNorms(),
        flow.ExcessNorms(cells, n),
        flow.BaseEdges(n, 2.5),
        flow.BaseEdges(n, 1.5, direct=True),
        flow.DoubtfulEdges(n, cells),
        flow.ExcessEdges(n, 1.5, cells),
        flow.Contexts(n, cells[cells % (n + 1) != n][:50], 2.0),
        flow.Occurring(n, np.arange(0, n, 2), 1.6),
        flow.Together(n, np.arange(n), np.arange(n) % (flow.PARTS + 1), 1.3),
        flow.CaseNumber(),
        flow.RareCases(3),
        flow.CaseLengths(),
        flow.PrefixLevel(np.arange(n).reshape(n, 1), n),
        times.StartYears(ZONE),
        times.StartWeeks((40, 41, 54), 4, ZONE),
        times.StartHours(ZONE),
        times.StartDays(ZONE),
        times.CaseDurations(),
        times.CaseDurationParts(parts),
        times.GroupedTotals(kept, (2, 5), parts, groups),
        times.Granularity(ZONE),
        times.StepDurations(2.0),
        times.EdgeDurations(1.7, edges),
        times.SlowPairs(0.7, edges, slow, shares, tuple(range(0, min(n**3, 3000), 2))),
        times.ActivityHours(1.0, n, times.HOUR, ZONE),
    ]
    asked += attribute_tables(engine)
    of_cases, of_each = set(of_attributes_counted.COUNTERS), {*of_events_counted.COUNTERS, *of_events_counted.OCCURRENCES}
    left_out = (set() if engine.cases.attributes else of_cases) | (set() if engine.cases.of_events else of_each)
    assert {type(table) for table in asked} == TABLES - left_out
    return asked


def attribute_tables(engine: PolarsEngine) -> list[Any]:
    """Every table about attributes, with some of their values and bounds between others; none where there are no attributes."""
    sides = [of_attributes.OfAttribute(*each) for each in enumerate(map(some_cells, engine.cases.attributes))]
    if not sides:
        return event_tables(engine)
    more: list[of_attributes.Side] = [of_attributes.HasActivity(code) for code in range(0, len(engine.labels), 4)]
    more += [of_attributes.LengthGroup((2, 5)), of_attributes.DurationGroup((1, 10**9, 10**11))]
    pairs = tuple(zip(sides, [*sides[1:], *more], strict=False)) + tuple((sides[-1], side) for side in more)
    each: list[Any] = [kind(side) for side in sides for kind in (of_attributes.ValueCounts, of_attributes.ValueGrains)]
    return [*each, of_attributes.PairCounts(pairs), of_attributes.Interactions(pairs), *event_tables(engine)]


def event_tables(engine: PolarsEngine) -> list[Any]:
    """Every table about attributes of events, with rows that several labels share and labels that count in none."""
    rows = tuple(code // 2 if code % 5 != 4 else of_events.NOWHERE for code in range(len(engine.labels)))
    asked: list[Any] = []
    for number, values in enumerate(engine.cases.of_events):
        side = of_events.OfEvents(number, some_cells(values), rows)
        asked += [of_events.EventNorms(side), of_events.EventNorms(side, following=True)]
        kinds = of_events.EventFills, of_events.EventCounts, of_events.NextCounts, of_events.EventGrains
        asked += [kind(side, clip) for kind in kinds for clip in (1.7, 1e6)]
    return asked


def some_cells(values: Integers) -> of_attributes.Coding:
    """Cells of some of these values, and between others."""
    found = np.unique(values[values != MISSING])
    return of_attributes.Coding(tuple(found[::3][:20].tolist()), tuple(found[1::5][:20].tolist()))


def assert_same_tables(engine: Engine, memory: PolarsEngine) -> None:
    """That all tables of all cases agree, and those about control flow of a tail; with all labels and with fewer."""
    assert engine.labels == memory.labels
    assert engine.values == memory.values
    order = np.argsort(-memory.counts, kind="stable")
    kept = memory.traces.take(order[: min(len(order) // 2 + 1, 25)])
    asked = every_table(memory, kept)
    assert_same_counts(engine, memory, asked)
    of_flow = [table for table in asked if not needs_cases(table)]
    assert_same_counts(engine.tail(kept), memory.tail(kept), of_flow)
    fewer = memory.labels[::2]
    codes = codes_among(memory.labels, fewer)
    left = [[code for code in codes[trace].tolist() if code >= 0] for trace in kept.to_lists()]
    asked = every_table(memory.with_labels(fewer), traces_of([list(trace) for trace in dict.fromkeys(map(tuple, left)) if trace]))
    asked = [table for table in asked if not isinstance(table, flow.RareCases)]  # which is about whole traces
    assert_same_counts(engine.with_labels(fewer), memory.with_labels(fewer), asked)
    of_flow = [table for table in asked if not needs_cases(table)]
    assert_same_counts(engine.tail(kept).with_labels(fewer), memory.tail(kept).with_labels(fewer), of_flow)


def assert_same_counts(engine: Engine, memory: Engine, asked: list[Any]) -> None:
    """That two engines agree on these tables, asked for together."""
    for table, ours, theirs in zip(asked, engine.count_all(asked), memory.count_all(asked), strict=True):
        assert ours.dtype == theirs.dtype == np.int64
        assert ours.shape == theirs.shape == table.shape
        assert np.array_equal(ours, theirs), type(table).__name__
