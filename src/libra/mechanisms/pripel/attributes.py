"""Event attributes, taken over and randomized.

In: the events of the original, and which of them each released event takes after. Out: a frame of attributes, a row a released
event. An event that takes after none gets, for each attribute, the value of a random event of the same activity. What is missing
stays missing. Then truth values, numbers and words go through their mechanisms (`randomize`), over the values that the log has.
Only truth values, numbers and words are released; never a column of ids, most of whose values belong to one case each; and no
attribute of a case, which the algorithm knows nothing of.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from libra.eventlog.cases import Integers
from libra.eventlog.columns import column
from libra.eventlog.names import ACTIVITY, CASE_INDEX, TIMESTAMP
from libra.mechanisms.pripel.randomize import bounded_laplace, random_words, randomized_response
from libra.privacy.randomness import Randomness

RELEASED = (pl.Boolean(), pl.Int64(), pl.Float64(), pl.String())
MOSTLY = 0.5  # of the events that have a value


def released_attributes(events: pl.DataFrame) -> list[str]:
    """The columns that are released: those of the types that have a mechanism, ids aside.

    Example:
        >>> released_attributes(pl.DataFrame({"@case": [0, 0, 1, 1], "ward": ["a", "b", "a", "b"], "order": [71, 72, 73, 74]}))
        ['ward']
    """
    core = (CASE_INDEX, ACTIVITY, TIMESTAMP)
    possible = [name for name, kind in events.schema.items() if name not in core and kind in RELEASED]
    return [name for name in possible if not _is_id(events, name)]


def _is_id(events: pl.DataFrame, name: str) -> bool:
    """Whether most values, where they are words or whole numbers, belong to one case."""
    if events.schema[name] not in (pl.String(), pl.Int64()):
        return False
    of_value = (
        events.lazy()
        .select(column(CASE_INDEX), column(name).alias("value"))
        .drop_nulls()
        .group_by("value")
        .agg(pl.len().alias("events"), pl.col(CASE_INDEX).n_unique().alias("cases"))
    )
    shares = of_value.select(pl.col("events").filter(pl.col("cases") == 1).sum() / pl.col("events").sum()).collect()
    return bool((shares.item() or 0.0) > MOSTLY)


def randomized_attributes(
    events: pl.DataFrame, codes: Integers, released: Integers, after: Integers, epsilon: float, random: Randomness
) -> pl.DataFrame:
    """The attributes of the released events.

    Args:
        events: Of the original.
        codes: The activity of each of them.
        released: The activity of each released event.
        after: Which event of the original it takes after, -1 for none.
        epsilon: Of each value.
        random: Where the draws come from.

    Example:
        >>> events = pl.DataFrame({"@case": [0, 1], "urgent": [True, None]})
        >>> codes = np.array([0, 1])
        >>> randomized_attributes(events, codes, codes, np.array([-1, 1]), 50.0, Randomness())["urgent"].to_list()
        [True, None]
    """
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=int(released.max(initial=0)) + 1)
    begins = np.cumsum(sizes) - sizes
    made = {}
    for name in released_attributes(events):
        rank = (random.uniform(len(released)) * sizes[released]).astype(np.int64)
        donor = order[np.minimum(begins[released] + rank, len(order) - 1)]
        place = pl.Series(np.where(after >= 0, after, donor), dtype=pl.UInt32)
        taken = pl.select(pl.when(pl.Series((after >= 0) | (sizes[released] > 0))).then(events[name].gather(place))).to_series()
        made[name] = _randomized(taken, events[name], epsilon, random).alias(name)
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
    """Numbers with bounded noise over the range of the log's; infinities and no-numbers are within no range, and stay out."""
    numbers = original.drop_nulls().to_numpy().astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    wanted = values.to_numpy().astype(np.float64)
    usable = np.isfinite(wanted)
    low, high = (np.full(int(usable.sum()), end) for end in (finite.min(initial=np.inf), finite.max(initial=-np.inf)))
    noisy = np.full(len(wanted), np.nan)
    noisy[usable] = bounded_laplace(wanted[usable], low, high, high - low, epsilon, random)
    if values.dtype == pl.Int64:
        return pl.Series(np.rint(noisy)).cast(pl.Int64)
    return pl.Series(noisy).fill_nan(None)


def _filled(there: np.ndarray[tuple[int], np.dtype[np.bool_]], values: pl.Series) -> pl.Series:
    """The values where there are some, in order, and null elsewhere."""
    place = np.cumsum(there) - 1
    return values.gather(pl.Series(np.where(there, place, 0), dtype=pl.UInt32).set(pl.Series(~there), None))
