"""Released attributes of events in files: of the types that other tools expect, with the keys that their filters go by."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import libra
from attributed_events import LEVEL, NAMES, OF_EVENTS, TEST, handovers, with_values
from libra.eventlog.attributes import Attribute
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.names import OTHER, RESOURCE
from libra.release import Release

INSURANCE = Attribute("case:insurance", "category")


@pytest.fixture(scope="module")
def release() -> Release:
    asked = (INSURANCE, *OF_EVENTS)
    return libra.anonymize(with_values(400), epsilon=50.0, delta=1e-2, labels="public", attributes=asked, resource_names=True)


@pytest.fixture(scope="module")
def xes(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("written") / "log.xes"
    release.write(path)
    return path


def test_an_xes_file_has_types_and_the_organizational_extension(release: Release, xes: Path) -> None:
    text = xes.read_text(encoding="utf-8")
    assert '<extension name="Organizational" prefix="org"' in text
    elements = {
        RESOURCE: "string",
        "org:role": "string",
        "urgent": "boolean",
        "level": "float",
        "paid": "int",
        "cost": "int",
        "due": "date",
    }
    for key, kind in elements.items():
        found = set(re.findall(rf'\t\t\t<(\w+) key="{key}"', text))
        assert found == {kind}, key
        there = release.log.events[key].drop_nulls()
        assert text.count(f'\t\t\t<{kind} key="{key}" value=') == len(there), "where there is no value there is no element"
    assert dict(libra.read(xes).events.schema) == dict(release.log.events.schema)


def test_tables_have_the_types_that_are_declared(release: Release, tmp_path: Path) -> None:
    flat = release.log.to_polars()
    release.write(tmp_path / "log.parquet")
    assert_frame_equal(pl.read_parquet(tmp_path / "log.parquet"), flat)
    release.write(tmp_path / "log.csv")
    read = pl.read_csv(tmp_path / "log.csv", try_parse_dates=True, infer_schema_length=None)
    assert read.columns == flat.columns
    plain = {pl.Int64(), pl.Float64(), pl.Boolean(), pl.String()}
    for name in (one.name for one in OF_EVENTS):
        kinds = read.schema[name], flat.schema[name]
        assert kinds[0] == kinds[1] or (kinds[1] == UTC_MICROSECONDS and kinds[0].is_temporal()), name
        if kinds[1] in plain:
            assert read[name].equals(flat[name]), name
    assert libra.read(tmp_path / "log.csv").n_events == release.log.n_events


def test_numbers_are_written_with_their_decimals(release: Release, tmp_path: Path) -> None:
    release.write(tmp_path / "log.csv")
    written = pl.read_csv(tmp_path / "log.csv", infer_schema=False)
    assert written["level"].drop_nulls().str.contains(r"^\d+(\.\d)?$").all()
    assert written["paid"].drop_nulls().str.contains(r"^\d+$").all()
    level = release.log.events["level"].drop_nulls()
    assert ((level * 10**LEVEL.decimals).round(9) % 1 == 0).all()


@contextlib.contextmanager
def muted() -> Iterator[None]:
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.peer
def test_filters_of_pm4py_work_on_released_attributes(release: Release, xes: Path) -> None:
    import pm4py

    log = release.log
    with muted():
        read = pm4py.read_xes(str(xes))
        of_one = pm4py.filter_event_attribute_values(read, RESOURCE, [NAMES[0]], level="event", retain=True)
        cases_of_one = pm4py.filter_event_attribute_values(read, RESOURCE, [NAMES[0]], level="case", retain=True)
        insured = pm4py.filter_trace_attribute_values(read, "case:insurance", ["public"], retain=True)
        values = pm4py.get_event_attribute_values(read, "org:role")
        tested = pm4py.filter_event_attribute_values(read, "concept:name", [TEST], level="event", retain=True)
    assert len(of_one) == (log.events[RESOURCE] == NAMES[0]).sum() > 0
    assert cases_of_one["case:concept:name"].nunique() == log.events.filter(pl.col(RESOURCE) == NAMES[0])["@case"].n_unique()
    assert insured["case:concept:name"].nunique() == (log.cases["insurance"] == "public").sum() > 0
    assert set(values) <= {"desk", "bedside", "nobody's", OTHER}
    assert tested["level"].dtype == "float64"
    assert tested["level"].notna().mean() > 0.9
    assert read["urgent"].dropna().map(type).eq(bool).all()


@pytest.mark.peer
def test_pm4py_discovers_who_hands_work_over_to_whom(release: Release, xes: Path) -> None:
    import pm4py

    with muted():
        network = pm4py.discover_handover_of_work_network(pm4py.read_xes(str(xes)).dropna(subset=[RESOURCE]))
        roles = pm4py.discover_organizational_roles(pm4py.read_xes(str(xes)).dropna(subset=[RESOURCE]))
    found = {(one, other) for (one, other), weight in network.connections.items() if weight > 0}
    assert found == {pair for pair, share in handovers(release.log, RESOURCE).items() if share > 0}
    original = {pair: share for pair, share in handovers(with_values(400), RESOURCE).items() if share > 0.01}
    assert set(original) <= found
    assert {name for role in roles for name in role.originator_importance} <= {*NAMES, OTHER}
