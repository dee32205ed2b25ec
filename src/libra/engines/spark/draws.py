"""Keyed draws: a random word for every id, the same wherever and however often Spark computes it.

In: a column of ids and a key of 256 random bits. Out: a column of words of 64 bits, as 16 hexadecimal digits, which compare as
the numbers do. Spark may compute a column twice (a lost executor, a second action, speculation); a word that came from a
generator would then be another one. Here it is a keyed cryptographic hash of the id, nested as in HMAC: nobody without the key
can tell it from a random word. The key stands in the plan of the query, which stays with the raw log, where Spark runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from libra.engines.sampling import KEY_WORDS, limit_of
from libra.privacy.randomness import Randomness

if TYPE_CHECKING:
    from pyspark.sql import Column

DIGITS = 16  # of 64 bits


def drawn_key(random: Randomness) -> bytes:
    """A key for draws that have nothing to do with any others.

    Example:
        >>> len(drawn_key(Randomness()))
        32
    """
    return random.words(KEY_WORDS).tobytes()


def words_of(ids: Column, key: bytes) -> Column:
    """A random word for every id."""
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    secret = F.lit(bytearray(key))
    inner = F.sha2(F.concat(secret, F.encode(ids, "UTF-8")), 256)
    return F.substring(F.sha2(F.concat(secret, F.encode(inner, "UTF-8")), 256), 1, DIGITS)


def takes(ids: Column, rate: float, key: bytes) -> Column:
    """Whether the case of an id takes part in a Poisson subsample: with the probability `rate`, or a hair less."""
    return words_of(ids, key) < f"{int(limit_of(rate)):0{DIGITS}x}"
