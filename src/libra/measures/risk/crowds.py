"""How many cases fit what an attacker knows: the crowd in which a case can hide, exactly for each row of knowledge.

Questions about activities alone are asked of all variants at once, since cases of one variant give the same answer. Where the
population says whose cases they are, the individuals that fit are counted as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from libra.eventlog.cases import DAY, Traces
from libra.eventlog.log import EventLog, variants_of
from libra.measures.distances import Integers
from libra.measures.risk.knowledge import FITS, KINDS, NONE, SIZES, Block, Kind, Knowledge, Sample, how_manieth, sums

CELLS = 500_000  # questions times variants that are looked at together: what a processor holds near
OWNERS_CELLS = 4_000_000  # answers about individuals that are looked at together
DATED_AT_ONCE = 2_000_000  # questions about days times cases that are looked at together
Bits = npt.NDArray[np.uint8]  # a row a variant, eight questions a byte


@dataclass(frozen=True, eq=False, repr=False)
class Crowds:
    """The cases that fit, for each row of knowledge.

    Where somebody says whose cases they are, `others` has those of other individuals than the one whose case is sought: none, one
    and which, or at least 2 for more.
    """

    size: Integers
    total: Integers  # the sum of their numbers: where there is only one, the case itself
    individuals: Integers | None = None  # of how many different ones they are
    others: Crowds | None = None

    @property
    def units(self) -> Integers:
        """Among how many a case can hide: individuals where it is known whose cases they are, and cases elsewhere."""
        return self.size if self.individuals is None else self.individuals

    def without(self, cases: Integers) -> Crowds:
        """The crowds that are left when each row's own case, which fits, is taken out, and all of its individual's."""
        return Crowds(self.size - 1, self.total - cases) if self.others is None else self.others


@dataclass(frozen=True, eq=False, repr=False)
class Owners:
    """The individuals of a log, with an entry for each variant of their cases."""

    of_case: Integers  # per case the number of its individual
    first: Integers  # individual i has the entries from `first[i]` up to `first[i + 1]`
    variant: Integers  # per entry
    cases: Integers  # per entry how many of the individual's cases have that variant
    total: Integers  # per entry the sum of the numbers of these cases

    @cached_property
    def _alike(self) -> tuple[Integers, Integers, Integers]:
        """Individuals with the same variants: these one after the other, where each group's begin, and how many individuals."""
        groups = variants_of(self.variant.astype(np.uint32), self.first)
        lengths = groups.traces["trace"].list.len().to_numpy().astype(np.int64)
        variants = groups.traces["trace"].explode().to_numpy().astype(np.int64)
        return variants, np.concatenate(([0], np.cumsum(lengths))), groups.counts

    def who_fit(self, fits: Bits, questions: int) -> Integers:
        """How many individuals have a case that fits each question."""
        variants, begin, how_many = self._alike
        found, at_once = np.zeros(questions), max(OWNERS_CELLS // questions, 1)
        for group in range(0, len(how_many), at_once):
            bounds = begin[group : group + at_once + 1]
            either = np.bitwise_or.reduceat(fits[variants[bounds[0] : bounds[-1]]], bounds[:-1] - bounds[0], axis=0)
            found += how_many[group : group + at_once].astype(np.float64) @ np.unpackbits(either, axis=1, count=questions)
        return found.astype(np.int64)

    def others(self, fits: Bits, asked: Integers, sought: Integers, found: Crowds, individuals: Integers) -> Crowds:
        """For each case that is sought, with the question asked for it: the cases of other individuals among those found.

        None, one and which, or 2 for more. Who fits beside one other individual alone has to be asked for own cases.
        """
        others = Crowds(np.minimum(individuals - 1, 2), np.zeros(len(sought), np.int64))
        two = np.flatnonzero(individuals == 2)
        own = self._own(fits, asked[two], sought[two])
        others.size[two] = np.minimum(found.size[two] - own.size, 2)
        others.total[two] = found.total[two] - own.total
        return others

    def _own(self, fits: Bits, asked: Integers, sought: Integers) -> Crowds:
        """For each case that is sought, with the question asked for it: the cases of the same individual that fit."""
        begin = self.first[self.of_case[sought]]
        entries = self.first[self.of_case[sought] + 1] - begin
        own = Crowds(*np.zeros((2, len(sought)), np.int64))
        parts = np.searchsorted(np.cumsum(entries), np.arange(OWNERS_CELLS, entries.sum(), OWNERS_CELLS))
        for part in filter(len, np.split(np.arange(len(sought)), parts)):
            many = entries[part]
            rows = np.cumsum(many) - many
            entry = np.arange(many.sum()) + np.repeat(begin[part] - rows, many)
            answers = fits[self.variant[entry], np.repeat(asked[part] // 8, many)]
            fit = answers >> np.repeat((7 - asked[part] % 8).astype(np.uint8), many) & 1
            own.size[part] = np.add.reduceat(fit * self.cases[entry], rows)
            own.total[part] = np.add.reduceat(fit * self.total[entry], rows)
        return own


def owners_of(variant: Integers, whose: Integers) -> Owners:
    """The individuals of a log from the variant and the individual of each case."""
    _, of_case = np.unique(whose, return_inverse=True)
    n_variants = int(variant.max(initial=0)) + 1
    pairs, entry = np.unique(of_case * n_variants + variant, return_inverse=True)
    first = np.searchsorted(pairs, np.arange(of_case.max(initial=-1) + 2) * n_variants)
    total = np.bincount(entry, np.arange(len(entry))).astype(np.int64)
    return Owners(of_case, first, pairs % n_variants, np.bincount(entry), total)


def own_alike(alike: Integers, whose: Integers) -> Crowds:
    """For every case those of the same individual that are alike, itself included; equal numbers say which are."""
    _, both = np.unique(alike * (whose.max(initial=0) + 1) + whose, return_inverse=True)
    size, total = np.bincount(both), np.bincount(both, np.arange(len(both))).astype(np.int64)
    return Crowds(size[both], total[both])


@dataclass(frozen=True, eq=False, repr=False)
class Population:
    """Cases to be matched."""

    codes: Integers  # per event
    timestamps: Integers  # per event, in microseconds since 1970
    offsets: Integers  # case i has the events from `offsets[i]` up to `offsets[i + 1]`
    variant: Integers  # per case
    counts: Integers  # per variant the number of its cases
    owners: Owners | None = None  # whose cases they are; what is asked is then about cases of this population

    def blocks(self, size: int, activities: Integers) -> Iterator[Block]:
        """The variants, at most so many at a time, for questions about these activities."""
        a_case = np.unique(self.variant, return_index=True)[1]
        traces = Traces(self.codes, self.offsets)
        numbers = np.bincount(self.variant, np.arange(len(self.variant), dtype=np.float64))  # whole, and exact below 2^53
        weights = np.column_stack((self.counts, numbers)).astype(np.float64)
        for begin in range(0, len(a_case), size):
            yield Block(traces.take(a_case[begin : begin + size]), weights[begin : begin + size], activities)


def population_of(log: EventLog, codes: Integers, whose: Integers | None = None) -> Population:
    """The cases of a log, with these codes for its activities; with whose they are only where the log says so: it takes time."""
    owners = None if whose is None or log.individual is None else owners_of(log.variants.of_case, whose)
    of_events = codes[log.activity_codes.astype(np.int64)] if len(codes) else np.zeros(0, np.int64)
    return Population(of_events, log.timestamps, log.case_offsets, log.variants.of_case, log.variants.counts, owners)


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """What somebody finds who knows so many events of each case in this way."""

    knowledge: Kind
    events: int
    crowds: Crowds


def search(people: Population, sample: Sample, drawn_from: Population) -> tuple[Found, ...]:
    """Look for the cases of a sample, knowing more and more of them; `drawn_from` holds the cases that the sample is about."""
    known = {k: sample.knowing(k, drawn_from.codes, drawn_from.timestamps) for k in SIZES}
    wanted = [(kind, k) for kind in KINDS for k in SIZES]
    asked = [("set" if k == 1 and kind != "days" else kind, k) for kind, k in wanted]  # one event has no number and no order
    different = list(dict.fromkeys(asked))
    found = dict(zip(different, crowds(people, [(known[k], kind) for kind, k in different]), strict=True))
    return tuple(Found(kind, k, found[one]) for (kind, k), one in zip(wanted, asked, strict=True))


def crowds(population: Population, asked: Sequence[tuple[Knowledge, Kind]]) -> list[Crowds]:
    """Count the cases that fit, and whose they are where the population says so; it must then hold the cases that are sought."""
    if not len(population.variant):
        return [Crowds(*np.zeros((2, len(knowledge.case)), np.int64)) for knowledge, _ in asked]
    of_activities = iter(_of_variants(population, [one for one in asked if one[1] != "days"]))
    return [dated_crowds(population, knowledge) if kind == "days" else next(of_activities) for knowledge, kind in asked]


def _of_variants(population: Population, asked: Sequence[tuple[Knowledge, Kind]]) -> list[Crowds]:
    """The crowds of those who know activities: all different questions, asked of some variants at a time."""
    if not asked:
        return []
    known = [knowledge.codes if kind == "sequence" else np.sort(knowledge.codes, axis=1) for knowledge, kind in asked]
    questions, of_row = zip(*(np.unique(codes, axis=0, return_inverse=True) for codes in known), strict=True)
    answers = [np.zeros((len(one), 2)) for one in questions]  # how many cases fit, and the sum of their numbers
    bits: list[list[Bits]] = [[] for _ in asked]  # which variants fit, where owners are to be counted
    activities = np.unique(np.concatenate([one.ravel() for one in questions]))
    for block in population.blocks(max(CELLS // max(map(len, questions)), 1), activities):
        for i, (_, kind) in enumerate(asked):
            fit = FITS[kind](block, questions[i])
            answers[i] += sums(fit, block.weights)
            if population.owners is not None:
                bits[i].append(np.packbits(fit.T, axis=1))
    found = [Crowds(*answer.astype(np.int64)[rows].T) for answer, rows in zip(answers, of_row, strict=True)]
    if population.owners is not None:
        for i, (knowledge, _) in enumerate(asked):
            fits = np.concatenate(bits[i])
            individuals = population.owners.who_fit(fits, len(questions[i]))[of_row[i]]
            others = population.owners.others(fits, of_row[i], knowledge.case, found[i], individuals)
            found[i] = replace(found[i], individuals=individuals, others=others)
    return found


@dataclass(frozen=True, eq=False, repr=False)
class _Index:
    """Which cases have which pairs of an activity and a day."""

    held: Integers  # pair times number of cases plus case, for every pair that a case has; ascending
    times: Integers  # how often it has it
    first: Integers  # where each pair begins in `held`, and where the last one ends
    n_cases: int

    def holders_of_all(self, pairs: Integers, times: Integers) -> tuple[Integers, Integers]:
        """All (question, case) where the case has all pairs of the question so often; these come rarest first, `NONE` last."""
        begin, many = self.first[pairs[:, 0]], np.diff(self.first)[pairs[:, 0]]
        question = np.repeat(np.arange(len(pairs)), many)
        case = self.held[np.arange(len(question)) + np.repeat(begin - np.cumsum(many) + many, many)] % self.n_cases
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
    for begin, end in pairwise((0, *np.searchsorted(most, np.arange(DATED_AT_ONCE, most[-1], DATED_AT_ONCE)), len(distinct))):
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
