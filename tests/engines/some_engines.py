"""Engines from lists of codes, logs that are made to hurt, and every control-flow table counted plainly, case by case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from hypothesis import strategies as st

from libra.engines.contract import Integers, Table
from libra.engines.control_flow_tables import (
    LENGTH_BINS,
    NORM_BINS,
    PARTS,
    BaseEdges,
    BaseNorms,
    Contexts,
    DoubtfulEdges,
    ExcessEdges,
    ExcessNorms,
    LabelWeights,
    Lengths,
    NearestCounts,
    Occurring,
    Size,
    Together,
    VariantCounts,
)
from libra.engines.polars import PolarsEngine, engine_of
from libra.eventlog.cases import traces_of
from libra.eventlog.log import UTC_MICROSECONDS, EventLog

Trace = tuple[int, ...]
Case = tuple[tuple[int, int], ...]  # codes and times
HOUR = 3_600_000_000  # microseconds
DAY = 24 * HOUR
START = 19_849 * DAY + 8 * HOUR  # a Monday of May 2024


def names(n_labels: int) -> tuple[str, ...]:
    """Labels whose order is that of their codes."""
    return tuple(f"label {code:03}" for code in range(n_labels))


def log_from(cases: Sequence[Case], n_labels: int) -> EventLog:
    """The log of these cases, each a sequence of codes and times."""
    case = np.repeat(np.arange(len(cases)), [len(one) for one in cases])
    codes, micros = (np.array([event[part] for one in cases for event in one], np.int64) for part in (0, 1))
    events = pl.DataFrame(
        {
            "@case": pl.Series(case, dtype=pl.UInt32),
            "concept:name": pl.Series(names(n_labels), dtype=pl.String).gather(pl.Series(codes, dtype=pl.UInt32)),
            "time:timestamp": pl.Series(micros, dtype=pl.Int64).cast(UTC_MICROSECONDS),
        }
    )
    return EventLog(events, pl.DataFrame({"concept:name": pl.Series([f"case {i}" for i in range(len(cases))], dtype=pl.String)}))


def engine_from(traces: Sequence[Trace], n_labels: int) -> PolarsEngine:
    """The engine of these cases with a public set of labels; case i begins on day i and has an event an hour."""
    cases = [
        tuple((code, START + number * DAY + hour * HOUR) for hour, code in enumerate(trace))
        for number, trace in enumerate(traces)
    ]
    return engine_of(log_from(cases, n_labels), labels=names(n_labels))


def cases_in(engine: PolarsEngine) -> list[tuple[Trace, tuple[int, ...]]]:
    """Every case of an engine: its codes and its times."""
    cases = engine.cases
    return [
        (tuple(cases.codes[begin:end].tolist()), tuple(cases.micros[begin:end].tolist()))
        for begin, end in pairwise(cases.offsets.tolist())
    ]


class Scene(NamedTuple):
    """Cases, one more case, and all tables that are asked about them."""

    n_labels: int
    traces: list[Trace]
    canary: Trace
    kept: list[Trace]
    tables: list[Any]


def _traces(n_labels: int) -> st.SearchStrategy[Trace]:
    """Short ones, self-loops and ping-pong for very long, all labels in a row."""
    code = st.integers(0, n_labels - 1)
    long = st.sampled_from((1, 2, 3, 5, 40, 900))
    loops = st.builds(lambda one, times: (one,) * times, code, long)
    ping_pong = st.builds(lambda one, other, times: (one, other) * times, code, code, long)
    every = st.permutations(range(n_labels)).map(tuple)
    short = st.lists(code, min_size=1, max_size=6).map(tuple)
    return st.one_of(short, short, loops, ping_pong, every)


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    """A log made to hurt, a case to add to it, and what is asked: the canary's variant new, in the tail, or kept."""
    n_labels = draw(st.sampled_from((1, 2, 3, 9)))
    trace = _traces(n_labels)
    variants = draw(st.lists(trace, max_size=5, unique=True))
    canary = draw(st.sampled_from(variants) | trace if variants else trace)
    traces = draw(st.lists(st.sampled_from(variants), max_size=12)) if variants else []
    kept = draw(st.lists(st.sampled_from([*variants, canary]) | trace, max_size=4, unique=True))
    cells = (n_labels + 1) ** 2
    edges = np.array(sorted(draw(st.sets(st.integers(0, cells - 1), max_size=12))), np.int64)
    contexts = np.array(
        sorted(draw(st.sets(st.integers(0, cells - 1).filter(lambda e: e % (n_labels + 1) != n_labels)))), np.int64
    )
    return Scene(n_labels, traces, canary, kept, control_flow_tables(n_labels, kept, edges, contexts, draw(clips)))


