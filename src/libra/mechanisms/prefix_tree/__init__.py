"""The tree of prefixes that prefix-laplace and sacofa grow level by level, and how large it would become."""

from libra.mechanisms.prefix_tree.grow import Grown, grow
from libra.mechanisms.prefix_tree.runaway import MOST_CELLS, Growth, refuse_runaway
from libra.mechanisms.prefix_tree.tails import discrete_tail, truncated_laplace, truncated_tail

__all__ = [
    "MOST_CELLS",
    "Grown",
    "Growth",
    "discrete_tail",
    "grow",
    "refuse_runaway",
    "truncated_laplace",
    "truncated_tail",
]
