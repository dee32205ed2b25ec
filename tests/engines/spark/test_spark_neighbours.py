"""On Spark as elsewhere: whoever is in a file or not, everybody else is read alike."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from libra._system.randomness import Randomness
from libra.engines.contract import Unit
from libra.engines.control_flow_tables import Size
from libra.engines.spark.engine import open_log
from libra.engines.spark.session import Spark
from libra.eventlog.options import ReadOptions, RoleNames

from . import both_engines as both

OPTIONS = ReadOptions(roles=RoleNames(("case",), ("activity",), "time", individual="whose"))


def table(ids: list[Any], labels: list[Any], types: tuple[Any, Any]) -> pl.DataFrame:
    """One case for each id."""
    times = both.table_of([("", "", i) for i in range(len(ids))])["time:timestamp"]
    return pl.DataFrame(
        {
            "case": [f"case {i}" for i in range(len(ids))],
            "activity": pl.Series(labels, dtype=types[1]),
            "time": times,
            "whose": pl.Series(ids, dtype=types[0]),
        }
    )


def csv_file(frame: pl.DataFrame, path: Path) -> str:
    frame.write_csv(path / "a.csv")
    return str(path / "a.csv")


def parquet_file(frame: pl.DataFrame, path: Path) -> str:
    frame.write_parquet(path / "a.parquet")
    return str(path / "a.parquet")


def folders(frame: pl.DataFrame, path: Path) -> str:
    for (whose,), of_them in frame.partition_by("whose", as_dict=True).items():
        folder = path / "lake" / f"whose={whose}"
        folder.mkdir(parents=True)
        of_them.drop("whose").write_parquet(folder / "a.parquet")
    return str(path / "lake")


Written = Callable[[pl.DataFrame, Path], str]
TEXT = (pl.String(), pl.String())
ATTACKS: dict[str, tuple[Written, list[Any], Any, Any, int]] = {  # ids of others, the added one, their types, individuals before
    "csv": (csv_file, ["7", "7.0", "8", "8.0"], "anon", pl.String(), 4),
    "folders": (folders, ["7", "7.0", "08", "8"], "anon", pl.String(), 4),
    "floats": (parquet_file, [7.0, 7.0, 8.0, -0.0, 0.0], 0.5, pl.Float64(), 3),
    "decimals": (parquet_file, [Decimal("7.000"), Decimal(7), Decimal(100)], Decimal("0.500"), pl.Decimal(20, 3), 2),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_one_added_person_changes_nobody_elses_id_or_label(tmp_path: Path, spark: Spark, name: str) -> None:
    written, ids, added, kind, count = ATTACKS[name]
    plain = [kind.to_python()(1)] * len(ids) if kind.is_numeric() else ["1"] * len(ids)
    half = added if kind.is_numeric() else "0.5"
    for whose, labels, individuals, seen in (
        (ids, plain, count, ("1",)),
        ([*ids, added], [*plain, half], count + 1, ("0.5", "1")),
    ):
        (tmp_path / str(len(whose))).mkdir()
        log = open_log(written(table(whose, labels, (kind, kind)), tmp_path / str(len(whose))), OPTIONS)
        engine = log.engine(Unit(most_cases=1), Randomness(seed=1))
        assert engine.labels == seen
        assert engine.count_all([Size()])[0].tolist() == [individuals]
    spark.forget()
