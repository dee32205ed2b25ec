"""From released figures to values of the events that were generated: a chain along each case.

Whether an event has a value depends on its activity. Which one depends on its activity and on the value before it in its case:
the probability of a value is proportional to a weight for the row of its activity times a weight for the two values. Weights are
fitted so that, along the generated cases, values by activity and values by the one before are expected as often as the denoised
tables say. Values are dealt out by evenly spread numbers instead of by chance. Pure post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from libra._system.randomness import Randomness
from libra.engines.event_tables import NOWHERE
from libra.eventlog.cases import MISSING, Cases, Floats, Integers
from libra.mechanisms.libra.attributes.bins import on_simplex
from libra.mechanisms.libra.attributes.events import ReleasedEvents
from libra.mechanisms.libra.attributes.fit import dealt_evenly, values_in
from libra.mechanisms.libra.attributes.release import ReleasedAttribute
from libra.mechanisms.libra.times.histogram import KNOWN, denoise, tree

SOME_EVENTS = 20_000  # of generated cases, that weights are fitted to
LONGEST = 200  # values of a case that weights are fitted to
ROUNDS, DAMPED, LARGEST = 40, 0.7, 5.0  # of the search for weights; how far each goes, and the largest step
CLOSE = 1e-3  # total variation between what is expected and what is wanted, at which it ends
LEAST = 1e-6  # a share that is worth having
STANDS_OUT = 4.0  # standard deviations: of the values of an activity for it to have any, and likewise of those that are missing
RARELY = 0.2  # of all events are without a value: then an activity of which nothing is certain has values as well
EXTREME = 1e6  # of weights

Step = Integers  # the events at one position of cases


@dataclass(frozen=True, eq=False, repr=False)
class EventModel:
    """How the values of an attribute of events are distributed along a case."""

    of: ReleasedAttribute
    rows: Integers  # for every label; `NOWHERE` where its events have no value
    without: Floats  # for every row the share of events without a value
    by_row: Floats  # weights of groups of values, a row each
    by_last: Floats | None  # weights of groups of values, a row for each group before; None where it makes no difference
    within: tuple[tuple[Integers, Floats], ...]  # for every group its cells, and their weights


def fitted_events(one: ReleasedEvents, like: Cases, random: Randomness) -> EventModel:
    """The model of an attribute, fitted to generated cases in the codes that `rows` are for."""
    step = max(len(like.codes) // SOME_EVENTS, 1)
    like = like.take(np.arange(0, len(like), step)) if step > 1 else like
    rows = np.array((*one.rows, NOWHERE), np.int64)
    counted = rows[like.codes][rows[like.codes] >= 0]
    uses = np.bincount(counted, minlength=len(one.by_row)).astype(float)
    without = _without(one, uses)
    there = np.bincount(one.groups, one.of.counts)[1:] > 0  # in groups of intervals that are not believed there is only noise
    by_row = _by_row(one, uses * (1 - without)) * (there | ~there.any())
    by_row /= by_row.sum(axis=1, keepdims=True)
    within, order = [], np.argsort(one.groups, kind="stable")
    ends = np.searchsorted(np.array(one.groups)[order], np.arange(1, by_row.shape[1] + 2))
    for begin, end in pairwise(ends.tolist()):
        cells = order[begin:end]
        counts = one.of.counts[cells]
        within.append((cells, counts if counts.sum() > 0 else np.ones(len(cells))))
    model = EventModel(one.of, rows, without, by_row, None, tuple(within))
    if one.following is None:
        return model
    by_row, by_last = _fit(by_row, _following(one), _with_value(model, like, random)[1])
    return replace(model, by_row=by_row, by_last=by_last)


def _without(one: ReleasedEvents, uses: Floats) -> Floats:
    """For every row the share of events without a value; `uses` are the events of each row in the generated cases."""
    (table, sd), (values, values_sd) = (one.fills, one.fills_sd), (one.by_row.sum(axis=1), one.by_row_sd)
    values_sd *= np.sqrt(one.by_row.shape[1])
    has = (table[:, 1] / sd**2 + values / values_sd**2) / np.hypot(1 / sd, 1 / values_sd) > STANDS_OUT
    lacks = table[:, 0] > STANDS_OUT * sd
    if one.of.counts[1:].sum() <= 0 or not has.any():
        return np.ones(len(table))  # no value stands out
    overall, totals = on_simplex(table.sum(axis=0), max(float(table.sum()), sd)), _totals(table, sd, uses)
    shares = denoised_rows(table, sd, totals, overall / overall.sum(), np.zeros(len(table), np.int64))[:, 0]
    if not lacks.any() and table[:, 0].sum() < STANDS_OUT * sd * np.sqrt(len(table)):
        shares[:] = 0.0  # that any event has none does not stand out
    shares[~has & (lacks | (overall[0] > RARELY * overall.sum()))] = 1.0  # that one of the row has any does not
    return shares


def _by_row(one: ReleasedEvents, uses: Floats) -> Floats:
    """For every row the shares of groups of values; `uses` are the events with a value of each row in the generated cases."""
    table, sd = one.by_row, one.by_row_sd
    overall = on_simplex(table.sum(axis=0), max(float(table.sum()), sd))
    overall /= overall.sum()
    shares = denoised_rows(table, sd, _totals(table, sd, uses), overall, np.full(len(table), int(np.argmax(overall))))
    shares = shares + LEAST * overall + LEAST**2
    found: Floats = shares / shares.sum(axis=1, keepdims=True)
    return found


def _totals(table: Floats, sd: float, uses: Floats) -> Floats:
    """What each row has to divide: its noisy sum, or where that is lost in noise, as much as its share of events says."""
    total = max(float(table.sum()), sd)
    held = on_simplex(table.sum(axis=1), total)
    clear = held > 2 * sd * np.sqrt(table.shape[1])
    return np.maximum(np.where(clear, held, uses * total / max(float(uses.sum()), 1.0)), LEAST)


def _following(one: ReleasedEvents) -> Floats:
    """Shares of pairs of groups of values that follow each other."""
    table = np.zeros((1, 1)) if one.following is None else one.following
    total = max(float(table.sum()), one.following_sd)
    before, after = (np.maximum(on_simplex(table.sum(axis=axis), total), LEAST) for axis in (1, 0))
    shares = denoised_rows(table, one.following_sd, before, after / after.sum(), np.arange(len(table)))
    pairs = shares * before[:, None]
    found: Floats = pairs / pairs.sum()
    return found


def denoised_rows(table: Floats, sd: float, totals: Floats, expected: Floats, apart: Integers) -> Floats:
    """The shares of the cells of each row, by a Polya tree that first divides one cell, `apart`, from all others.

    `totals` are what the rows have to divide, `expected` the shares of all cells over all rows. Cells of about the same expected
    share are next to each other.
    """
    rows, cells = table.shape
    if cells == 1:
        return np.ones((rows, 1))
    order = np.argsort(-expected, kind="stable")
    others = np.stack([order[order != first] for first in apart.tolist()]) if rows else np.zeros((0, cells - 1), np.int64)
    half = 1 << (cells - 2).bit_length()
    values, variances = np.zeros((rows, 2 * half)), np.full((rows, 2 * half), KNOWN)
    row, right = np.arange(rows), slice(half, half + cells - 1)
    values[row, 0], variances[row, 0] = table[row, apart], sd**2
    values[:, right], variances[:, right] = np.take_along_axis(table, others, axis=1), sd**2
    stays = float(np.clip(np.maximum(table[row, apart], 0.0).sum() / max(totals.sum(), 1e-9), 0.02, 0.98))
    rest = np.take_along_axis(np.broadcast_to(expected, table.shape), others, axis=1).mean(axis=0) + LEAST
    shares = np.zeros(2 * half)
    shares[0], shares[right] = stays, (1 - stays) * rest / rest.sum()
    found = denoise(tree(values, variances), shares, totals)
    result = np.zeros_like(table)
    result[row, apart] = found[:, 0]
    np.put_along_axis(result, others, found[:, right], axis=1)
    return result


def _fit(by_row: Floats, pairs: Floats, cases: Cases) -> tuple[Floats, Floats]:
    """Weights by row and by the value before, so that both are expected as often as is wanted; codes of cases are rows."""
    wanted, alone = by_row, np.multiply.outer(pairs.sum(axis=1), pairs.sum(axis=0))
    by_last = np.clip((pairs + LEAST**2) / np.maximum(alone, LEAST**2), 1 / EXTREME, EXTREME)
    steps = _positions(cases)[:LONGEST]
    for _ in range(ROUNDS if len(steps) > 1 else 0):
        expected, following = _expected(by_row, by_last, cases.codes, steps)
        aims, aim = expected.sum(axis=1, keepdims=True) * wanted, following.sum() * pairs
        total = float(expected.sum())
        if np.abs(aims - expected).sum() + np.abs(aim - following).sum() < 2 * CLOSE * total:
            break
        little = LEAST * total
        by_row = by_row * np.clip((aims + little) / (expected + little), 1 / LARGEST, LARGEST) ** DAMPED
        by_row /= by_row.sum(axis=1, keepdims=True)
        by_last = by_last * np.clip((aim + little) / (following + little), 1 / LARGEST, LARGEST) ** DAMPED
        by_last = np.clip(by_last / np.exp(np.log(by_last).mean()), 1 / EXTREME, EXTREME)
    return by_row, by_last


def _expected(by_row: Floats, by_last: Floats, row: Integers, steps: Sequence[Step]) -> tuple[Floats, Floats]:
    """How often each group of values is expected in each row, and after each other one."""
    found, following = np.zeros((len(row), by_row.shape[1])), np.zeros_like(by_last)
    state = found
    for events in steps:
        weights = by_row[row[events]]
        if state is found:
            state = weights
        else:
            chances = state[: len(events)] / (weights @ by_last.T)
            state = chances @ by_last * weights
            following += by_last * (chances.T @ weights)
        found[events] = state
    reached = np.concatenate(steps)
    order = reached[np.argsort(row[reached], kind="stable")]
    rows, first = np.unique(row[order], return_index=True)
    expected = np.zeros_like(by_row)
    expected[rows] = np.add.reduceat(found[order], first, axis=0)
    return expected, following


def _positions(cases: Cases) -> list[Step]:
    """For each position the events that cases have there, longest cases first: one case is at the same place in all of them."""
    order = np.argsort(-cases.lengths, kind="stable")
    many = np.searchsorted(-cases.lengths[order], -np.arange(cases.lengths.max(initial=0)), side="left")
    return [cases.offsets[order[:n]] + position for position, n in enumerate(many.tolist())]


def _with_value(model: EventModel, cases: Cases, random: Randomness) -> tuple[Integers, Cases]:
    """The events that are to have a value, and the cases without all others, with rows in place of codes."""
    row = model.rows[cases.codes]
    events = np.flatnonzero(row >= 0)
    shares = np.stack((model.without, 1 - model.without), axis=1)
    events = events[dealt_evenly(shares, row[events], random) == 1]
    offsets = np.searchsorted(events, cases.offsets)
    nothing = np.zeros(len(cases), np.int64)
    return events, Cases(row[events], cases.micros[events], offsets, nothing, len(model.by_row))


def deal_events(model: EventModel, cases: Cases, random: Randomness) -> Integers:
    """A value for every event of generated cases, `MISSING` where it has none; of a counter, the sum of its increments."""
    events, some = _with_value(model, cases, random)
    if model.by_last is None:
        group = dealt_evenly(model.by_row, some.codes, random)
    else:
        group = _chained(model.by_row, model.by_last, some, random)
    cell = np.zeros(len(events), np.int64)
    for number, (cells, shares) in enumerate(model.within):
        here = np.flatnonzero(group == number)
        cell[here] = cells[dealt_evenly(shares[None, :], np.zeros(len(here), np.int64), random)] if len(cells) > 1 else cells[0]
    values = np.full(len(cases.codes), MISSING)
    values[events] = values_in(model.of, cell, random)
    return _summed(model.of, values, events, some.offsets) if model.of.attribute.counter else values


def _chained(by_row: Floats, by_last: Floats, cases: Cases, random: Randomness) -> Integers:
    """The group of every event, from its row and the group before it."""
    group, n_groups, last = np.zeros(len(cases.codes), np.int64), len(by_last), np.zeros(0, np.int64)
    for position, here in enumerate(_positions(cases)):
        row = cases.codes[here]
        if not position:
            last = dealt_evenly(by_row, row, random)
        else:
            seen, of_pattern = np.unique(row * n_groups + last[: len(here)], return_inverse=True)
            last = dealt_evenly(by_row[seen // n_groups] * by_last[seen % n_groups], of_pattern, random)
        group[here] = last
    return group


def _summed(one: ReleasedAttribute, values: Integers, events: Integers, offsets: Integers) -> Integers:
    """What a counter says at each of these events, from its increments, within its bounds; `offsets` are those of cases.

    What it says first may be below 0, but it never falls.
    """
    increments = np.maximum(values[events], 0)
    first = offsets[:-1][np.diff(offsets) > 0]
    increments[first] = values[events][first]
    sums = np.concatenate(([0], np.cumsum(increments)))
    before = np.repeat(sums[offsets[:-1]], np.diff(offsets))
    found = values.copy()
    found[events] = np.clip(sums[1:] - before, *one.attribute.bounds)
    return found
