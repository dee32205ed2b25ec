"""What is asked of each attribute by itself, with which shares of the budget, and what is known of attributes then.

The squares of the shares' mu add up to that of the mu given, at most. Only declarations, released figures and generated cases
decide what is asked next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from libra.engines import attribute_tables as tables
from libra.engines.attribute_tables import Coding, DurationGroup, HasActivity, LengthGroup, OfAttribute, Pair, Side
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import Floats, Integers
from libra.mechanisms.libra.attributes.bins import believed, finer, first_bounds, grains_in, on_simplex, refined
from libra.mechanisms.libra.attributes.missing import believed_missing
from libra.mechanisms.libra.attributes.shares import FIRST_LOOK, shares_of_each
from libra.mechanisms.libra.looks import likeliest_counts
from libra.privacy.calibration import Choice
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable

GRAIN = 0.1  # of the rest, for how round numbers are
STEPS = (0.3, 0.35, 0.35)  # of what is left then, for the steps in which numbers are cut; two where there are few cases
FEW = 100.0  # cases times mu, below which numbers are cut once
RARE = 0.1  # share of the cases: where a single number would need more to be chosen, none is


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedAttribute:
    """What is known of an attribute by itself."""

    attribute: Attribute
    coding: Coding
    texts: tuple[str, ...]  # of the atoms, for a category
    counts: Floats  # how many cases fall into each cell: nowhere negative, and together as many as there are
    sds: Floats  # how far these may be off
    grains: tuple[float, ...] = ()  # of numbers: the share of `GRAINS` that is the largest to divide them

    def renamed(self, texts: Sequence[str]) -> tuple[ReleasedAttribute, Integers]:
        """The same category with these texts, and for each of its cells the one that it was.

        Cells are in the order of the new texts, shorter ones first: that of the old ones would tell what they were.
        """
        order = sorted(range(len(texts)), key=lambda place: (len(texts[place]), texts[place]))
        cells = np.array([0, *(1 + place for place in order), *range(1 + len(texts), len(self.counts))], np.int64)
        names = tuple(texts[place] for place in order)
        return replace(self, texts=names, counts=self.counts[cells], sds=self.sds[cells]), cells

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        return {
            "attribute": self.attribute.to_dict(),
            "atoms": list(self.coding.atoms),
            "bounds": None if self.coding.bounds is None else list(self.coding.bounds),
            "texts": list(self.texts),
            "counts": self.counts.tolist(),
            "sds": self.sds.tolist(),
            "grains": list(self.grains),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ReleasedAttribute:
        """From a JSON document."""
        coding = Coding(tuple(plain["atoms"]), None if plain["bounds"] is None else tuple(plain["bounds"]))
        counts, sds = np.array(plain["counts"], float), np.array(plain["sds"], float)
        attribute, texts = Attribute.from_dict(plain["attribute"]), tuple(plain["texts"])
        if not len(counts) == len(sds) == coding.n_plain or (attribute.kind == "category" and len(texts) != len(coding.atoms)):
            raise ValueError("every cell of an attribute has a count, and every value of a category a text")
        return cls(attribute, coding, texts, counts, sds, tuple(plain["grains"]))


@dataclass(frozen=True, eq=False, repr=False)
class AttributeFigures:
    """What was released about attributes."""

    each: tuple[ReleasedAttribute, ...]
    pairs: tuple[Pair, ...] = ()  # that were looked at
    interactions: tuple[Floats, ...] = ()  # of each pair, beyond what its sides do by themselves
    sd: float = 0.0  # of an interaction

    def renamed(self, number: int, texts: Sequence[str]) -> AttributeFigures:
        """The same with these texts for one of the attributes, a category."""
        one, cells = self.each[number].renamed(texts)
        pairs, tables = [], []
        for pair, table in zip(self.pairs, self.interactions, strict=True):
            sides = list(pair)
            for axis, side in enumerate(pair):
                if isinstance(side, OfAttribute) and side.number == number and side.coding.groups is not None:
                    groups = np.array(side.coding.groups)[cells]
                    was, first, now = np.unique(groups, return_index=True, return_inverse=True)
                    order = np.argsort(first)  # groups in the order of their first cells
                    sides[axis] = replace(side, coding=replace(side.coding, groups=tuple(np.argsort(order)[now].tolist())))
                    table = np.take(table, was[order], axis=axis)
            pairs.append((sides[0], sides[1]))
            tables.append(table)
        each = (*self.each[:number], one, *self.each[number + 1 :])
        return replace(self, each=each, pairs=tuple(pairs), interactions=tuple(tables))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        each, pairs = [one.to_dict() for one in self.each], [[_plain_side(side) for side in pair] for pair in self.pairs]
        return {"each": each, "pairs": pairs, "interactions": [one.tolist() for one in self.interactions], "sd": self.sd}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> AttributeFigures:
        """From a JSON document."""
        each = tuple(map(ReleasedAttribute.from_dict, plain["each"]))
        pairs = tuple((_side(one, each), _side(other, each)) for one, other in plain["pairs"])
        return cls(each, pairs, tuple(np.array(one, float) for one in plain["interactions"]), plain["sd"])


class _Counted(NamedTuple):
    """An attribute as it was counted, and how many cases have no value: what the noise says, and how far it may be off."""

    one: ReleasedAttribute
    missing: float
    sd: float


def release_attributes(
    gate: Gate,
    attributes: Sequence[Attribute],
    mu: float,
    chosen: Mapping[int, Choice],
    scale: int,
    n_cases: float,
    able: Sequence[float],
) -> AttributeFigures:
    """Ask the gate for everything about each attribute of cases by itself; for a log without cases, for nothing.

    `chosen` is how values are chosen, by the number of the attribute; `scale` is what their counts are multiplied with.
    `n_cases` is how many cases there are by the released figures, and `able` which share of them can have a value.
    """
    if n_cases < 1:
        return AttributeFigures(())
    each_mu = mu * np.sqrt(shares_of_each(attributes))
    single = RARE * scale * n_cases
    own = {i: one for i, one in chosen.items() if i < len(attributes)}
    likely = {i: one for i, one in own.items() if attributes[i].kind == "category" or one.threshold < single}
    selected = {i: gate.select_values(i, *one, scale) for i, one in likely.items()}
    each = []
    for number, attribute in enumerate(attributes):
        first = selected.get(number)
        threshold = chosen[number].threshold / scale if number in chosen else 0.0
        rest = float(each_mu[number]) * math.sqrt(1 - (FIRST_LOOK[attribute.kind] if first else 0.0))
        if attribute.kind in ("boolean", "category"):
            each.append(_category(gate, number, attribute, first, threshold, rest, n_cases))
        else:
            each.append(_number(gate, number, attribute, first, threshold, rest, n_cases))
    seen, sds = np.array([found.missing for found in each]), np.array([found.sd for found in each])
    missing = believed_missing(seen, sds, n_cases * (1 - np.array(able)), n_cases, [attribute.at for attribute in attributes])
    return AttributeFigures(tuple(_with_missing(found.one, n, n_cases) for found, n in zip(each, missing.tolist(), strict=True)))


def _with_missing(one: ReleasedAttribute, missing: float, n_cases: float) -> ReleasedAttribute:
    """The attribute with so many cases without a value; all others have one of the cells in which there is anything."""
    there = one.counts[1:] > 0
    if not there.any():
        return one
    return replace(one, counts=np.append(missing, on_simplex(one.counts[1:], n_cases - missing, there)))


def in_places(figures: AttributeFigures) -> AttributeFigures:
    """The figures with categories as places among their released texts.

    The gate is asked in the engine's numbers, which count all texts of the log: how many are not released must not come out.
    """

    def renumbered(coding: Coding, number: int) -> Coding:
        one = figures.each[number]
        return replace(coding, atoms=tuple(range(len(one.texts)))) if one.attribute.kind == "category" else coding

    def renumbered_side(side: Side) -> Side:
        return replace(side, coding=renumbered(side.coding, side.number)) if isinstance(side, OfAttribute) else side

    each = tuple(replace(one, coding=renumbered(one.coding, number)) for number, one in enumerate(figures.each))
    pairs = tuple((renumbered_side(one), renumbered_side(other)) for one, other in figures.pairs)
    return replace(figures, each=each, pairs=pairs)


First = tuple[Integers, NoisyTable] | None


def _counts(gate: Gate, side: OfAttribute, mu: float, n_cases: float) -> tuple[Floats, float]:
    """How many cases fall into each cell of an attribute, and the noise."""
    found = gate.release(tables.ValueCounts(side), mu)
    return found.values - found.values.mean() + n_cases / side.n_cells, found.sd


def _category(
    gate: Gate, number: int, attribute: Attribute, first: First, threshold: float, mu: float, n_cases: float
) -> _Counted:
    if attribute.kind == "boolean":
        coding, texts = Coding((0, 1), None), tuple[str, ...]()
    elif first is None:
        texts = attribute.values or ()
        coding = Coding(tuple(range(len(texts))))
    else:
        coding, texts = Coding(tuple(first[0].tolist())), gate.texts_of(number, first[0])
    counts, sd = _counts(gate, OfAttribute(number, coding), mu, n_cases)
    missing, sds = float(counts[0]), np.full(len(counts), sd)
    if first is not None and len(first[0]):
        _look_again(counts, sds, first[1], threshold)
    return _Counted(ReleasedAttribute(attribute, coding, texts, on_simplex(counts, n_cases), sds), missing, sd)


def _look_again(counts: Floats, sds: Floats, first: NoisyTable, threshold: float) -> None:
    """Bring the counts of chosen values together with those by which they were chosen."""
    atoms = slice(1, 1 + len(first.values))
    second = NoisyTable(np.rint(counts[atoms] * first.scale).astype(np.int64), first.scale, float(sds[0]))
    counts[atoms] = likeliest_counts(first, second, threshold)
    sds[atoms] = 1 / math.hypot(1 / first.sd, 1 / float(sds[0]))


def _number(gate: Gate, number: int, attribute: Attribute, first: First, threshold: float, mu: float, n_cases: float) -> _Counted:
    """Numbers in cells that become finer step by step."""
    atoms = () if first is None else tuple(first[0].tolist())
    steps = STEPS if n_cases * mu >= FEW else STEPS[:2]
    mus = [mu * math.sqrt((1 - GRAIN) * step / sum(steps)) for step in steps]
    coding = Coding(atoms, first_bounds(attribute))
    counts, sd = _counts(gate, OfAttribute(number, coding), mus[0], n_cases)
    looks = [(float(counts[0]), sd)]
    sds, intervals = np.full(len(counts), sd), slice(1 + len(atoms), None)
    if first is not None and atoms:
        _look_again(counts, sds, first[1], threshold)
    bounded = attribute.lowest is not None and attribute.highest is not None
    there = np.ones(len(counts), bool)
    there[intervals] = believed(counts[intervals], sd, bounded=bounded)
    counts = on_simplex(counts, n_cases, there)
    for at in mus[1:]:
        coding, parent = finer(coding, counts, 1 / at, attribute)
        found, sd = _counts(gate, OfAttribute(number, coding), at, n_cases)
        looks.append((float(found[0]), sd))
        there = there[parent]
        counts, sds = refined(counts, sds, np.where(there, found, 0.0), sd, parent)
        counts = on_simplex(counts, n_cases, there)
    round_ones = gate.release(tables.ValueGrains(OfAttribute(number, coding)), mu * math.sqrt(GRAIN))
    released = ReleasedAttribute(attribute, coding, (), counts, sds, grains_in(round_ones, float(counts[intervals].sum())))
    trust = sum(sd**-2 for _, sd in looks)
    return _Counted(released, sum(missing * sd**-2 for missing, sd in looks) / trust, trust**-0.5)


def _plain_side(side: Side) -> list[Any]:
    if isinstance(side, OfAttribute):
        return ["attribute", side.number, list(side.coding.groups or ())]
    if isinstance(side, HasActivity):
        return ["has", side.code]
    return ["length" if isinstance(side, LengthGroup) else "duration", list(side.bounds)]


def _side(plain: Sequence[Any], each: Sequence[ReleasedAttribute]) -> Side:
    if plain[0] == "attribute":
        coding = each[plain[1]].coding
        return OfAttribute(plain[1], Coding(coding.atoms, coding.bounds, tuple(plain[2])))
    if plain[0] == "has":
        return HasActivity(plain[1])
    return (LengthGroup if plain[0] == "length" else DurationGroup)(tuple(plain[1]))
