"""What the gate is asked about the tail: no more than can tell something, and never more than was given."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from some_logs import all_different, log_from

from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import BaseNorms, Lengths, Occurring, Size, Together
from libra.engines.polars import engine_of
from libra.eventlog.cases import traces_of
from libra.mechanisms.libra.tail.release import release_tail
from libra.privacy.gate import Gate
from libra.privacy.noise import NoisyTable

FIRST = [table.purpose for table in (Size, Lengths, BaseNorms)]
KEPT = traces_of([[0, 1, 0]])


class Told:
    """A gate that answers with what it was told, then with zeros, and remembers what it was asked."""

    def __init__(self, size: int, lengths: dict[int, int], occurring: int = 0) -> None:
        self.size, self.lengths, self.occurring, self.asked = size, lengths, occurring, list[str]()

    def look_ahead(self, *tables: Any) -> None:
        """Nothing to count."""

    def release(self, table: Any, mu: float) -> NoisyTable:
        """The answer, as if with noise of standard deviation 10."""
        self.asked.append(table.purpose)
        counts: NDArray[np.int64] = np.zeros(table.shape, np.int64)
        if isinstance(table, Size):
            counts[0] = self.size
        elif isinstance(table, Lengths):
            for length, count in self.lengths.items():
                counts[length] = count
        elif isinstance(table, Occurring):
            counts[:] = self.occurring
        return NoisyTable(counts * table.scale, table.scale, 10.0)


@pytest.mark.parametrize(
    ("size", "lengths"),
    [
        (0, {}),
        (15, {}),
        (-400, {3: 60}),  # a bin that stands out by chance, in a tail that does not
        (5, {2: 50, 5: -50}),
    ],
)
def test_a_tail_that_is_lost_in_noise_is_asked_no_more_than_its_number_lengths_and_sizes(
    size: int, lengths: dict[int, int]
) -> None:
    gate = Told(size, lengths)
    figures = release_tail(gate, KEPT, 3, 0.5)  # type: ignore[arg-type]  # all that is asked of a gate
    assert gate.asked == FIRST
    assert (figures.longest, figures.edges, figures.base) == (0, (), None)


@pytest.mark.parametrize(("size", "lengths"), [(200, {}), (60, {3: 60})])
def test_a_tail_that_is_there_is_asked_for_its_edges(size: int, lengths: dict[int, int]) -> None:
    gate = Told(size, lengths)
    release_tail(gate, KEPT, 3, 0.5)  # type: ignore[arg-type]
    assert gate.asked[:4] == [*FIRST, "edges of rare cases, the first two uses"]


FURTHER = [table.purpose for table in (Occurring, Together)]


@pytest.mark.parametrize("completion", [None, np.array([-1, 0, -1, -1])])
@pytest.mark.parametrize(("size", "large"), [(250, False), (5000, True)])
def test_only_a_large_tail_is_asked_which_activities_occur_together(
    size: int, large: bool, completion: NDArray[np.int64] | None
) -> None:
    gate = Told(size, {3: size}, occurring=size // 2)
    figures = release_tail(gate, KEPT, 4, 0.5, completion=completion)  # type: ignore[arg-type]
    assert gate.asked[3:5] == FURTHER if large else not set(gate.asked) & set(FURTHER)
    assert (figures.occurring is not None, figures.together is not None) == (large, large)
    labels = 4 if completion is None else 3  # a start is no activity of its own
    assert (len(figures.usual), 0 if figures.together is None else figures.together.counts.size) == (
        (labels, labels * (labels - 1) // 2) if large else (0, 0)
    )


@pytest.mark.parametrize("occurring", [0, 5000])
def test_activities_that_all_cases_have_or_none_are_not_asked_whether_they_occur_together(occurring: int) -> None:
    gate = Told(5000, {3: 5000}, occurring=occurring)
    figures = release_tail(gate, KEPT, 3, 0.5)  # type: ignore[arg-type]
    assert FURTHER[0] in gate.asked
    assert FURTHER[1] not in gate.asked
    assert figures.together is None


def test_pairs_that_would_be_lost_in_noise_are_not_asked_for() -> None:
    gate = Told(1000, {3: 1000}, occurring=500)
    release_tail(gate, KEPT, 90, 0.1)  # type: ignore[arg-type]
    assert FURTHER[0] in gate.asked
    assert FURTHER[1] not in gate.asked


def test_with_all_edges_nothing_is_asked_that_earlier_versions_did_not_ask() -> None:
    gate = Told(5000, {3: 5000}, occurring=2500)
    release_tail(gate, KEPT, 3, 0.5, certain=False)  # type: ignore[arg-type]
    assert not set(gate.asked) & set(FURTHER)


def test_nobody_at_all_is_hardly_ever_asked_more() -> None:
    more = 0
    for seed in range(60):
        gate = Gate(engine_of(log_from(["aba"])), Randomness(seed=seed)).tail(KEPT)
        release_tail(gate, KEPT, 2, 0.5)
        more += len(gate.ledger().entries) > len(FIRST)
    assert more <= 8  # beyond two standard deviations: one in 44


@pytest.mark.parametrize("words", [all_different(800), all_different(3000), ["ab" * (i % 30 + 1) + "c" for i in range(900)]])
@pytest.mark.parametrize("mu", [0.1, 1.0, 8.0])
def test_all_that_is_asked_adds_up_to_no_more_than_was_given(words: list[str], mu: float) -> None:
    engine = engine_of(log_from(words))
    gate = Gate(engine, Randomness(seed=1))
    release_tail(gate, traces_of([]), len(engine.labels), mu)
    entries = gate.ledger().entries
    assert sum((entry.sensitivity / entry.noise) ** 2 for entry in entries) <= mu**2 * (1 + 1e-12)
    assert math.isclose(gate.ledger().mu, mu) or mu == 0.1
    assert set(FURTHER) <= {entry.purpose for entry in entries} or len(words) < 3000 or mu == 0.1
