"""What the parameters of the published algorithm amount to, all readings side by side.

In come alpha, b, gamma, delta and the number of subsamples; out comes an `Accounting`: the paper's figure, what it converts
to, and the true (epsilon, delta) of the same subsampled Laplace releases. The promise: every figure is an upper bound for one
release of sensitivity 1 per subsample. The published algorithm does more than that to a log, so none of them is its guarantee.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from libra.mechanisms.libra2022.claim import Libra2022Claim
from libra.privacy import renyi
from libra.privacy.arguments import (
    LARGEST_TIMES,
    checked,
    checked_order,
    checked_rate,
    checked_scale,
    checked_times,
    delta_of_guarantee,
)
from libra.privacy.renyi import BestOrder, subsampled_laplace_epsilon


@dataclass(frozen=True)
class Accounting:
    """The parameters and every figure that follows from them; docs/accounting.md explains each."""

    alpha: float
    b: float
    gamma: float
    delta: float
    subsamples: int
    laplace_epsilon: float
    noise_scale: float
    renyi_epsilon_one: float
    renyi_epsilon: float
    epsilon_at_order: float
    best_order_bound: BestOrder
    best_order_exact: BestOrder
    pld_epsilon: float
    pld_epsilon_drawn: float

    def to_dict(self) -> dict[str, Any]:
        """The figures for JSON, the parameters apart; every number is finite."""
        document = asdict(self)
        parameters = {name: document.pop(name) for name in ("alpha", "b", "gamma", "delta", "subsamples")}
        return {"parameters": parameters, **document}


def default_subsamples(gamma: float) -> int:
    """How many subsamples of rate gamma make a log about as large as the original.

    Example:
        >>> from libra.mechanisms.libra2022.accounting import default_subsamples
        >>> default_subsamples(0.05)
        20
    """
    rate = checked("gamma", gamma, lambda gamma: 1 / LARGEST_TIMES <= gamma <= 1, f"from 1/{LARGEST_TIMES:,} to 1")
    return round(1 / rate)


def accounting(alpha: float, b: float, gamma: float, delta: float, subsamples: int) -> Accounting:
    """Account for `subsamples` Laplace releases of sensitivity 1, each from a Poisson subsample of rate gamma.

    Example:
        >>> from libra.mechanisms.libra2022.accounting import accounting
        >>> found = accounting(alpha=10, b=2, gamma=0.05, delta=1e-4, subsamples=20)
        >>> round(found.renyi_epsilon, 3), round(found.epsilon_at_order, 2), round(found.pld_epsilon, 4)
        (0.145, 1.17, 0.2996)
    """
    alpha, b, gamma = checked_order(alpha, "alpha"), checked_scale(b, "b"), checked_rate(gamma, "gamma")
    delta, subsamples = delta_of_guarantee(delta), checked_times(subsamples, "subsamples")

    def bound(order: float) -> float:
        return renyi.compose(renyi.subsampled_bound(order, b, gamma), subsamples)

    def exact(order: float) -> float:
        return renyi.compose(renyi.subsampled_laplace(order, b, gamma), subsamples)

    claim = Libra2022Claim(alpha, b, gamma, delta, subsamples)
    return Accounting(
        alpha=alpha,
        b=b,
        gamma=gamma,
        delta=delta,
        subsamples=subsamples,
        laplace_epsilon=renyi.laplace_epsilon(alpha, b),
        noise_scale=claim.noise_scale,
        renyi_epsilon_one=claim.renyi_epsilon_one,
        renyi_epsilon=claim.renyi_epsilon,
        epsilon_at_order=renyi.to_epsilon(alpha, claim.renyi_epsilon, delta),
        best_order_bound=renyi.best_order(bound, delta),
        best_order_exact=renyi.best_order(exact, delta),
        pld_epsilon=claim.pld_epsilon,
        pld_epsilon_drawn=subsampled_laplace_epsilon(claim.noise_scale, gamma, subsamples, delta),
    )
