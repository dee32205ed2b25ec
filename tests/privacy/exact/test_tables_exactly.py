"""Noise from tables, in fractions: what is drawn, its symmetry, and the delta it realises against the one that is stated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from exact_arithmetic import (
    Distribution,
    exponential_bounds,
    hockey_stick,
    realised_delta,
    shifted,
    table_pmf,
    table_weights,
    thresholded,
)
from numpy.typing import NDArray

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.privacy.accounting import _table_distance, delta_of_ledger
from libra.privacy.ledger import DISCRETE_LAPLACE, LAPLACE, TRUNCATED_GEOMETRIC, Entry, Ledger
from libra.privacy.noise import LARGEST_SCALE, SMALLEST_SCALE, WORD, NoiseTable, discrete_laplace, truncated_geometric

GEOMETRIC = [(0.1, 1e-4), (1 / 3, 1e-3), (1.0, 1e-2), (1.0, 1e-10), (3.0, 1e-4), (8.0, 1e-12)]
LAPLACE_SCALES = [SMALLEST_SCALE, 0.3, 1.0, 2.5, 20.0]
TABLES = [truncated_geometric(*made_for) for made_for in GEOMETRIC] + [discrete_laplace(scale) for scale in LAPLACE_SCALES]
FACTORS = [0.01, 0.5, 0.95, 1.0, 1.05, 2.0]


class Known(Randomness):
    """Gives the words it was told."""

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__()
        self.known = np.array(words, np.uint64)

    def words(self, n: int) -> NDArray[np.uint64]:
        """All of them."""
        assert n == len(self.known)
        return self.known


def stated(entry: Entry, epsilon: float) -> Fraction:
    return Fraction(delta_of_ledger(Ledger((entry,)), epsilon))


def slack(entry: Entry, epsilon: float) -> Fraction:
    """What the accountant may say too much: for its floats, and twice what it adds for the distance of the table."""
    return Fraction(1, 10**12) + 2 * (exponential_bounds(epsilon)[1] + 1) * Fraction(_table_distance(entry))


def geometric(epsilon: float, delta: float) -> tuple[Distribution, Entry, int]:
    table = truncated_geometric(epsilon, delta)
    k = -table.first
    return table_pmf(table), Entry("variants", TRUNCATED_GEOMETRIC, 1.0, 1 / epsilon, bound=k), k


@pytest.mark.parametrize("table", TABLES)
def test_all_words_are_shared_out_symmetrically_and_most_of_them_to_the_middle(table: NoiseTable) -> None:
    weights = table_weights(table)
    assert sum(weights.values()) == WORD
    assert weights == {-z: weight for z, weight in weights.items() if z is not None}
    upper = [weight for z, weight in weights.items() if z is not None and z >= 0]
    assert all(near >= far > 0 for near, far in itertools.pairwise(upper))
    assert len(upper) > 1


@pytest.mark.parametrize("table", TABLES)
def test_each_number_is_drawn_by_as_many_words_as_its_weight_says(table: NoiseTable) -> None:
    """The first and the last word of each number; those between them follow, because larger words never draw less."""
    last = list(itertools.accumulate(table_weights(table).values()))
    first = [0, *last[:-1]]
    expected = np.repeat(table.values, 2).tolist()
    words = [word for pair in zip(first, [one - 1 for one in last], strict=True) for word in pair]
    assert table.draw(len(words), Known(words)).tolist() == expected


@pytest.mark.parametrize(("epsilon", "delta"), GEOMETRIC)
@pytest.mark.parametrize("factor", FACTORS)
def test_a_truncated_geometric_realises_the_delta_that_is_stated(epsilon: float, delta: float, factor: float) -> None:
    pmf, entry, _ = geometric(epsilon, delta)
    realised = realised_delta(pmf, shifted(pmf, 1), factor * epsilon)
    assert realised <= stated(entry, factor * epsilon) <= realised + slack(entry, factor * epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), GEOMETRIC)
def test_a_truncated_geometric_keeps_the_epsilon_and_delta_it_was_made_for(epsilon: float, delta: float) -> None:
    pmf, entry, k = geometric(epsilon, delta)
    assert pmf[k] <= Fraction(delta)
    realised = realised_delta(pmf, shifted(pmf, 1), epsilon)
    assert pmf[k] <= realised < pmf[k] + exponential_bounds(epsilon)[1] * (2 * k + 2) / WORD
    assert realised < stated(entry, epsilon) < Fraction(delta) + slack(entry, epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), GEOMETRIC)
@pytest.mark.parametrize("factor", FACTORS)
def test_counts_that_show_from_a_threshold_on_realise_no_more(epsilon: float, delta: float, factor: float) -> None:
    """A count of 0 never shows; one of 1 shows with the weight of the end; a large one is as good as released."""
    pmf, entry, k = geometric(epsilon, delta)
    bound = stated(entry, factor * epsilon)

    def told(count: int) -> Distribution:
        return thresholded(pmf, count, k + 1)

    assert told(0) == {None: 1}
    assert told(1)[None] == 1 - pmf[k]
    realised = {n: realised_delta(told(n), told(n + 1), factor * epsilon) for n in (0, 1, 2, 5, 2 * k, 2 * k + 1)}
    assert all(one <= bound for one in realised.values())
    assert realised[0] == pmf[k], "this is what the threshold is made for, at any epsilon"
    assert realised[2 * k + 1] == realised_delta(pmf, shifted(pmf, 1), factor * epsilon)
    if factor >= 1:
        assert bound <= realised[0] + slack(entry, factor * epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), GEOMETRIC)
def test_a_threshold_one_lower_would_break_the_promise(epsilon: float, delta: float) -> None:
    """Variants that nobody follows are not listed, so they never show, whatever the threshold."""
    pmf, entry, k = geometric(epsilon, delta)
    realised = realised_delta({None: Fraction(1)}, thresholded(pmf, 1, k), epsilon)
    assert realised > 2 * stated(entry, epsilon)


@pytest.mark.parametrize("scale", LAPLACE_SCALES)
@pytest.mark.parametrize("sensitivity", [1, 2, 5])
def test_a_discrete_laplace_realises_the_delta_that_is_stated(scale: float, sensitivity: int) -> None:
    pmf = table_pmf(discrete_laplace(scale))
    entry = Entry("a count", DISCRETE_LAPLACE, float(sensitivity), scale)
    for factor in FACTORS:
        epsilon = min(factor * sensitivity / scale, 20.0)  # beyond, the accountant states what holds at 20
        realised = realised_delta(pmf, shifted(pmf, sensitivity), epsilon)
        assert realised <= stated(entry, epsilon) <= realised + slack(entry, epsilon)
        assert epsilon < sensitivity / scale or realised < slack(entry, epsilon), (
            "it has an epsilon without a delta, but for the table"
        )


@pytest.mark.parametrize("mechanism", [DISCRETE_LAPLACE, TRUNCATED_GEOMETRIC])
def test_both_directions_realise_the_same(mechanism: str) -> None:
    pmf = table_pmf(discrete_laplace(1.5) if mechanism == DISCRETE_LAPLACE else truncated_geometric(0.7, 1e-3))
    ratio = exponential_bounds(0.4)[0]
    assert hockey_stick(pmf, shifted(pmf, 1), ratio) == hockey_stick(shifted(pmf, 1), pmf, ratio) > 0


@pytest.mark.parametrize("scale", [*LAPLACE_SCALES, 300.0])
def test_the_accountant_adds_no_less_than_the_distance_of_a_table(scale: float) -> None:
    assert discrete_laplace(scale).distance <= _table_distance(Entry("a count", DISCRETE_LAPLACE, 1.0, scale))


@pytest.mark.parametrize(("epsilon", "delta"), [*GEOMETRIC, (0.001, 1e-6)])
def test_the_accountant_adds_no_less_than_the_distance_of_a_bounded_table(epsilon: float, delta: float) -> None:
    table = truncated_geometric(epsilon, delta)
    assert table.distance <= _table_distance(Entry("variants", TRUNCATED_GEOMETRIC, 1.0, 1 / epsilon, bound=-table.first))


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 0.8, 1.3])
def test_two_counts_with_different_noise_realise_the_delta_that_is_stated(epsilon: float) -> None:
    """A case that counts in two places, every pair of outcomes."""
    laplace, bounded = table_pmf(discrete_laplace(2.0)), table_pmf(truncated_geometric(0.5, 1e-2))
    entries = (
        Entry("a count", DISCRETE_LAPLACE, 2.0, 2.0),
        Entry("variants", TRUNCATED_GEOMETRIC, 1.0, 2.0, bound=max(z for z in bounded if z is not None)),
    )

    def within(reach: int, one: Distribution) -> Distribution:
        return {z: one.get(z, 0) for z in range(-reach, reach + 1)}

    def both(one: Distribution, other: Distribution) -> Distribution:
        return dict(enumerate(a * b for a in one.values() for b in other.values()))

    ratio = exponential_bounds(epsilon)[0]
    first, first_moved = (within(100, one) for one in (laplace, shifted(laplace, 2)))
    second, second_moved = (within(20, one) for one in (bounded, shifted(bounded, 1)))
    realised = hockey_stick(both(first, second), both(first_moved, second_moved), ratio)
    found = Fraction(delta_of_ledger(Ledger(entries), epsilon))
    assert realised <= found <= realised + slack(entries[0], epsilon)
    on_a_grid = Fraction(delta_of_ledger(Ledger((*entries, Entry("nearly nothing", LAPLACE, 1.0, 1e9))), epsilon))
    assert found <= on_a_grid <= found + Fraction(2, 10**4)


@pytest.mark.parametrize(("epsilon", "delta"), [(44.5, 1e-5), (100.0, 0.1), (1.0, 1e-20), (0.5, 1e-300)])
def test_a_table_that_would_lose_its_ends_is_refused(epsilon: float, delta: float) -> None:
    """The threshold follows from the ends: without them a case that is alone would show."""
    with pytest.raises(UsageError, match="too small for a table"):
        truncated_geometric(epsilon, delta)


@pytest.mark.parametrize("scale", [SMALLEST_SCALE * 0.99, LARGEST_SCALE * 1.01])
def test_a_scale_beyond_what_words_can_tell_is_refused(scale: float) -> None:
    with pytest.raises(UsageError, match="scale has to be a number from"):
        discrete_laplace(scale)
