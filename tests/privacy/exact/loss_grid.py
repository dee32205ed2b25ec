"""Compositions by hand: privacy losses on a fine grid, rounded down and up, so that the true delta lies between two figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve
from scipy.stats import norm

Floats = NDArray[np.float64]
STEP = 1e-4
REACH = 9.0  # standard deviations
FLOATS = 1e-13  # what sums and transforms may be off by


class Losses(NamedTuple):
    """The losses of releases, each rounded up to the grid: (first + i) STEP has `chances[i]`.

    So many `releases` are rounded up by so many STEP together at most.
    """

    first: int
    chances: Floats
    releases: int

    def __mul__(self, other: object) -> Losses:
        """Both releases, one after the other."""
        assert isinstance(other, Losses)
        chances = np.maximum(fftconvolve(self.chances, other.chances), 0.0)
        return Losses(self.first + other.first, chances, self.releases + other.releases)

    def delta(self, epsilon: float) -> tuple[float, float]:
        """Two numbers that delta lies between."""
        return self._rounded_up(epsilon + self.releases * STEP) - FLOATS, self._rounded_up(epsilon) + FLOATS

    def _rounded_up(self, epsilon: float) -> float:
        losses = (self.first + np.arange(len(self.chances))) * STEP
        return float(np.sum(self.chances * np.maximum(0.0, -np.expm1(np.minimum(epsilon - losses, 0.0)))))


def gaussian(mu: float) -> Losses:
    """Of Gaussian noise: mu^2 / 2 plus mu times a standard normal number."""
    return _on_grid(lambda loss: norm.cdf((loss - mu * mu / 2) / mu), mu * mu / 2 - REACH * mu, mu * mu / 2 + REACH * mu)


def laplace(scale: float) -> Losses:
    """Of Laplace noise on one number that a case moves by 1: (|x| - |x - 1|) / scale, x being around 1."""

    def below(loss: Floats) -> Floats:
        place = np.clip((loss * scale + 1) / 2, 0.0, 1.0)
        inside: Floats = np.where(loss >= 1 / scale, 1.0, 0.5 * np.exp(-(1 - place) / scale))
        return np.where(loss < -1 / scale, 0.0, inside)

    return _on_grid(below, -1 / scale - STEP, 1 / scale + STEP)


def sampled_gaussian(mu: float, rate: float) -> tuple[Losses, Losses]:
    """Of Gaussian noise on a Poisson subsample: for removing the case, and for adding it."""

    def place(loss: Floats) -> Floats:
        """Where the likelihood ratio of the mixture and the plain Gaussian is e^loss."""
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = np.log(np.maximum(np.expm1(loss) + rate, 0.0) / rate) / mu + mu / 2
        return found

    def removing(loss: Floats) -> Floats:
        at = place(loss)
        below: Floats = (1 - rate) * norm.cdf(at) + rate * norm.cdf(at - mu)
        return below

    def adding(loss: Floats) -> Floats:
        above: Floats = norm.sf(place(-loss))
        return above

    largest = math.log1p(rate * math.expm1(mu * (mu / 2 + REACH)))
    least = math.log1p(-rate)
    return _on_grid(removing, least - STEP, largest), _on_grid(adding, -largest, -least + STEP)


def _on_grid(below: Callable[[Floats], Floats], low: float, high: float) -> Losses:
    first, last = math.floor(low / STEP), math.ceil(high / STEP)
    chances = np.diff(below(np.arange(first, last + 1, dtype=np.float64) * STEP))
    return Losses(first + 1, chances, 1)
