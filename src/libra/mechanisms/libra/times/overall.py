"""How long steps and cases take overall, from noisy histograms.

In: noisy counts in duration bins. Out: shares of the bins, none above the last bin of case durations that stands out from the
noise: a few false steps of ten years would outweigh everything else. Long steps are better seen among the longest steps of
cases, where a case counts once, than among all steps, where it counts many times under more noise; the two are combined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra.engines.time_tables import DURATION_BINS
from libra.mechanisms.libra.times.histogram import KNOWN, UNKNOWN, Level, above, combined, denoise, tree
from libra.privacy.noisy import NoisyTable

Floats = npt.NDArray[np.float64]
WINDOW = np.ones(3)  # bins that the part of longest steps is taken over
RELIABLE = 4.0  # standard deviations that such a window needs
OFF = 1.0  # how far, relatively, an estimate from longest steps may be off beside its noise
LEAST = 0.1  # below this part, longest steps say nothing about steps
CELLS = 128  # the next power of two


class Overall(NamedTuple):
    """Shares of all steps in each duration bin, and what part of them are longest steps of their case."""

    shares: Floats
    longest: Floats


def overall_steps(steps: NoisyTable, longest: NoisyTable, last: int) -> Overall:
    """The shares of all steps, none longer than the last bin of totals that is believed."""
    last = max(last, 1)
    end = 2 * last  # bins of totals are pairs of duration bins, but for the first two
    wanted = np.zeros(CELLS)
    wanted[:end] = 1.0
    leaves = Level(np.zeros((1, CELLS)), np.full((1, CELLS), KNOWN))
    leaves.values[0, :end], leaves.variances[0, :end] = steps.values[:end], steps.sd**2
    pairs = above(leaves)
    seen = np.concatenate(([longest.values[:2].sum()], longest.values[2 : last + 1]))
    part = np.zeros((1, CELLS // 2))
    part[0, :last] = _longest_part(pairs.values[0, :last], np.sqrt(2) * steps.sd, seen)
    guess = np.zeros((1, CELLS // 2))
    guess[0, :last] = seen
    pairs = with_longest(pairs, guess, longest.sd**2, part)
    levels = [*tree(pairs.values, pairs.variances), leaves]
    shares = denoise(levels, wanted, np.maximum(levels[0].values[:, 0], steps.sd))
    return Overall(shares[0, :DURATION_BINS], np.repeat(part[0], 2)[:DURATION_BINS])


def _longest_part(steps: Floats, sd: float, longest: Floats) -> Floats:
    """For every bin, how many longest steps there are to a step; above what is reliable it approaches 1, at the last bin."""
    all_steps, longest_ones = (np.convolve(values, WINDOW, mode="full")[1:-1] for values in (steps, longest))
    reliable = np.flatnonzero(all_steps >= RELIABLE * sd * np.sqrt(len(WINDOW)))
    part = np.zeros(len(steps))
    part[reliable] = np.clip(longest_ones[reliable] / all_steps[reliable], 0, 1)
    end = int(reliable[-1]) if len(reliable) else 0
    part[end:] = max(part[end], LEAST) ** np.linspace(1, 0, len(steps) - end)
    return part


def with_longest(steps: Level, longest: Floats, variance: float, part: Floats) -> Level:
    """Noisy counts of steps, improved by those of longest steps where these are a good part of all.

    Example:
        >>> steps = Level(np.array([[900.0, 30.0]]), np.array([[100.0**2, 100.0**2]]))
        >>> with_longest(steps, np.array([[10.0, 20.0]]), 1.0, np.array([[0.0, 0.5]])).values.round(0).tolist()
        [[900.0, 39.0]]
    """
    usable = part >= LEAST
    safe = np.where(usable, part, 1.0)
    guess = longest / safe
    variances = np.where(usable, variance / safe**2 + (OFF * np.maximum(guess, 0)) ** 2, UNKNOWN)
    return combined(steps, Level(guess, variances))
