"""The log that leaves: fresh ids, a header like any other's, and for what a seed drew a stamp that survives every format."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from some_cases import COUNTS, cases_from, log_of, variants_in

from libra._system.randomness import SEEDED, Randomness
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, Classifier, LogMetadata
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.eventlog.write import write
from libra.eventlog.xes.write import written_metadata
from libra.mechanisms.fresh_log import fresh_log
from libra.mechanisms.libra2022 import Libra2022

FORMATS = ("log.xes", "log.csv", "log.parquet")
LABELS = ["admit", "bill", "cure", "discharge"]


def there_and_back(log: EventLog, path: Path) -> EventLog:
    """The log as it is read from the file that it was written to."""
    write(log, path)
    return read(path, ReadOptions())


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("seed", [None, 1])
def test_ids_say_in_every_format_whether_there_was_a_seed(seed: int | None, name: str, tmp_path: Path) -> None:
    log = Libra2022().anonymize(log_of(COUNTS), Randomness(seed)).log
    ids = there_and_back(log, tmp_path / name).cases["concept:name"].to_list()
    prefix = "case" if seed is None else "seeded"
    assert ids == [f"{prefix}-{number}" for number in range(1, log.n_cases + 1)]


def test_the_stamp_of_a_seed_is_in_the_header_and_changes_nothing_else_there(tmp_path: Path) -> None:
    cases = cases_from([[0, 1], [2]])
    plain, seeded = (
        there_and_back(fresh_log(cases, LABELS, Randomness(seed)), tmp_path / f"{seed}.xes").metadata for seed in (None, 1)
    )
    assert plain.attributes == ()
    assert seeded.attributes == (Attribute("privacy", "string", SEEDED),)
    for header in (plain, seeded):
        assert header.case_globals == (Attribute("concept:name", "string", "UNKNOWN"),)
        assert [attribute.key for attribute in header.event_globals] == ["concept:name", "time:timestamp"]
        assert header.classifiers == (Classifier("Activity", ("concept:name",)),)
    assert plain.extensions == seeded.extensions


def test_a_header_is_the_same_for_every_log() -> None:
    logs = (fresh_log(cases_from(traces), LABELS, Randomness()) for traces in ([[0, 1], [2]], [[3]]))
    headers = [(log.metadata, written_metadata(log)) for log in logs]
    assert headers[0] == headers[1]
    assert headers[0][0] == LogMetadata()


def test_labels_are_those_in_use_and_stay_with_their_events() -> None:
    log = fresh_log(cases_from([[3, 1, 3]]), LABELS, Randomness())
    assert log.events["concept:name"].to_list() == ["discharge", "bill", "discharge"]
    assert log.activities == ["bill", "discharge"]


@pytest.mark.parametrize("alpha", [2, 100])
def test_any_sort_by_time_keeps_every_variant(alpha: float) -> None:
    """Also one that is not stable and does not find the events in their order: no two events of a case have the same time."""
    log = log_of(COUNTS, minutes=0)
    released = Libra2022(alpha=alpha, delta=0.5).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases > 100
    shuffled = released.events.sample(fraction=1, shuffle=True, seed=3).sort("@case", "time:timestamp")
    traces = shuffled.group_by("@case", maintain_order=True).agg("concept:name")["concept:name"]
    assert {tuple(trace) for trace in traces.to_list()} == variants_in(released) <= variants_in(log)
    within = np.diff(released.events["@case"].to_numpy()) == 0
    assert (np.diff(released.timestamps)[within] >= 1000).all()


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("start", [datetime(1678, 1, 1, tzinfo=UTC), datetime(2261, 12, 30, tzinfo=UTC)])
def test_a_log_at_the_end_of_time_can_be_written_and_read_back(start: datetime, name: str, tmp_path: Path) -> None:
    log = log_of({"abc": 120})
    seconds = pl.duration(seconds=pl.int_range(pl.len()))
    log = EventLog(log.events.with_columns((pl.lit(start) + seconds).alias("time:timestamp")), log.cases)
    assert log.events["time:timestamp"][0] == start
    released = Libra2022(delta=0.5).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases > 50
    back = there_and_back(released, tmp_path / name)
    assert back.events.equals(released.events)
    assert variants_in(back) == {tuple("abc")}
    within = np.diff(released.events["@case"].to_numpy()) == 0
    assert (np.diff(released.timestamps)[within] >= 1000).all()
    times = released.events["time:timestamp"]
    earliest, latest = datetime(1678, 1, 1, tzinfo=UTC), datetime(2262, 1, 1, tzinfo=UTC) - timedelta(milliseconds=1)
    assert (times.min() == earliest) is (start.year == 1678)
    assert (times.max() == latest) is (start.year == 2261)
