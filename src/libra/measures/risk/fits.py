"""Which variants fit questions about activities: as a set, as a multiset, and in order.

In: a `Block` of variants and questions, one a row, with `NONE` where no more is known. Out: for every question and every variant
whether it fits. Both ways to look for an order give the same; the one is faster where few variants have all activities at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from libra.measures.distances import Floats, Integers
from libra.measures.risk.block import Block
from libra.measures.risk.knowledge import NONE, how_manieth

DEARER, AN_ACTIVITY = 25, 10_000  # what it costs to look up one pair by itself, and an activity for all, in cells
Fits = npt.NDArray[np.bool_]


def as_set(block: Block, questions: Integers) -> Fits:
    """Whether a variant has all these activities."""
    return _often_enough(block, questions, (questions != NONE).astype(np.int64))


def as_multiset(block: Block, questions: Integers) -> Fits:
    """Whether a variant has all these activities, each at least as often."""
    return _often_enough(block, questions, how_manieth(questions))


def in_order(block: Block, questions: Integers) -> Fits:
    """Whether a variant has these activities in this order, whatever lies between: each is sought from after the one before."""
    fit = as_multiset(block, questions)
    pairs, activities = np.flatnonzero(fit), len(np.unique(questions))
    if DEARER * len(pairs) < fit.size + activities * (AN_ACTIVITY + block.given_up):
        fit[:] = False
        fit[_those_in_order(block, questions, *np.divmod(pairs, fit.shape[1]))] = True
        return fit
    place, before = block.begins[None], np.zeros(len(questions), np.int64)
    for known in range(questions.shape[1]):  # questions that begin alike go the same way so far
        ways, first, way = np.unique(questions[:, : known + 1], axis=0, return_index=True, return_inverse=True)
        place = np.stack(
            [_after(block, activity, place[row]) for activity, row in zip(ways[:, -1].tolist(), before[first], strict=True)]
        )
        before = way
    return np.not_equal(place, block.given_up)[before]


def sums(fit: Fits, weights: Floats) -> Floats:
    """For each question the summed weights of the variants that fit."""
    if DEARER * np.count_nonzero(fit) > fit.size:
        return fit @ weights
    question, variant = np.divmod(np.flatnonzero(fit), fit.shape[1])
    return np.column_stack([np.bincount(question, one, minlength=len(fit)) for one in weights[variant].T])


def _often_enough(block: Block, questions: Integers, times: Integers) -> Fits:
    rows, small = np.searchsorted(block.activities, questions), times.astype(np.uint8)
    fit = np.ones((len(questions), len(block.traces)), bool)
    for column in range(questions.shape[1]):
        fit &= block.counts[rows[:, column]] >= small[:, column, None]
    return fit


def _after(block: Block, activity: int, place: Integers) -> Integers:
    """The places after the next use of an activity."""
    return place if activity == NONE else block.after_next(activity)[place]


def _those_in_order(block: Block, questions: Integers, question: Integers, variant: Integers) -> tuple[Integers, Integers]:
    """Of these questions and variants those that fit, each looked up by itself."""
    place = block.begins[variant]
    for column in questions.T:
        activity = column[question]
        place = np.where(activity == NONE, place, block.after_next_of(activity, place, variant))
        goes_on = place != block.given_up
        question, variant, place = question[goes_on], variant[goes_on], place[goes_on]
    return question, variant
