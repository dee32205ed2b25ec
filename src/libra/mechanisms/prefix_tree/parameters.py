"""What prefix-laplace and sacofa share of their parameters: checks, the count that is pruned at, and the longest trace."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from libra.errors import UsageError
from libra.mechanisms.libra.arguments import checked_budget, checked_time_zone
from libra.mechanisms.libra.plan import DEFAULT_BUDGET
from libra.mechanisms.peers.arguments import DEFAULT_PRUNE, LONGEST, checked_max_length, checked_prune, checked_times, prune_count
from libra.mechanisms.peers.counted import Counted
from libra.mechanisms.prefix_tree.runaway import Growth, refuse_runaway, smallest_threshold, threshold
from libra.mechanisms.prefix_tree.tails import truncated_tail
from libra.privacy.arguments import delta_of_guarantee
from libra.privacy.gaussian import checked_epsilon

if TYPE_CHECKING:
    from libra.mechanisms.prefix_laplace import PrefixLaplace
    from libra.mechanisms.sacofa import Sacofa

OF_TIMES = ("budget", "time_zone")


def bring_into_form(made: PrefixLaplace | Sacofa) -> None:
    """Set the parameters to their one form, and `shares` to what control flow and times get; refuse what cannot be meant."""
    budget = checked_budget(made.budget)
    for name, value in (
        ("epsilon", checked_epsilon(made.epsilon)),
        ("prune", checked_prune(made.prune)),
        ("max_length", checked_max_length(made.max_length)),
        ("times", checked_times(made.times)),
        ("budget", dict(vars(budget))),
        ("delta", delta_of_guarantee(made.delta)),
        ("time_zone", checked_time_zone(made.time_zone)),
        ("shares", budget),
    ):
        object.__setattr__(made, name, value)
    if made.times == "none" and (budget != DEFAULT_BUDGET or made.time_zone != "UTC"):
        raise UsageError("budget and time_zone are about times, and none are released. Ask for them: --times model.")


def longest_of(average: float) -> int:
    """How many events the longest trace has where nobody says: the average of a case, rounded up.

    Example:
        >>> longest_of(4.2), longest_of(4.0), longest_of(0.0)
        (5, 4, 1)
    """
    return min(max(math.ceil(average), 1), LONGEST)


def longest_trace(max_length: int | None, counted: Counted) -> int:
    """How many events the longest trace has: as said, or as the cases themselves have on average.

    Example:
        >>> import numpy as np
        >>> from libra.eventlog.cases import traces_of
        >>> longest_trace(None, Counted(traces_of([[0, 1, 2, 3], [4]]), np.array([3, 1])))
        4
    """
    if max_length is not None:
        return max_length
    return longest_of(float(counted.traces.lengths @ counted.counts) / max(counted.n_cases, 1))


def enough_to_prune(counted: Counted, epsilon: float, n_labels: int) -> int:
    """The default count to prune at, or the smallest with which the tree of a query of so few cases does not run away.

    Example:
        >>> import numpy as np
        >>> from libra.eventlog.cases import traces_of
        >>> many, few = (Counted(traces_of([[0], [1]]), np.array([half, half])) for half in (900, 9))
        >>> enough_to_prune(many, 1.0, n_labels=16), enough_to_prune(few, 1.0, n_labels=16)
        (18, 3)
    """
    least = threshold(prune_count(DEFAULT_PRUNE, counted.n_cases))
    levels = longest_trace(None, counted) + 1
    growth = Growth(truncated_tail, 1 / epsilon, least, n_labels, levels, counted.n_cases)
    return smallest_threshold(growth) if growth.runs_away else least


def least_count(prune: float, counted: Counted, epsilon: float, n_labels: int, levels: int) -> int:
    """The count from which on prefixes are kept, of a query with truncated Laplace noise; refused where its tree would run away.

    Example:
        >>> import numpy as np
        >>> from libra.eventlog.cases import traces_of
        >>> least_count(0.01, Counted(traces_of([[0], [1]]), np.array([900, 750])), epsilon=1.0, n_labels=2, levels=2)
        17
    """
    least = threshold(prune_count(prune, counted.n_cases))
    growth = Growth(truncated_tail, 1 / epsilon, least, n_labels, levels, counted.n_cases)
    refuse_runaway(growth, lambda enough: f"Ask for --prune {enough} or more, or for a larger --epsilon.")
    return least


def told(parameters: dict[str, Any], *, delta: bool) -> dict[str, Any]:
    """The parameters as far as they played a part: those about times where there are some, delta where it is part of the promise.

    Example:
        >>> told({"epsilon": 1.0, "times": "none", "budget": {}, "delta": 1e-5, "time_zone": "UTC"}, delta=False)
        {'epsilon': 1.0, 'times': 'none'}
    """
    left_out = {*(OF_TIMES if parameters["times"] == "none" else ()), *(() if delta else ("delta",))}
    return {name: value for name, value in parameters.items() if name not in left_out}
