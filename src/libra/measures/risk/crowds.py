"""How many cases fit what an attacker knows: the crowd in which a case can hide.

In: a population, and knowledge about cases of this or another log. Out: `Crowds`, exact for each row of knowledge. Questions
about activities alone are asked of all variants at once, since cases of one variant give the same answer. Where the population
says whose cases they are, the individuals that fit are counted as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from libra.measures.distances import Integers
from libra.measures.risk.dated import dated_crowds
from libra.measures.risk.knowledge import KINDS, NONE, SIZES, Kind, Knowledge, Sample
from libra.measures.risk.owners import Bits
from libra.measures.risk.population import Block, Crowds, Population

CELLS = 4_000_000  # questions times variants that are looked at together
Fits = npt.NDArray[np.bool_]


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
    if not len(population.variant):
        return Crowds(np.zeros(len(knowledge.case), np.int64), np.zeros(len(knowledge.case), np.int64))
    if kind == "days":
        return dated_crowds(population, knowledge)
    codes = knowledge.codes if kind == "sequence" else np.sort(knowledge.codes, axis=1)
    questions, asked = np.unique(codes, axis=0, return_inverse=True)
    fits = {"set": _as_set, "multiset": _as_multiset, "sequence": _in_order}[kind]
    size, total, bits = _of_variants(population, questions, fits)
    found = Crowds(size[asked], total[asked])
    if population.owners is None:
        return found
    individuals = population.owners.who_fit(bits, len(questions))[asked]
    others = population.owners.others(bits, asked, knowledge.case, found, individuals)
    return replace(found, individuals=individuals, others=others)


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
    return tuple(Found(kind, k, crowds(people, known[k], kind)) for kind in KINDS for k in SIZES)


def _of_variants(
    population: Population, questions: Integers, fits: Callable[[Block, Integers], Fits]
) -> tuple[Integers, Integers, Bits]:
    """The answers to questions about activities, from some variants at a time.

    Returns:
        For each question how many cases fit and the sum of their numbers; and which variants fit, where owners are to be counted.
    """
    answers = np.zeros((len(questions), 2))
    bits = np.zeros((len(population.counts) if population.owners else 0, -(-len(questions) // 8)), np.uint8)
    done = 0
    for block in population.blocks(max(CELLS // len(questions), 1)):
        fit = fits(block, questions)
        answers += fit @ block.weights
        if population.owners:
            bits[done : done + len(block.traces)] = np.packbits(fit.T, axis=1)
            done += len(block.traces)
    size, total = answers.astype(np.int64).T
    return size, total, bits


def _as_set(block: Block, questions: Integers) -> Fits:
    """Whether a variant has all these activities."""
    return _often_enough(block, questions, (questions != NONE).astype(np.int64))


def _as_multiset(block: Block, questions: Integers) -> Fits:
    """Whether a variant has all these activities, each at least as often."""
    same = questions[:, :, None] == questions[:, None, :]
    return _often_enough(block, questions, np.where(questions == NONE, 0, np.tril(same).sum(axis=2)))


def _often_enough(block: Block, questions: Integers, times: Integers) -> Fits:
    activities, place = np.unique(questions, return_inverse=True)
    counts, place = block.counts_of(activities), place.reshape(questions.shape)
    fit = np.ones((len(questions), counts.shape[1]), bool)
    for column in range(questions.shape[1]):
        fit &= counts[place[:, column]] >= times[:, column, None]
    return fit


def _in_order(block: Block, questions: Integers) -> Fits:
    """Whether a variant has these activities in this order, whatever lies between: each is sought from after the one before."""
    begins, ends = block.traces.offsets[:-1], block.traces.offsets[1:]
    given_up = ends[-1] + 1
    place = np.repeat(begins[None], len(questions), axis=0)
    for column in questions.T:
        for activity in np.unique(column[column != NONE]):
            rows = np.flatnonzero(column == activity)
            found = block.next_use(int(activity))[place[rows]]
            place[rows] = np.where(found < ends, found + 1, given_up)
    fit: Fits = place != given_up
    return fit
