"""Between UTC and the clock on the wall: microseconds of the one to microseconds of the other, in a zone known by its IANA name.

A calendar (hours of the day, days of the week) is read off the wall; how long something takes is counted in UTC.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

Integers = npt.NDArray[np.int64]
HOUR = 3_600_000_000  # microseconds


def to_local(micros: Integers, time_zone: str) -> Integers:
    """What the clock on the wall shows, as microseconds since 1970."""
    if time_zone == "UTC":
        return micros
    moments = pl.Series(micros, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    local = moments.dt.convert_time_zone(time_zone).dt.replace_time_zone(None)
    return local.cast(pl.Int64).to_numpy().astype(np.int64, copy=False)


def to_utc(local: Integers, time_zone: str) -> Integers:
    """When the clock on the wall shows this: the first time where it does so twice, an hour later where it never does."""
    if time_zone == "UTC":
        return local
    moments = pl.Series(local, dtype=pl.Int64).cast(pl.Datetime("us"))
    known = moments.dt.replace_time_zone(time_zone, ambiguous="earliest", non_existent="null")
    later = moments.dt.offset_by("1h").dt.replace_time_zone(time_zone, ambiguous="earliest", non_existent="null")
    utc = known.fill_null(later).dt.convert_time_zone("UTC").cast(pl.Int64)
    return utc.fill_null(pl.Series(local, dtype=pl.Int64)).to_numpy().astype(np.int64, copy=False)
