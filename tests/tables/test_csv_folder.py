"""A folder of CSV files, as Spark writes one log, is read as one log."""

from __future__ import annotations

from pathlib import Path

import libra
from libra import example


def test_files_of_a_folder_are_one_log_also_where_cases_go_on_in_the_next(tmp_path: Path) -> None:
    whole = libra.read(example.path()).to_polars().select("case:concept:name", "concept:name", "time:timestamp")
    folder = tmp_path / "log.csv"
    folder.mkdir()
    for number, rows in enumerate((whole[:5001], whole[5001:9000], whole[9000:])):
        rows.write_csv(folder / f"part-{number}.csv")
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.csv.crc").write_bytes(b"\0")
    read = libra.read(folder)
    assert read.to_polars().equals(libra.read(whole).to_polars())
    assert read.role_columns["case_id"] == "case:concept:name"


def test_parquet_goes_before_csv_in_a_mixed_folder(tmp_path: Path) -> None:
    whole = libra.read(example.path()).to_polars().select("case:concept:name", "concept:name", "time:timestamp")
    whole.write_parquet(tmp_path / "b.parquet")
    whole.head(5).write_csv(tmp_path / "a.csv")
    assert libra.read(tmp_path).n_cases == 2000
