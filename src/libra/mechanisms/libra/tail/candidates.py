"""Candidate traces for the tail: drawn from chains that differ in how often they repeat.

In: `TailFigures`. Out: distinct traces, none of them a kept variant, each with the share of draws that gave it. Real cases repeat
themselves very unevenly: a chain that is right on average has neither those that hardly repeat nor those that repeat for long. So
candidates come from a mixture of chains, and balancing weighs them.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import Integers, Traces, concatenated
from libra.mechanisms.libra.tail.chain import Chain, draw_traces
from libra.mechanisms.libra.tail.release import TailFigures
from libra.privacy.noisy import NoisyTable
from libra.privacy.randomness import Randomness

Floats = npt.NDArray[np.float64]
CANDIDATES = 10_000  # half or twice as many move the mean error on the eight public logs by 3 % at most; time grows with them
# How strongly repeated edges count, and the share of candidates. On the eight public logs one chain does as well; on a log whose
# loops last for dozens of rounds, and for how many differs, three of them more than halve the error.
REPEATING = ((1.0, 0.5), (0.2, 0.2), (5.0, 0.3))
LEAST, CLEAR = 0.5, 2.0  # standard deviations: what an edge that stands out counts at least; what is clearly there
SHRINKAGE = 2.0  # standard deviations of cases, spread over a context's row as the order-1 chain would


def candidates(figures: TailFigures, base: NoisyTable, weak: Integers, kept: Traces, random: Randomness) -> tuple[Traces, Floats]:
    """Distinct candidates and the share of draws that gave each; `base` are the edges as far as they are believed.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.mechanisms.libra import Libra
        >>> (figures,) = Libra(epsilon=3.0).anonymize(simulate(cases=1000), Randomness(seed=1)).figures
        >>> tail, none = figures.control.tail, np.zeros(0, np.int64)
        >>> traces, shares = candidates(tail, tail.base, none, figures.control.kept, Randomness(seed=1))
        >>> len(traces) == len(set(traces.as_bytes())), round(float(shares.sum()), 6)
        (True, 1.0)
    """
    parts = []
    for strength, share in REPEATING if figures.excess is not None else ((1.0, 1.0),):
        chain = _chain(figures, base, weak, strength)
        parts.append(draw_traces(chain, int(CANDIDATES * share), figures.longest, random))
    drawn = concatenated(parts)
    prints, rows, times = np.unique(drawn.fingerprints(), return_index=True, return_counts=True)
    new = ~np.isin(prints, kept.fingerprints())
    return drawn.take(rows[new]), times[new] / max(times[new].sum(), 1)


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
    row = usual[contexts % len(first)]
    share = row / np.maximum(row.sum(axis=1, keepdims=True), 1e-300)
    noisy, sd = figures.continuations.values, figures.continuations.sd
    again = (usual / np.maximum(plain.reshape(usual.shape), LEAST * base.sd)).clip(min=1.0)  # continuations count two uses a case
    counted = np.where(sure[contexts % len(first)], np.maximum(noisy, 0.0), 0.0) * again[contexts % len(first)]
    second = counted + SHRINKAGE * sd * share
    second *= np.where(row > 0, first[contexts % len(first)] / np.where(row > 0, row, 1.0), 1.0)
    return Chain(first, contexts, second)
