"""Traces of the tail: drawn from a Markov chain, then weighted so that they agree with what was released.

The next activity depends on the last one and, where the last step is one of the `contexts`, on the one before as well. The chain
starts and ends in the artificial node. Drawing is vectorized: all traces take their next step together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from libra._system.ordering import Ladder, stable_order
from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import LENGTH_BINS, NORM_BINS, PARTS, Uses, context_uses, edge_uses, label_sets
from libra.eventlog.cases import Floats, Integers, Traces, concatenated
from libra.mechanisms.libra.tail.edges import HASTY, PATIENT, Figures, Products, balance, believed, weak_edges
from libra.mechanisms.libra.tail.release import TailFigures, no_starts
from libra.mechanisms.libra.tail.well_formed import (
    Open,
    Rules,
    drawn_well_formed,
    lacking_starts,
    waits_of,
    with_supported_steps,
)
from libra.privacy.noise import NoisyTable

CANDIDATES = 10_000  # half or twice as many move the mean error on the eight public logs by 3 % at most; time grows with them
# How strongly repeated edges count, and the share of candidates. On the eight public logs one chain does as well; on a log whose
# loops last for dozens of rounds, and for how many differs, three of them more than halve the error.
REPEATING = ((1.0, 0.5), (0.2, 0.2), (5.0, 0.3))
LEAST, CLEAR = 0.5, 2.0  # standard deviations: what an edge that stands out counts at least; what is clearly there
SHRINKAGE = 2.0  # standard deviations of cases, spread over a context's row as the order-1 chain would
# The noise of a correlation that is taken for granted at least: with hardly any, edges would take more steps to be matched, too.
EXACT = 0.05
WITHIN = 3.0  # standard deviations: how far the balanced number of cases may be above the released one


@dataclass(frozen=True, eq=False, repr=False)
class Chain:
    """Weights of steps."""

    first: Floats  # from each node, to each node; a row of zeros is a dead end, which no step with weight leads to
    contexts: Integers  # edges in ascending order
    second: Floats  # from each context, to each node; no row of zeros


def draw_traces(chain: Chain, n: int, longest: int, random: Randomness, opened: Open | None = None) -> Traces:
    """Traces of the chain, without those that are empty or longer than `longest`; so there may be fewer than `n`.

    Where activities are started and completed, `opened` sees to it that steps fit what walkers have open.
    """
    nodes = len(chain.first)
    outside = nodes - 1
    rows = np.vstack((chain.first, chain.second))
    totals = rows.sum(axis=1, keepdims=True)
    steps = np.cumsum(rows, axis=1) / np.where(totals > 0, totals, 1)
    ladder = Ladder((np.minimum(steps, 1.0) + 2.0 * np.arange(len(rows))[:, None]).ravel())  # every row on a stretch of its own
    row_of_edge = np.full(nodes * nodes, -1)
    row_of_edge[chain.contexts] = nodes + np.arange(len(chain.contexts))

    walker, node = np.arange(n), np.full(n, outside)
    row = node
    finished = np.zeros(n, bool)
    who, what = [walker[:0]], [node[:0]]

    def drawn_from(row: Integers) -> Integers:
        return np.asarray(np.minimum(ladder.places(random.uniform(len(row)) + 2 * row) - row * nodes, outside))

    for _ in range(longest + 1):
        following = drawn_from(row)
        if opened is not None:
            fits = opened.fitting(walker, node, following, lambda some: drawn_from(row[some]), random)  # noqa: B023  # used at once
            walker, node, following = walker[fits], node[fits], following[fits]
            opened.take(walker, following)
        goes_on = following != outside
        finished[walker[~goes_on]] = True
        walker, edge, node = walker[goes_on], (node * nodes + following)[goes_on], following[goes_on]
        if not len(walker):
            break
        who.append(walker)
        what.append(node)
        row = np.where(row_of_edge[edge] >= 0, row_of_edge[edge], node)
    walkers, codes = np.concatenate(who), np.concatenate(what)
    order = stable_order(walkers)
    lengths = np.bincount(walkers, minlength=n)
    drawn = Traces(codes[order], np.concatenate(([0], np.cumsum(lengths))))
    return drawn.take(np.flatnonzero(finished & (lengths > 0) & (lengths <= longest)))


def candidates(
    figures: TailFigures, base: NoisyTable, weak: Integers, kept: Traces, random: Randomness, completion: Integers | None = None
) -> tuple[Traces, Floats]:
    """Distinct candidates and the share of draws that gave each; `base` are the edges as far as they are believed.

    `completion` has for the label of a start the code of its activity's label, -1 for others; None where there are no starts.
    """
    rules = None if completion is None else _rules(figures, base, kept, completion)
    parts = []
    for strength, share in REPEATING if figures.excess is not None else ((1.0, 1.0),):
        walks = partial(draw_traces, _chain(figures, base, weak, strength), longest=figures.longest, random=random)
        n = int(CANDIDATES * share)
        fitting = None if rules is None else drawn_well_formed(walks, n, rules)
        parts.append(fitting if fitting is not None and len(fitting) else walks(n))
    drawn = concatenated(parts)
    prints, rows, times = np.unique(drawn.fingerprints(), return_index=True, return_counts=True)
    new = ~np.isin(prints, kept.fingerprints())
    return drawn.take(rows[new]), times[new] / max(times[new].sum(), 1)


def _rules(figures: TailFigures, base: NoisyTable, kept: Traces, completion: Integers) -> Rules:
    edges = np.array(figures.edges, np.int64)
    return Rules(completion, lacking_starts(base, edges, completion), waits_of(kept, completion))


def _chain(figures: TailFigures, base: NoisyTable, weak: Integers, strength: float) -> Chain:
    edges = np.array(figures.edges, np.int64)
    plain, repeated = np.zeros(base.counts.size), np.zeros(base.counts.size)
    plain[edges] = np.maximum(base.values.ravel()[edges], LEAST * base.sd)
    sure = (plain > 0).reshape(base.counts.shape)
    plain[weak] = base.values.ravel()[weak]
    if figures.excess is not None:
        excess = figures.excess.values.ravel()[edges]
        repeated[edges] = np.where(excess > CLEAR * figures.excess.sd, excess, 0.0)
    usual = (plain + repeated).reshape(base.counts.shape)
    first = (plain + strength * repeated).reshape(base.counts.shape)
    if figures.continuations is None:
        return Chain(first, edges[:0], np.zeros((0, len(first))))
    contexts = np.array(figures.contexts, np.int64)
    node = contexts % len(first)
    row = usual[node]
    share = row / np.maximum(row.sum(axis=1, keepdims=True), 1e-300)
    again = (usual / np.maximum(plain.reshape(usual.shape), LEAST * base.sd)).clip(min=1.0)  # continuations count two uses a case
    counted = np.where(sure[node], np.maximum(figures.continuations.values, 0.0), 0.0) * again[node]
    second = counted + SHRINKAGE * figures.continuations.sd * share
    second *= np.where(row > 0, first[node] / np.where(row > 0, row, 1.0), 1.0)
    return Chain(first, contexts, second)


def weighted_traces(
    figures: TailFigures, kept: Traces, n_labels: int, random: Randomness, completion: Integers | None = None
) -> tuple[Traces, Floats]:
    """Candidate traces and how many cases each stands for; none where the tail is lost in noise."""
    nothing = kept.take(np.zeros(0, np.int64)), np.zeros(0)
    cases, sd = figures.cases
    if figures.base is None or not figures.edges:
        return nothing
    edges = np.array(figures.edges, np.int64)
    weak = edges[:0] if figures.certain else weak_edges(figures.base, edges)
    base = believed(figures.base, weak)
    traces, shares = candidates(figures, base, weak, kept, random, completion)
    if not len(traces):
        return nothing

    def balanced(patience: tuple[int, float]) -> Floats:
        return balance(_described(figures, base, traces, n_labels, completion), cases * shares, patience)

    if completion is not None and figures.certain:  # weighted twice: roughly, to see what stands out, and then well
        supported = with_supported_steps(traces, balanced(HASTY), kept, base, edges, completion)
        if 0 < len(supported) < len(traces):  # where nothing stands out, all is as likely
            traces, shares = traces.take(supported), shares[supported] / shares[supported].sum()
    weights = balanced(PATIENT if figures.certain else HASTY)
    total = float(weights.sum())
    return traces, weights * min(1.0, (cases + WITHIN * sd) / total) if total else weights


def _described(
    figures: TailFigures, edges: NoisyTable, traces: Traces, n_labels: int, completion: Integers | None
) -> list[Figures | Products]:
    """Every released table of the tail, with what the candidates count in it."""
    n, cells = len(traces), (n_labels + 1) ** 2
    uses = edge_uses(traces, n_labels)
    base = uses.base()
    described: list[Figures | Products] = [
        Figures(figures.size.values, figures.size.sd, np.arange(n), np.zeros(n, np.int64), np.ones(n)),
        _binned(figures.lengths, LENGTH_BINS, traces.lengths),
        _binned(figures.norms, NORM_BINS, base.square_norms(n)),
        _clipped(edges, base, figures.clip, n),
    ]
    if figures.second is not None:
        described.append(_clipped(figures.second, base.among(np.array(figures.doubtful, np.int64), cells), 1.0, n))
    if figures.excess_norms is not None:
        excess = uses.excess().of(np.array(figures.edges, np.int64), cells)
        described.append(_binned(figures.excess_norms, NORM_BINS, excess.square_norms(n)))
        if figures.excess is not None:
            described.append(_clipped(figures.excess, excess, figures.excess_clip, n))
    if figures.continuations is not None:
        further = context_uses(traces, np.array(figures.contexts, np.int64), n_labels).base()
        described.append(_clipped(figures.continuations, further, figures.clip, n))
    if figures.occurring is not None:
        sets, kind = label_sets(traces, no_starts(n_labels, completion), n_labels)
        row, label = np.nonzero(sets[kind])
        described.append(_clipped(figures.occurring, Uses(row, label, np.ones(len(row), np.int64)), figures.occurring_clip, n))
        if figures.together is not None:
            described += _together(figures, figures.together, sets, kind)
    return described


def _binned(table: NoisyTable, left_ends: Integers | Floats, values: Integers) -> Figures:
    """A histogram, as far as any candidate falls into it."""
    cell = np.searchsorted(left_ends, values, side="right") - 1
    return _only_used(table, np.arange(len(values)), cell, np.ones(len(values)))


def _clipped(table: NoisyTable, uses: Uses, clip: float, n: int) -> Figures:
    norms = np.sqrt(uses.square_norms(n))
    factors = np.minimum(1.0, clip / np.maximum(norms, clip))
    return _only_used(table, uses.row, uses.cell, factors[uses.row] * uses.times)


def _together(figures: TailFigures, table: NoisyTable, sets: Integers, kind: Integers) -> list[Products]:
    """Products of deviations in labels, for the labels in which some candidate deviates; `sets` has a row a kind of candidate."""
    usual = np.array(figures.usual) / PARTS
    squares = (sets - usual) ** 2
    norms = np.sqrt((squares.sum(axis=1) ** 2 - (squares**2).sum(axis=1)).clip(min=0.0) / 2)
    deviates = squares.max(axis=0, initial=0.0) > 0
    one, other = np.triu_indices(len(usual), 1)
    target = table.values[deviates[one] & deviates[other]]
    factor = np.minimum(1.0, figures.together_clip / np.maximum(norms, figures.together_clip))
    spread = np.clip(usual, 1 / PARTS, 1 - 1 / PARTS)
    sd = max(table.sd, EXACT * figures.cases[0] * float((spread * (1 - spread)).mean()))
    return [Products(target, sd, kind, sets[:, deviates], usual[deviates], factor)] if len(target) else []


def _only_used(table: NoisyTable, candidate: Integers, cell: Integers, amount: Floats) -> Figures:
    """The figures in which some candidate counts; all others cannot be matched by any weights."""
    used = np.zeros(table.counts.size, bool)
    used[cell] = True
    place = np.cumsum(used) - 1
    return Figures(table.values.ravel()[used], table.sd, candidate, place[cell], amount)
