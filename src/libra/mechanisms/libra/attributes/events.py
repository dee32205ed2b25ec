"""What is asked of an attribute of events: which values there are, how they go with activities, and how they follow each other.

A case has a value for each of its events, so it is clipped in every table; histograms of norms say where. Activities that hardly
occur share a row. Numbers are brought into groups of about as many events first. Only declarations, released figures and
generated cases decide what is asked next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from libra._system.arguments import checked
from libra.engines import event_tables as tables
from libra.engines.attribute_tables import Coding
from libra.engines.contract import FINE
from libra.engines.control_flow_tables import NORM_BINS
from libra.engines.event_tables import NOWHERE, OfEvents
from libra.engines.sequences import starts_among
from libra.eventlog.attributes import Attribute, by_level
from libra.eventlog.cases import Cases, Floats, Integers
from libra.mechanisms.libra.attributes.bins import believed, finer, first_bounds, grains_in, on_simplex, refined
from libra.mechanisms.libra.attributes.pairs import grouped
from libra.mechanisms.libra.attributes.release import RARE, ReleasedAttribute
from libra.mechanisms.libra.attributes.shares import EVENT_CHOICE, EVENT_FILLS, EVENT_GRAINS, EVENT_NORMS, EVENT_NUMBERS
from libra.mechanisms.libra.tail.release import best_clip, last_bin
from libra.privacy.calibration import Choice
from libra.privacy.gate import Gate

MOST_VALUES = 100  # of a category, that are chosen
MOST_FOLLOWING = 300  # values that may be declared for next values to be asked for: the table has a cell for every pair
SCARCE = 2.0  # events times mu, below which activities share a row
SMALLEST_CLIP = 1.0
TABLES = ("fills", "by_row", "following")
USUAL = 0.75  # of generated cases
# How many cells noise is counted on when a clip is chosen, and how much it weighs that large cases are scaled down. 200 to 1000
# cells are as good for next values on the public logs; fewer, and so larger clips, are worse by a tenth and more.
CELLS, NEXT_CELLS, CUT_OFF = 100, 400, 0.75
GROUPS, GROUP_WORTH = (3, 16), 4.0  # how many groups numbers may be in; standard deviations of the noise for each


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedEvents:
    """What is known of an attribute of events."""

    of: ReleasedAttribute  # its cells, and about how many events fall into each
    groups: tuple[int, ...]  # for every cell the group that tables count in its place; 0 is that of events without a value alone
    rows: tuple[int, ...]  # for every label the row of its events; `NOWHERE` for starts, which have no values
    fills: Floats  # noisy counts of events without and with a value, by row; cases are clipped here and below
    fills_sd: float
    by_row: Floats  # noisy counts of events by row and group of values
    by_row_sd: float
    following: Floats | None = None  # noisy counts of groups of values that follow each other; None where there is one group
    following_sd: float = 0.0

    def in_places(self) -> ReleasedEvents:
        """The same with categories as places among their released texts, as in `release.in_places`."""
        coding = replace(self.of.coding, atoms=tuple(range(len(self.of.texts))))
        return replace(self, of=replace(self.of, coding=coding)) if self.of.attribute.kind == "category" else self

    def renamed(self, texts: Sequence[str]) -> ReleasedEvents:
        """The same category under these names, in an order that follows from them alone."""
        of, cells = self.of.renamed(texts)
        values = cells[1:] - 1
        following = None if self.following is None else self.following[np.ix_(values, values)]
        return replace(self, of=of, by_row=self.by_row[:, values], following=following)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in vars(self).items()}
        following = None if self.following is None else self.following.tolist()
        arrays = {"fills": self.fills.tolist(), "by_row": self.by_row.tolist(), "following": following}
        return plain | {"of": self.of.to_dict()} | arrays

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> ReleasedEvents:
        """From a JSON document."""
        of, groups, rows = ReleasedAttribute.from_dict(plain["of"]), tuple(plain["groups"]), tuple(plain["rows"])
        fills, by_row = np.array(plain["fills"], float), np.array(plain["by_row"], float)
        following = None if plain["following"] is None else np.array(plain["following"], float)
        n_values, n_rows = max(groups), max(rows, default=NOWHERE) + 1
        if len(groups) != of.coding.n_plain or groups[0] or set(groups[1:]) != set(range(1, n_values + 1)):
            raise ValueError("every cell of an attribute of events has a group, and events without a value have their own")
        if fills.shape != (n_rows, 2) or by_row.shape != (n_rows, n_values) or min(rows, default=0) < NOWHERE:
            raise ValueError("every row of an attribute of events has a count for each group")
        if following is not None and following.shape != (n_values, n_values):
            raise ValueError("every group of values may follow every other")
        if not all(np.isfinite(table).all() for table in (fills, by_row, of.counts, *([] if following is None else [following]))):
            raise ValueError("counts are numbers")
        if of.attribute.level != "event" or not all(type(one) is int for one in (*groups, *rows)):
            raise ValueError("attributes of events are of events, and rows and groups are whole numbers")
        drawn = TABLES if following is not None else TABLES[:2]
        noise = [checked("noise", plain[f"{name}_sd"], lambda sd: sd > 0, "above 0") for name in drawn]
        return cls(of, groups, rows, fills, noise[0], by_row, noise[1], following, *noise[2:])


def release_events(
    gate: Gate, attributes: Sequence[Attribute], mu: float, chosen: Mapping[int, Choice], labels: Sequence[str], like: Cases,
    n_cases: float,
) -> tuple[ReleasedEvents, ...]:  # fmt: skip
    """Ask the gate for everything about attributes of events, each with this mu; of a log without cases, for nothing.

    `attributes` are all, those of cases too; `chosen` is how values are chosen, by the number of the attribute among all. `like`
    are cases that were generated, in the codes of `labels`; `n_cases` is how many there are by the released figures.
    """
    first = len(by_level(attributes)[0])
    numbers = range(first, len(attributes)) if len(like) else ()
    every = [_Asked(gate, number - first, number, attributes[number], mu, labels, like, n_cases) for number in numbers]
    return tuple(_released(ask, chosen.get(ask.overall)) for ask in every)


def _released(ask: _Asked, choice: Choice | None) -> ReleasedEvents:
    gate, attribute, mu = ask.gate, ask.attribute, ask.mu
    numeric = attribute.kind in ("number", "date")
    likely = choice is not None and (not numeric or choice.threshold < RARE * FINE * ask.n_cases)
    chosen = gate.select_event_values(ask.number, *choice, FINE, MOST_VALUES) if choice is not None and likely else None
    left = 1 - EVENT_FILLS - EVENT_NORMS - (EVENT_CHOICE[attribute.kind] if likely else 0.0)
    one, norms = (ask.numbers(chosen), EVENT_NORMS / 3) if numeric else (ask.categories(chosen), EVENT_NORMS / 2)
    left -= EVENT_NUMBERS + EVENT_GRAINS if numeric else 0.0
    groups = ask.groups(one, left) if numeric else tuple(range(one.coding.n_plain))
    side = OfEvents(ask.number, replace(one.coding, groups=groups), ask.rows(mu * math.sqrt(left / 2)))
    several = 1 < side.n_values <= MOST_FOLLOWING  # values that can follow each other
    fills, sizes = tables.EventFills(side, ask.usual_norm(side.rows)), [tables.EventNorms(side)]
    sizes += [tables.EventNorms(side, following=True)] if several else []
    gate.look_ahead(fills, *sizes)
    share = left / 2 if several else left + norms
    filled = gate.release(fills, mu * math.sqrt(EVENT_FILLS))
    clips = [ask.clip(size, norms, cells, share) for size, cells in zip(sizes, (CELLS, NEXT_CELLS), strict=False)]
    kinds: tuple[type[tables.EventCounts | tables.NextCounts], ...] = (tables.EventCounts, tables.NextCounts)
    counts = [kind(side, clip) for kind, clip in zip(kinds, clips, strict=False)]
    gate.look_ahead(*counts)
    by_row, *following = (gate.release(table, mu * math.sqrt(share)) for table in counts)
    if not numeric:
        sums = np.concatenate(([0.0], np.maximum(by_row.values.sum(axis=0), 0.0)))
        one = replace(one, counts=sums, sds=np.full(len(sums), by_row.sd * math.sqrt(side.n_rows)))
    found = ReleasedEvents(one, groups, side.rows, filled.values, filled.sd, by_row.values, by_row.sd)
    return replace(found, following=following[0].values, following_sd=following[0].sd) if following else found


@dataclass(frozen=True, eq=False, repr=False)
class _Asked:
    """One attribute, and what it takes to ask about it."""

    gate: Gate
    number: int  # its place among attributes of events
    overall: int  # its place among all attributes
    attribute: Attribute
    mu: float
    labels: Sequence[str]
    like: Cases
    n_cases: float  # of which `like` may be a part

    def rows(self, mu: float) -> tuple[int, ...]:
        """For every label the row of its events: its own, or one for all that hardly occur."""
        uses = np.bincount(self.like.codes, minlength=len(self.labels)) * (self.n_cases / len(self.like))
        counts = starts_among(self.labels) < 0
        own = counts & (uses * mu >= SCARCE)
        found = np.where(own, np.cumsum(own) - 1, np.where(counts, own.sum(), NOWHERE))
        return tuple(found.tolist())

    def usual_norm(self, rows: tuple[int, ...]) -> float:
        """The norm of the events of a case by row that three of four generated cases stay within."""
        row = np.array(rows, np.int64)[self.like.codes]
        there, width = row >= 0, max(rows, default=NOWHERE) + 1
        keys = (np.repeat(np.arange(len(self.like)), self.like.lengths) * width + row)[there]
        pairs, counts = np.unique(keys, return_counts=True)
        squares = np.bincount(pairs // max(width, 1), counts.astype(float) ** 2, minlength=len(self.like))
        return max(SMALLEST_CLIP, math.sqrt(float(np.quantile(squares, USUAL))))

    def clip(self, table: tables.EventNorms, share: float, cells: int, then: float) -> float:
        """The norm to clip cases to, in a table that gets the share `then` and in which noise is counted on so many cells."""
        norms = self.gate.release(table, self.mu * math.sqrt(share))
        last = last_bin(norms)
        if last is None:
            return SMALLEST_CLIP
        held = on_simplex(norms.values[: last + 1], self.n_cases)
        advised = best_clip(held, cells, self.mu * math.sqrt(then), CUT_OFF)
        return max(SMALLEST_CLIP, min(advised, math.sqrt(NORM_BINS[min(last + 1, len(NORM_BINS) - 1)])))

    def categories(self, chosen: Integers | None) -> ReleasedAttribute:
        """The cells of a category or truth; how many events fall into each is not known yet."""
        if self.attribute.kind == "boolean":
            coding, texts = Coding((0, 1), None), tuple[str, ...]()
        elif chosen is None:
            texts = self.attribute.values or ()
            coding = Coding(tuple(range(len(texts))))
        else:
            coding, texts = Coding(tuple(chosen.tolist())), self.gate.texts_of(self.overall, chosen)
        unknown = np.zeros(coding.n_plain)
        return ReleasedAttribute(self.attribute, coding, texts, unknown, unknown)

    def numbers(self, chosen: Integers | None) -> ReleasedAttribute:
        """The cells of a number, in two steps, and how round it is."""
        coding = Coding(() if chosen is None else tuple(chosen.tolist()), first_bounds(self.attribute))
        everywhere = tuple(np.where(starts_among(self.labels) < 0, 0, NOWHERE).tolist())
        step = EVENT_NUMBERS / 2
        clip = self.clip(tables.EventNorms(OfEvents(self.number, coding, everywhere)), EVENT_NORMS / 3, coding.n_plain, step)

        def counts(table: tables.EventCounts) -> tuple[Floats, float]:
            found = self.gate.release(table, self.mu * math.sqrt(step))
            return np.concatenate(([0.0], found.values[0])), found.sd

        first, sd = counts(tables.EventCounts(OfEvents(self.number, coding, everywhere), clip))
        total, intervals = max(float(first.sum()), 0.0), slice(1 + len(coding.atoms), None)
        bounded = self.attribute.lowest is not None and self.attribute.highest is not None
        there = np.arange(len(first)) > 0
        there[intervals] = believed(first[intervals], sd, bounded=bounded)
        first = on_simplex(first, total, there) if there.any() else np.zeros(len(first))
        coding, parent = finer(coding, first, sd, self.attribute)
        side = OfEvents(self.number, coding, everywhere)
        finer_counts, round_ones = tables.EventCounts(side, clip), tables.EventGrains(side, clip)
        self.gate.look_ahead(finer_counts, round_ones)
        second, sd = counts(finer_counts)
        there = there[parent]
        found, sds = refined(first, np.full(len(first), sd), np.where(there, second, 0.0), sd, parent)
        found = on_simplex(found, total, there) if there.any() else np.zeros(len(found))
        how_round = self.gate.release(round_ones, self.mu * math.sqrt(EVENT_GRAINS))
        return ReleasedAttribute(self.attribute, coding, (), found, sds, grains_in(how_round, float(found[intervals].sum())))

    def groups(self, one: ReleasedAttribute, left: float) -> tuple[int, ...]:
        """The groups of the cells of a number: as many as stand out from the noise, each of about as many events."""
        values = one.counts.copy()
        values[0] = 0.0
        noise = float(one.sds.max()) * math.sqrt(EVENT_NUMBERS / left)
        most = int(np.clip(float(values.sum()) / (GROUP_WORTH * noise), *GROUPS))
        of_cells = grouped(replace(one, counts=values), most).groups or ()
        return (0, *(1 + np.unique(of_cells[1:], return_inverse=True)[1]).tolist())
