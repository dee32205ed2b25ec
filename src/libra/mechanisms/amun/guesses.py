"""From a guessing advantage to an epsilon, and back.

An attacker guesses a value of somebody's case, and is right with probability p before the release. A release that is epsilon-
differentially private over values at most a range r apart multiplies the odds by e^(epsilon r) at most, so that afterwards the
guess is right with probability p / (p + (1 - p) e^(-epsilon r)). This is p + d at

    epsilon = -ln( p / (1 - p) * (1 / (d + p) - 1) ) / r,

and less at any epsilon where p + d >= 1: such a guess cannot gain more than d. Here r is 1: values are scaled to their range.
That somebody took a path is guessed with a prior nobody knows: p = (1 - d) / 2 asks for the smallest epsilon, which is
2 ln((1 + d) / (1 - d)).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Reals = npt.NDArray[np.float64]


def epsilon_of(advantage: float) -> float:
    """The epsilon that keeps every guess, whatever its prior, within this advantage.

    Example:
        >>> round(epsilon_of(0.4), 4)
        1.6946
    """
    return 4 * math.atanh(advantage)


def advantage_of(epsilon: float) -> float:
    """What a guess can gain at most from a release with this epsilon.

    Example:
        >>> round(advantage_of(epsilon_of(0.4)), 4)
        0.4
    """
    return math.tanh(epsilon / 4)


def epsilon_of_guess(prior: Reals, advantage: float) -> Reals:
    """The epsilon that keeps a guess of this prior, above 0, within the advantage; infinite where any does.

    Example:
        >>> epsilon_of_guess(np.array([0.3, 0.7]), 0.4).round(4).tolist()
        [1.6946, inf]
    """
    bounded = prior + advantage < 1
    p = np.where(bounded, prior, 0.5 * (1 - advantage))
    return np.where(bounded, -np.log(p / (1 - p) * (1 / (advantage + p) - 1)), np.inf)
