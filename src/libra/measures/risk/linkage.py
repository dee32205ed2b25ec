"""What happens to an attacker who looks for a case of the original in the anonymized log.

In: what searches found in both logs, for the same cases of the original. Out: one `Linkage` for every kind and amount of
knowledge: how often exactly one released case fits, and how much of the case that was sought it then tells. That one fits is not
a harm by itself, in a made-up log it happens; and what is told may be what the case has in common with others. So beside it
stands what the same attacker finds in the original when the case itself is taken out, with all others of its individual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from libra.measures.distances import Integers
from libra.measures.risk.copies import SameCases
from libra.measures.risk.crowds import Found
from libra.measures.risk.estimate import Estimate, share, share_of_any
from libra.measures.risk.knowledge import Kind
from libra.measures.risk.owners import own_alike
from libra.measures.risk.population import Crowds


@dataclass(frozen=True)
class Matches:
    """How often a search finds one case, and what that one tells about the case that was sought.

    Attributes:
        once: How often exactly one case fits.
        none: How often no case fits.
        several: How often more than one fits.
        same_activities: Of the single matches, those with all the activities of the case that was sought, in its order; None
            where there is no single match.
        same_gaps: Of the single matches, those that also have all its times between events, to the microsecond.
        same_gaps_to_the_minute: Of the single matches, those that have these times in whole minutes.
    """

    once: Estimate
    none: float
    several: float
    same_activities: Estimate | None
    same_gaps: Estimate | None
    same_gaps_to_the_minute: Estimate | None


@dataclass(frozen=True)
class Linkage:
    """What one kind of knowledge finds. Confidential.

    Attributes:
        knowledge: "set", "multiset", "sequence" or "days" of so many events, or the whole "variant".
        events: How many events are known; None for the variant.
        released: What is found in the anonymized log.
        by_chance: What is found among all other cases of the original, or those of other individuals where it is known whose
            case is whose: what cases of the same process tell about one that is not there.
    """

    knowledge: Kind | Literal["variant"]
    events: int | None
    released: Matches
    by_chance: Matches


Same: TypeAlias = tuple[SameCases, SameCases, SameCases]  # in activities; in gaps as well; in gaps to the minute


def linkage(
    released: Sequence[Found], original: Sequence[Found], sought: Integers, same: Same, whose: Integers
) -> tuple[Linkage, ...]:
    """What two searches for the same cases of the original found, in the anonymized log and in the original itself.

    Args:
        released: What was found in the anonymized log.
        original: What was found in the original.
        sought: The cases that both looked for.
        same: Which cases of the two logs are the same.
        whose: For every case of the original a number, the same for the same individual.
    """
    figures = (
        Linkage(found.knowledge, found.events, *_both(found.crowds, before.crowds, sought, same))
        for found, before in zip(released, original, strict=True)
    )
    traces, own = same[0].original, own_alike(same[0].original, whose)
    there, here = (_with_the_trace(traces[sought], among) for among in (same[0].anonymized, traces))
    here = replace(here, others=Crowds(here.size - own.size[sought], here.total - own.total[sought]))
    return *figures, Linkage("variant", None, *_both(there, here, sought, same))


def _with_the_trace(sought: Integers, traces: Integers) -> Crowds:
    """The crowds of those who know the whole trace of a case."""
    n_traces = int(max(sought.max(), traces.max(initial=0))) + 1
    size = np.bincount(traces, minlength=n_traces)
    total = np.bincount(traces, np.arange(len(traces)), minlength=n_traces).astype(np.int64)
    return Crowds(size[sought], total[sought])


def _both(released: Crowds, original: Crowds, sought: Integers, same: Same) -> tuple[Matches, Matches]:
    """What was found in the anonymized log, and in the original without the case that was sought."""
    return (
        _matches(released, sought, [(one.original, one.anonymized) for one in same]),
        _matches(original.without(sought), sought, [(one.original, one.original) for one in same]),
    )


def _matches(found: Crowds, sought: Integers, same: list[tuple[Integers, Integers]]) -> Matches:
    once = found.size == 1
    match, case = found.total[once], sought[once]
    told = (share_of_any(int((theirs[match] == ours[case]).sum()), len(match)) for ours, theirs in same)
    none, several = float((found.size == 0).mean()), float((found.size > 1).mean())
    return Matches(share(len(match), len(sought)), none, several, *told)
