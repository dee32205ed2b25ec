"""Which attributes go together, and with what happens in a case: pairs are chosen by noisy scores and then measured.

A score is how far the counts of a pair are from what one would expect without it: from the counts of each attribute by itself,
from the cases that were generated, and from where values stand. An attribute that stands on an activity has no value in cases
without it; that is known, and is no reason to choose a pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from libra.engines import attribute_tables as tables
from libra.engines.attribute_tables import Coding, DurationGroup, HasActivity, LengthGroup, OfAttribute, Pair, Side
from libra.engines.counting.attributes import cells_of, combinations, durations
from libra.eventlog.cases import Cases, Floats, Integers
from libra.mechanisms.libra.attributes.release import AttributeFigures, ReleasedAttribute
from libra.mechanisms.libra.attributes.shares import CHOICE, PAIRS
from libra.privacy.gate import Gate

MOST_PAIRS, MOST_ASKED = 8, 2_000  # for each attribute; of which one may ask whether they go together, evenly from all
MEAN = math.sqrt(2 / math.pi)  # of how far normal noise is off, in standard deviations
GROUPS = (3, 60)  # how many groups of cells an attribute may have in pairs
GROUP_WORTH, CELL_WORTH = 25.0, 2.0  # cases times mu for each group beside a feature, or each cell of a pair of attributes
SMOOTH_WORTH = 8.0  # the same for each cell of intervals: neighbours are alike, so fewer say more
USUAL_PAIRS = 4  # for each attribute, by whose noise groups are made
SHARED = (0.02, 0.98)  # share of cases that have an activity, for whether they have it to be worth asking about
MOST_FEATURES = 40
SOME = 20_000  # cases that say which features are worth asking about


@dataclass(frozen=True, eq=False, repr=False)
class _Known:
    """What is known of a side before pairs are looked at: for each kind of generated case, the shares of its cells."""

    kind: Integers  # of each case, or combination: its cell, for a feature; whether it can have a value, for an attribute
    shares: Floats  # a row for each kind
    off: float  # how far the counts of its cells may be off together


def with_pairs(
    gate: Gate, figures: AttributeFigures, able: Sequence[Integers], mu: float, like: Cases, n_cases: float
) -> AttributeFigures:
    """The figures with those of the pairs that go together most.

    `like` are cases that were generated, in the codes of the gate, and `able` says for each attribute which of them can have a
    value; `n_cases` is how many figures say there are.
    """
    each, mu_pairs = figures.each, mu * math.sqrt(PAIRS)
    if not each or not len(like):
        return figures
    told = n_cases * mu_pairs / math.sqrt(USUAL_PAIRS * len(each))
    values, smooth = max(told / GROUP_WORTH, math.sqrt(told / CELL_WORTH)), math.sqrt(told / SMOOTH_WORTH)
    fine, coarse = ([_side(i, one, values, parts) for i, one in enumerate(each)] for parts in (values, smooth))
    known: dict[Side, _Known] = {
        side: _of_attribute(side, each[side.number], able[side.number], n_cases) for side in (*fine, *coarse)
    }
    features = {side: _Known(cells, np.eye(side.n_cells), 0.0) for side, cells in cells_of(like, features_of(like)).items()}
    known |= features
    first, times, _ = combinations([one.kind for one in known.values()], [len(one.shares) for one in known.values()], len(like))
    known = {side: replace(one, kind=one.kind[first]) for side, one in known.items()}
    pairs: list[Pair] = []
    for i, side in enumerate(fine):
        pairs += [*product([side], fine[i + 1 :]), *product([coarse[i]], coarse[i + 1 :]), *product([side], features)]
    pairs = list(dict.fromkeys(pairs))
    pairs = [pair for pair in pairs if min(side.n_cells for side in pair) > 1]
    pairs = [pairs[i] for i in np.unique(np.linspace(0, len(pairs) - 1, MOST_ASKED).astype(np.int64))] if pairs else []
    if not pairs:
        return figures
    chosen = _chosen(gate, pairs, known, times / len(like) * n_cases, mu, len(each))
    found = gate.release(chosen, mu_pairs)
    ends = np.cumsum([one.n_cells * other.n_cells for one, other in chosen.pairs])
    parts = zip(np.split(found.values, ends[:-1]), chosen.pairs, strict=True)
    interactions = tuple(part.reshape(one.n_cells, other.n_cells) for part, (one, other) in parts)
    return replace(figures, pairs=chosen.pairs, interactions=interactions, sd=found.sd)


def _side(number: int, one: ReleasedAttribute, most: float, smooth: float) -> OfAttribute:
    return OfAttribute(number, grouped(one, *np.clip((most, smooth), *GROUPS).astype(int).tolist()))


def _chosen(
    gate: Gate, pairs: list[Pair], known: dict[Side, _Known], cases: Floats, mu: float, attributes: int
) -> tables.Interactions:
    """As many of the pairs that go together most as leave the smallest error, of those that are measured and all others.

    A dependence that is not measured is lost. What is left of one that is measured is about its noise, or the dependence itself
    where that is smaller; each more pair means more noise for all.
    """
    without = [_expected(known[one], known[other], cases) for one, other in pairs]
    expected = np.rint(np.concatenate([one.ravel() for one in without])).astype(np.int64)
    scores = gate.release_scores(tables.PairCounts(tuple(pairs)), expected, mu * math.sqrt(CHOICE)).values
    by_chance = np.array([MEAN * float(np.sqrt(one).sum()) for one in without])
    by_noise = np.array([MEAN * (known[one].off + known[other].off) for one, other in pairs])
    lost = np.maximum(scores - np.hypot(by_chance, by_noise), 0.0)
    lost = np.maximum(lost, _implied(pairs, lost, float(cases.sum())))
    norms = np.array([tables.Interactions((pair,)).clip for pair in pairs])
    noise = np.array([MEAN * one.n_cells * other.n_cells for one, other in pairs]) / (mu * math.sqrt(PAIRS))
    usual = noise * float(norms.mean()) * math.sqrt(USUAL_PAIRS * attributes)
    order = np.argsort(_left(lost, usual) - lost, kind="stable")
    best: dict[tuple[object, ...], int] = {}  # of two codings of a pair
    for i in order.tolist():
        best.setdefault(tuple(_what(side) for side in pairs[i]), i)
    order = np.array(list(best.values()))[: MOST_PAIRS * attributes]
    if_up_to = np.sqrt(np.cumsum(norms[order] ** 2))[:, None]  # that many pairs are measured: a row each
    gained = np.tril(lost[order] - _left(lost[order], if_up_to * noise[order])).sum(axis=1)
    taken = np.sort(order[: 1 + int(np.argmax(gained))])
    return tables.Interactions(tuple(pairs[i] for i in taken))


def _implied(pairs: Sequence[Pair], lost: Floats, n_cases: float) -> Floats:
    """What two pairs with a side in common say about a third one, which has to be measured if nothing of it is true."""
    place = {what: i for i, what in enumerate(dict.fromkeys(_what(side) for pair in pairs for side in pair))}
    one, other = np.array([[place[_what(side)] for side in pair] for pair in pairs]).T
    strength = np.zeros((len(place), len(place)))
    np.maximum.at(strength, (one, other), lost / n_cases)
    strength = np.maximum(strength, strength.T)
    implied = np.array([(row * strength).max(axis=1) for row in strength])
    found: Floats = n_cases * implied[one, other]
    return found


def _what(side: Side) -> object:
    """What a side is about, however it is grouped."""
    return side.number if isinstance(side, OfAttribute) else side


def _left(lost: Floats, noise: Floats) -> Floats:
    """What is left of dependences that are measured with some noise."""
    left: Floats = lost * noise / np.maximum(np.hypot(lost, noise), 1e-9)
    return left


def _of_attribute(side: OfAttribute, one: ReleasedAttribute, able: Integers, n_cases: float) -> _Known:
    groups = np.array(side.coding.groups, np.int64)
    counts = np.bincount(groups, one.counts, minlength=side.n_cells)
    off = float(np.sqrt(np.bincount(groups, one.sds**2, minlength=side.n_cells)).sum())
    never = np.zeros(side.n_cells)
    never[groups[0]] = 1.0
    counts = np.maximum(counts - never * n_cases * (1 - able.mean()), 0.0)
    return _Known(able, np.stack((never, counts / max(counts.sum(), 1e-9))), off)


def _expected(one: _Known, other: _Known, cases: Floats) -> Floats:
    """How many of so many cases of each kind fall into pairs of cells, if nothing ties these together but the kinds."""
    rows, columns = len(one.shares), len(other.shares)
    kinds = np.bincount(one.kind * columns + other.kind, cases, rows * columns).reshape(rows, columns)
    found: Floats = one.shares.T @ kinds @ other.shares
    return found


def grouped(one: ReleasedAttribute, most: int, smooth: int | None = None) -> Coding:
    """The cells of an attribute in so many groups at most.

    Values that many cases have are by themselves. All others are one group, of categories; of numbers they are divided by size
    into groups of about as many cases, so many of them if they were all there is.
    """
    coding, counts = one.coding, one.counts
    n_atoms, number = 1 + len(coding.atoms), one.attribute.kind in ("number", "date")
    groups = np.full(len(counts), -1)
    total = max(float(counts.sum()), 1e-9)
    large = np.argsort(-counts[:n_atoms], kind="stable")[: most - 1]
    large = large[counts[large] >= (total / most if number else 1e-9)]
    groups[np.sort(large)] = np.arange(len(large))
    rest = np.flatnonzero(groups < 0)
    if number and len(rest):
        begins = np.concatenate(([-np.inf], coding.arrays[1])) if coding.bounds is not None else np.zeros(0)
        where = np.concatenate(([-np.inf], coding.arrays[0], begins))
        rest = rest[np.lexsort((rest, where[rest]))]
        inner = counts[rest]
        middle = (np.cumsum(inner) - inner / 2) / max(float(inner.sum()), 1e-9)
        parts = max(min(most - len(large), math.ceil((smooth or most) * float(inner.sum()) / total)), 1)
        groups[rest] = len(large) + np.minimum((middle * parts).astype(np.int64), parts - 1)
    groups[groups < 0] = len(large)
    return Coding(coding.atoms, coding.bounds, tuple(np.unique(groups, return_inverse=True)[1].tolist()))


def features_of(like: Cases) -> list[Side]:
    """What attributes may depend on: whether cases have an activity, how many events they have and how long they take."""
    some = like.take(np.arange(0, len(like), max(len(like) // SOME, 1)))
    share = np.array([np.count_nonzero(np.diff(rows, prepend=-1)) for rows in some.by_label]) / max(len(some), 1)
    balanced = np.argsort(np.abs(share - 0.5), kind="stable")[:MOST_FEATURES]
    found: list[Side] = [HasActivity(int(code)) for code in np.sort(balanced) if SHARED[0] <= share[code] <= SHARED[1]]
    for kind, values, parts in ((LengthGroup, some.lengths, 3), (DurationGroup, durations(some), 4)):
        cuts = np.unique(np.quantile(values, np.arange(1, parts) / parts, method="higher"))
        bounds = tuple(int(cut) for cut in cuts if cut > values.min())
        if bounds:
            found.append(kind(bounds))
    return found
