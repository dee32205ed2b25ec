"""How many cases fit somebody who knows events with their days: activity and calendar day, each pair at least as often.

In: a population and knowledge. Out: `Crowds`. Only events of the pairs that are asked for are looked at. Pairs are rare, so each
question starts from the cases that have its rarest pair, found in an index, and asks of those alone whether they have the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from libra.eventlog.cases import DAY
from libra.measures.distances import Integers
from libra.measures.risk.knowledge import NONE, Knowledge, how_manieth
from libra.measures.risk.population import Crowds, Population

AT_ONCE = 2_000_000  # questions times cases that are looked at together


@dataclass(frozen=True, eq=False, repr=False)
class _Index:
    """Which cases have which pairs of an activity and a day.

    Attributes:
        held: Pair times number of cases plus case, for every pair that a case has; ascending.
        times: How often it has it.
        first: Where each pair begins in `held`, and where the last one ends.
        n_cases: The number of cases.
    """

    held: Integers
    times: Integers
    first: Integers
    n_cases: int

    def holders_of_all(self, pairs: Integers, times: Integers) -> tuple[Integers, Integers]:
        """All (question, case) where the case has all pairs of the question so often; these come rarest first, `NONE` last."""
        begin, end = self.first[pairs[:, 0]], self.first[pairs[:, 0] + 1]
        question = np.repeat(np.arange(len(pairs)), end - begin)
        within = np.arange(len(question)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
        case = self.held[np.repeat(begin, end - begin) + within] % self.n_cases
        for pair, often in zip(pairs.T[1:], times.T[1:], strict=True):
            wanted = pair[question] * self.n_cases + case
            at = np.minimum(np.searchsorted(self.held, wanted), len(self.held) - 1)
            has = (pair[question] == NONE) | ((self.held[at] == wanted) & (self.times[at] >= often[question]))
            question, case = question[has], case[has]
        return question, case


def dated_crowds(population: Population, knowledge: Knowledge) -> Crowds:
    """Count the cases that have these activities on these days; a day is one of UTC, or of the clock where there is no zone."""
    known = knowledge.codes != NONE
    questions = np.full(knowledge.codes.shape, NONE)
    index, questions[known] = _index(population, knowledge.codes[known], knowledge.days[known])
    distinct, back = np.unique(np.sort(questions, axis=1), axis=0, return_inverse=True)
    size, total, individuals = np.zeros((3, len(distinct)), np.int64)
    own = Crowds(*np.zeros((2, len(back)), np.int64))
    work = np.where(distinct == NONE, len(index.held) + 1, np.diff(index.first)[distinct])
    rarest_first = np.argsort(work, axis=1, kind="stable")
    asked = [np.take_along_axis(one, rarest_first, axis=1) for one in (distinct, how_manieth(distinct))]
    most = np.cumsum(work.min(axis=1))
    for begin, end in pairwise((0, *np.searchsorted(most, np.arange(AT_ONCE, most[-1], AT_ONCE)), len(distinct))):
        part = slice(begin, end)
        fits, cases = index.holders_of_all(asked[0][part], asked[1][part])
        size[part] = np.bincount(fits, minlength=end - begin)
        total[part] = np.bincount(fits, cases, minlength=end - begin)
        if population.owners is not None:
            rows = np.flatnonzero((begin <= back) & (back < end))
            asks = back[rows] - begin, population.owners.of_case[knowledge.case[rows]]
            individuals[part], own.size[rows], own.total[rows] = _whose(population.owners.of_case, fits, cases, asks, end - begin)
    if population.owners is None:
        return Crowds(size[back], total[back])
    others = Crowds(size[back] - own.size, total[back] - own.total)
    return Crowds(size[back], total[back], individuals[back], others)


def _whose(
    of_case: Integers, question: Integers, case: Integers, asks: tuple[Integers, Integers], n: int
) -> tuple[Integers, Integers, Integers]:
    """For each of n questions how many individuals fit; for each individual who asks one, how many own cases, and their sum."""
    width = int(of_case.max()) + 1
    pairs, pair = np.unique(question * width + of_case[case], return_inverse=True)
    size, total = np.bincount(pair), np.bincount(pair, case).astype(np.int64)
    own = np.searchsorted(pairs, asks[0] * width + asks[1])  # it is there: the case that is sought fits
    return np.bincount(pairs // width, minlength=n), size[own], total[own]


def _index(population: Population, codes: Integers, days: Integers) -> tuple[_Index, Integers]:
    """An index of the pairs that are asked for, and which of them each question is about."""
    n_cases, theirs = len(population.variant), population.timestamps // DAY
    earliest = min(int(days.min()), int(theirs.min()))
    width = max(int(days.max()), int(theirs.max())) - earliest + 1
    pairs, asked = np.unique(codes * width + days - earliest, return_inverse=True)
    keys = population.codes * width + theirs - earliest
    there = np.flatnonzero(np.isin(keys, pairs))
    case = np.searchsorted(population.offsets, there, side="right") - 1
    held, times = np.unique(np.searchsorted(pairs, keys[there]) * n_cases + case, return_counts=True)
    return _Index(held, times, np.searchsorted(held, np.arange(len(pairs) + 1) * n_cases), n_cases), asked
