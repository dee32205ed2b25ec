"""From released figures to the traces of the tail: draw candidates, describe them as the cases were, and balance.

In: `TailFigures` and the kept variants. Out: candidate traces with weights, which may be fractions; rounding is for later,
together with the kept variants. Candidates are capped and clipped exactly as the cases were when they were counted.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.engines.control_flow_tables import LENGTH_BINS, NORM_BINS
from libra.engines.features import Uses, context_uses, edge_uses
from libra.eventlog.cases import Integers, Traces
from libra.mechanisms.libra.tail.balance import Figures, balance
from libra.mechanisms.libra.tail.candidates import candidates
from libra.mechanisms.libra.tail.edges import believed, weak_edges
from libra.mechanisms.libra.tail.release import TailFigures
from libra.privacy.noisy import NoisyTable
from libra.privacy.randomness import Randomness

Floats = npt.NDArray[np.float64]
WITHIN = 3.0  # standard deviations: how far the balanced number of cases may be above the released one


def weighted_traces(figures: TailFigures, kept: Traces, n_labels: int, random: Randomness) -> tuple[Traces, Floats]:
    """Candidate traces and how many cases each stands for; none where the tail is lost in noise.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.mechanisms.libra import Libra
        >>> (figures,) = Libra(epsilon=3.0).anonymize(simulate(cases=1000), Randomness(seed=1)).figures
        >>> control = figures.control
        >>> traces, weights = weighted_traces(control.tail, control.kept, control.n_labels, Randomness(seed=1))
        >>> cases, sd = control.tail.cases
        >>> bool(0.8 * cases < weights.sum() < cases + 3.01 * sd)
        True
    """
    nothing = kept.take(np.zeros(0, np.int64)), np.zeros(0)
    cases, sd = figures.cases
    if figures.base is None or not figures.edges:
        return nothing
    weak = weak_edges(figures.base, np.array(figures.edges, np.int64))
    base = believed(figures.base, weak)
    traces, shares = candidates(figures, base, weak, kept, random)
    if not len(traces):
        return nothing
    weights = balance(_described(figures, base, traces, n_labels), cases * shares)
    total = float(weights.sum())
    return traces, weights * min(1.0, (cases + WITHIN * sd) / total) if total else weights


def _described(figures: TailFigures, edges: NoisyTable, traces: Traces, n_labels: int) -> list[Figures]:
    """Every released table of the tail, with what the candidates count in it."""
    n, cells = len(traces), (n_labels + 1) ** 2
    uses = edge_uses(traces, n_labels)
    base = uses.base()
    described = [
        Figures(figures.size.values, figures.size.sd, np.arange(n), np.zeros(n, np.int64), np.ones(n)),
        _binned(figures.lengths, LENGTH_BINS, traces.lengths),
        _binned(figures.norms, NORM_BINS, base.square_norms(n)),
        _clipped(edges, base, figures.clip, n),
    ]
    if figures.excess_norms is not None:
        excess = uses.excess().of(np.array(figures.edges, np.int64), cells)
        described.append(_binned(figures.excess_norms, NORM_BINS, excess.square_norms(n)))
        if figures.excess is not None:
            described.append(_clipped(figures.excess, excess, figures.excess_clip, n))
    if figures.continuations is not None:
        further = context_uses(traces, np.array(figures.contexts, np.int64), n_labels).base()
        described.append(_clipped(figures.continuations, further, figures.clip, n))
    return described


def _binned(table: NoisyTable, left_ends: Integers | Floats, values: Integers) -> Figures:
    """A histogram, as far as any candidate falls into it."""
    cell = np.searchsorted(left_ends, values, side="right") - 1
    return _only_used(table, np.arange(len(values)), cell, np.ones(len(values)))


def _clipped(table: NoisyTable, uses: Uses, clip: float, n: int) -> Figures:
    norms = np.sqrt(uses.square_norms(n))
    factors = np.minimum(1.0, clip / np.maximum(norms, clip))
    return _only_used(table, uses.row, uses.cell, factors[uses.row] * uses.times)


def _only_used(table: NoisyTable, candidate: Integers, cell: Integers, amount: Floats) -> Figures:
    """The figures in which some candidate counts; all others cannot be matched by any weights."""
    used = np.zeros(table.counts.size, bool)
    used[cell] = True
    place = np.cumsum(used) - 1
    return Figures(table.values.ravel()[used], table.sd, candidate, place[cell], amount)
