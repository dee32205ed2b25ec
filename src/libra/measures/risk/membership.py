"""Membership inference as a game: how much a release of this log by this mechanism gives away about who is in it.

In: a log and a mechanism with its parameters. Out: `Membership`, the advantage of the attack against the bound of the guarantee.
In each of several rounds every case is a member or an outsider by the toss of a coin, the members alone are anonymized, and the
attack guesses for some cases which they are. Its advantage is the share of members called members less the share of
outsiders called members: 0 is guessing, 1 is certainty. The coins make each case's presence independent of all others, so that
the bound of the guarantee holds for the advantage as it is.

The cases of one round are all judged by one release, so they are not independent of each other: the rounds are. So each round
counts as a single figure, and the bounds are Student's for the mean of the rounds; or those of Clopper and Pearson for
independent cases, where these are wider.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.ids import whose_cases
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, TIMESTAMP
from libra.eventlog.options import Progress, no_progress
from libra.measures.distances import Integers
from libra.measures.intervals import clopper_pearson, student
from libra.measures.risk.attack import guesses, scores
from libra.measures.risk.bound import Bound
from libra.measures.risk.certified import Certified
from libra.measures.risk.estimate import MISTAKEN, Estimate
from libra.privacy.randomness import Randomness

ROUNDS = 10
TARGETS = 2_000  # of a round
FEWEST = 40  # cases for a game; with fewer, a round says next to nothing
FEWEST_OF_A_KIND = 10  # members, and outsiders, of a group in each round
GROUPS = ("1", "2 to 9", "10 to 99", "100 and more")
FROM = (2, 10, 100)
Yes = npt.NDArray[np.bool_]


class Released(Protocol):
    """What a mechanism gives back, as far as it matters here."""

    @property
    def log(self) -> EventLog:
        """The anonymized log."""


Anonymize = Callable[[EventLog, Randomness], Released]


@dataclass(frozen=True)
class GroupAdvantage:
    """The advantage over cases whose variant so many cases of the log have."""

    cases_of_variant: str
    advantage: Estimate


@dataclass(frozen=True)
class Membership:
    """What the attack found. Confidential, and a lower bound: a better attack may find more.

    Attributes:
        mechanism: The name of what was attacked.
        advantage: Over all cases.
        groups: The same by how many cases of the log have the case's variant, where there are enough of them. Their bounds hold
            for all groups together with 95 %.
        bound: What the guarantee allows at most, for any case and any attack; None where none is promised.
        exceeded: Whether the advantage, over all cases or over a group, is above that bound even at its lowest.
        rounds: How many rounds were played.
        targets: How many cases were judged in each.
    """

    mechanism: str
    advantage: Estimate
    groups: tuple[GroupAdvantage, ...]
    bound: Bound | None
    exceeded: bool
    rounds: int
    targets: int


def membership(log: EventLog, certified: Certified, random: Randomness, progress: Progress = no_progress) -> Membership:
    """Attack the mechanism that a certificate names, with its parameters, on this log.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.risk.certified import certified
        >>> log = simulate(cases=300)
        >>> from libra.mechanisms.libra import Libra
        >>> certificate = Libra().anonymize(log, Randomness()).certificate()
        >>> found = membership(log, certified(certificate), Randomness(seed=1))
        >>> found.exceeded, found.bound.kind
        (False, 'proved')
    """

    def anonymize(part: EventLog, own: Randomness) -> Released:
        return certified.mechanism.anonymize(part, own, no_progress)

    if not certified.of_individuals:
        log = replace(log, individual=None)
    advantage, groups = play(log, anonymize, random, progress=progress)
    lowest = max(estimate.lowest for estimate in (advantage, *(group.advantage for group in groups)))
    bound = certified.bound
    exceeded = bound is not None and lowest > bound.advantage
    return Membership(
        certified.mechanism.name, advantage, groups, bound, exceeded, ROUNDS, min(TARGETS, len(np.unique(whose_cases(log))))
    )


def play(
    log: EventLog,
    anonymize: Anonymize,
    random: Randomness,
    *,
    rounds: int = ROUNDS,
    targets: int = TARGETS,
    progress: Progress = no_progress,
) -> tuple[Estimate, tuple[GroupAdvantage, ...]]:
    """Play the game; `anonymize` may be anything that makes a log from a log.

    Where the log says whose case is whose, all cases of an individual are members or none is, and one of them is judged: nobody
    is judged by what was learned from their other cases.

    Returns:
        The advantage over all cases, and over those of each group.

    Example:
        >>> from types import SimpleNamespace
        >>> from libra.example.simulate import simulate
        >>> advantage, _ = play(simulate(cases=100), lambda log, _: SimpleNamespace(log=log), Randomness(seed=1))
        >>> advantage.value
        1.0
    """
    whose = whose_cases(log)
    group = np.searchsorted(FROM, log.variants.counts[log.variants.of_case], side="right")
    tallies = np.zeros((len(GROUPS), rounds, 4), np.int64)
    for number in range(rounds):
        member = (random.uniform(log.n_cases) < 0.5)[whose]
        released = anonymize(_part(log, member), Randomness(int(random.words(1)[0] >> np.uint64(1)))).log
        judged = _one_of_each(random.permutation(log.n_cases), whose)[:targets]
        said = guesses(scores(judged, log, released), member[judged], group[judged])
        answers = 2 * ~member[judged] + ~said  # members called so, others; outsiders called members, others
        tallies[:, number] = np.bincount(4 * group[judged] + answers, minlength=4 * len(GROUPS)).reshape(-1, 4)
        progress(number + 1, rounds)
    told = (tally.reshape(rounds, 2, 2).sum(axis=2).min() >= FEWEST_OF_A_KIND for tally in tallies)
    groups = (
        GroupAdvantage(name, _estimate(tally, MISTAKEN / len(GROUPS)))
        for name, tally, enough in zip(GROUPS, tallies, told, strict=True)
        if enough
    )
    return _estimate(tallies.sum(axis=0), MISTAKEN), tuple(groups)


def _one_of_each(order: Integers, whose: Integers) -> Integers:
    """The first case of each individual, in this order."""
    _, first = np.unique(whose[order], return_index=True)
    return order[np.sort(first)]


def _part(log: EventLog, chosen: Yes) -> EventLog:
    """The chosen cases of a log, with what a mechanism looks at."""
    of_events = np.repeat(chosen, np.diff(log.case_offsets))
    events = log.events.select(CASE_INDEX, ACTIVITY, TIMESTAMP).filter(of_events)
    names = [name for name in log.cases.columns if name in (CASE_NAME, log.individual)]
    cases = log.cases[names].filter(chosen)
    return replace(log, events=events.with_columns(pl.col(CASE_INDEX).rle_id()), cases=cases)


def _estimate(tally: Integers, mistaken: float) -> Estimate:
    """The mean advantage over rounds; a row of the tally holds members called so and not, outsiders called members and not."""
    called, seen = tally[:, ::2], np.maximum(tally[:, ::2] + tally[:, 1::2], 1)
    of_rounds = np.diff(-called / seen, axis=1)[:, 0]
    lowest, highest = student(of_rounds.tolist(), mistaken)
    (members, outsiders), (n_members, n_outsiders) = called.sum(axis=0).tolist(), seen.sum(axis=0).tolist()
    least, most = clopper_pearson(members, n_members, mistaken / 2)
    least_false, most_false = clopper_pearson(outsiders, n_outsiders, mistaken / 2)
    return Estimate(
        float(of_rounds.mean()), max(min(lowest, least - most_false), -1.0), min(max(highest, most - least_false), 1.0)
    )
