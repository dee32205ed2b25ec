"""How many cases fit what an attacker knows: the crowd in which a case can hide.

In: a population, and knowledge about cases of this or another log. Out: `Crowds`, exact for each row of knowledge. Questions
about activities alone are asked of all variants at once, since cases of one variant give the same answer. Where the population
says whose cases they are, the individuals that fit are counted as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from libra.measures.distances import Floats, Integers
from libra.measures.risk.block import Block
from libra.measures.risk.dated import dated_crowds
from libra.measures.risk.fits import Fits, as_multiset, as_set, in_order, sums
from libra.measures.risk.knowledge import KINDS, SIZES, Kind, Knowledge, Sample
from libra.measures.risk.owners import Bits
from libra.measures.risk.population import Crowds, Population

CELLS = 500_000  # questions times variants that are looked at together: what a processor holds near
Asked: TypeAlias = tuple[Knowledge, Kind]
FITS: dict[Kind, Callable[[Block, Integers], Fits]] = {"set": as_set, "multiset": as_multiset, "sequence": in_order}


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """What somebody finds who knows so many events of each case in this way."""

    knowledge: Kind
    events: int
    crowds: Crowds


def crowds(population: Population, knowledge: Knowledge, kind: Kind) -> Crowds:
    """Count the cases that fit, and whose they are where the population says so; it must then hold the cases that are sought.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.risk.knowledge import draw
        >>> from libra.measures.risk.population import population_of
        >>> from libra.privacy.randomness import Randomness
        >>> log = simulate(cases=20)
        >>> people = population_of(log, np.arange(len(log.activities)))
        >>> known = draw(log, 50, Randomness(seed=1)).knowing(2, people.codes, log.timestamps)
        >>> bool((crowds(people, known, "set").size >= crowds(people, known, "sequence").size).all())
        True
    """
    return _all_crowds(population, [(knowledge, kind)])[0]


def search(people: Population, sample: Sample, drawn_from: Population) -> tuple[Found, ...]:
    """Look for the cases of a sample, knowing more and more of them; `drawn_from` holds the cases that the sample is about.

    Example:
        >>> from libra.example.simulate import simulate
        >>> from libra.measures.risk.knowledge import draw
        >>> from libra.measures.risk.population import population_of
        >>> from libra.privacy.randomness import Randomness
        >>> log = simulate(cases=20)
        >>> people = population_of(log, np.arange(len(log.activities)))
        >>> found = search(people, draw(log, 50, Randomness(seed=1)), people)
        >>> found[0].knowledge, found[0].events
        ('set', 1)
    """
    known = {k: sample.knowing(k, drawn_from.codes, drawn_from.timestamps) for k in SIZES}
    wanted = [(kind, k) for kind in KINDS for k in SIZES]
    asked = [("set" if k == 1 and kind != "days" else kind, k) for kind, k in wanted]  # one event has no number and no order
    different = list(dict.fromkeys(asked))
    found = dict(zip(different, _all_crowds(people, [(known[k], kind) for kind, k in different]), strict=True))
    return tuple(Found(kind, k, found[one]) for (kind, k), one in zip(wanted, asked, strict=True))


def _all_crowds(population: Population, asked: Sequence[Asked]) -> list[Crowds]:
    """The crowds of different knowledge: activities are asked of all variants, days of the cases."""
    if not len(population.variant):
        return [Crowds(*np.zeros((2, len(knowledge.case)), np.int64)) for knowledge, _ in asked]
    of_activities = iter(_of_variants(population, [_questions(*one) for one in asked if one[1] != "days"]))
    return [
        dated_crowds(population, knowledge) if kind == "days" else next(of_activities).crowds(population, knowledge)
        for knowledge, kind in asked
    ]


@dataclass(frozen=True, eq=False, repr=False)
class _Questions:
    """Different questions about activities, and the answers as far as variants were looked at.

    Attributes:
        questions: The activities that are known, a row a question.
        of_row: Which question is asked for each row of knowledge.
        fits: Who fits.
        answers: For each question how many cases fit and the sum of their numbers.
        bits: Which variants fit, some at a time; only where owners are to be counted.
    """

    questions: Integers
    of_row: Integers
    fits: Callable[[Block, Integers], Fits]
    answers: Floats
    bits: list[Bits]

    def ask(self, block: Block, *, for_owners: bool) -> None:
        fit = self.fits(block, self.questions)
        self.answers[:] += sums(fit, block.weights)
        if for_owners:
            self.bits.append(np.packbits(fit.T, axis=1))

    def crowds(self, population: Population, knowledge: Knowledge) -> Crowds:
        size, total = self.answers.astype(np.int64)[self.of_row].T
        found = Crowds(size, total)
        if population.owners is None:
            return found
        bits = np.concatenate(self.bits)
        individuals = population.owners.who_fit(bits, len(self.questions))[self.of_row]
        others = population.owners.others(bits, self.of_row, knowledge.case, found, individuals)
        return replace(found, individuals=individuals, others=others)


def _questions(knowledge: Knowledge, kind: Kind) -> _Questions:
    codes = knowledge.codes if kind == "sequence" else np.sort(knowledge.codes, axis=1)
    questions, of_row = np.unique(codes, axis=0, return_inverse=True)
    return _Questions(questions, of_row, FITS[kind], np.zeros((len(questions), 2)), [])


def _of_variants(population: Population, asked: list[_Questions]) -> list[_Questions]:
    """Answer all questions, from some variants at a time."""
    if asked:
        activities = np.unique(np.concatenate([one.questions.ravel() for one in asked]))
        most = max(len(one.questions) for one in asked)
        for block in population.blocks(max(CELLS // most, 1), activities):
            for one in asked:
                one.ask(block, for_owners=population.owners is not None)
    return asked
