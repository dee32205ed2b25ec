"""Values of single events, randomized with the whole epsilon each: truth values, numbers and words; and the attributes of events.

Randomized response; Laplace noise cut to a domain (Holohan et al. 2018), whose scale is what the cut asks for; and an exponential
mechanism under which the true word scores 1 and every other 0. Each is epsilon-differentially private for one value, if its
domain is not taken from the data.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.randomness import Randomness
from libra.eventlog.cases import Floats, Integers
from libra.eventlog.ids import whose_cases
from libra.eventlog.log import EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, TIMESTAMP, unnamed

Truths = npt.NDArray[np.bool_]
HALVINGS = 40
RELEASED = (pl.Boolean(), pl.Int64(), pl.Float64(), pl.String())
FEW = 5  # a value that fewer have is as good as a name: official statistics publish no smaller cells
MOSTLY = 0.5  # of the events that have a value
LARGEST_WHOLE = float(np.nextafter(2.0**63, 0))  # what a column of whole numbers can hold


def randomized_response(values: Truths, epsilon: float, random: Randomness) -> Truths:
    """Each value, or its opposite where the draw says so."""
    return values ^ (random.uniform(len(values)) < math.exp(-epsilon) / (1 + math.exp(-epsilon)))


def random_words(words: Integers, n_words: int, epsilon: float, random: Randomness) -> Integers:
    """Each word, by its number, or one of the others where the draw says so."""
    others = n_words - 1
    keep = 1 / (1 + others * math.exp(-epsilon / 2))
    stays = random.uniform(len(words)) < keep
    other = (words + 1 + random.below(max(others, 1), len(words))) % n_words
    return np.where(stays, words, other)


def bounded_laplace(values: Floats, low: Floats, high: Floats, sensitivity: Floats, epsilon: float, random: Randomness) -> Floats:
    """Each value with Laplace noise, within its bounds; `sensitivity` is how far apart two values are that are to look alike."""
    apart = high - low
    reach = np.minimum(sensitivity, apart)
    scale = np.where(reach > 0, bounded_scale(reach, apart, epsilon), 1.0)
    below, above = 0.5 * np.exp((low - values) / scale), 0.5 * np.exp((values - high) / scale)  # what the bounds cut off
    drawn = random.uniform(len(values)) * (1 - below - above)
    downward = drawn + below < 0.5
    left = np.where(downward, drawn + below, 1 - below - drawn)
    moved = scale * np.log(2 * np.maximum(left, np.finfo(float).tiny))
    return np.where(reach > 0, np.clip(values + np.where(downward, moved, -moved), low, high), values)


def bounded_scale(sensitivity: Floats, apart: Floats, epsilon: float) -> Floats:
    """The smallest scale with which cut Laplace noise keeps the ratio of all probabilities within e^epsilon.

    A value at the edge loses more to the cut than one a `sensitivity` inside, by a factor C of the scale b. What is needed is
    sensitivity / b + ln C(b) <= epsilon, which holds at twice the scale of plain Laplace noise and is found by halving.
    """
    least, most = sensitivity / epsilon, 2 * sensitivity / epsilon
    for _ in range(HALVINGS):
        scale = np.maximum((least + most) / 2, np.finfo(float).tiny)
        inside, rest, whole = (-np.expm1(-length / scale) for length in (sensitivity, apart - sensitivity, apart))
        lost = np.divide(inside + rest, whole, out=np.ones_like(whole), where=whole > 0)
        enough = sensitivity / scale + np.log(lost) <= epsilon
        least, most = np.where(enough, least, scale), np.where(enough, scale, most)
    return most


def released_attributes(log: EventLog) -> list[str]:
    """The columns that are released: those of the types that have a mechanism; no ids, no individual, no part of the case id.

    A column of ids is one most of whose values belong to few cases each.
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
    """The attributes of the released events, over the values that the log has; what is missing stays missing.

    An event that takes after none gets, for each attribute, the value of a random event of the same activity.
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
    values = taken.drop_nulls()
    if taken.dtype == pl.Boolean:
        made = pl.Series(randomized_response(values.to_numpy(), epsilon, random))
    elif taken.dtype == pl.String:
        words = original.drop_nulls().unique().sort()
        numbers = values.cast(pl.Enum(words)).to_physical().to_numpy().astype(np.int64)
        made = words.gather(pl.Series(random_words(numbers, len(words), epsilon, random), dtype=pl.UInt32))
    else:
        made = _numbers(values, original, epsilon, random)
    there = taken.is_not_null().to_numpy()
    place = pl.Series(np.where(there, np.cumsum(there) - 1, 0), dtype=pl.UInt32)
    return made.gather(place.set(pl.Series(~there), None))


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
