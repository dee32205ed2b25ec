"""What a guarantee allows at most: the largest advantage that any attack on membership may have.

In: the guarantee of a certificate. Out: a `Bound`, with whose promise it rests on; none where nothing that bounds anything is
promised. The advantage of an attack is how much more often it says "was there" of cases that were than of those that were not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Bound:
    """The largest advantage that a promise allows.

    Attributes:
        advantage: The bound, between 0 and 1.
        kind: Whether the promise is proved, or claimed by the authors of the mechanism.
        promise: What it follows from.
    """

    advantage: float
    kind: Literal["proved", "claimed"]
    promise: str


def bound_of(certificate: Mapping[str, Any]) -> Bound | None:
    """The bound that follows from a certificate.

    A guess between even odds that is right with probability 1/2 + d at most has an advantage of 2 d at most.

    Example:
        >>> bound_of({"guarantee": {"kind": "proved", "epsilon": 1.0, "delta": 1e-5}}).promise
        '(1, 1e-05)-differential privacy'
    """
    guarantee, claimed = certificate.get("guarantee") or {}, certificate.get("claimed") or {}
    kind: Literal["proved", "claimed"] = "proved" if guarantee.get("kind") == "proved" else "claimed"
    if "anonymizer" in (certificate.get("parameters") or {}):
        return None  # nothing is claimed of another anonymizer than the paper's
    guess = claimed.get("guessing_advantage")
    if kind == "claimed" and guess is not None:
        return Bound(min(2 * guess, 1.0), kind, f"a guessing advantage of {guess:g}")
    said = guarantee if kind == "proved" else claimed
    epsilon, delta = said.get("epsilon"), said.get("delta")
    if epsilon is not None and delta is not None:
        return Bound(of_differential_privacy(epsilon, delta), kind, f"({epsilon:g}, {delta:g})-differential privacy")
    order, divergence = claimed.get("renyi_order"), claimed.get("renyi_epsilon")
    if order is not None and divergence is not None:
        return Bound(of_renyi(order, divergence), kind, f"a Renyi divergence of {divergence:.4g} at order {order:g}")
    return None


def of_differential_privacy(epsilon: float, delta: float) -> float:
    """The largest advantage under (epsilon, delta)-differential privacy: (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).

    Example:
        >>> round(of_differential_privacy(1.0, 0.0), 4), of_differential_privacy(1000.0, 0.0)
        (0.4621, 1.0)
    """
    return min(math.tanh(epsilon / 2) + delta * (1 - math.tanh(epsilon / 2)), 1.0)


def of_renyi(order: float, divergence: float) -> float:
    """The largest advantage where the Renyi divergence at this order is bounded both ways.

    What an attack says is yes or no, with probabilities p and q; the divergence of the two answers is no larger. It is
    quasi-convex and does not change when p and q become 1 - q and 1 - p, so the largest p - q is found at q = 1 - p.

    Example:
        >>> round(of_renyi(10, 0.145), 3)
        0.104
    """
    low, high = 0.0, 1.0
    for _ in range(50):
        advantage = (low + high) / 2
        p, q = math.log1p(advantage) - math.log(2), math.log1p(-advantage) - math.log(2)
        one, other = order * p + (1 - order) * q, order * q + (1 - order) * p
        largest = max(one, other)
        reached = (largest + math.log(math.exp(one - largest) + math.exp(other - largest))) / (order - 1)
        low, high = (low, advantage) if reached > divergence else (advantage, high)
    return high
