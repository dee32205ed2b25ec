"""A log counted twice, by Spark and in memory, with every table there is; and logs made to hurt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from every_table import assert_same_tables

from libra._system.randomness import Randomness
from libra.engines.contract import CASE
from libra.engines.polars import LogInMemory, PolarsEngine
from libra.engines.spark.engine import SparkEngine, open_log
from libra.engines.spark.kernels import is_private
from libra.eventlog.cases import MISSING
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read

__all__ = [
    "assert_read_alike",
    "assert_same_cases",
    "assert_same_log",
    "assert_same_tables",
    "hurtful",
    "many_variants",
    "on_spark",
    "table_of",
]
START = 1_714_982_400_000_000  # a Monday of May 2024, in microseconds


def on_spark(source: Any, options: ReadOptions | None = None) -> SparkEngine:
    """The engine of a path or frame, in the session that is open."""
    return open_log(source, options or ReadOptions()).engine(CASE, Randomness())


def assert_same_log(source: Path, options: ReadOptions | None = None) -> SparkEngine:
    """That a file has the same tables wherever it is counted."""
    options = options or ReadOptions()
    engine = on_spark(str(source), options)
    assert_same_tables(engine, LogInMemory(read(source, options)).engine(CASE, Randomness()))
    return engine


def assert_read_alike(source: Path, options: ReadOptions | None = None) -> SparkEngine:
    """That a file has the same cases wherever it is read: whatever is counted of them is the same, if tables of others are."""
    options = options or ReadOptions()
    engine = on_spark(str(source), options)
    assert_same_cases(engine, LogInMemory(read(source, options)).engine(CASE, Randomness()))
    return engine


def assert_same_cases(engine: SparkEngine, memory: PolarsEngine) -> None:
    """That all cases agree, event by event and in every attribute, in whichever order they come."""
    assert engine.labels == memory.labels
    assert engine.values == memory.values
    found, cases = engine.cases.drop("case", "problem").toArrow(), memory.cases
    codes, micros = (np.split(part, cases.offsets[1:-1]) for part in (cases.codes, cases.micros))
    values = []
    for attribute, texts, of_cases in zip(engine.events.attributes, memory.values, cases.attributes, strict=True):
        said = of_cases.tolist()
        values.append([None if one == MISSING else texts[one] if is_private(attribute) else one for one in said])
    theirs = zip(map(np.ndarray.tolist, codes), map(np.ndarray.tolist, micros), *values, strict=True)
    ours = zip(*(column.to_pylist() for column in found.columns), strict=True)
    assert sorted(ours, key=repr) == sorted(theirs, key=repr)


def table_of(rows: list[tuple[str | None, str | None, int | None]]) -> pl.DataFrame:
    """A flat table of cases, labels and times in minutes."""
    case, label, minutes = ([row[part] for row in rows] for part in range(3))
    return pl.DataFrame(
        {
            "case:concept:name": pl.Series(case, dtype=pl.String),
            "concept:name": pl.Series(label, dtype=pl.String),
            "time:timestamp": (pl.Series(minutes, dtype=pl.Int64) * 60_000_000 + START).cast(UTC_MICROSECONDS),
        }
    )


def hurtful() -> pl.DataFrame:
    """Equal times, times that run backwards, labels and ids in many scripts, events that cannot be used, and a giant case."""
    rows: list[tuple[str | None, str | None, int | None]] = [
        *((f"equal {i % 40}", "cab"[i // 40 % 3], 7) for i in range(400)),
        *((f"zurück {i % 30}", f"Schritt {i % 4} ✓", 1000 - i) for i in range(300)),
        *((name, label, 5) for name in ("漢字", "a.b`c", "x\ny", "🂡", "É", "é") for label in ("z", "Ω", "ß", "z")),
        *((None, "lost", 3), ("gone", None, 3), ("gone", "lost", None), (" ", "a", 3), ("gone", "\u2003", 3)),
        *(("giant", "ab"[i % 7 == 0], i) for i in range(100_000)),
    ]
    return table_of(rows).sample(fraction=1.0, shuffle=True, seed=1)


def many_variants(cases: int = 3000) -> pl.DataFrame:
    """As many variants as cases: each case spells its number with two labels."""
    digits = 12
    return (
        pl.DataFrame({"number": range(cases)})
        .select(
            pl.format("case {}", "number").repeat_by(digits).alias("case:concept:name"),
            pl.concat_list(
                *(
                    pl.when(pl.col("number") // 2**place % 2 == 1).then(pl.lit("one")).otherwise(pl.lit("nought"))
                    for place in range(digits)
                )
            ).alias("concept:name"),
            pl.concat_list(
                *((pl.col("number") * 60_000_000 + START + place).cast(UTC_MICROSECONDS) for place in range(digits))
            ).alias("time:timestamp"),
        )
        .explode("case:concept:name", "concept:name", "time:timestamp")
    )
