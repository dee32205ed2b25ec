"""Step 5, combine: the cases kept of all subsamples become one log, shuffled, under fresh ids (Algorithm 1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

from libra.eventlog.cases import Cases, together
from libra.eventlog.log import EventLog
from libra.mechanisms.fresh_log import fresh_log
from libra.privacy.randomness import Randomness


def combine(subsamples: Sequence[Cases], activities: Sequence[str], random: Randomness) -> EventLog:
    """One log of all cases; `activities` are the labels that the codes stand for.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.eventlog.cases import cases_of
        >>> log = simulate(cases=50)
        >>> combine([cases_of(log), cases_of(log)], log.activities, Randomness()).n_cases
        100
    """
    return fresh_log(together(subsamples), activities, random)
