"""Event attributes, taken over and randomized.

In: the events of the original, and which of them each released event takes after. Out: a frame of attributes, a row a released
event. An event that takes after none gets, for each attribute, the value of a random event of the same activity. What is missing
stays missing. Then truth values, numbers and words go through their mechanisms (`randomize`), over the values that the log has.
Only truth values, numbers and words are released; never whose case it is, nor a column of ids, most of whose values belong to few
cases each; and no attribute of a case, which the algorithm knows nothing of.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from libra.eventlog.cases import Integers
from libra.eventlog.ids import whose_cases
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, TIMESTAMP, unnamed
from libra.mechanisms.pripel.randomize import bounded_laplace, random_words, randomized_response
from libra.privacy.randomness import Randomness

RELEASED = (pl.Boolean(), pl.Int64(), pl.Float64(), pl.String())
FEW = 5  # a value that fewer have is as good as a name: official statistics publish no smaller cells
MOSTLY = 0.5  # of the events that have a value
LARGEST_WHOLE = float(np.nextafter(2.0**63, 0))  # what a column of whole numbers can hold


def released_attributes(log: EventLog) -> list[str]:
    """The columns that are released: those of the types that have a mechanism; no ids, no individual, no part of the case id.

    Example:
        >>> from libra.example.simulate import simulate
        >>> log = simulate(cases=50)
        >>> numbered = log.events.with_columns(pl.lit("ward 1").alias("ward"), pl.int_range(pl.len()).alias("order"))
        >>> [name for name in released_attributes(EventLog(numbered, log.cases)) if name in ("ward", "order")]
        ['ward']
    """
    whose = pl.Series("whose", whose_cases(log)[log.events[CASE_INDEX].to_numpy()])
    of_case = [name for role in log.roles if role.role == "case_id" for name in role.columns]
    held_back = (CASE_INDEX, ACTIVITY, TIMESTAMP, log.individual, *of_case)
    possible = [name for name, kind in log.events.schema.items() if name not in held_back and kind in RELEASED]
    return [name for name in possible if not _is_id(unnamed(log.events[name]), whose)]


def _is_id(values: pl.Series, whose: pl.Series) -> bool:
    """Whether most values, where they are words or whole numbers, belong to few cases; or individuals, if the log knows them."""
    fractions = values.dtype == pl.Float64 and bool((values != values.floor()).any())
    if fractions or values.dtype == pl.Boolean:
        return False
    of_value = (
        pl.LazyFrame([values.alias("value"), whose])
        .filter(pl.col("value").cast(pl.String).str.strip_chars() != "")
        .group_by("value")
        .agg(pl.len().alias("events"), pl.col("whose").n_unique().alias("who"))
    )
    shares = of_value.select(pl.col("events").filter(pl.col("who") < FEW).sum() / pl.col("events").sum()).collect()
    return bool((shares.item() or 0.0) > MOSTLY)


def randomized_attributes(
    events: pl.DataFrame, codes: Integers, released: Integers, after: Integers, epsilon: float, random: Randomness
) -> pl.DataFrame:
    """The attributes of the released events.

    Args:
        events: The attributes to release, of the events of the original.
        codes: The activity of each of them.
        released: The activity of each released event.
        after: Which event of the original it takes after, -1 for none.
        epsilon: Of each value.
        random: Where the draws come from.

    Example:
        >>> events = pl.DataFrame({"urgent": [True, None]})
        >>> codes = np.array([0, 1])
        >>> randomized_attributes(events, codes, codes, np.array([-1, 1]), 50.0, Randomness())["urgent"].to_list()
        [True, None]
    """
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=int(released.max(initial=0)) + 1)
    begins = np.cumsum(sizes) - sizes
    made = {}
    for name in events.columns:
        rank = (random.uniform(len(released)) * sizes[released]).astype(np.int64)
        donor = order[np.minimum(begins[released] + rank, len(order) - 1)]
        place = pl.Series(np.where(after >= 0, after, donor), dtype=pl.UInt32)
        values = unnamed(events[name])
        taken = pl.select(pl.when(pl.Series((after >= 0) | (sizes[released] > 0))).then(values.gather(place))).to_series()
        made[name] = _randomized(taken, values, epsilon, random).alias(name)
    return pl.DataFrame(made)


def _randomized(taken: pl.Series, original: pl.Series, epsilon: float, random: Randomness) -> pl.Series:
    """The values, each through the mechanism of its type; nulls stay."""
    there = taken.is_not_null().to_numpy()
    values = taken.drop_nulls()
    if taken.dtype == pl.Boolean:
        return _filled(there, pl.Series(randomized_response(values.to_numpy(), epsilon, random)))
    if taken.dtype == pl.String:
        words = original.drop_nulls().unique().sort()
        numbers = values.cast(pl.Enum(words)).to_physical().to_numpy().astype(np.int64)
        drawn = random_words(numbers, len(words), epsilon, random)
        return _filled(there, words.gather(pl.Series(drawn, dtype=pl.UInt32)))
    return _filled(there, _numbers(values, original, epsilon, random))


def _numbers(values: pl.Series, original: pl.Series, epsilon: float, random: Randomness) -> pl.Series:
    """Numbers with bounded noise over the range of the log's; infinities and no-numbers are within no range, and stay out.

    Noise goes on numbers of size 1, by a power of 2, which is exact: the range of the largest numbers is no number any more.
    """
    numbers = original.drop_nulls().to_numpy().astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    _, size = np.frexp(np.abs(finite).max(initial=0.0))
    wanted = values.to_numpy().astype(np.float64)
    usable = np.isfinite(wanted)
    ends = (np.ldexp(end, -size) for end in (finite.min(initial=np.inf), finite.max(initial=-np.inf)))
    low, high = (np.full(int(usable.sum()), end) for end in ends)
    noisy = np.full(len(wanted), np.nan)
    noisy[usable] = np.ldexp(bounded_laplace(np.ldexp(wanted[usable], -size), low, high, high - low, epsilon, random), size)
    if values.dtype == pl.Int64:
        return pl.Series(np.clip(np.rint(noisy), -LARGEST_WHOLE, LARGEST_WHOLE)).cast(pl.Int64)
    return pl.Series(noisy).fill_nan(None)


def _filled(there: np.ndarray[tuple[int], np.dtype[np.bool_]], values: pl.Series) -> pl.Series:
    """The values where there are some, in order, and null elsewhere."""
    place = np.cumsum(there) - 1
    return values.gather(pl.Series(np.where(there, place, 0), dtype=pl.UInt32).set(pl.Series(~there), None))
