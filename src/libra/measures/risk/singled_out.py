"""How many cases of a log stand alone, for attackers who know more and more: the risk before anything is done about it.

In: a log as a population, and what a search of it found for cases of its own. Out: one `SingledOut` for every kind and amount of
knowledge. Confidential, as the log is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from libra.measures.distances import Integers
from libra.measures.risk.crowds import Found
from libra.measures.risk.estimate import Estimate, exactly, share
from libra.measures.risk.knowledge import Kind
from libra.measures.risk.population import Population


@dataclass(frozen=True)
class SingledOut:
    """What one kind of knowledge does.

    Attributes:
        knowledge: "set", "multiset", "sequence" or "days" of so many events, or the whole "variant".
        events: How many events are known; None for the variant.
        share: Of the cases, how many such knowledge singles out: no other case fits it, or where it is known whose case is
            whose, none of another individual.
        crowd_mean: How many cases fit, this one included, on average over cases and knowledge; or how many individuals.
        crowd_median: The median of the same.
    """

    knowledge: Kind | Literal["variant"]
    events: int | None
    share: Estimate
    crowd_mean: float
    crowd_median: float


def singled_out(population: Population, found: Sequence[Found]) -> tuple[SingledOut, ...]:
    """The figures of a population, from a search of it for cases of its own.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.risk.crowds import search
        >>> from libra.measures.risk.knowledge import draw
        >>> from libra.measures.risk.population import population_of
        >>> from libra.privacy.randomness import Randomness
        >>> log = simulate(cases=200)
        >>> people = population_of(log, np.arange(len(log.activities)))
        >>> found = singled_out(people, search(people, draw(log, 100, Randomness(seed=1)), people))
        >>> [figure.knowledge for figure in found][::4]
        ['set', 'multiset', 'sequence', 'days', 'variant']
    """
    sampled = (SingledOut(one.knowledge, one.events, _alone(one.crowds.units), *_middle(one.crowds.units)) for one in found)
    owners = population.owners
    sizes = (population.counts if owners is None else owners.with_variant)[population.variant]
    return *sampled, SingledOut("variant", None, exactly(float((sizes == 1).mean())), *_middle(sizes))


def _alone(sizes: Integers) -> Estimate:
    return share(int((sizes == 1).sum()), len(sizes))


def _middle(sizes: Integers) -> tuple[float, float]:
    return float(sizes.mean()), float(np.median(sizes))
