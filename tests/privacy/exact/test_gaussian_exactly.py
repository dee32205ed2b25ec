"""Rounded Gaussian noise, number by number to 50 digits: what words draw it, and the delta it realises against the one stated."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath  # type: ignore[import-untyped]  # ships no types
import numpy as np
import pytest
from exact_arithmetic import DIGITS, realised_delta, rounded_gaussian_pmf, shifted
from numpy.typing import NDArray

from libra._system.randomness import Randomness
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gaussian import delta_of
from libra.privacy.ledger import ROUNDED_GAUSSIAN, Entry, Ledger
from libra.privacy.noise import rounded_gaussian

SPREADS = [0.4, 1.0, 3.19, 12.5, 60.0]


class Known(Randomness):
    """Gives the words it was told, then words in the middle."""

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__()
        self.known = list(words)

    def words(self, n: int) -> NDArray[np.uint64]:
        """The next ones."""
        given, self.known = self.known[:n], self.known[n:]
        return np.array(given + [1 << 63] * (n - len(given)), np.uint64)


def boundary_words(sd: float) -> tuple[list[int], list[int]]:
    """For every number that some words of 64 bits draw: the sizes and the words, without sign, on both sides of its boundary."""
    pmf = rounded_gaussian_pmf(sd)
    sizes: list[int] = []
    words: list[int] = []
    with mpmath.workdps(DIGITS):
        beyond = (1 - pmf[0]) / 2
        for size in range(max(z for z in pmf if z is not None)):
            if pmf[size + 1] * 2**64 < 4:
                break
            word = int(mpmath.floor(beyond * 2**64))
            sizes += [size + 1, size]
            words += [word - 1, word + 1]
            beyond -= pmf[size + 1]
    return sizes, words


@pytest.mark.parametrize("sd", SPREADS)
def test_all_words_draw_what_these_probabilities_say_to_the_last_bit(sd: float) -> None:
    """The last word that draws a number and the first that draws the next, with either sign: so it is symmetric, too."""
    sizes, words = boundary_words(sd)
    assert len(words) > 16 * sd
    for sign in (0, 1):
        drawn = rounded_gaussian(sd, len(words), Known([word << 1 | sign for word in words]))
        assert drawn.tolist() == [size if sign else -size for size in sizes]


@pytest.mark.parametrize(
    ("sd", "sensitivity", "epsilon", "within"),
    [
        (0.4, 1, 0.1, 0.001),
        (0.4, 3, 1.0, 0.001),
        (1.0, 1, 0.1, 0.01),
        (1.0, 3, 0.5, 0.01),
        (3.19, 1, 0.5, 0.002),
        (3.19, 1, 1.0, 0.025),
        (3.19, 3, 3.0, 0.025),
        (12.5, 1, 0.1, 0.002),
        (12.5, 3, 1.0, 0.0005),
        (12.5, 10, 3.0, 0.01),
        (60.0, 3, 0.1, 1e-6),
        (60.0, 10, 0.5, 0.0005),
        (60.0, 10, 1.0, 0.002),
    ],
)
def test_the_delta_realised_is_at_most_the_one_stated_and_near_it(
    sd: float, sensitivity: int, epsilon: float, within: float
) -> None:
    """Rounding hides a little: as much as there is in the one cell in which the likelihood ratio passes e^epsilon."""
    pmf = rounded_gaussian_pmf(sd)
    realised = realised_delta(pmf, shifted(pmf, sensitivity), epsilon)
    stated = delta_of_ledger(Ledger((Entry("a table", ROUNDED_GAUSSIAN, float(sensitivity), sd),)), epsilon)
    assert stated == delta_of(sensitivity / sd, epsilon)
    assert realised <= stated <= realised * (1 + within)


@pytest.mark.parametrize(("sd", "sensitivity"), [(0.5, 1), (1.0, 1), (2.0, 1), (3.0, 3), (12.5, 5), (40.0, 7)])
@pytest.mark.parametrize("cell", [0, 1, 4])
def test_where_no_cell_is_cut_rounding_hides_nothing_and_the_delta_is_the_one_stated(
    sd: float, sensitivity: int, cell: int
) -> None:
    """The ratio passes e^epsilon at epsilon sd^2 / sensitivity + sensitivity / 2: here between two whole numbers."""
    epsilon = cell * sensitivity / sd**2
    pmf = rounded_gaussian_pmf(sd)
    realised = realised_delta(pmf, shifted(pmf, sensitivity), epsilon)
    assert realised <= delta_of(sensitivity / sd, epsilon) <= realised * (1 + 1e-9)


@pytest.mark.parametrize("sd", [1.0, 3.19, 12.5])
def test_noise_a_little_too_small_is_noticed(sd: float) -> None:
    """The check above can fail: with 5 % less noise than the ledger says, more is realised than stated."""
    epsilon = 2 / sd**2
    pmf = rounded_gaussian_pmf(0.95 * sd)
    assert realised_delta(pmf, shifted(pmf, 1), epsilon) > delta_of(1 / sd, epsilon)
