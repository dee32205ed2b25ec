"""The prefix query in a form whose guarantee is proved: everything goes through the gate, and the epsilon is split over levels.

In: a gate to the cases, and parameters. Out: traces with noisy counts. At each level a case counts in one cell, so each level is
a pure release of 1 over the scale of its discrete Laplace noise, and those of all levels add up to what is left of epsilon. How
many levels there are and what is pruned has to be public: where it is not said, the number of cases and their lengths are
released first, for a small share of epsilon each. Which prefixes are open follows from counts that are released. Once noise is
drawn nothing is refused: a refusal would tell of it what no ledger counts. Where a tree would run away, more is pruned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from libra.engines.prefix_tables import CASE_LENGTH_BINS, CaseLengths, CaseNumber, PrefixLevel
from libra.errors import UsageError
from libra.eventlog.cases import Integers
from libra.mechanisms.peers.arguments import prune_count
from libra.mechanisms.peers.counted import Counted
from libra.mechanisms.prefix_tree import Growth, discrete_tail, grow, refuse_runaway
from libra.mechanisms.prefix_tree.parameters import longest_of
from libra.mechanisms.prefix_tree.runaway import smallest_threshold, threshold
from libra.privacy.gate import Gate
from libra.privacy.ledger import DISCRETE_LAPLACE, Entry
from libra.privacy.noise_table import LARGEST_SCALE, SMALLEST_SCALE
from libra.privacy.noisy import NoisyTable

SHARE = 0.05  # of epsilon, for the number of cases, and as much for their lengths, where they are needed
STANDS_OUT = 2.0  # standard deviations from which on a bin of lengths counts
FEWEST_LEVELS = 2  # a trace of one event, and its end
MOST_LEVELS = 400  # so many losses can be added up exactly
LONGEST_FOUND = int(CASE_LENGTH_BINS[-1])


@dataclass(frozen=True)
class Split:
    """How epsilon is spent.

    Attributes:
        epsilon: In all.
        prune: A share of the cases below 1, a count from 1 up.
        max_length: The number of events of the longest trace; None for the average.

    Example:
        >>> [entry.noise for entry in Split(1.0, 20.0, 3).entries(4)]
        [4.0, 4.0, 4.0, 4.0]
    """

    epsilon: float
    prune: float
    max_length: int | None

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn or counted."""
        if self.max_length is not None and self.max_length >= MOST_LEVELS:
            raise UsageError(
                f"With split_budget the longest trace has fewer than {MOST_LEVELS} events. Ask for it: --max-length."
            )
        if self._asks_number and self._first_scale > LARGEST_SCALE:
            raise UsageError("So small an epsilon does not give the number of cases. Say --prune as a count, from 1 up.")
        if self.max_length is None and self._first_scale > LARGEST_SCALE:
            raise UsageError("So small an epsilon does not give the lengths of cases. Say --max-length.")
        if self.max_length is not None:
            self.scale(self.max_length + 1)

    @property
    def _asks_number(self) -> bool:
        return 0 < self.prune < 1

    @property
    def _first_scale(self) -> float:
        return max(1 / (SHARE * self.epsilon), SMALLEST_SCALE)

    @property
    def most_levels(self) -> int:
        """How many levels there are at most; one more than the longest trace has events, for the end."""
        return (LONGEST_FOUND if self.max_length is None else self.max_length) + 1

    def scale(self, levels: int) -> float:
        """The scale of the noise on each of so many levels."""
        left = self.epsilon * (1 - SHARE * (self._asks_number + (self.max_length is None)))
        scale = max(levels / left, SMALLEST_SCALE)
        if scale > LARGEST_SCALE:
            raise UsageError(
                f"So small an epsilon cannot be split over {levels} levels. Ask for a larger --epsilon, or for --max-length "
                f"{max(int(LARGEST_SCALE * left) - 1, 1)}."
            )
        return scale

    def entries(self, levels: int) -> list[Entry]:
        """What the query writes into the ledger, with so many levels."""
        first = [
            *([CaseNumber.purpose] if self._asks_number else []),
            *([CaseLengths.purpose] if self.max_length is None else []),
        ]
        return [
            *(Entry(purpose, DISCRETE_LAPLACE, 1.0, self._first_scale) for purpose in first),
            *[Entry(PrefixLevel.purpose, DISCRETE_LAPLACE, 1.0, self.scale(levels))] * levels,
        ]

    def departures(self, entries: Sequence[Entry]) -> Iterator[str]:
        """How the entries of a ledger differ from what the query writes.

        Example:
            >>> split = Split(1.0, 20.0, 3)
            >>> list(split.departures(split.entries(4))), list(split.departures(split.entries(5)))
            ([], ['there are 5 levels of prefixes, and with these parameters there are 4'])
        """
        levels = sum(entry.purpose == PrefixLevel.purpose for entry in entries)
        fewest = self.most_levels if self.max_length is not None else FEWEST_LEVELS
        if not fewest <= levels <= self.most_levels:
            possible = f"{fewest} to {self.most_levels}" if self.max_length is None else f"{fewest}"
            yield f"there are {levels} levels of prefixes, and with these parameters there are {possible}"
        elif list(entries) != self.entries(levels):
            yield "releases about prefixes are not those of these parameters, or do not have the noise that they get"

    def counts(self, gate: Gate, n_labels: int) -> Counted:
        """The answer of the query.

        Example:
            >>> from libra.engines.polars import engine_of
            >>> from libra.example.simulate import simulate
            >>> from libra.privacy.randomness import Randomness
            >>> engine = engine_of(simulate(cases=2_000))
            >>> gate = Gate(engine, Randomness())
            >>> found = Split(2.0, 0.05, 5).counts(gate, len(engine.labels))
            >>> len(gate.ledger().entries)
            7
        """
        if self.max_length is not None and not self._asks_number:
            growth = self._growth(self.max_length + 1, None, n_labels)
            refuse_runaway(growth, lambda enough: f"Ask for --prune {enough}, or for a larger --epsilon.")
        number = float(gate.release_whole(CaseNumber(), self._first_scale).values[0]) if self._asks_number else None
        longest = self.max_length
        if longest is None:
            longest = longest_of(average_of(gate.release_whole(CaseLengths(), self._first_scale)))
        levels = longest + 1
        growth = self._growth(levels, number, n_labels)
        scale, least = growth.scale, smallest_threshold(growth) if growth.runs_away else growth.least

        def level(prefixes: Integers, last: bool) -> Integers:
            noisy = gate.release_whole(PrefixLevel(prefixes, n_labels), scale).counts
            return np.where(noisy >= least, noisy, 0)

        return grow(level, n_labels, levels).finished

    def _growth(self, levels: int, number: float | None, n_labels: int) -> Growth:
        """How a tree of so many levels grows, given the noisy number of cases where it was asked for."""
        cases = None if number is None else max(number, 1.0)
        return Growth(
            discrete_tail, self.scale(levels), threshold(prune_count(self.prune, cases or 1.0)), n_labels, levels, cases
        )


def average_of(lengths: NoisyTable) -> float:
    """The average length of a case from the noisy numbers of cases by length: those that stand out; 1 where none does.

    Example:
        >>> counts = np.zeros(len(CASE_LENGTH_BINS), np.int64)
        >>> counts[[2, 4]] = 500, 500  # cases of 3 and of 5 events
        >>> average_of(NoisyTable(counts, 1, sd=28.0))
        4.0
    """
    middle = (CASE_LENGTH_BINS + np.append(CASE_LENGTH_BINS[1:] - 1, LONGEST_FOUND)) / 2
    found = np.where(lengths.values >= STANDS_OUT * lengths.sd, lengths.values, 0.0)
    return float(found @ middle / found.sum()) if found.any() else 1.0