clips = st.one_of(
    st.floats(1.0, 150.0),
    st.integers(1, 40).map(math.sqrt),  # norms of whole numbers: where a case is just within, or just beyond
    st.integers(2, 40).map(lambda square: math.nextafter(math.sqrt(square), 0.0)),
    st.integers(1, 40).map(lambda square: math.nextafter(math.sqrt(square), math.inf)),
)


def control_flow_tables(
    n_labels: int, kept: Sequence[Trace], edges: Integers, contexts: Integers, clip: float
) -> list[Any]:  # all of them are a Table
    """Every table about control flow."""
    variants = traces_of(kept)
    return [
        Size(),
        VariantCounts(variants),
        NearestCounts(variants, n_labels),
        LabelWeights(n_labels, np.unique(variants.codes)),
        Lengths(),
        BaseNorms(),
        ExcessNorms(edges, n_labels),
        BaseEdges(n_labels, clip),
        DoubtfulEdges(n_labels, edges),
        ExcessEdges(n_labels, clip, edges),
        Contexts(n_labels, contexts, clip),
        Occurring(n_labels, np.arange(0, n_labels, 2), clip),
        Together(n_labels, np.arange(n_labels), (5 * np.arange(n_labels) + 3) % (PARTS + 1), clip / 8),
    ]


def square_norm(change: Integers) -> int:
    """The squared L2 norm, in whole numbers of any size."""
    return sum(cell * cell for cell in change.ravel().tolist())


def largest_square(table: Table) -> Fraction:
    """The square of what one case may move a table by, exactly."""
    return (Fraction(table.clip) * table.scale) ** 2


def edges_plainly(trace: Trace, n_labels: int) -> Counter[int]:
    """How often a trace uses each edge."""
    steps = pairwise((n_labels, *trace, n_labels))
    return Counter(source * (n_labels + 1) + target for source, target in steps)


def contexts_plainly(trace: Trace, contexts: Sequence[int], n_labels: int) -> Counter[int]:
    """How often a trace goes on from each context, and where to."""
    whole = (n_labels, *trace, n_labels)
    found: Counter[int] = Counter()
    for before, now, following in zip(whole, whole[1:], whole[2:], strict=False):
        edge = before * (n_labels + 1) + now
        if edge in contexts:
            found[contexts.index(edge) * (n_labels + 1) + following] += 1
    return found


def counted_plainly(table: Any, trace: Trace, n_labels: int) -> Mapping[int, int | Fraction]:
    """What one case counts in a table, before clipping; not for the nearest variant."""
    edges = edges_plainly(trace, n_labels)
    base = {edge: min(times, 2) for edge, times in edges.items()}
    match table:
        case Size():
            return {0: 1}
        case VariantCounts():
            variants = [tuple(one) for one in table.variants.to_lists()]
            return {variants.index(trace): 1} if trace in variants else {}
        case LabelWeights():
            return dict.fromkeys(set(trace) - set(table.known.tolist()), 1)
        case Lengths():
            return {_bin(LENGTH_BINS, len(trace)): 1}
        case BaseNorms():
            return {_bin(NORM_BINS, sum(x * x for x in base.values())): 1}
        case BaseEdges():
            return base
        case DoubtfulEdges():
            return {place: base[edge] for place, edge in enumerate(table.edges.tolist()) if edge in base}
        case ExcessNorms():
            return {_bin(NORM_BINS, sum(x * x for x in _excess(edges, table.edges).values())): 1}
        case ExcessEdges():
            return _excess(edges, table.edges)
        case Contexts():
            found = contexts_plainly(trace, table.contexts.tolist(), n_labels)
            return {cell: min(times, 2) for cell, times in found.items()}
        case Occurring():
            return {place: 1 for place, label in enumerate(table.labels.tolist()) if label in trace}
        case Together():
            shares = zip(table.labels.tolist(), table.usual.tolist(), strict=True)
            deviations = [(label in trace) - Fraction(usual, PARTS) for label, usual in shares]
            products = (one * other for one, other in combinations(deviations, 2))
            return {place: product for place, product in enumerate(products) if product}
        case _:
            raise AssertionError(type(table))


def _excess(edges: Counter[int], among: Integers) -> dict[int, int]:
    return {edge: times - 2 for edge, times in edges.items() if times > 2 and edge in among.tolist()}


def _bin(left_ends: Any, value: int) -> int:
    return max(i for i, left in enumerate(left_ends.tolist()) if left <= value)
