"""Poisson subsamples: every case with the same probability, independently of all others.

Two ways to draw, with the same distribution. Where cases are whole, each gets a random word. While a log is read, the events of a
case lie far apart: there the word is a keyed cryptographic hash of the case id, under a key that is drawn for this sample and
then forgotten, so that all events of a case agree, and nobody without the key can tell it from a random word.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.randomness import Randomness

KEY_WORDS = 4  # 256 bits


def chosen(words: npt.NDArray[np.uint64], rate: float) -> npt.NDArray[np.bool_]:
    """Which of these random words stand for a case that takes part: with the probability `rate`, or a hair less."""
    return words < limit_of(rate)


def limit_of(rate: float) -> np.uint64:
    """Below which words a case takes part.

    Example:
        >>> int(limit_of(0.5)) == 2**63
        True
    """
    return np.uint64(min(int(Fraction(rate) * 2**64), 2**64 - 1))


@dataclass(frozen=True, repr=False)
class KeyedSample:
    """A subsample that is decided by case ids alone, under a key."""

    rate: float
    key: bytes

    @classmethod
    def draw(cls, rate: float, random: Randomness) -> KeyedSample:
        """A sample under a key of its own."""
        return cls(rate, random.words(KEY_WORDS).tobytes())

    def takes(self, ids: pl.Series) -> pl.Series:
        """For every event, by the id of its case, whether that takes part."""
        distinct = ids.unique()
        texts = distinct.cast(pl.String).to_list()
        words = np.frombuffer(b"".join([blake2b(text.encode(), digest_size=8, key=self.key).digest() for text in texts]), "<u8")
        return ids.is_in(distinct.filter(pl.Series(chosen(words, self.rate))).implode())
