"""A log counted twice, by Spark and in memory, with every table there is; and logs made to hurt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from libra.engines import control_flow_tables as flow
from libra.engines import prefix_tables
from libra.engines import time_tables as times
from libra.engines.counting.count import TABLES, needs_cases
from libra.engines.polars.engine import PolarsEngine
from libra.engines.polars.engine import engine_of as in_memory
from libra.engines.spark.engine import SparkEngine, open_log
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.eventlog.traces import Traces
from libra.privacy.randomness import Randomness
from libra.privacy.unit import CASE

START = 1_714_982_400_000_000  # a Monday of May 2024, in microseconds
ZONE = "Europe/Amsterdam"


def every_table(engine: PolarsEngine, kept: Traces) -> list[Any]:
    """Every table that may be asked for, with parameters as an earlier release could have given them."""
    n = len(engine.labels)
    cells = np.arange(0, (n + 1) ** 2, 3)
    shown = tuple(range(0, min(n * n, 600), 2))
    edges = times.EdgeCells(shown, n, tuple(range(times.DURATION_BINS)), tuple(row % 2 for row in range(len(shown) + 1)))
    asked: list[Any] = [
        flow.Size(),
        flow.VariantCounts(kept),
        flow.NearestCounts(kept, n),
        flow.Lengths(),
        flow.BaseNorms(),
        flow.ExcessNorms(cells, n),
        flow.BaseEdges(n, 2.5),
        flow.ExcessEdges(n, 1.5, cells),
        flow.Contexts(n, cells[cells % (n + 1) != n][:50], 2.0),
        prefix_tables.CaseNumber(),
        prefix_tables.CaseLengths(),
        prefix_tables.PrefixLevel(np.arange(n).reshape(n, 1), n),
        times.StartYears(ZONE),
        times.StartWeeks((40, 41, 54), 4, ZONE),
        times.StartHours(ZONE),
        times.StartDays(ZONE),
        times.CaseDurations(),
        times.CaseDurationParts((0, 0, *(2,) * (times.TOTAL_BINS - 2))),
        times.LongestSteps(),
        times.Granularity(ZONE),
        times.StepDurations(2.0),
        times.EdgeDurations(1.7, edges),
        times.LongestEdges(edges),
        times.ActivityHours(1.0, n, times.HOUR, ZONE),
    ]
    assert {type(table) for table in asked} == TABLES
    return asked


def on_spark(source: Any, options: ReadOptions | None = None) -> SparkEngine:
    """The engine of a path or frame, in the session that is open."""
    return open_log(source, options or ReadOptions()).engine(CASE, Randomness())


def assert_same_tables(spark: SparkEngine, memory: PolarsEngine) -> None:
    """That all tables of all cases agree, and those about control flow of a tail."""
    assert spark.labels == memory.labels
    order = np.argsort(-memory.counts, kind="stable")
    kept = memory.traces.take(order[: min(len(order) // 2 + 1, 25)])
    asked = every_table(memory, kept)
    _assert_same(spark, memory, asked)
    _assert_same(spark.tail(kept), memory.tail(kept), [table for table in asked if not needs_cases(table)])


def _assert_same(spark: Any, memory: Any, asked: list[Any]) -> None:
    for table, found, expected in zip(asked, spark.count_all(asked), memory.count_all(asked), strict=True):
        assert found.shape == table.shape
        assert found.dtype == np.int64
        assert np.array_equal(found, expected), table.purpose


def assert_same_log(source: Path, options: ReadOptions | None = None) -> SparkEngine:
    """That a file has the same tables wherever it is counted."""
    options = options or ReadOptions()
    engine = on_spark(str(source), options)
    assert_same_tables(engine, in_memory(read(source, options)))
    return engine


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
