"""SaCoFa (Fahrenkrog-Petersen, Kabierski, Rösel, van der Aa and Weidlich 2021): semantics-aware control-flow anonymization.

The prefix query, level by level, but first it is read off the raw log which activity always, sometimes or never follows or
precedes which other. Prefixes that keep all of this get their count with Laplace noise of scale 1/epsilon, cut to a whole number.
Of the V others at a level, an exponential mechanism lets in m (the probability of m is proportional to e^(epsilon (V - m) / 2)),
drawn at random, which get noise as well; the rest stay 0. Open prefixes are pruned below a threshold; finished traces, and
prefixes of the longest length, come out wherever their noisy count is above 0. The claim does not hold (`guarantee` says why).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from libra._system.randomness import Randomness
from libra.engines.counting.control_flow import continuations
from libra.engines.polars import PolarsEngine
from libra.errors import UsageError
from libra.eventlog.cases import Integers, Traces, concatenated
from libra.mechanisms import parameters as p
from libra.mechanisms.libra.plan import DEFAULT_BUDGET, Budget
from libra.mechanisms.prefix_tree import PrefixQuery, grow, longest_trace, truncated_laplace
from libra.mechanisms.variant_queries import DEFAULT_PRUNE, Counted, Times
from libra.privacy.gate import Gate
from libra.privacy.guarantee import Guarantee

SOURCE = (
    "S. A. Fahrenkrog-Petersen, M. Kabierski, F. Rösel, H. van der Aa and M. Weidlich: SaCoFa: Semantics-aware Control-flow "
    "Anonymization for Process Mining, ICPM 2021"
)
RELATIONS = (
    "Which activity always, sometimes or never follows or precedes which other is read off the raw log, without noise and not "
    "counted. One case with something new lets traces through that were held back without it: whoever sees many of them "
    "knows that somebody did this."
)
LET_IN = "How many prefixes that break a relation are let in is drawn with epsilon again at every level, and not counted."
Booleans = npt.NDArray[np.bool_]
MOST_LABELS = 12_000  # three relations of so many labels take 432 MB
AT_ONCE = 2_000_000  # pairs of occurrences, and cells of a matrix, that are held at once


@dataclass(frozen=True)
class Sacofa(PrefixQuery):
    """SaCoFa: prefix query that favours plausible behaviour over chance. Claimed by its authors.

    Example:
        >>> from libra.example.simulate import simulate
        >>> release = Sacofa(epsilon=1.0).anonymize(simulate(cases=500), Randomness())
        >>> release.guarantee.kind, release.has_times
        ('claimed', False)
    """

    name: ClassVar[str] = "sacofa"

    epsilon: float = p.EPSILON.field(1.0)
    prune: float = p.PRUNE.field(DEFAULT_PRUNE)
    max_length: int | None = p.MAX_LENGTH.field(None)
    times: Times = p.TIMES.field("none")
    budget: Budget | dict[str, float] | str = p.BUDGET.field(DEFAULT_BUDGET)
    delta: float = p.DELTA.field(1e-5)
    time_zone: str = p.TIME_ZONE.field("UTC")
    shares: Budget = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check()

    def _answer(self, engine: PolarsEngine, gate: Gate, random: Randomness) -> Counted:
        counted, n_labels, epsilon = Counted(*engine.variants()), len(engine.labels), self.query_epsilon
        if n_labels > MOST_LABELS:
            why = f"sacofa relates every label to every other, and more than {MOST_LABELS:,} of them do not fit into memory."
            raise UsageError(f"{why} Group the labels, or use prefix-laplace, which relates none.")
        longest = longest_trace(self.max_length, counted)
        least = self._least_count(counted, n_labels, longest)
        relations = relations_of(counted.traces, n_labels)

        def level(prefixes: Integers, last: bool) -> Integers:
            admitted = _admitted(relations.broken(prefixes), epsilon, random)
            noisy = continuations(counted.traces, counted.counts, prefixes, n_labels)
            noisy *= admitted
            noisy[admitted] += truncated_laplace(1 / epsilon, int(admitted.sum()), random)
            pruned = noisy < (1 if last else least)
            pruned[:, n_labels] = noisy[:, n_labels] < 1
            noisy[pruned] = 0
            return noisy

        parts = grow(level, n_labels, longest)
        return Counted(concatenated([part.traces for part in parts]), np.concatenate([part.counts for part in parts]))

    def guarantee(self, *, seeded: bool, individuals: bool) -> Guarantee:
        """What is claimed of a release, and why it does not hold."""
        return self._claimed(SOURCE, (RELATIONS, self._levels(self.max_length), LET_IN), individuals=individuals)


def _admitted(broken: Booleans, epsilon: float, random: Randomness) -> Booleans:
    """What gets a count: all that breaks nothing, and of the others as many as are let in, drawn at random."""
    others = np.flatnonzero(broken)
    admitted = ~broken
    admitted.flat[others[_some_of(len(others), _let_in(len(others), epsilon, random), random)]] = True
    return admitted


def _some_of(n: int, m: int, random: Randomness) -> Integers:
    """So many (m) different numbers from 0 up to n, each set of them as likely; few take no memory for all."""
    if 2 * m >= n:
        return random.permutation(n)[:m]
    drawn = first = np.zeros(0, np.int64)
    while len(first) < m:
        drawn = np.append(drawn, random.below(n, 2 * m))
        first = np.unique(drawn, return_index=True)[1]
    return drawn[np.sort(first)[:m]]


def _let_in(n: int, epsilon: float, random: Randomness) -> int:
    """A number m from 0 to n, with a probability proportional to e^(-epsilon m / 2)."""
    whole = -math.expm1(-epsilon * (n + 1) / 2)
    drawn = -math.log1p(-float(random.uniform(1)[0]) * whole) / (epsilon / 2)
    return min(int(drawn), n)


@dataclass(frozen=True, eq=False, repr=False)
class Relations:
    """What holds in all of some traces; `relation[a, b]` is about b, seen from a, at any distance.

    "Sometimes" cannot be broken, and "never precedes" is "never follows" seen from the other side, so three relations are left.
    """

    never_followed: Booleans  # no b ever comes after an a
    always_followed: Booleans  # after every a comes a b
    always_preceded: Booleans  # before every a comes a b

    def broken(self, prefixes: Integers) -> Booleans:
        """Whether a relation breaks where each prefix (a row of codes) goes on to each label, or to the end (the last column)."""
        some = _rows_at_once(len(self.never_followed))
        return np.concatenate([self._broken(prefixes[at : at + some]) for at in range(0, max(len(prefixes), 1), some)])

    def _broken(self, prefixes: Integers) -> Booleans:
        n, n_labels = len(prefixes), len(self.never_followed)
        rows = np.arange(n)
        seen, owed, banned = (np.zeros((n, n_labels), bool) for _ in range(3))
        met = np.zeros((n, n_labels), np.int32)  # how many of those that have to come before a label are there
        for codes in prefixes.T:
            new = np.flatnonzero(~seen[rows, codes])
            met[new] += self.always_preceded.T[codes[new]]
            seen[rows, codes] = True
            owed[rows, codes] = False
            owed |= self.always_followed[codes]
            banned |= self.never_followed[codes]
        return np.column_stack((banned | (met < self._n_before), owed.any(axis=1)))

    @cached_property
    def _n_before(self) -> Integers:
        """How many have to come before each label."""
        return np.asarray(self.always_preceded.sum(axis=1))


def relations_of(traces: Traces, n_labels: int) -> Relations:
    """The relations that hold in all these traces; where a label does not occur, all of them hold of it."""
    trace, label, first, last = _occurrences(traces, n_labels)
    of_trace = np.searchsorted(trace, np.arange(len(traces) + 1))
    by_label = np.argsort(label, kind="stable")
    of_label = np.searchsorted(label, np.arange(n_labels + 1), sorter=by_label)
    relations = Relations(*(np.empty((n_labels, n_labels), bool) for _ in range(3)))
    some = _rows_at_once(n_labels)
    for begin in range(0, n_labels, some):
        end = min(begin + some, n_labels)
        ones = by_label[of_label[begin] : of_label[end]]
        after, always_after, always_before = (np.zeros((end - begin) * n_labels, np.int64) for _ in range(3))
        for one, other in _pairs(ones, of_trace[trace[ones]], of_trace[trace[ones] + 1]):
            cell = (label[one] - begin) * n_labels + label[other]
            after += np.bincount(cell[last[other] > first[one]], minlength=len(after))
            always_after += np.bincount(cell[last[other] > last[one]], minlength=len(after))
            always_before += np.bincount(cell[first[other] < first[one]], minlength=len(after))
        everywhere, shape = np.diff(of_label[begin : end + 1])[:, None], (end - begin, n_labels)
        relations.never_followed[begin:end] = after.reshape(shape) == 0
        relations.always_followed[begin:end] = always_after.reshape(shape) == everywhere
        relations.always_preceded[begin:end] = always_before.reshape(shape) == everywhere
    return relations


def _rows_at_once(n_labels: int) -> int:
    return max(AT_ONCE // max(n_labels, 1), 1)


def _occurrences(traces: Traces, n_labels: int) -> tuple[Integers, Integers, Integers, Integers]:
    """Trace and label of everything that happens, each pair once, ordered by trace, with the first and the last position."""
    keys = traces.rows * max(n_labels, 1) + traces.codes
    found, first = np.unique(keys, return_index=True)
    _, from_behind = np.unique(keys[::-1], return_index=True)
    trace, label = np.divmod(found, max(n_labels, 1))
    return trace, label, first, len(keys) - 1 - from_behind


def _pairs(ones: Integers, begins: Integers, ends: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Each of these rows with each of its group, from `begins` up to `ends`; some at a time, all of a row together."""
    sizes = ends - begins
    total = np.concatenate(([0], np.cumsum(sizes)))
    low = 0
    while low < len(ones):
        high = max(int(np.searchsorted(total, total[low] + AT_ONCE, side="right")) - 1, low + 1)
        size = sizes[low:high]
        shift = begins[low:high] - (total[low:high] - total[low])
        yield np.repeat(ones[low:high], size), np.arange(total[high] - total[low]) + np.repeat(shift, size)
        low = high
