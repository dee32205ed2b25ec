"""How many cases fit somebody who knows events with their days: activity and calendar day, each pair at least as often.

In: a population and knowledge. Out: `Crowds`. Pairs are rare, so each question starts from the cases that have its rarest pair,
found in an index, and asks of those alone whether they have the others.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from libra.eventlog.cases import DAY
from libra.measures.distances import Integers
from libra.measures.risk.knowledge import NONE, Knowledge
from libra.measures.risk.population import Crowds, Population

AT_ONCE = 2_000_000  # questions times cases that are looked at together


def dated_crowds(population: Population, knowledge: Knowledge) -> Crowds:
    """Count the cases that have these activities on these days; a day is one of UTC, or of the clock where there is no zone."""
    case = np.repeat(np.arange(len(population.variant)), np.diff(population.offsets))
    row, column = np.nonzero(knowledge.codes != NONE)
    known = knowledge.codes[row, column], knowledge.days[row, column]
    keys, asked = _keys((case, population.codes, population.timestamps // DAY), (row, *known))
    pairs, place = np.unique(keys, return_inverse=True)
    index = np.sort(place * len(population.variant) + case)
    first = np.searchsorted(index, np.arange(len(pairs) + 1) * len(population.variant))
    found = np.minimum(np.searchsorted(pairs, asked), len(pairs) - 1)
    questions = np.full(knowledge.codes.shape, NONE)
    questions[row, column] = np.where(pairs[found] == asked, found, len(pairs))  # a pair that nobody has comes last
    distinct, back = np.unique(questions, axis=0, return_inverse=True)
    holders = np.append(np.diff(first), 0)
    size, total, individuals = np.zeros((3, len(distinct)), np.int64)
    own = Crowds(*np.zeros((2, len(back)), np.int64))
    work = np.where(distinct == NONE, len(index), holders[distinct])
    rarest_first = np.take_along_axis(distinct, np.argsort(work, axis=1, kind="stable"), axis=1)
    most = np.cumsum(work.min(axis=1))
    for begin, end in pairwise((0, *np.searchsorted(most, np.arange(AT_ONCE, most[-1], AT_ONCE)), len(distinct))):
        part = slice(begin, end)
        fits, cases = _holders_of_all(rarest_first[part], index, first, len(population.variant))
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


def _keys(ours: tuple[Integers, ...], theirs: tuple[Integers, ...]) -> tuple[Integers, Integers]:
    """One number for each event: its activity, its day, and the how-manieth of both it is for its owner."""
    owner, code, day = (np.concatenate(both) for both in zip(ours, theirs, strict=True))
    side = np.repeat((0, 1), (len(ours[0]), len(theirs[0])))
    day = day - day.min()
    pair = code * (day.max() + 1) + day
    order = np.lexsort((pair, owner, side))
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(pair[order]) != 0) | (np.diff(owner[order]) != 0) | (np.diff(side[order]) != 0)
    place = np.arange(len(order))
    again = np.empty(len(order), np.int64)
    again[order] = place - np.maximum.accumulate(np.where(begins, place, 0))
    keys = pair * (again.max() + 1) + again
    return keys[: len(ours[0])], keys[len(ours[0]) :]


def _holders_of_all(questions: Integers, index: Integers, first: Integers, n_cases: int) -> tuple[Integers, Integers]:
    """All (question, case) where the case has all pairs of the question; these come rarest first, `NONE` last."""
    rarest = questions[:, 0]
    there = np.flatnonzero(rarest < len(first) - 1)
    begin, end = first[rarest[there]], first[rarest[there] + 1]
    question = np.repeat(there, end - begin)
    within = np.arange(len(question)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
    case = index[np.repeat(begin, end - begin) + within] % n_cases
    for column in questions.T[1:]:
        wanted = column[question] * n_cases + case
        at = np.minimum(np.searchsorted(index, wanted), len(index) - 1)
        has = (column[question] == NONE) | (index[at] == wanted)
        question, case = question[has], case[has]
    return question, case
