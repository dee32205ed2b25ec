"""Activity instances: start and complete events become one instance, and an instance becomes two labels of a sequence.

`pairs` matches starts and completions within a case, `expanded` turns instances into sequences of starts and completions again.
Both look at one case at a time and work on arrays. A start's label is that of its activity with `STARTED` behind it; where single
events are released, a label has the transition behind it. No activity label holds the `SEPARATOR`: `label_texts` sees to that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.eventlog.cases import Integers

Flags = npt.NDArray[np.bool_]
Keys = npt.NDArray[np.uint64]
NO_START = np.iinfo(np.int64).min  # in arrays of start times: this instance has none
START, COMPLETE = "start", "complete"  # the transitions of instances, in lower case
SEPARATOR = "\x1f"  # the unit separator of ASCII, which XML cannot hold
STARTED = f"{SEPARATOR}+{START}"
REPLACEMENT = "\ufffd"  # for a separator within a label
_SEED = 18


@dataclass(frozen=True, eq=False, repr=False)
class Instances:
    """Activity instances, by the events that they are made of: cases in order, each by completion, ties in the order of events.

    `ends[i]` is the event that ends instance i: its completion, or a start that nothing completes. `starts[i]` is the event that
    starts it, -1 where there is none or where it is not before the completion.
    """

    ends: Integers
    starts: Integers

    def start_micros(self, micros: Integers, own: Integers | None = None) -> Integers:
        """When each instance starts, `NO_START` where it has no start; `micros` are the times of the events.

        `own` is when the events that end instances started by what they say themselves, which goes before other events.
        """
        if not len(micros):
            return np.zeros(0, np.int64)
        of_events = np.where(self.starts < 0, NO_START, micros[self.starts])
        return of_events if own is None else np.where(own[self.ends] == NO_START, of_events, own[self.ends])


def pairs(
    case: Integers, activity: Integers, key: Keys | None, micros: Integers, is_start: Flags, *, in_order: bool = False
) -> Instances:
    """Match starts and completions, first in, first out within a case, an activity and a key.

    Events come grouped by `case`. They are matched by time, those of one moment in the order they come in; with `in_order` all in
    the order they come in. A completion with no open start is an instance without a start. So is a start that nothing completes.

    Args:
        case: for every event the number of its case, never falling.
        activity: for every event the number of its activity.
        key: what start and completion have in common beside case and activity (`keys_of`); None for nothing.
        micros: for every event when it happened.
        is_start: for every event whether it starts an instance; it completes one if not.
        in_order: whether the events of each case are in order already, such as those of a generated sequence.

    Example:
        >>> case, activity, micros = np.zeros(4, int), np.array([0, 1, 0, 1]), np.array([10, 20, 30, 40])
        >>> found = pairs(case, activity, None, micros, np.array([True, False, False, True]))
        >>> found.ends.tolist(), found.starts.tolist()
        ([1, 2, 3], [-1, 0, -1])
    """
    n = len(case)
    by_time = () if in_order else (micros,)
    by_key = () if key is None else (key,)
    order = np.lexsort((*by_time, *by_key, activity, case))  # a stable sort: ties stay as they come
    opens = is_start[order]
    new_group = np.ones(n, bool)
    new_group[1:] = False
    for values in (case, activity, *by_key):
        new_group[1:] |= values[order[1:]] != values[order[:-1]]
    group = np.cumsum(new_group) - 1
    first = np.flatnonzero(new_group)

    # A completion has no open start where the balance of its group falls to a new minimum below zero.
    balance = np.cumsum(np.where(opens, 1, -1))
    balance -= (balance[first] - np.where(opens[first], 1, -1))[group]
    apart = group * (2 * n + 1)  # lowers every group below all before it, so that one running minimum serves them all
    lowest = np.minimum.accumulate(np.minimum(balance, 0) - apart) + apart
    before = np.concatenate((np.zeros(min(n, 1), np.int64), lowest[:-1]))
    before[first] = 0
    completes = ~opens & (lowest == before)

    # Of the rest, the first start meets the first completion of its group, and so on.
    number = np.cumsum(opens, dtype=np.int64)
    number -= (number[first] - opens[first])[group]
    is_completed = opens & (number <= np.bincount(group[completes], minlength=len(first))[group])
    starts = np.full(n, -1, np.int64)
    starts[order[completes]] = order[is_completed]
    is_end = ~is_start
    is_end[order[opens & ~is_completed]] = True
    ends = np.flatnonzero(is_end)
    if not in_order:
        ends = ends[np.lexsort((micros[ends], case[ends]))]
    starts = starts[ends]
    return Instances(ends, np.where((starts >= 0) & (micros[starts] < micros[ends]), starts, -1) if n else starts)


@dataclass(frozen=True, eq=False, repr=False)
class Expanded:
    """Starts and completions of instances as one sequence a case: event i is of instance `rows[i]`."""

    rows: Integers
    is_start: Flags
    micros: Integers


def expanded(case: Integers, micros: Integers, start: Integers) -> Expanded:
    """The starts and completions of instances, by case and time; of one moment completions come first, then as instances come.

    Args:
        case: for every instance the number of its case, never falling; the events are grouped by it as well.
        micros: for every instance when it was completed.
        start: for every instance when it started, `NO_START` for one without a start.

    Example:
        >>> whole = expanded(np.array([0, 0]), np.array([30, 40]), np.array([10, 30]))
        >>> whole.rows.tolist(), whole.is_start.tolist(), whole.micros.tolist()
        ([0, 0, 1, 1], [True, False, True, False], [10, 30, 30, 40])
    """
    starting = np.flatnonzero(start != NO_START)
    rows = np.concatenate((np.arange(len(case)), starting))
    is_start = np.arange(len(rows)) >= len(case)
    when = np.concatenate((micros, start[starting]))
    order = np.lexsort((is_start, when, case[rows]))
    return Expanded(rows[order], is_start[order], when[order])


def valid_starts(start: Integers, micros: Integers) -> Integers:
    """Start times from a column, `NO_START` for those that are not before the completion: such an instance takes no time."""
    return np.where(start < micros, start, NO_START)


def keys_of(instance: pl.Series | None, resource: pl.Series | None, height: int) -> pl.Series:
    """For every event a number that start and completion have in common, which depends on that event alone.

    It stands for `concept:instance` where the event has one, else for its resource, else for nothing.

    Example:
        >>> one, other, again = keys_of(pl.Series(["7", None, "7"]), pl.Series(["ann", "ann", "bert"]), 3)
        >>> one == again, one == other
        (True, False)
    """
    key = pl.repeat(0, height, dtype=pl.UInt64, eager=True)
    for mark, values in (("r", resource), ("i", instance)):
        if values is not None:
            text = values.cast(pl.String)
            key = (mark + text).hash(_SEED).zip_with(text.is_not_null(), key)
    return key.alias("key")


def started(activity: str) -> str:
    """The label of an activity's start within sequences."""
    return activity + STARTED


def label_texts(activity: pl.Series, transition: pl.Series | None = None) -> pl.Series:
    """The labels of events within sequences: the activity, and its transition behind a separator where there is one.

    A separator within an activity is replaced, which depends on that label alone.

    Example:
        >>> labels = label_texts(pl.Series(["A", "A", "B"]), pl.Series(["start", "complete", None]))
        >>> [split_label(label) for label in labels]
        [('A', 'start'), ('A', 'complete'), ('B', None)]
    """
    plain = activity.str.replace_all(SEPARATOR, REPLACEMENT, literal=True)
    if transition is None:
        return plain
    with_transition = plain + SEPARATOR + transition
    return with_transition.zip_with(transition.is_not_null(), plain)


def split_label(label: str) -> tuple[str, str | None]:
    """The activity and the transition of a label within sequences; the transition of a start is "+start".

    Example:
        >>> split_label(started("A")), split_label("A")
        (('A', '+start'), ('A', None))
    """
    activity, separator, transition = label.partition(SEPARATOR)
    return activity, transition if separator else None
