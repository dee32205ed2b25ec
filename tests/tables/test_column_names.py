"""What a column is called says nothing to Polars: a name between `^` and `$` is no pattern, in whatever role."""

from __future__ import annotations

import csv
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import Cases, Source, in_batches, in_memory, outcome
from libra.errors import InputError
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import read
from libra.eventlog.write import write
from odd_tables import TABLES
from strategies import names

PATTERNS = ("^{}$", "^({}$", "^.*|{}$", "*{}*", "`{}`.*", '{} "\\')


def called(name: str, pattern: str) -> str:
    """Another name, which the finder of roles takes for the same."""
    return "case:" + pattern.format(name[5:]) if name.startswith("case:") else pattern.format(name)


def renamed(options: ReadOptions, pattern: str) -> ReadOptions:
    roles: dict[str, Any] = {role: getattr(options.roles, role) for role in RoleNames.__dataclass_fields__}
    others: dict[str, Any] = {
        role: called(names, pattern) if isinstance(names, str) else tuple(called(name, pattern) for name in names or ())
        for role, names in roles.items()
        if names
    }
    return replace(options, roles=RoleNames(**others))


def whole_log(source: Source, options: ReadOptions) -> tuple[list[pl.Series], tuple[str, ...]] | str:
    """All columns of a log, of no name, and what is said about them; or why there is none."""
    try:
        log = read(source, options)
    except InputError as error:
        return str(error)
    return [values.alias("") for frame in (log.events, log.cases) for values in frame], log.notes


def unquoted(said: str, names: list[str], pattern: str) -> str:
    for name in sorted(names, key=len, reverse=True):
        said = said.replace(f'"{called(name, pattern)}"', f'"{name}"')
    return said


@cache
def as_it_is(name: str) -> tuple[pl.DataFrame, ReadOptions, tuple[list[pl.Series], tuple[str, ...]] | str, Cases | str]:
    """A table with some more columns, and what is read of it at once and in batches."""
    plain, options = TABLES[name]
    plain = plain.with_columns(pl.lit("'=x").alias("remark"), pl.lit(2.5).alias("cost"), pl.lit("p").alias("case:ward"))
    return plain, options, whole_log(plain, options), outcome(in_batches, plain.lazy(), options)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("name", TABLES)
def test_what_columns_are_called_changes_nothing(name: str, pattern: str) -> None:
    plain, options, expected, theirs = as_it_is(name)
    odd, odd_options = plain.rename({name: called(name, pattern) for name in plain.columns}), renamed(options, pattern)
    found = whole_log(odd, odd_options)
    if isinstance(expected, str) or isinstance(found, str):
        assert unquoted(str(found), plain.columns, pattern) == expected
        return
    assert [unquoted(note, plain.columns, pattern) for note in found[1]] == list(expected[1])
    assert all(one.equals(other, null_equal=True) for one, other in zip(found[0], expected[0], strict=True))
    ours = outcome(in_batches, odd.lazy(), odd_options)
    assert (unquoted(ours, plain.columns, pattern) if isinstance(ours, str) else ours) == theirs


@pytest.mark.parametrize("ending", ["csv", "xes", "parquet"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_file_with_such_names_comes_back(pattern: str, ending: str, tmp_path: Path) -> None:
    plain, options = TABLES["individuals"]
    more: dict[str, list[Any]] = {
        "remark": ["'=x", None] * 6,
        "cost": [2.5, None] * 6,
        "n": [1, None] * 6,
        "late": [True, None] * 6,
    }
    plain = plain.with_columns(pl.Series(name, values) for name, values in more.items())
    plain = plain.with_columns(start=pl.col("time").dt.offset_by("-1s"))
    log = read(plain.rename({name: called(name, pattern) for name in plain.columns}), renamed(options, pattern))
    assert {called(name, pattern) for name in more} <= set(log.events.columns)
    write(log, path := tmp_path / f"log.{ending}")
    back = read(path, ReadOptions(roles=RoleNames(individual=called("patient", pattern))))
    assert back.equals(replace(log, metadata=back.metadata))
    theirs = in_batches(path, ReadOptions(roles=RoleNames(individual=called("patient", pattern))))
    assert theirs == in_batches(plain, options)


@settings(max_examples=40)
@given(st.lists(names.filter(lambda name: not re.match("'+[=+@\\-]", name)), min_size=6, max_size=6, unique=True))
def test_roles_go_to_columns_of_any_name(chosen: list[str]) -> None:
    plain = TABLES["individuals"][0].with_columns(pl.lit("'x").alias("remark"), pl.lit(2.5).alias("cost"))
    odd = plain.rename(dict(zip(plain.columns, chosen, strict=True)))
    case, activity, time, individual = chosen[:4]
    options = ReadOptions(roles=RoleNames((case,), (activity,), time, individual=individual))
    expected = in_memory(plain, TABLES["individuals"][1])
    with tempfile.TemporaryDirectory() as folder:
        table, parquet = Path(folder) / "log.csv", Path(folder) / "log.parquet"
        odd.write_parquet(parquet)
        with table.open("w", encoding="utf-8", newline="") as file:
            rows = csv.writer(file)
            rows.writerow([*chosen, "org:resource"])  # which no reader takes for data
            rows.writerows([*row[:2], row[2].isoformat(), *row[3:], ""] for row in odd.rows())
        for source in (odd, odd.lazy(), parquet, table):
            assert in_memory(source, options) == expected
            assert in_batches(source, options) == expected
