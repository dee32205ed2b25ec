"""How many cases have no value of an attribute: noisy counts, believed as far as they differ from what is usual.

Most attributes have a value wherever they can have one, or are missing where the others of their form are. So three things may be
true of one: no value is missing, as many are as of the other attributes at its place, or any number is. How likely each makes the
noisy count, and how often it is true of the others, decides how much it counts. Pure post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from libra.eventlog.cases import Floats

ROUNDS = 50  # in which the usual number and the attributes that have it find each other


def believed_missing(seen: Floats, sds: Floats, least: Floats, n_cases: float, places: Sequence[str | None]) -> Floats:
    """How many of the cases have no value of each attribute.

    `seen` are the noisy numbers, `least` how many cases can have no value, and `places` where each attribute stands.

    Example:
        >>> seen, sds, least = np.array([-30.0, 40.0, 700.0]), np.full(3, 40.0), np.zeros(3)
        >>> believed_missing(seen, sds, least, 1000.0, [None, None, None]).round(-1).tolist()
        [0.0, 10.0, 700.0]
    """
    found = np.zeros(len(seen))
    for place in dict.fromkeys(places):
        here = np.flatnonzero([one == place for one in places])
        found[here] = least[here] + _missing_of_able(seen[here] - least[here], sds[here], np.maximum(n_cases - least[here], 1.0))
    return np.minimum(found, n_cases)


def _missing_of_able(seen: Floats, sds: Floats, able: Floats) -> Floats:
    """The same for attributes at one place, of the cases that can have a value."""

    def likelihood(missing: float) -> Floats:
        density: Floats = np.exp(-(((seen - missing) / sds) ** 2) / 2) / (sds * np.sqrt(2 * np.pi))
        return density

    fits = np.stack((likelihood(0.0), np.zeros(len(seen)), 1 / able))  # no value is missing, as many as usual, any number
    weights, usual = np.ones(3), max(float(np.median(seen)), 0.0)
    for _ in range(ROUNDS):
        fits[1] = likelihood(usual) * (len(seen) > 1)
        chances = weights[:, None] * fits
        chances /= chances.sum(axis=0)
        weights = 1 + chances.sum(axis=1)  # as if each had been true of one attribute more
        trust = chances[1] / sds**2
        usual = max(float(trust @ seen) / max(float(trust.sum()), 1e-300), 0.0)
    missing: Floats = chances[1] * usual + chances[2] * np.maximum(seen, 0.0)
    return np.minimum(missing, able)
