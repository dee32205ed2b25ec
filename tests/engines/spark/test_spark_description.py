"""Spark reads by a description what the other engines read by it, and refuses what they refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import libra
from libra.engines.spark.session import Spark
from libra.errors import InputError
from libra.eventlog.description import Description

from . import both_engines as both

HEADER = "Case ID;Activity;When\n"
SAID: dict[str, Any] = {"format": "csv", "case_id": ["Case ID"], "activity": ["Activity"], "timestamp": "When", "zone": "none"}
SAID |= {"encoding": "utf-8", "delimiter": ";", "source": "log.toml"}
MANY = 1200  # more rows than a sample has


def write(folder: Path, times: list[str]) -> Path:
    file = folder / "log.csv"
    file.write_text(HEADER + "".join(f"{i % 7};{'ab'[i % 2]};{time}\n" for i, time in enumerate(times)), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("times", "way"),
    [
        (["03/04/2024", "05/06/2024"], {"timestamp_format": "%m/%d/%Y"}),
        (["03/04/2024", "2024-06-05 08:00"], {"timestamp_format": "any", "day_first": False}),
        (["2024-05-06T08:00:00Z", "2024-05-06T08:00:00"], {"timestamp_format": "iso", "zone": "utc"}),
        (["1714982400", "86400"], {"epoch_unit": "s", "zone": "file"}),
    ],
)
def test_a_description_is_followed(times: list[str], way: dict[str, Any], tmp_path: Path, spark: Spark) -> None:
    both.assert_read_alike(write(tmp_path, times), Description(**(SAID | way)).options())


@pytest.mark.parametrize(
    ("times", "change"),
    [
        (["2024-05-06T08:00:00Z"], {"timestamp_format": "iso"}),
        (["2024-05-06T08:00:00"] * MANY + ["2024-05-06T08:00:00Z"], {"timestamp_format": "iso"}),
        (["06.05.2024"] * MANY + ["2024-05-06"], {"timestamp_format": "%d.%m.%Y"}),
        (["06.05.2024"], {"timestamp_format": "%d.%m.%Y", "activity": ["Step"]}),
        (["06.05.2024"], {"timestamp_format": "%d.%m.%Y", "format": "table", "delimiter": None}),
    ],
)
def test_what_does_not_fit_is_refused(times: list[str], change: dict[str, Any], tmp_path: Path, spark: Spark) -> None:
    file, described = write(tmp_path, times), Description(**(SAID | change))
    for engine in ("polars", "polars-streaming", "spark"):
        with pytest.raises(InputError):
            libra.anonymize(file, engine=engine, description=described)


@pytest.mark.parametrize(
    ("times", "told"),
    [
        (["03/04/2024"] * MANY, "shows whether day or month comes first"),
        (["1714982400"] * MANY + ["1000"], "do not all look like Unix times in seconds"),
        (["2024-05-06T08:00:00Z"] * MANY + ["2024-05-06T08:00:00"], "carry a time zone and others do not"),
    ],
)
def test_what_is_open_is_refused(times: list[str], told: str, tmp_path: Path, spark: Spark) -> None:
    file = write(tmp_path, times)
    for engine in ("polars", "polars-streaming", "spark"):
        with pytest.raises(InputError, match=told):
            libra.anonymize(file, engine=engine)


def test_a_row_behind_the_sample_shows_the_order(tmp_path: Path, spark: Spark) -> None:
    file = write(tmp_path, ["03/04/2024"] * MANY + ["27/05/2024"])
    for engine in ("polars", "polars-streaming", "spark"):
        assert libra.anonymize(file, engine=engine).guarantee.kind == "proved"
