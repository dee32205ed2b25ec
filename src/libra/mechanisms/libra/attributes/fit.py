"""From released figures to values of the cases that were generated: a maximum-entropy model for each attribute in turn.

An attribute depends on what its pairs say: on features of the case, and on attributes dealt out before it. The model is the one
of largest entropy whose expected counts agree with the noisy ones, each as far as its noise lets one trust it. Values are dealt
out by evenly spread numbers instead of by chance, so that hardly any error is added. Pure post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra._system.ordering import ranks, stable_order
from libra._system.randomness import Randomness
from libra.engines.attribute_tables import GRAINS, OfAttribute, Side
from libra.engines.counting.attributes import cells_of, coded, combinations
from libra.eventlog.cases import MISSING, Cases, Floats, Integers
from libra.mechanisms.libra.attributes.bins import ends_of
from libra.mechanisms.libra.attributes.columns import able_at, labels_at
from libra.mechanisms.libra.attributes.entropy import Wanted, largest_entropy
from libra.mechanisms.libra.attributes.release import AttributeFigures, ReleasedAttribute

USUAL = 0.8  # standard deviation of a parameter of the model, before anything is known of it
LEAST = 0.05  # cases in a cell, so that logarithms are finite
FAR = 4.0  # how large a parameter may become for what noise makes impossible by a standard deviation
OTHERS = -1  # which no text has
LEAST_WEIGHT = 1e-300  # of a cell, which is divided by
NEVER = -np.inf  # the logarithm of a share that is nothing, whatever else is unlikely


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """How the values of one attribute are distributed, given a case."""

    number: int
    of: ReleasedAttribute
    base: Floats  # for every cell a parameter
    groups: Integers  # of the cells: those of a group depend on nothing that the group does not
    dependences: tuple[tuple[Side, Floats], ...]  # for each cell of a side, and each group, a parameter
    at: Integers | None  # the labels of which a case needs one to have a value; None where it needs none

    @property
    def sides(self) -> list[Side]:
        """What it depends on."""
        return [side for side, _ in self.dependences]


def dealt(models: Sequence[Model], cases: Cases, random: Randomness) -> Cases:
    """The cases with values of all attributes, in the order of the attributes."""
    known = _Known(cases, len(models))
    for model in models:
        known.deal(model, known.kinds(model.sides, model.at), random)
    return known.cases


def fitted(figures: AttributeFigures, labels: Sequence[str], like: Cases, random: Randomness) -> tuple[tuple[Model, ...], Cases]:
    """The models of all attributes in the order in which they are dealt out, and the cases with values.

    Those in most pairs come first.
    """
    linked = np.zeros(len(figures.each), np.int64)
    for pair in figures.pairs:
        for side in pair:
            if isinstance(side, OfAttribute):
                linked[side.number] += 1
    models: list[Model] = []
    known, done = _Known(like, len(linked)), set[int]()
    for number in np.argsort(-linked, kind="stable").tolist():
        stands = figures.each[number].attribute
        at = None if stands.at is None else labels_at(stands, labels)
        pairs = list(_pairs_of(figures, number, done))
        kinds = known.kinds([pair.side for pair in pairs], at)
        models.append(_fit(figures, number, pairs, kinds, at))
        done.add(number)
        known.deal(models[-1], kinds, random)
    return tuple(models), known.cases


class _Kinds(NamedTuple):
    """The distinct combinations of the cells of cases on some sides."""

    cells: Integers  # a row a side
    times: Integers  # how many cases are of each kind
    able: npt.NDArray[np.bool_]  # which kinds can have a value
    of_case: Integers


class _Known:
    """Generated cases, the values that were dealt to them so far, and into which cells they fall."""

    def __init__(self, cases: Cases, attributes: int) -> None:
        self._without_values = cases
        self.cases = replace(cases, attributes=(np.zeros(0, np.int64),) * attributes)
        self._cells: dict[Side, Integers] = {}
        self._able: dict[bytes | None, Integers] = {}

    def kinds(self, sides: Sequence[Side], at: Integers | None) -> _Kinds:
        """The kinds of cases on these sides; `at` are the labels of which a case needs one to have a value."""
        for side in sides:
            if side not in self._cells:
                self._cells |= cells_of(self.cases if isinstance(side, OfAttribute) else self._without_values, [side])
        columns = [self._able_at(at), *(self._cells[side] for side in sides)]
        first, times, of_case = combinations(columns, [2, *(side.n_cells for side in sides)], len(self.cases))
        found = np.stack([column[first] for column in columns])
        return _Kinds(found[1:], times, found[0] == 1, of_case)

    def _able_at(self, at: Integers | None) -> Integers:
        key = None if at is None else at.tobytes()
        if key not in self._able:
            self._able[key] = able_at(at, self._without_values)
        return self._able[key]

    def deal(self, model: Model, kinds: _Kinds, random: Randomness) -> None:
        """Deal out the values of an attribute, given the kinds of cases on the sides that it depends on."""
        able = np.flatnonzero(kinds.able[kinds.of_case])  # all others have no value
        shares, n_groups = np.exp(model.base - model.base.max()), int(model.groups.max()) + 1
        with np.errstate(divide="ignore"):  # what has no share must not get any, whatever weights say
            logits = np.repeat(np.log(np.bincount(model.groups, shares))[None, :], np.count_nonzero(kinds.able), axis=0)
        for (_, weights), cells in zip(model.dependences, kinds.cells, strict=True):
            logits += weights[cells[kinds.able]]
        logits -= logits.max(axis=1, keepdims=True)
        found = dealt_evenly(np.exp(logits, out=logits), (np.cumsum(kinds.able) - 1)[kinds.of_case[able]], random)
        within = np.zeros((n_groups, len(shares)))
        within[model.groups, np.arange(len(shares))] = shares
        found = dealt_evenly(within, found, random) if n_groups < len(shares) else np.argsort(model.groups)[found]
        cell = np.zeros(len(kinds.of_case), np.int64)
        cell[able] = found
        values, number = values_in(model.of, cell, random), model.number
        attributes = (*self.cases.attributes[:number], values, *self.cases.attributes[number + 1 :])
        self.cases = replace(self.cases, attributes=attributes)


class _Pair(NamedTuple):
    """A pair that an attribute is in, with a side that is known already."""

    side: Side
    groups: Integers  # of the cells of the attribute
    wanted: Floats  # the interaction, a row a group


def _fit(figures: AttributeFigures, number: int, pairs: Sequence[_Pair], kinds: _Kinds, at: Integers | None) -> Model:
    """The model of one attribute, given the kinds of cases on the sides of its pairs that are known already."""
    one, times, able = figures.each[number], kinds.times, kinds.able
    if not able.any():  # no case has the activity on whose events it stands
        none, nothing = np.where(np.arange(len(one.counts)) == 0, 0.0, NEVER), np.zeros(len(one.counts), np.int64)
        return Model(number, one, none, nothing, tuple((pair.side, np.zeros((pair.side.n_cells, 1))) for pair in pairs), at)
    n = int(times.sum())
    share = n / max(float(one.counts.sum()), 1e-9)
    there = np.flatnonzero((one.counts > 0) | (np.arange(len(one.counts)) == 0))
    counts = np.maximum(one.counts[there] * share, LEAST)
    unable = n - int(times[able].sum())
    counts[0] = max(counts[0] - unable, LEAST)  # of those that can have a value
    counts *= (n - unable) / counts.sum()
    base = np.full(len(one.counts), NEVER)
    base[there] = np.log(counts / counts.sum())
    if not pairs:
        return Model(number, one, base, np.zeros(len(base), np.int64), (), at)
    joint, of_cell = np.unique(np.stack([pair.groups[there] for pair in pairs]), axis=1, return_inverse=True)
    of_group = np.bincount(of_cell, counts).astype(float)
    sds = np.sqrt(np.bincount(of_cell, one.sds[there] ** 2)) * share
    whole, sd, wanted = np.bincount(of_cell, one.counts[there] * share), figures.sd * share, []
    for pair, cells, of_pair in zip(pairs, kinds.cells, joint, strict=True):
        s = pair.side.n_cells
        of_side, with_value = (np.bincount(cells, times * which, minlength=s) for which in (1.0, able))
        always = np.zeros(pair.wanted.shape)  # of cases that can have no value
        always[pair.groups[0]] = of_side - with_value
        groups, place = np.unique(of_pair, return_inverse=True)
        sizes = np.bincount(place, of_group)
        table = _centred((pair.wanted * share - _centred(always))[groups].T)
        table += sizes / s + with_value[:, None] / len(groups) - with_value.sum() / (s * len(groups))
        expected = np.maximum(np.multiply.outer(of_side, np.bincount(place, whole)) / n, 1.0)
        trust = sd**2 / (expected * USUAL**2) + sd / FAR
        part, joined = (
            of_group / sizes[place],
            place if len(groups) < len(place) else None,
        )  # other pairs divide what this one joins
        wanted.append(Wanted(cells[able], table[:, place] * part, trust[:, place] * part, sd * part, joined))
    of_groups, tables = largest_entropy(of_group, sds, wanted, times[able].astype(float))
    base[there] += (of_groups - np.log(of_group / of_group.sum()))[of_cell]
    groups = np.zeros(len(one.counts), np.int64)
    groups[there] = of_cell
    return Model(number, one, base, groups, tuple(zip((pair.side for pair in pairs), tables, strict=True)), at)


def _pairs_of(figures: AttributeFigures, number: int, done: set[int]) -> Iterator[_Pair]:
    for (first, second), table in zip(figures.pairs, figures.interactions, strict=True):
        for mine, other, wanted in ((first, second, table), (second, first, table.T)):
            known = not isinstance(other, OfAttribute) or other.number in done
            if isinstance(mine, OfAttribute) and mine.number == number and known:
                yield _Pair(other, np.array(mine.coding.groups, np.int64), wanted)


def _centred(table: Floats) -> Floats:
    """A table less the means of its rows and of its columns."""
    centred: Floats = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + table.mean()
    return centred


def dealt_evenly(weights: Floats, kind: Integers, random: Randomness) -> Integers:
    """A cell for each of some rows, of which `kind` says by which row of weights; hardly any error is added to expected counts.

    Kinds next to each other make up for what rounding adds to one of them. They change places with near ones first:
    two attributes that are dealt to the same kinds would otherwise be rounded in step.

    Example:
        >>> np.bincount(dealt_evenly(np.array([[1.0, 3.0]]), np.zeros(8, np.int64), Randomness(seed=1))).tolist()
        [2, 6]
    """
    n, n_cells = weights.shape
    times = np.bincount(kind, minlength=n)
    order = stable_order(np.arange(n) + math.sqrt(n) * random.uniform(n))
    counts = np.empty((n, n_cells), np.int64)
    counts[order] = _rounded((weights * (times / weights.sum(axis=1))[:, None])[order].T, times[order], random).T
    cell = np.empty(len(kind), np.int64)
    cell[random.permutation_within(kind)] = np.repeat(np.tile(np.arange(n_cells), n), counts.ravel())
    return cell


def _rounded(expected: Floats, times: Integers, random: Randomness) -> Integers:
    """Whole counts of cells, a row each, that add up to `times`: cells are divided in two, and each half again.

    What one kind gets too much of a half, the next ones get too little of. Shares are corrected so that halves have as many
    in all as expected, though the kinds that a half has got may not be its usual ones.
    """
    halves = [np.zeros((1 << (len(expected) - 1).bit_length(), len(times)))]
    halves[0][: len(expected)] = expected
    while len(halves[-1]) > 1:
        halves.append(halves[-1][::2] + halves[-1][1::2])
    counts = times[None, :].astype(float)
    for whole, parts in zip(halves[:0:-1], halves[-2::-1], strict=True):
        share = parts[::2] / np.maximum(whole, LEAST_WEIGHT)
        one, other = ((counts * part).sum(axis=1, keepdims=True) for part in (share, 1 - share))
        left, right = (part.sum(axis=1, keepdims=True) for part in (parts[::2], parts[1::2]))
        both = (left * other > 0) & (right * one > 0)
        change = np.where(both, (right * one) / np.where(both, left * other, 1.0), 1.0)
        share /= share + (1 - share) * change
        until = np.cumsum(counts * share, axis=1)
        first = np.diff(np.floor(until + random.uniform(len(until))[:, None]), axis=1, prepend=0)
        first = np.where(share == 1, counts, np.minimum(first, counts))
        counts = np.stack((first, counts - first), axis=1).reshape(2 * len(counts), len(times))
    return counts[: len(expected)].astype(np.int64)


def values_in(one: ReleasedAttribute, cell: Integers, random: Randomness) -> Integers:
    """A value for every cell: the atom itself, a number within the interval; `OTHERS` for texts that were not chosen."""
    atoms, _ = one.coding.arrays
    values = np.full(len(cell), MISSING)
    n_atoms = len(atoms)
    is_atom = (cell > 0) & (cell <= n_atoms)
    values[is_atom] = atoms[cell[is_atom] - 1]
    rest = np.flatnonzero(cell > n_atoms)
    if one.attribute.kind == "category":
        values[rest] = OTHERS
    elif len(rest):
        begins, ends = ends_of(one.coding, one.attribute)
        place = cell[rest] - 1 - n_atoms
        order, sizes = random.permutation_within(place), np.bincount(place)
        part = (ranks(sizes) + random.uniform(len(rest))) / sizes.repeat(sizes)  # evenly within each interval
        grain = _grains(one, len(rest), random)
        place = place[order]
        values[rest[order]] = _within(begins[place], ends[place], part, grain)
    return values


def places_among(texts: Sequence[str], one: ReleasedAttribute, values: Integers) -> Integers:
    """The values of a category as places among texts that have all of its own; the place after the last for all others."""
    place = {text: i for i, text in enumerate(texts)}
    codes = np.array([MISSING, *(place[text] for text in one.texts), len(texts)], np.int64)
    return codes[coded(values, one.coding)]


def _grains(one: ReleasedAttribute, n: int, random: Randomness) -> Integers:
    """How round each of some numbers is to be, as a place among the grains."""
    until = np.cumsum(one.grains) / max(sum(one.grains), 1e-9)
    evenly = (random.uniform(1) + np.arange(n)) / max(n, 1)
    return np.searchsorted(until, evenly % 1, side="right")[random.permutation_within(np.zeros(n, np.int64))].clip(
        0, len(GRAINS) - 1
    )


def _within(low: Integers, high: Integers, part: Floats, grain: Integers) -> Integers:
    """A number from each interval, as round as it is to be if the interval has such a number; zero only where there is no other.

    Of intervals that end far from where they begin, small numbers are likelier: as likely on a logarithmic scale.
    """
    sizes, part = np.array([*GRAINS, 10 * GRAINS[-1]]), _place_within(low, high, part)
    while True:
        size = sizes[grain]
        first, last = -(-low // size), (high - 1) // size
        first, last = np.where((first == 0) & (last > 0), 1, first), np.where((last == 0) & (first < 0), -1, last)
        lacking = (grain > 0) & ((first > last) | ((first == 0) & (last == 0)))
        if not lacking.any():
            break
        grain = grain - lacking
    step = np.minimum(first + (part * (last - first + 1)).astype(np.int64), last)
    rounder = (step * size % sizes[grain + 1] == 0) & (last > first)  # it would be rounder than it is to be
    step = np.where(rounder, np.where(step < last, step + 1, step - 1), step)
    numbers: Integers = step * size
    return numbers


def _place_within(low: Integers, high: Integers, part: Floats) -> Floats:
    """Which part of an interval is below a number, given which part of its numbers is."""
    negative = high <= 0
    near, far = (np.where(negative, one, other).astype(float) for one, other in ((1 - high, low), (1 - low, high)))
    wide = (near > 0) & (far >= 2 * near)
    ratio = np.where(wide, far / np.maximum(near, 1.0), 2.0)
    found = np.where(wide, (ratio ** np.where(negative, 1 - part, part) - 1) / (ratio - 1), part)
    return np.where(wide & negative, 1 - found, found)
