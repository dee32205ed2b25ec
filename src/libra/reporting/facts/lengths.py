"""Trace lengths of both logs: whole numbers of events, in at most some forty bins.

Where lengths go further, bins are several events wide, and the last one takes all that is beyond what nearly all cases
reach. So a handful of endless cases does not squeeze all others into the first bin.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from libra.charts.numbers import count
from libra.measures.distances import Integers
from libra.reporting.facts.histogram import Histogram, mean_of, median_of, shares
from libra.reporting.facts.pair import Pair

MOST_BINS = 40
NEARLY_ALL = 0.995  # of the cases of each log
TICKS = 8


def trace_lengths(pair: Pair) -> Histogram:
    """How many events cases have.

    Example:
        >>> from libra.example.simulate import simulate
        >>> found = trace_lengths(Pair(None, simulate(cases=50)))
        >>> found.original is None, round(sum(found.anonymized), 9)
        (True, 1.0)
    """
    lengths = [np.diff(log.case_offsets) for log in pair.logs]
    bounds = _bounds([one for one in lengths if len(one)])
    counted = [shares(np.histogram(one, bounds)[0]) for one in lengths]
    labels = tuple(count(low) if high - low == 1 else f"{count(low)} to {count(high - 1)}" for low, high in pairwise(bounds))
    every = -(-len(labels) // TICKS)
    middle = 0.5 if bounds[1] - bounds[0] == 1 else 0.0  # a bin of one length is marked in its middle, others where they begin
    ticks = tuple((place + middle, count(bounds[place])) for place in range(0, len(labels), every))
    original = None if pair.is_public else lengths[0]
    return Histogram(
        bounds=tuple(map(float, bounds)),
        labels=labels,
        original=None if original is None else counted[0],
        anonymized=counted[-1],
        ticks=ticks,
        unit="events",
        median_original=None if original is None else median_of(original),
        median_anonymized=median_of(lengths[-1]),
        mean_original=None if original is None else mean_of(original),
        mean_anonymized=mean_of(lengths[-1]),
    )


def _bounds(lengths: list[Integers]) -> list[int]:
    """Where bins begin and the last one ends; one empty bin where no log has a case."""
    if not lengths:
        return [0, 1]
    shortest, longest = min(int(one.min()) for one in lengths), max(int(one.max()) for one in lengths)
    if longest - shortest < MOST_BINS:
        return list(range(shortest, longest + 2))
    common = max(int(np.quantile(one, NEARLY_ALL, method="higher")) for one in lengths)
    width = _round_up((common + 1 - shortest) / (MOST_BINS - 1))
    bounds = [shortest, *range(shortest - shortest % width + width, common + 1, width)]
    end = bounds[-1] - bounds[-1] % width + width
    return [*bounds, end, longest + 1] if longest >= end else [*bounds, end]


def _round_up(width: float) -> int:
    """The next of 1, 2, 5, 10, 20, 50 and so on."""
    power = 1
    while 5 * power < width:
        power *= 10
    return next(step for step in (power, 2 * power, 5 * power) if step >= width)
