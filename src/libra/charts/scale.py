"""From figures to places on paper: linear from zero, or by logarithm where figures differ by much, with round numbers to mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

FAR_APART = 30  # largest to smallest figure, from which on a logarithm serves better
FARTHEST = 1e6  # what is smaller yet is put at the end
TICKS = 5
NOTHING = 1e-300  # not worth a scale
ROOM = 16  # that a tick of a logarithm needs
STEPS = ((1, 2, 5), (1, 3), (1,))  # of a decade, the finest first


@dataclass(frozen=True)
class Scale:
    """A function from figures to places; figures beyond the ends are put at the ends.

    Example:
        >>> scale = scale_of([0.0, 10.0], 0.0, 100.0)
        >>> scale(5.0), scale.ticks
        (50.0, (0.0, 2.0, 4.0, 6.0, 8.0, 10.0))
    """

    low: float
    high: float
    begin: float
    end: float
    log: bool
    ticks: tuple[float, ...]

    def __call__(self, value: float) -> float:
        """The place of a figure."""
        value = min(max(value, self.low), self.high)
        low, high, at = map(math.log, (self.low, self.high, value)) if self.log else (self.low, self.high, value)
        return self.begin + (self.end - self.begin) * ((at - low) / (high - low) if high > low else 0.5)


def scale_of(values: Sequence[float], begin: float, end: float, *, log: bool | None = None, ticks: int = TICKS) -> Scale:
    """A scale for these figures, all of them 0 or above; without `log` it is chosen by how far apart they are.

    Args:
        values: The figures. What is not finite is passed over.
        begin: The place of the smallest, or of zero.
        end: The place of the largest.
        log: From smallest to largest by logarithm, without ticks; if false, never by logarithm.
        ticks: About how many, where the scale is linear.

    Example:
        >>> scale_of([0.002, 0.15], 300.0, 0.0).ticks
        (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
        >>> scale_of([0.002, 150.0], 100.0, 0.0).ticks
        (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    """
    finite = [value for value in values if math.isfinite(value)]
    largest, smallest = max(finite, default=1.0), min(finite, default=0.0)
    if log:
        return Scale(smallest, largest, begin, end, log=True, ticks=())
    if log is None and smallest > 0 and largest / smallest > FAR_APART:
        marks = _decades(max(smallest, largest / FARTHEST), largest, abs(end - begin))
        return Scale(marks[0], marks[-1], begin, end, log=True, ticks=marks)
    top = largest if largest > NOTHING else 1.0
    step = _round_step(top / ticks)
    marks = tuple(step * place for place in range(math.ceil(top / step - 1e-9) + 1))
    return Scale(0.0, marks[-1], begin, end, log=False, ticks=marks)


def _decades(smallest: float, largest: float, length: float) -> tuple[float, ...]:
    """Round figures from below the smallest to above the largest, as many as there is room for."""
    exponents = range(math.floor(math.log10(smallest)), math.ceil(math.log10(largest)) + 1)
    ticks: tuple[float, ...] = ()
    for steps in STEPS:
        every = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
        first = max((place for place, tick in enumerate(every) if tick <= smallest), default=0)
        last = next((place for place, tick in enumerate(every) if tick >= largest), len(every) - 1)
        ticks = tuple(every[first : last + 1])
        nearest = min(math.log(after / before) for before, after in pairwise(ticks))
        if length * nearest / math.log(ticks[-1] / ticks[0]) >= ROOM:
            break
    return ticks


def _round_step(step: float) -> float:
    """The next of 1, 2, 2.5, 5, 10 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= step * (1 - 1e-9))
