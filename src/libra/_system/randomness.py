"""One source of randomness, passed in to whatever draws.

By default every bit comes from the operating system's cryptographic generator. A seed makes the same draws again, for tests and
benchmarks, and whoever knows it can undo the noise: everything that is made with one says `SEEDED`. What is drawn is computed
from 64-bit words here, so that a seed gives the same result whatever the version of NumPy.
"""

from __future__ import annotations

import os
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from libra._system.arguments import checked_whole
from libra._system.ordering import stable_order

SEEDED = "not private: seeded"
SEEDED_PREFIX = "seeded-"  # of every case id of a log that was drawn with a seed
SEED_NOTE = f"This release is {SEEDED}. Whoever has the seed can draw the same again."
LARGEST_SEED = 2**63 - 1
RESERVE = 4096  # words of a seed made at a time for those who ask for a few


class Randomness:
    """Random numbers from the operating system, or from a seed.

    Example:
        >>> Randomness(seed=1).permutation(5).tolist() == Randomness(seed=1).permutation(5).tolist()
        True
        >>> Randomness().seeded
        False
    """

    def __init__(self, seed: int | None = None) -> None:
        """Take the operating system's randomness, or that of a seed."""
        self._generator = None if seed is None else np.random.PCG64(checked_whole("seed", seed, 0, LARGEST_SEED))
        self._reserve = np.zeros(0, np.uint64)

    @property
    def seeded(self) -> bool:
        """Whether the draws can be made again by anyone who knows the seed."""
        return self._generator is not None

    def words(self, n: int) -> npt.NDArray[np.uint64]:
        """So many words of 64 random bits."""
        if self._generator is None:
            return np.frombuffer(os.urandom(8 * n), np.uint64)  # never kept: a forked process must not draw the same
        if n >= RESERVE:
            return self._generator.random_raw(n)
        if len(self._reserve) < n:
            self._reserve = self._generator.random_raw(RESERVE)
        taken, self._reserve = self._reserve[:n], self._reserve[n:]
        return taken

    def uniform(self, n: int) -> npt.NDArray[np.float64]:
        """Numbers between 0 and 1, neither of which ever comes."""
        return _to_unit(self.words(n))

    def below(self, limit: int, n: int) -> npt.NDArray[np.int64]:
        """Whole numbers from 0 up to, not including, the limit; all equally likely."""
        return np.minimum((self.uniform(n) * limit).astype(np.int64), limit - 1)

    def permutation(self, n: int) -> npt.NDArray[np.int64]:
        """The numbers from 0 up to n in random order."""
        return stable_order(self.words(n))

    def permutation_within(self, groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The positions of some rows by their groups, which are numbered from 0; within a group in random order.

        Example:
            >>> Randomness(seed=1).permutation_within(np.array([1, 0, 1, 0])).tolist()
            [1, 3, 2, 0]
        """
        drawn = self.words(-(-len(groups) // 4)).view(np.uint16)[: len(groups)]  # so many bits that hardly any two are equal
        order = np.argsort(drawn, kind="stable")  # digit by digit
        return order[stable_order(groups[order])] if len(groups) else order

    def laplace(self, scale: float, n: int) -> npt.NDArray[np.float64]:
        """Laplace noise around 0: a word's upper bits give the distance, its lowest bit the side."""
        words = self.words(n)
        sides = np.where(words & np.uint64(1), 1.0, -1.0)
        return -scale * sides * np.log(_to_unit(words))


def _to_unit(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    return ((words >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def derived_seed(seed: int, part: int) -> int:
    """A seed for one part of what is drawn from a seed.

    Example:
        >>> derived_seed(1, 0) == derived_seed(1, 0) != derived_seed(1, 1) != derived_seed(2, 1)
        True
    """
    return int.from_bytes(blake2b(f"{seed}/{part}".encode(), digest_size=8).digest(), "big") >> 1
