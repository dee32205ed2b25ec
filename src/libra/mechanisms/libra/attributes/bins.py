"""Cells of numbers, found step by step: each step cuts the intervals that hold enough, and counts again.

In: noisy counts of some cells. Out: estimates that add up to the number of cases and are nowhere negative, and finer cells to ask
for. Where no bounds are declared, intervals begin as powers of ten, and one far from all others has to stand out clearly:
a false one would carry a number that no case is near to.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.engines.attribute_tables import Coding
from libra.eventlog.attributes import LARGEST, Attribute
from libra.eventlog.cases import Floats, Integers
from libra.privacy.noise import NoisyTable

LINEAR = 12  # intervals between declared bounds, to begin with
CUTS = (10, 5, 2)  # how many parts an interval may be cut into
ENOUGH = 1.5  # standard deviations that the mean part should hold
STANDS_OUT, BESIDE = 4.0, 2.5  # standard deviations of an interval by itself, and of one beside such an interval


def first_bounds(attribute: Attribute) -> tuple[int, ...]:
    """Where the intervals begin that a number is counted in first: powers of ten, and between declared bounds equal steps, too.

    Equal steps alone would leave nothing to see of numbers of which most are far below the upper bound, such as costs.

    Example:
        >>> first_bounds(Attribute("Age", "number", lowest=0, highest=120))[:4]
        (1, 10, 20, 30)
    """
    low, high = _bounds(attribute)
    powers = [10**k for k in range(len(str(LARGEST)))]
    bounds = np.array([1 - power for power in reversed(powers)] + powers)  # zero is by itself
    bounds = bounds[(bounds > low) & (bounds <= high)]
    if attribute.lowest is not None and attribute.highest is not None:
        parts = min(LINEAR, high - low + 1)
        steps = low + (high + 1 - low) * np.arange(1, parts) // parts
        bounds = np.unique(np.concatenate((steps, bounds[np.abs(bounds) < (high + 1 - low) // parts])))
    return tuple(bounds.tolist())


def _bounds(attribute: Attribute) -> tuple[int, int]:
    """The lowest and the highest number: of dates, grains from the start of a case or an event; of counters, increments."""
    low, high = attribute.bounds
    return (min(low, 0), max(high, high - low)) if attribute.counter else (low, high)


def ends_of(coding: Coding, attribute: Attribute) -> tuple[Integers, Integers]:
    """Where intervals begin and end; the end is not part of them."""
    low, high = _bounds(attribute)
    bounds = np.array(coding.bounds or (), np.int64)
    return np.concatenate(([low], bounds)), np.concatenate((bounds, [high + 1]))


def believed(counts: Floats, sd: float, *, bounded: bool) -> npt.NDArray[np.bool_]:
    """Which intervals are there: not those that may be nothing but noise and are far from all that are not."""
    if bounded:
        return np.ones(len(counts), bool)
    there = counts > STANDS_OUT * sd
    beside = counts > BESIDE * sd
    while True:
        grown = there | (beside & (np.append(there[1:], False) | np.append(False, there[:-1])))
        if (grown == there).all():
            return there
        there = grown


def grains_in(noisy: NoisyTable, total: float) -> tuple[float, ...]:
    """Which share of some numbers is how round; what does not stand out is noise, and would be one and the same number."""
    there = noisy.values > BESIDE * noisy.sd
    there[0] = True
    shares = on_simplex(noisy.values, max(total, 1.0), there)
    return tuple((shares / shares.sum()).tolist())


def finer(coding: Coding, counts: Floats, sd: float, attribute: Attribute) -> tuple[Coding, Integers]:
    """A coding with intervals cut where each part would hold enough at this noise, and for each of its cells the one before."""
    begins, ends = ends_of(coding, attribute)
    first = 1 + len(coding.atoms)
    bounds, parent = [], list(range(first))
    for place, (begin, end, count) in enumerate(zip(begins.tolist(), ends.tolist(), counts[first:].tolist(), strict=True)):
        cuts = (9, 3) if _is_power(begin, end) else CUTS
        parts = next((parts for parts in cuts if count >= ENOUGH * parts * sd and end - begin >= parts), 1)
        inner = sorted({begin + (end - begin) * part // parts for part in range(1, parts)})
        bounds += [*([begin] if place else []), *inner]
        parent += [first + place] * (len(inner) + 1)
    return Coding(coding.atoms, tuple(bounds)), np.array(parent, np.int64)


def _is_power(begin: int, end: int) -> bool:
    """Whether an interval goes from a power of ten to the next, on either side of zero."""
    low, high = (begin, end) if begin > 0 else (1 - end, 1 - begin)
    return low > 0 and high == 10 * low and str(low).strip("0") == "1"


def on_simplex(values: Floats, total: float, there: npt.NDArray[np.bool_] | None = None) -> Floats:
    """The nearest numbers that are nowhere negative and add up to the total; 0 where nothing is there.

    Example:
        >>> on_simplex(np.array([5.0, 3.0, -2.0]), 7.0).tolist()
        [4.5, 2.5, 0.0]
    """
    if there is not None:
        found = np.zeros(len(values))
        found[there] = on_simplex(values[there], total)
        return found
    if total <= 0 or not len(values):
        return np.zeros(len(values))
    falling = np.sort(values)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    nearest: Floats = np.maximum(values - excess[np.flatnonzero(falling > excess)[-1]], 0.0)
    return nearest


def refined(before: Floats, sd_before: Floats, found: Floats, sd: float, parent: Integers) -> tuple[Floats, Floats]:
    """What two looks say together: counts of the finer cells and their standard deviations.

    The sum of the parts of a cell and its own count are brought together by their noise, and the parts follow their sum.
    """
    parts = np.bincount(parent, minlength=len(before))
    sums, variance = np.bincount(parent, found, minlength=len(before)), parts * sd**2
    trust = sd_before**2 / (sd_before**2 + variance)
    together = before + trust * (sums - before)
    estimate = found + ((together - sums) / np.maximum(parts, 1))[parent]
    for cell in np.flatnonzero(parts > 1).tolist():
        of_cell = parent == cell
        estimate[of_cell] = on_simplex(estimate[of_cell], max(together[cell], 0.0))
    spread = np.where(parts == 1, np.sqrt(trust * sd**2), sd)
    return estimate, spread[parent]
