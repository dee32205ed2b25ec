"""What is asked about the tail: histograms of lengths and norms, which set the clips, then edges and contexts.

Where the tail is large, it is also asked which activities occur together: edges and contexts know two steps back, and an early
choice may decide a late step.

A bin in which there is only noise would make traces of thousands of events, or a clip that drowns everything in noise. So a
histogram ends at the last window of bins that stands out, and nothing is believed beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from libra.engines import control_flow_tables as tables
from libra.engines.control_flow_tables import LENGTH_BINS, LONGEST, NORM_BINS, PARTS, edge_uses
from libra.eventlog.cases import Floats, Integers, Traces
from libra.mechanisms.libra.tail.certain import certain_edges, doubtful_edges
from libra.mechanisms.libra.tail.edges import significant_edges
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable

STANDS_OUT = 4.0  # standard deviations
WINDOWS = (5, 15)  # bins in a window, at most; the second is for histograms in which no short window stands out
MEAN_ABSOLUTE = math.sqrt(2 / math.pi)  # of a standard normal number
SMALLEST_CLIP = 2.0
# Shares of mu^2. Chosen on the eight public logs, several seeds; the result hardly depends on them: a third less or half as much
# again moves the mean error of the edges by 3 % at most (epsilon 1).
SIZE, LENGTHS, NORMS, EXCESS_NORMS = 0.04, 0.12, 0.03, 0.03
SECOND_LOOK = 0.2  # at doubtful edges, where only those are taken that are almost certain
# What ties a case together, where the tail is large. Half or three times as much for pairs changes little on the public logs.
OCCURRING, TOGETHER = 0.01, 0.02
LARGE, VERY_LARGE = 30.0, 100.0  # standard deviations of the number of cases
EXCESS, CONTEXTS = 0.28, 0.12  # of what those leave; the edges get the rest
# Where the tail is very large, few edges are in doubt, and it is worth more to know what comes after two steps.
SECOND_LOOK_AT_MANY, CONTEXTS_OF_MANY = 0.12, 0.3
MANY_LABELS = 100  # with more of them the contexts are too thin to tell anything from noise
EDGES_A_LABEL, MOST_EDGES = 4, 100  # how many edges the noise is expected to count on, before any is known
REPEATED_SHARE = 1 / 4  # of the edges, those that a case repeats often
# How much it weighs that large cases are scaled down: balancing makes up for much of it. 0.75 was taken after eight seeds in
# which it looked better than 1; on twenty others no public log moves beyond the noise.
CUT_OFF, CUT_OFF_REPEATED = 0.75, 2.0
MOST_OCCURRING = 16  # activities of a case that has this many or fewer count in full
USUAL_NORM = 0.75  # of what products of activities that were independent would have as their norm, for cases to be clipped to
NOISE_OF_CORRELATIONS = 0.3  # at most, one standard deviation; with more, most of what is asked for would be noise
CERTAIN = 3.0  # standard deviations, for an edge to be a context
PRESENT = 2.0  # standard deviations, for a tail to be there


def last_bin(histogram: NoisyTable) -> int | None:
    """The last bin of a window that stands out, itself above its noise; None where no window does."""
    filled = histogram.values > histogram.sd
    sums = np.concatenate(([0.0], np.cumsum(histogram.values)))
    for widest in WINDOWS:
        found = -1
        for width in range(1, min(widest, len(sums) - 1) + 1):
            scores = (sums[width:] - sums[:-width]) / (histogram.sd * math.sqrt(width))
            ends = np.flatnonzero((scores >= STANDS_OUT) & filled[width - 1 :])
            found = max(found, int(ends[-1]) + width - 1) if len(ends) else found
        if found >= 0:
            return found
    return None


def on_simplex(values: Floats, total: float) -> Floats:
    """The nearest numbers that are nowhere below zero and add up to the total."""
    if total <= 0:
        return np.zeros_like(values)
    descending = np.sort(values)[::-1]
    excess = (np.cumsum(descending) - total) / np.arange(1, len(values) + 1)
    shift = excess[np.flatnonzero(descending > excess)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0))


def best_clip(norms: Floats, edges: float, mu: float, weight: float) -> float:
    """The clip at which noise and what is cut off are smallest together.

    `norms` are the numbers of cases in each bin of the squared norm. The noise counts on so many edges, each with standard
    deviation clip / mu, and `weight` is how much one unit of norm that is cut off counts.
    """
    ends = np.sqrt(np.append(NORM_BINS[1:], 2 * NORM_BINS[-1]))
    middles = np.sqrt((NORM_BINS + np.append(NORM_BINS[1:], NORM_BINS[-1])) / 2)[: len(norms)]
    clips = ends[ends >= SMALLEST_CLIP / 2]
    cut_off = (norms * np.maximum(middles - clips[:, None], 0.0)).sum(axis=1)
    return float(clips[int(np.argmin(edges * MEAN_ABSOLUTE * clips / mu + weight * cut_off))])


@dataclass(frozen=True, eq=False, repr=False)
class TailFigures:
    """What was released about the tail."""

    size: NoisyTable  # the number of cases
    lengths: NoisyTable  # how many cases are how long
    norms: NoisyTable  # how many cases have how large a vector of base edges
    longest: int = 0  # the length beyond which no trace is generated; 0 where there is too little to model
    clip: float = SMALLEST_CLIP  # the norm that base edges and continuations were clipped to
    base: NoisyTable | None = None  # edges, the first two uses in a case
    edges: tuple[int, ...] = ()  # the edges that stand out, in ascending order
    certain: bool = False  # whether edges had to stand out in two looks; False in models of earlier versions
    doubtful: tuple[int, ...] = ()  # the edges that had a second look, in ascending order
    second: NoisyTable | None = None  # what it saw, clipped to a norm of 1
    excess_norms: NoisyTable | None = None  # how many cases have how large a vector of excess edges
    excess_clip: float = SMALLEST_CLIP  # the norm that those were clipped to
    excess: NoisyTable | None = None  # edges, all further uses in a case; None where hardly any case has some
    contexts: tuple[int, ...] = ()  # the edges whose continuations were counted, in ascending order
    continuations: NoisyTable | None = None  # where cases go on from there
    occurring: NoisyTable | None = None  # how many cases have each label that is no start; None where the tail is not large
    occurring_clip: float = 1.0  # the norm that those were clipped to
    usual: tuple[int, ...] = ()  # for each of these labels the share of cases with it, in parts, that products are counted from
    together: NoisyTable | None = None  # sums of products for every pair of these labels; None where hardly any label varies
    together_clip: float = 1.0  # the norm that those were clipped to

    @property
    def cases(self) -> tuple[float, float]:
        """How many cases there are, from all that was released, and the standard deviation of that figure."""
        tables = (self.size, self.lengths, self.norms)
        trust = np.array([1 / (table.sd**2 * table.counts.size) for table in tables])
        sums = np.array([table.values.sum() for table in tables])
        return max(0.0, float((trust * sums).sum() / trust.sum())), 1 / math.sqrt(trust.sum())

    def left_out(self) -> tuple[float, float]:
        """The share of steps, between labels that are released, on edges that were not taken; and the noise of that figure."""
        if self.base is None:
            return 0.0, 0.0
        lost = np.ones(self.base.counts.shape, bool)
        lost.ravel()[list(self.edges)] = False
        steps, lost = self.base.values[:-1, :-1], lost[:-1, :-1]
        total = max(float(steps.sum()), self.base.sd)
        return float(steps[lost].sum()) / total, self.base.sd * math.sqrt(lost.sum()) / total

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {
            name: value.to_dict() if isinstance(value, NoisyTable) else list(value) if isinstance(value, tuple) else value
            for name, value in vars(self).items()
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TailFigures:
        """The figures of a JSON document."""
        return cls(**{name: READ[type(value)](value) if type(value) in READ else value for name, value in plain.items()})


READ: dict[type, Callable[[Any], Any]] = {dict: NoisyTable.from_dict, list: tuple}  # what JSON has in place of other types


def release_tail(
    gate: Gate, kept: Traces, n_labels: int, mu: float, *, certain: bool = True, completion: Integers | None = None
) -> TailFigures:
    """Ask the gate to the tail for everything about it; if it is lost in noise, for number, lengths and sizes of cases only.

    `completion` has for the label of a start the code of its activity's label, -1 for others; None where there are no starts.
    """

    def ask(table: Any, share: float) -> NoisyTable:
        return gate.release(table, mu * math.sqrt(share))

    size, lengths, base_norms = tables.Size(), tables.Lengths(), tables.BaseNorms()
    labels = no_starts(n_labels, completion)
    occurring = tables.Occurring(n_labels, labels, math.sqrt(max(1, min(len(labels), MOST_OCCURRING))))
    gate.look_ahead(size, lengths, base_norms, *([occurring] if certain and n_labels <= MANY_LABELS else []))
    known: dict[str, Any] = {"size": ask(size, SIZE), "lengths": ask(lengths, LENGTHS), "norms": ask(base_norms, NORMS)}
    first = TailFigures(**known)
    cases, sd = first.cases
    if cases <= PRESENT * sd:
        return first
    last = last_bin(first.lengths)
    if len(kept):  # a tail reaches at least as far as the kept variants do
        last = max(-1 if last is None else last, int(np.searchsorted(LENGTH_BINS, kept.lengths.max(), side="right")) - 1)
    if not last:  # nothing stands out, or cases without events alone
        return first
    if certain:
        last = _further(first.lengths, last, cases, sd)
    longest = int(LENGTH_BINS[last + 1]) - 1 if last + 1 < len(LENGTH_BINS) else LONGEST
    many = certain and cases > VERY_LARGE * sd
    second_share = 0.0 if not certain else SECOND_LOOK_AT_MANY if many else SECOND_LOOK
    rest = 1 - SIZE - LENGTHS - NORMS - EXCESS_NORMS - second_share
    together = None
    if certain and n_labels <= MANY_LABELS and cases > LARGE * sd:
        rest -= OCCURRING
        known |= {"occurring": (shares := ask(occurring, OCCURRING)), "occurring_clip": occurring.clip}
        together = _together(n_labels, labels, shares.values / cases, cases * mu * math.sqrt(TOGETHER))
        rest -= 0.0 if together is None else TOGETHER
    context_share = 0.0 if n_labels > MANY_LABELS else rest * (CONTEXTS_OF_MANY if many else CONTEXTS)
    excess_share = EXCESS * rest
    base_share = rest - context_share - excess_share
    clip = _base_clip(first.norms, cases, n_labels, mu * math.sqrt(base_share))
    base_edges = tables.BaseEdges(n_labels, clip, direct=certain)
    if together is not None:
        gate.look_ahead(together, base_edges)
        usual = tuple(together.usual.tolist())
        known |= {"usual": usual, "together": ask(together, TOGETHER), "together_clip": together.clip}
    base = ask(base_edges, base_share)
    on_kept = np.unique(edge_uses(kept, n_labels).cell)
    if certain:
        doubtful = doubtful_edges(base, on_kept)
        second = ask(tables.DoubtfulEdges(n_labels, doubtful), second_share) if len(doubtful) else None
        edges = certain_edges(base, on_kept, doubtful, second)
        excess_share += second_share if second is None else 0.0
        known |= {"certain": True, "doubtful": tuple(doubtful.tolist()), "second": second}
    else:
        edges = significant_edges(base, on_kept)
    known |= {"longest": longest, "clip": clip, "base": base, "edges": tuple(edges.tolist())}
    if not len(edges):
        return TailFigures(**known)
    known["excess_norms"] = norms = ask(tables.ExcessNorms(edges, n_labels), EXCESS_NORMS)
    excess_clip = _excess_clip(norms, cases, sd if certain else math.inf, len(edges), mu * math.sqrt(excess_share))
    excess = None if excess_clip is None else tables.ExcessEdges(n_labels, excess_clip, edges)
    to_label = edges % len(base.counts) != len(base.counts) - 1
    frequent = to_label & (base.values.ravel()[edges] > CERTAIN * base.sd)  # enough to ask how cases go on from there
    contexts = edges[frequent] if n_labels <= MANY_LABELS else edges[:0]
    continuations = tables.Contexts(n_labels, contexts, clip) if len(contexts) else None
    gate.look_ahead(*(table for table in (excess, continuations) if table is not None))
    if excess is None:
        context_share += excess_share
    else:
        known |= {"excess_clip": excess_clip, "excess": ask(excess, excess_share)}
    if continuations is not None:
        known |= {"contexts": tuple(contexts.tolist()), "continuations": ask(continuations, context_share)}
    return TailFigures(**known)


def no_starts(n_labels: int, completion: Integers | None) -> Integers:
    """The codes of all labels that are no starts: a start says no more about a case than its completion does."""
    return np.arange(n_labels) if completion is None else np.flatnonzero(completion < 0)


def _together(n_labels: int, labels: Integers, shares: Floats, trust: float) -> tables.Together | None:
    """How these labels go together, of which such shares of the cases have each; None if that cannot be told from noise.

    The clip is near the norm that cases have: those of independent labels deviate by p (1 - p) in the square, and so do products.
    `trust` is the number of cases, in standard deviations of the noise with a clip of 1.
    """
    usual = np.rint(PARTS * shares.clip(0.0, 1.0)).astype(np.int64)
    held = shares.clip(1 / PARTS, 1 - 1 / PARTS)
    spread = held * (1 - held)
    clip = USUAL_NORM * math.sqrt((spread.sum() ** 2 - (spread**2).sum()) / 2)
    if ((usual > 0) & (usual < PARTS)).sum() < 2 or clip > NOISE_OF_CORRELATIONS * trust * spread.mean():
        return None
    return tables.Together(n_labels, labels, usual, clip)


def _further(lengths: NoisyTable, last: int, cases: float, sd: float) -> int:
    """The bin up to which lengths account for the cases, as far as noise can tell: this one, or a later one."""
    sums = np.cumsum(lengths.values)
    while last + 1 < len(sums) and cases - sums[last] > STANDS_OUT * math.hypot(sd, lengths.sd * math.sqrt(last + 1)):
        last += 1
    return last


def _base_clip(norms: NoisyTable, cases: float, n_labels: int, mu: float) -> float:
    last = last_bin(norms)
    if last is None:
        return SMALLEST_CLIP
    held = on_simplex(norms.values[: last + 1], cases)
    advised = best_clip(held, min(EDGES_A_LABEL * n_labels, MOST_EDGES), mu, CUT_OFF)
    return max(SMALLEST_CLIP, min(advised, math.sqrt(NORM_BINS[min(last + 1, len(NORM_BINS) - 1)])))


def _excess_clip(norms: NoisyTable, cases: float, sd: float, n_edges: int, mu: float) -> float | None:
    """The clip of the excess edges; None where no case stands out that has any. `sd` is the noise of the number of cases."""
    repeating = NoisyTable(norms.counts[1:], norms.scale, norms.sd)
    last = last_bin(repeating)
    if last is None:  # sizes are lost in noise; cases that repeat anything may still be too many to overlook
        return SMALLEST_CLIP if cases - norms.values[0] > STANDS_OUT * math.hypot(norms.sd, sd) else None
    held = on_simplex(norms.values[: last + 2], cases)
    held[0] = 0.0
    return best_clip(held, max(n_edges * REPEATED_SHARE, 1.0), mu, CUT_OFF_REPEATED)
