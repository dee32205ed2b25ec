"""From released figures to values of the cases that were generated: a maximum-entropy model for each attribute in turn.

An attribute depends on what its pairs say: on features of the case, and on attributes dealt out before it. The model is the one
of largest entropy whose expected counts agree with the noisy ones, each as far as its noise lets one trust it. Values are dealt
out by evenly spread numbers instead of by chance, so that hardly any error is added. Pure post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from libra._system.randomness import Randomness
from libra.engines.attribute_tables import GRAINS, OfAttribute, Side
from libra.engines.counting.attributes import cells_of, coded, has_any
from libra.eventlog.cases import MISSING, Cases, Floats, Integers
from libra.mechanisms.libra.attributes.bins import ends_of
from libra.mechanisms.libra.attributes.columns import labels_at
from libra.mechanisms.libra.attributes.release import AttributeFigures, ReleasedAttribute

USUAL = 0.8  # standard deviation of a parameter of the model, before anything is known of it
LEAST = 0.05  # cases in a cell, so that logarithms are finite
FAR = 4.0  # how large a parameter may become for what noise makes impossible by a standard deviation
SLIGHT = 1e-3  # penalty of the parameters of single cells, whose counts are trusted
STEPS = 150  # of the search for the parameters
REMEMBERED, SHORTEST = 12, 1e-6  # steps that it goes by, and what is left of one that it gives up
FLAT, LITTLE = 1e-5, 1e-10  # slopes, and changes of the value, at which it ends
LAST = 20  # corrections of the counts of single cells
OTHERS = -1  # which no text has
GOLDEN = (5**0.5 - 1) / 2
NEVER = -60.0  # the logarithm of a share that is nothing


@dataclass(frozen=True, eq=False, repr=False)
class Dependence:
    """What an attribute depends on: a side, and for each group of the attribute and each cell of the side a parameter."""

    side: Side
    groups: Integers  # of the cells of the attribute
    weights: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """How the values of one attribute are distributed, given a case."""

    number: int
    of: ReleasedAttribute
    base: Floats
    dependences: tuple[Dependence, ...]
    at: Integers | None  # the labels of which a case needs one to have a value; None where it needs none


def dealt(models: Sequence[Model], cases: Cases, random: Randomness) -> Cases:
    """The cases with values of all attributes, in the order of the attributes."""
    known = replace(cases, attributes=(np.zeros(0, np.int64),) * len(models))
    for model in models:
        known = _with(known, model.number, deal(model, known, random))
    return known


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
    known = replace(like, attributes=(np.zeros(0, np.int64),) * len(linked))
    done: set[int] = set()
    for number in np.argsort(-linked, kind="stable").tolist():
        model = _fit(figures, number, done, labels, known)
        models.append(model)
        done.add(number)
        known = _with(known, number, deal(model, known, random))
    return tuple(models), known


def _with(cases: Cases, number: int, values: Integers) -> Cases:
    return replace(cases, attributes=(*cases.attributes[:number], values, *cases.attributes[number + 1 :]))


class _Pair(NamedTuple):
    """A pair that an attribute is in, with a side that is known already."""

    side: Side
    groups: Integers  # of the cells of the attribute
    wanted: Floats  # the interaction, a row a group


def _fit(figures: AttributeFigures, number: int, done: set[int], labels: Sequence[str], known: Cases) -> Model:
    """The model of one attribute, given the cases and the attributes that were dealt out before it."""
    one, at = figures.each[number], None
    if one.attribute.at is not None:
        at = labels_at(one.attribute, labels)
    pairs = list(_pairs_of(figures, number, done))
    patterns, times, able = _patterns(known, [pair.side for pair in pairs], at)
    if not able.any():  # no case has the activity on whose events it stands
        return Model(number, one, np.where(np.arange(len(one.counts)) == 0, 0.0, NEVER), (), at)
    n, share = len(known), len(known) / max(one.counts.sum(), 1e-9)
    there = np.flatnonzero((one.counts > 0) | (np.arange(len(one.counts)) == 0))
    wanted = np.maximum(one.counts[there] * share, LEAST)
    unable = n - int(times[able].sum())
    wanted[0] = max(wanted[0] - unable, LEAST)  # of those that can have a value
    wanted *= (n - unable) / wanted.sum()
    rows = patterns[:, able]
    weights = times[able].astype(float)
    aims, ridge, curvature, of_cells = [wanted], [np.full(len(there), SLIGHT)], [wanted], list[Integers]()
    for place, pair in enumerate(pairs):
        g, s = pair.wanted.shape
        of_cell = pair.groups[there]
        of_group = np.bincount(of_cell, one.counts[there] * share, minlength=g)
        of_side = np.bincount(patterns[place], times, minlength=s)
        without = np.bincount(patterns[place][~able], times[~able], minlength=s)
        missing = (np.arange(g) == of_cell[0]).astype(float)
        always = _centred(np.multiply.outer(missing, without.astype(float)))  # of cases that can have no value
        aims.append((pair.wanted * share - always).ravel())
        expected = np.maximum(np.multiply.outer(of_group, of_side) / n, 1.0)
        sd = figures.sd * share
        ridge.append((sd**2 / (expected * USUAL**2) + sd / FAR).ravel())
        curvature.append(expected.ravel())
        of_cells.append(of_cell)
    parameters = _fitted(aims, ridge, curvature, of_cells, rows, weights, [pair.wanted.shape for pair in pairs])
    base = np.full(len(one.counts), NEVER)
    base[there] = parameters[0]
    found = zip(pairs, parameters[1:], strict=True)
    return Model(number, one, base, tuple(Dependence(pair.side, pair.groups, table) for pair, table in found), at)


def _pairs_of(figures: AttributeFigures, number: int, done: set[int]) -> Iterator[_Pair]:
    for (first, second), table in zip(figures.pairs, figures.interactions, strict=True):
        for mine, other, wanted in ((first, second, table), (second, first, table.T)):
            known = not isinstance(other, OfAttribute) or other.number in done
            if isinstance(mine, OfAttribute) and mine.number == number and known:
                yield _Pair(other, np.array(mine.coding.groups, np.int64), wanted)


def _fitted(
    aims: list[Floats], ridge: list[Floats], curvature: list[Floats], of_cells: list[Integers], rows: Integers,
    weights: Floats, shapes: list[tuple[int, ...]],
) -> list[Floats]:  # fmt: skip
    """The parameters of largest entropy: of the cells, then of each pair, centred over its side."""
    k = len(aims[0])
    ends = np.cumsum([k, *(g * s for g, s in shapes)])
    aim, trust, scale = np.concatenate(aims), np.concatenate(ridge), 1 / max(weights.sum(), 1.0)
    unit = 1 / np.sqrt(scale * (np.concatenate(curvature) + trust))  # in which all parameters weigh about the same

    def parts(parameters: Floats) -> list[Floats]:
        tables = [parameters[ends[i] : ends[i + 1]].reshape(shape) for i, shape in enumerate(shapes)]
        return [parameters[:k], *map(_centred, tables)]

    by_side = [_sorted_by(row) for row in rows]

    def logits_of(base: Floats, tables: list[Floats]) -> Floats:
        logits = np.repeat(base[None, :], len(weights), axis=0)
        for table, group, row in zip(tables, of_cells, rows, strict=True):
            logits += table[group].T[row]
        return logits

    def loss(steps: Floats) -> tuple[float, Floats]:
        parameters = steps * unit
        base, *tables = parts(parameters)
        logits = logits_of(base, tables)
        highest = logits.max(axis=1, keepdims=True)
        np.exp(logits - highest, out=logits)
        sums = logits.sum(axis=1)
        value = float(np.sum(weights * (np.log(sums) + highest[:, 0])))
        logits *= (weights / sums)[:, None]
        slopes = [logits.sum(axis=0)]
        for (g, s), group, (order, first, seen) in zip(shapes, of_cells, by_side, strict=True):
            both = np.zeros((g, s))
            sums_of_side = np.add.reduceat(logits[order], first, axis=0).T
            np.add.at(both, (group[:, None], seen[None, :]), sums_of_side)
            slopes.append(_centred(both).ravel())
        slope = np.concatenate(slopes) - aim + trust * parameters
        return scale * float(value - np.sum(aim * parameters) + np.sum(trust * parameters**2) / 2), scale * slope * unit

    start = np.zeros(ends[-1])
    start[:k] = np.log(aims[0] / aims[0].sum())
    base, *tables = parts(_lowest(loss, start / unit) * unit)
    shares = logits_of(base, tables)
    shares = np.exp(shares - shares.max(axis=1, keepdims=True))
    for _ in range(LAST):  # each attribute by itself is known best: its counts are met exactly
        expected = np.sum((weights / shares.sum(axis=1))[:, None] * shares, axis=0)
        change = np.clip(aims[0] / np.maximum(expected, 1e-9), 0.1, 10)
        shares *= change
        base = base + np.log(change)
    return [base, *tables]


def _sorted_by(row: Integers) -> tuple[Integers, Integers, Integers]:
    """An order in which equal ones are together, where each kind begins in it, and which kinds there are."""
    order = np.argsort(row, kind="stable")
    seen, first = np.unique(row[order], return_index=True)
    return order, first, seen


def _lowest(loss: Callable[[Floats], tuple[float, Floats]], start: Floats) -> Floats:
    """Where a convex function is lowest: L-BFGS, which remembers a few steps, and shortens one that leads upwards."""
    at, (value, slope) = start, loss(start)
    steps: list[tuple[Floats, Floats, float]] = []
    for _ in range(STEPS):
        if np.abs(slope).max() < FLAT:
            break
        direction, back = slope.copy(), []
        for step, change, curve in reversed(steps):
            along = float(np.sum(step * direction)) / curve
            direction -= along * change
            back.append(along)
        if steps:
            _, change, curve = steps[-1]
            direction *= curve / float(np.sum(change * change))
        for (step, change, curve), along in zip(steps, reversed(back), strict=True):
            direction += (along - float(np.sum(change * direction)) / curve) * step
        down, length = float(np.sum(slope * direction)), 1.0
        if not steps:
            length = min(1.0, 1 / np.abs(slope).sum())
        while True:
            there = at - length * direction
            value_there, slope_there = loss(there)
            if value_there <= value - 1e-4 * length * down or length < SHORTEST:
                break
            length /= 2
        step, change = there - at, slope_there - slope
        curve = float(np.sum(step * change))
        steps = [*steps[-(REMEMBERED - 1) :], (step, change, curve)] if curve > 0 else steps
        if length < SHORTEST or value - value_there <= LITTLE * max(abs(value), 1.0):
            return there if value_there <= value else at
        at, value, slope = there, value_there, slope_there
    return at


def _centred(table: Floats) -> Floats:
    """A table less the means of its rows and of its columns."""
    centred: Floats = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0, keepdims=True) + table.mean()
    return centred


def _patterns(cases: Cases, sides: Sequence[Side], at: Integers | None) -> tuple[Integers, Integers, npt.NDArray[np.bool_]]:
    """The distinct combinations of cells on all sides, how many cases have each, and which of them can have a value."""
    columns = [np.ones(len(cases), np.int64) if at is None else has_any(cases, at), *(cells_of(cases, side) for side in sides)]
    key = _combined(columns, [2, *(side.n_cells for side in sides)])
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    return np.stack([column[first] for column in columns[1:]] or [first])[: len(sides)], times, columns[0][first] == 1


def _combined(columns: Sequence[Integers], sizes: Sequence[int]) -> Integers:
    """A number for every case that tells all combinations apart."""
    key, most = columns[0], sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if most * size >= 2**62:
            key = np.unique(key, return_inverse=True)[1]
            most = int(key.max(initial=0)) + 1
        key, most = key * size + column, most * size
    return key


def deal(model: Model, cases: Cases, random: Randomness) -> Integers:
    """A value for every case; attributes that it depends on are those of the cases."""
    able = np.ones(len(cases), np.int64) if model.at is None else has_any(cases, model.at)
    columns = [able, *(cells_of(cases, one.side) for one in model.dependences)]
    key = _combined(columns, [2, *(one.side.n_cells for one in model.dependences)])
    _, first, of_case = np.unique(key, return_index=True, return_inverse=True)
    logits = np.repeat(model.base[None, :], len(first), axis=0)
    for one, cells in zip(model.dependences, columns[1:], strict=True):
        logits += one.weights[one.groups].T[cells[first]]
    cell = dealt_evenly(np.exp(logits - logits.max(axis=1, keepdims=True)), of_case, random)
    cell[able == 0] = 0
    return values_in(model.of, cell, random)


def dealt_evenly(weights: Floats, kind: Integers, random: Randomness) -> Integers:
    """A cell for each of some rows, of which `kind` says by which row of weights; hardly any error is added to expected counts.

    Example:
        >>> np.bincount(dealt_evenly(np.array([[1.0, 3.0]]), np.zeros(8, np.int64), Randomness(seed=1))).tolist()
        [2, 6]
    """
    until = np.cumsum(weights, axis=1)
    until /= until[:, -1:]
    until += np.arange(len(weights))[:, None]  # rising over all kinds, so that one search serves all rows
    shuffled = random.permutation(len(kind))
    kinds = kind[shuffled]
    row = shuffled[np.argsort(kinds.astype(np.uint16) if len(weights) < 2**16 else kinds, kind="stable")]
    evenly = (random.uniform(1) + GOLDEN * np.arange(len(kind))) % 1
    place = np.searchsorted(until.ravel(), evenly + kind[row], side="right")
    cell = np.zeros(len(kind), np.int64)
    cell[row] = np.minimum(place - kind[row] * until.shape[1], until.shape[1] - 1)
    return cell


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
        order = np.lexsort((random.words(len(rest)), place))
        first = np.searchsorted(place[order], place[order])
        many = np.bincount(place, minlength=len(begins))[place[order]]
        part = (np.arange(len(rest)) - first + random.uniform(len(rest))) / many  # evenly within each interval
        grain = _grains(one, len(rest), random)
        values[rest[order]] = _within(begins[place[order]], ends[place[order]], part, grain)
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
    return np.searchsorted(until, evenly % 1, side="right")[random.permutation(n)].clip(0, len(GRAINS) - 1)


def _within(low: Integers, high: Integers, part: Floats, grain: Integers) -> Integers:
    """A number from each interval, as round as it is to be if the interval has such a number."""
    sizes = np.array([*GRAINS, 10 * GRAINS[-1]])
    while True:
        size = sizes[grain]
        first, last = -(-low // size), (high - 1) // size
        lacking = (first > last) & (grain > 0)
        if not lacking.any():
            break
        grain = grain - lacking
    step = np.minimum(first + (part * (last - first + 1)).astype(np.int64), last)
    rounder = (step * size % sizes[grain + 1] == 0) & (last > first)  # it would be rounder than it is to be
    step = np.where(rounder, np.where(step < last, step + 1, step - 1), step)
    numbers: Integers = step * size
    return numbers
