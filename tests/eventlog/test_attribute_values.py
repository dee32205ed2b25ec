"""What a value of a described attribute becomes depends on that value alone, or the file is refused: whoever else is in it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from neighbouring_files import DECLARED, OBJECTS, TEXTS

import libra
from libra.errors import InputError, UsageError
from libra.eventlog.attributes import Attribute, Kind, case_values, event_values, plain_values
from libra.eventlog.description import Description
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import batches_of, read
from libra.keywords import read_options

ODD = ("anon", "7.0", "1e400", "NaN", "-inf", "n/a", "n.v.", "x" * 5000, "1.000,5", "1,000.5", "'-7", "01", "2024-05-06T08:00")
TEXT_POOLS = (
    ("7", "7.0", "8", "-0.0"), ("7", "8", "70"), ("1,5", "2", "-0,25"), ("true", "False"), ("1", "0"), ("a", "b"),
    ("2024-05-06T08:00:00Z", "2024-05-07T08:00:00+02:00"), ("2024-05-06 08:00:00", "2024-05-07 08:00:00"), ("2024-05-06",),
)  # fmt: skip
MOMENTS = (datetime(2024, 5, 6, 8, tzinfo=UTC), datetime(2024, 5, 7, 8, 0, 0, 5, tzinfo=UTC))
NUMPY = (
    np.True_, np.False_, np.int8(7), np.float16(0.1), np.float32(0.1), np.float32(7), np.datetime64("2024-05-06"),
    np.timedelta64(1, "D"),
)  # fmt: skip
PYTHON = (
    date(2024, 5, 6), datetime(2024, 5, 6, 8), time(8, 30), time(8, 30, 0, 5), Decimal("7.10"), Decimal("0.1"), Decimal(2**70),
)  # fmt: skip
DURATIONS = (timedelta(days=1), timedelta(microseconds=3), timedelta(days=-900, microseconds=7))
OBJECT_POOLS: tuple[tuple[Any, ...], ...] = (
    (7, 8, 70), (7.0, 0.5), (True, False), ("7", "7.0"), ("a", "b"), MOMENTS, ("2024-05-06", "2024-05-07"), DURATIONS,
    *(NUMPY[:2], NUMPY[4:6], NUMPY[6:7], NUMPY[7:], PYTHON[:1], PYTHON[1:2], PYTHON[:2], PYTHON[2:4], PYTHON[4:6], PYTHON[4:]),
    *((True, np.True_), (Decimal("1e-20"), Decimal("2.5")), (date(2024, 5, 6), date(1, 1, 1)), (0.1, np.float32(0.1))),
    (7, np.int8(7), Decimal(7)),
)  # fmt: skip
KINDS: tuple[Kind, ...] = ("boolean", "category", "number", "date")
ROLES = RoleNames(("case",), ("activity",), "when")
READ = ReadOptions(roles=ROLES, encoding="utf-8", delimiter=";", timestamp_format="iso", described="the description")
checked = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
Rows = list[tuple[str, Any]]


@st.composite
def neighbours(draw: st.DrawFn, kind: Kind, pools: Sequence[Sequence[Any]], odd: Sequence[Any]) -> tuple[Rows, Rows]:
    """Cases whose values look alike, and the same with another one of any value among them; mostly values that are of the kind.

    A file with others is refused, which shows nothing.
    """
    some = (lambda value: fits(kind, value)) if draw(st.integers(0, 4)) else (lambda _: True)
    pool = draw(st.sampled_from([pool for pool in (list(filter(some, pool)) for pool in pools) if pool]))
    others = [(f"c{i}", draw(st.sampled_from(pool))) for i in range(draw(st.integers(1, 6)))]
    at = draw(st.integers(0, len(others)))
    return others, [*others[:at], ("theirs", draw(st.sampled_from(list(filter(some, odd))))), *others[at:]]


def fits(kind: Kind, value: Any) -> bool:
    """Whether a value can be one of the kind, with a decimal point or comma; of XES a pair of its type and what is written."""
    return says(kind, str(value[1] if isinstance(value, tuple) else value))


@cache
def says(kind: Kind, text: str) -> bool:
    try:
        plain_values(pl.Series([text.replace(",", ".")]), declared(kind)[0])
    except InputError:
        return False
    return True


def as_csv(folder: Path, rows: Rows) -> Path:
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    writer.writerow(("case", "activity", "when", "x", "case:y"))
    writer.writerows((case, "a", "2024-05-06T08:00:00", value, value) for case, value in rows)
    (folder / "log.csv").write_text(text.getvalue(), encoding="utf-8", newline="")
    return folder / "log.csv"


def as_xes(folder: Path, rows: Rows) -> Path:
    def said(key: str, value: tuple[str, str]) -> str:
        return f"<{value[0]} key={quoteattr(key)} value={quoteattr(value[1])}/>"

    body = "".join(
        f"<trace>{said('concept:name', ('string', case))}{said('y', value)}<event>{said('concept:name', ('string', 'a'))}"
        f"{said('time:timestamp', ('date', '2024-05-06T08:00:00Z'))}{said('x', value)}</event></trace>\n"
        for case, value in rows
    )
    (folder / "log.xes").write_text(f"<log>\n{body}</log>\n", encoding="utf-8")
    return folder / "log.xes"


def as_pandas(_: Path, rows: Rows) -> Any:
    import pandas as pd

    plain = {"case": [case for case, _ in rows], "activity": "a", "when": "2024-05-06T08:00:00"}
    values = pd.Series([value for _, value in rows])  # which finds its type by itself
    return pd.DataFrame({**plain, "x": values, "case:y": values})


def values_of(source: Any, options: ReadOptions) -> dict[str, list[Any]]:
    """For every case what its value of each attribute becomes."""
    log = read(source, options)
    found = [case_values(log, one) if one.level == "case" else event_values(log, one) for one in options.attributes]
    return dict(zip(log.cases["concept:name"], zip(*found, strict=True), strict=True))


def assert_others_alike(others: Rows, everybody: Rows, put: Callable[[Rows], Any], options: ReadOptions) -> None:
    try:
        with_them = values_of(put(everybody), options)
        assert values_of(put(others), options) == {case: value for case, value in with_them.items() if case != "theirs"}
    except InputError:
        assume(False)


def declared(kind: Kind) -> tuple[Attribute, ...]:
    """The attribute of events, that of cases, and the first of events as one of cases."""
    more: dict[str, Any] = {"decimals": 1, "highest": 1e6} if kind == "number" else {}
    more["missing"] = ("n/a", "n.v.", "")
    return Attribute("x", kind, "event", **more), Attribute("case:y", kind, **more)


def assert_alike_in_csv(folder: Path, kind: Kind, rows: tuple[Rows, Rows], decimal: str) -> None:
    options = replace(READ, attributes=declared(kind), decimal=decimal, form="csv")
    assert_others_alike(*rows, lambda some: as_csv(folder, some), options)


@pytest.mark.parametrize("kind", KINDS)
@checked
@given(data=st.data(), decimal=st.sampled_from(".,"))
def test_csv(tmp_path: Path, kind: Kind, data: st.DataObject, decimal: str) -> None:
    rows = data.draw(neighbours(kind, TEXT_POOLS, (*ODD, *TEXTS, "")))
    assert_alike_in_csv(tmp_path, kind, rows, decimal)


@pytest.mark.parametrize(
    ("kind", "others", "theirs", "decimal"),
    [("category", ("7.0", "7"), "anon", "."), ("number", ("1,5",), "n.v.", ","), ("number", ("7.0", "7"), "n/a", ".")],
)
def test_numbers_beside_a_text(tmp_path: Path, kind: Kind, others: Sequence[str], theirs: str, decimal: str) -> None:
    rows = [(f"c{i}", value) for i, value in enumerate(others)]
    assert_alike_in_csv(tmp_path, kind, (rows, [*rows, ("theirs", theirs)]), decimal)


@pytest.mark.parametrize("kind", KINDS)
@checked
@given(data=st.data())
def test_xes(tmp_path: Path, kind: Kind, data: st.DataObject) -> None:
    odd = [*DECLARED.all, *((kind, text) for kind in ("string", "float") for text in ODD)]
    roles = RoleNames(activity=("concept:name",), timestamp="time:timestamp")
    options = ReadOptions(roles=roles, described="the description", zone="file", form="xes", attributes=declared(kind))
    rows = data.draw(neighbours(kind, DECLARED.alike, odd))
    assert_others_alike(*rows, lambda some: as_xes(tmp_path, some), options)


@pytest.mark.parametrize("kind", KINDS)
@checked
@given(data=st.data())
def test_pandas(tmp_path: Path, kind: Kind, data: st.DataObject) -> None:
    rows = data.draw(neighbours(kind, OBJECT_POOLS, (*OBJECTS, *NUMPY, *PYTHON, *DURATIONS, None, *ODD)))
    assert_others_alike(*rows, lambda some: as_pandas(tmp_path, some), replace(READ, attributes=declared(kind), form="table"))


@pytest.mark.parametrize("value", [*NUMPY, *PYTHON, *DURATIONS, *MOMENTS], ids=repr)
@pytest.mark.parametrize("beside", ["unknown", "n/a", 7, 0.25, True, date(2024, 5, 7), Decimal("1e-20"), timedelta(1)], ids=repr)
def test_an_object_of_another_kind_changes_no_category(value: Any, beside: Any, tmp_path: Path) -> None:
    options = replace(READ, attributes=declared("category"), form="table")
    rows = [("c0", value), ("c1", value)]
    assert_others_alike(rows, [*rows, ("theirs", beside)], lambda some: as_pandas(tmp_path, some), options)


def test_a_date_among_objects_is_the_same_date_beside_a_text(tmp_path: Path) -> None:
    attribute = Attribute("x", "date", "event", missing=("2024-05-06", "n/a"))
    options = replace(READ, attributes=(attribute,), form="table")
    for more in ([], [("theirs", "n/a")]):
        log = read(as_pandas(tmp_path, [("c0", date(2024, 5, 6)), *more]), options)
        assert event_values(log, attribute).to_list()[0] == 1_714_953_600_000_000


DESCRIPTION: dict[str, Any] = {
    "format": "csv", "case_id": ("case",), "activity": ("activity",), "timestamp": "when", "timestamp_format": "iso",
    "zone": "none", "encoding": "utf-8", "delimiter": ";",
}  # fmt: skip


def read_by(folder: Path, rows: Rows, *attributes: Attribute, **more: Any) -> Any:
    return libra.read(as_csv(folder, rows), description=Description(**DESCRIPTION, attributes=attributes, **more))


def test_a_value_of_another_kind_is_refused_with_its_line(tmp_path: Path) -> None:
    for name in ("x", "case:y"):
        with pytest.raises(InputError) as caught:
            read_by(tmp_path, [("c0", "7"), ("c1", "anon")], Attribute(name, "number"))
        assert str(caught.value).startswith(f'{tmp_path}/log.csv, line 3: "{name}" is described as a number, and "anon" is none.')
    assert read_by(tmp_path, [("c0", "7"), ("c1", "anon")], Attribute("x", "number", release=False)).n_cases == 2
    assert read_by(tmp_path, [("c0", "7"), ("c1", "anon")], Attribute("x", "number", missing=("anon",))).n_cases == 2


def test_in_xes_it_is_refused_with_its_case(tmp_path: Path) -> None:
    file = as_xes(tmp_path, [("c0", ("int", "7")), ("c1", ("string", "anon"))])
    said: dict[str, Any] = {"format": "xes", "activity": ("concept:name",), "timestamp": "time:timestamp", "zone": "file"}
    for name, place in (("x", 'case "c1", event 1'), ("case:y", 'case "c1"')):
        with pytest.raises(InputError) as caught:
            libra.read(file, description=Description(**said, attributes=(Attribute(name, "number"),)))
        assert str(caught.value).startswith(f'{file}, {place}: "{name}" is described as a number')


@pytest.mark.parametrize(("value", "read"), [("1,5", 15), ("-0,25", -2), ("7", 70), ("1,5e3", 15000)])
def test_a_decimal_comma_is_one_where_the_description_says_so(value: str, read: int, tmp_path: Path) -> None:
    attribute = Attribute("x", "number", "event", decimals=1, missing=("n.v.",))
    log = read_by(tmp_path, [("c0", value), ("c1", "n.v.")], attribute, decimal=",")
    assert event_values(log, attribute).to_list() == [read, None]


@pytest.mark.parametrize(("value", "decimal"), [("1.5", ","), ("1.000,5", ","), ("1.000", ","), ("1,000.5", "."), ("1,000", ".")])
def test_thousands_separators_are_no_numbers(value: str, decimal: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: "):
        read_by(tmp_path, [("c0", value), ("c1", "7")], Attribute("x", "number"), decimal=decimal)


def test_categories_are_read_as_they_are_written(tmp_path: Path) -> None:
    attribute = Attribute("x", "category", "event")
    log = read_by(tmp_path, [("c0", "7.0"), ("c1", "7"), ("c2", "007")], attribute)
    assert event_values(log, attribute).to_list() == ["7.0", "7", "007"]


@pytest.mark.parametrize(("written", "meant"), [("'-5", "-5"), ("''-5", "'-5"), ("'''=", "''="), (" '-5", "'-5"), ("'5", "'5")])
def test_a_guarding_apostrophe_is_removed_once_in_memory_and_in_batches(written: str, meant: str, tmp_path: Path) -> None:
    attributes = Attribute("x", "category", "event"), Attribute("case:y", "category")
    options = read_options(description=Description(**DESCRIPTION, attributes=attributes))
    file = as_csv(tmp_path, [("c0", written), ("c1", "a")])
    assert list(values_of(file, options)["c0"]) == [meant, meant]
    (batch,) = batches_of(file, options)
    assert batch.row(0)[-2:] == (meant, meant)


def test_a_column_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_by(tmp_path, [("c0", "7")], Attribute("y", "number"))
    words = 'there is no column "y", which is described. Did you mean case:y?'
    assert str(caught.value).startswith(f"{tmp_path}/log.csv: {words}")
    attribute = Attribute("x", "number", "event")
    assert event_values(read_by(tmp_path, [("c0", ""), ("c1", "")], attribute), attribute).to_list() == [None, None]


def test_an_attribute_of_the_case_that_changes_within_one_is_refused(tmp_path: Path) -> None:
    rows = [("c0", "7"), ("c1", "8"), ("c1", "9")]
    with pytest.raises(InputError, match='line 4: "case:y" is described as an attribute of the case and changes within one'):
        read_by(tmp_path, rows, Attribute("case:y", "number"))
    for some in (rows, rows[:2]):
        attribute = Attribute("y", "number", "event")
        assert event_values(read_by(tmp_path, some, attribute), attribute).to_list() == [int(value) for _, value in some]


def test_values_that_are_declared_missing_are_so_in_every_type() -> None:
    attribute = Attribute("x", "number", "event", missing=("-1",))
    frame = pl.DataFrame({"case": [1, 2], "activity": ["a", "a"], "when": ["2024-05-06"] * 2, "x": [-1, 7]})
    for values in (pl.Int64, pl.Float64, pl.String):
        log = libra.read(frame.with_columns(pl.col("x").cast(values)))
        assert event_values(log, attribute).to_list() == [None, 7]


@pytest.mark.parametrize(
    ("lowest", "highest", "decimals", "bounds"),
    [(0.1, 0.29, 2, (10, 29)), (-0.07, 1.005, 2, (-7, 100)), (0, 1e9, 9, (0, 10**15)), (1e-9, 3, 9, (1, 3 * 10**9))],
)
def test_bounds_are_those_that_are_written(lowest: float, highest: float, decimals: int, bounds: tuple[int, int]) -> None:
    attribute = Attribute("x", "number", lowest=lowest, highest=highest, decimals=decimals)
    assert attribute.bounds == bounds
    assert plain_values(pl.Series([float(lowest), 1e300]), attribute).to_list() == [bounds[0], bounds[1]]


def test_bounds_without_a_number_between_them_are_refused() -> None:
    with pytest.raises(UsageError, match='No number with 0 decimals is within the bounds of "x"'):
        Attribute("x", "number", lowest=0.1, highest=0.2)


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"unit": "day"}, 'The unit of "x" is "days" or nothing: dates are whole days, or whole seconds.'),
        ({"unit": "days", "lowest": 0.2, "highest": 0.9}, 'No whole day is within the bounds of "x".'),
        ({"lowest": 1.000001e-6, "highest": 1.1e-6}, 'No whole second is within the bounds of "x".'),
    ],
)
def test_dates_that_cannot_be_are_refused(declared: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(told)}$"):
        Attribute("x", "date", **declared)
