"""How an epsilon is shared between a query about control flow and the model of times, where times are asked for.

In: what is asked for, and the shares. Out: a `Spending`. Where the guarantee is only claimed, epsilons add up; where it is
proved, `largest_mu` fills up what the accountant says is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from libra.errors import UsageError
from libra.mechanisms.libra.plan import SMALLEST_MU, Budget
from libra.mechanisms.peers.arguments import Times
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.calibration import SLACK
from libra.privacy.gaussian import mu_of
from libra.privacy.ledger import ROUNDED_GAUSSIAN, Entry, Ledger

LARGEST_TIMES_MU = 20.0
HALVINGS = 40
DROWNS = "So small an epsilon, delta or share of the budget would drown the times in noise. Ask for a larger one."


@dataclass(frozen=True)
class Spending:
    """What goes to what.

    Attributes:
        epsilon: For control flow.
        mu_times: For times, as the mu of Gaussian differential privacy; None where there are none.

    Example:
        >>> spent = shared(1.0, 1e-5, Budget(control=0.5, times=0.5), "model")
        >>> spent.epsilon, spent.mu_times == mu_of(0.5, 1e-5)
        (0.5, True)
    """

    epsilon: float
    mu_times: float | None


def shared(epsilon: float, delta: float, budget: Budget, times: Times) -> Spending:
    """Epsilons that add up: control flow gets its share, the model of times the rest, with all of delta.

    Example:
        >>> shared(1.0, 1e-5, Budget(), "none")
        Spending(epsilon=1.0, mu_times=None)
    """
    if times == "none":
        return Spending(epsilon, None)
    return Spending(budget.control * epsilon, checked_mu(mu_of(budget.times * epsilon, delta)))


def largest_mu(entries: Sequence[Entry], epsilon: float, delta: float) -> float:
    """The largest mu for Gaussian releases that stay, together with these entries, within (epsilon, delta).

    Example:
        >>> from libra.privacy.ledger import TRUNCATED_GEOMETRIC
        >>> query = Entry("variants", TRUNCATED_GEOMETRIC, 1.0, 2.0, bound=20)
        >>> mu = largest_mu([query], 1.0, 1e-4)
        >>> together = Ledger((query, Entry("times", ROUNDED_GAUSSIAN, mu, 1.0)))
        >>> 0.9e-4 < delta_of_ledger(together, 1.0) <= 1e-4
        True
    """

    def within(mu: float) -> bool:
        return delta_of_ledger(Ledger((*entries, Entry("times", ROUNDED_GAUSSIAN, mu, 1.0))), epsilon) <= delta

    low, high = 0.0, LARGEST_TIMES_MU
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if within(middle) else (low, middle)
    return checked_mu(low * SLACK)


def checked_mu(mu: float) -> float:
    """A mu with which something is left of the times.

    Example:
        >>> checked_mu(0.5)
        0.5
    """
    if mu < SMALLEST_MU:
        raise UsageError(DROWNS)
    return mu
