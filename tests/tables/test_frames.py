from __future__ import annotations

import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings

import libra
from libra.errors import InputError, MissingExtraError
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.frames import from_frame, to_pandas
from strategies import event_logs

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def pandas_frame(**more: object) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "case:concept:name": pd.Categorical(["x", "x", "y"]),
            "concept:name": ["a", "b", "a"],
            "time:timestamp": pd.to_datetime(["2024-05-06 14:00", "2024-05-06 15:00", "2024-05-06 16:00"]).tz_localize(
                "Europe/Berlin"
            ),
            **more,
        }
    )


def test_pandas_types_come_over() -> None:
    log = from_frame(
        pandas_frame(
            count=[1, 2, 3],
            gaps=[1.0, np.nan, 3.0],
            nullable=pd.array([1, None, 3], dtype="Int64"),
            truth=pd.array([True, None, False], dtype="boolean"),
            text=pd.array(["p", None, ""], dtype="string"),
            when=pd.to_datetime(["2024-05-06", None, "2024-05-07"]),
            amount=pd.Series([Decimal("1.5"), None, Decimal("2")], dtype=object),
            day=pd.Series([date(2024, 5, 6), None, date(2024, 5, 7)], dtype=object),
        ),
        ReadOptions(),
    )
    assert log.events["time:timestamp"].to_list() == [NOON, NOON + timedelta(hours=1), NOON + timedelta(hours=2)]
    assert log.cases["concept:name"].to_list() == ["x", "y"]
    assert log.events["count"].to_list() == [1, 2, 3]
    assert log.events["gaps"].to_list() == [1.0, None, 3.0]
    assert log.events["nullable"].to_list() == [1, None, 3]
    assert log.events["truth"].to_list() == [True, None, False]
    assert log.events["text"].to_list() == ["p", None, ""]
    assert log.events["when"].to_list() == [datetime(2024, 5, 6, tzinfo=UTC), None, datetime(2024, 5, 7, tzinfo=UTC)]
    assert log.events["amount"].to_list() == [1.5, None, 2.0]
    assert log.events["day"].to_list() == [datetime(2024, 5, 6, tzinfo=UTC), None, datetime(2024, 5, 7, tzinfo=UTC)]


def test_objects_of_different_kinds_become_text_and_containers_are_left_out() -> None:
    log = from_frame(
        pandas_frame(
            mixed=pd.Series([1, "a", None], dtype=object),
            huge=pd.Series([2**70, 1, 2], dtype=object),
            lists=pd.Series([[1], [2], None], dtype=object),
        ),
        ReadOptions(),
    )
    assert log.events["mixed"].to_list() == ["1", "a", None]
    assert log.events["huge"].to_list() == [str(2**70), "1", "2"]
    assert "lists" not in log.events.columns
    assert all(any(f'"{name}"' in note for note in log.notes) for name in ("mixed", "lists"))


@pytest.mark.parametrize(
    ("last", "read"), [("n/a", ["true", "true", "n/a"]), (False, [True, True, False]), (None, [True, True, None])]
)
def test_truths_of_numpy_and_of_python_are_of_one_kind(last: object, read: list[object]) -> None:
    frame = pandas_frame(truth=pd.Series([np.True_, True, last], dtype=object))
    assert from_frame(frame, ReadOptions()).events["truth"].to_list() == read


def test_objects_in_different_zones_are_the_same_moments() -> None:
    moments = [NOON, NOON.astimezone(timezone(timedelta(hours=2))), NOON.astimezone(timezone(timedelta(hours=-5)))]
    frame = pandas_frame()
    frame["time:timestamp"] = pd.Series(moments, dtype=object)
    assert from_frame(frame, ReadOptions()).events["time:timestamp"].to_list() == [NOON] * 3


def test_the_index_does_not_count() -> None:
    frame = pandas_frame()
    assert from_frame(frame.set_index(pd.Index([5, 5, 1])), ReadOptions()).equals(from_frame(frame, ReadOptions()))


def test_missing_ids_and_duplicate_names_are_refused() -> None:
    frame = pandas_frame()
    frame.loc[1, "case:concept:name"] = np.nan
    with pytest.raises(InputError, match=r"^the data frame, row 1: no case id"):
        from_frame(frame, ReadOptions())
    with pytest.raises(InputError, match=r'several columns are called "concept:name"'):
        from_frame(pd.concat([frame, frame[["concept:name"]]], axis=1), ReadOptions())


def test_polars_frames_lazy_or_not_give_the_same_log(small_log: EventLog) -> None:
    flat = small_log.to_polars()
    assert from_frame(flat, ReadOptions()).equals(small_log)
    assert from_frame(flat.lazy(), ReadOptions()).equals(small_log)


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(InputError, match="a list is not a data frame"):
        from_frame([1, 2], ReadOptions())


def test_pandas_and_back_is_the_same_log_with_its_header(small_log: EventLog) -> None:
    metadata = LogMetadata(attributes=(Attribute("concept:name", "string", "emergency"),))
    log = EventLog(small_log.events, small_log.cases, metadata, individual="insurance")
    frame = to_pandas(log)
    assert str(frame["time:timestamp"].dtype.tz) == "UTC"
    back = from_frame(frame, ReadOptions())
    assert back.equals(log)
    assert back.roles[-1].reason == "the frame says so"


@pytest.mark.parametrize("own", [5, {"owner": "somebody"}, {"metadata": {"attributes": [{"key": "a"}]}}])
def test_what_others_keep_under_our_key_does_no_harm(small_log: EventLog, own: object) -> None:
    frame = to_pandas(small_log)
    frame.attrs["libra"] = own
    assert from_frame(frame, ReadOptions()).equals(small_log)


@settings(deadline=None)
@given(log=event_logs())
def test_any_log_survives_a_polars_frame(log: EventLog) -> None:
    assert from_frame(log.to_polars(), ReadOptions(allow_empty=True)).equals(log)


def test_without_pandas_the_extra_is_named(small_log: EventLog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"^pandas is not installed. Install it with: .*pip install .libra-pm\[pandas\]."):
        to_pandas(small_log)


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore")
def test_pm4py_accepts_the_frame(small_log: EventLog) -> None:
    import pm4py

    frame = to_pandas(small_log)
    variants = dict(pm4py.get_variants(frame))
    assert variants == {("register", "see doctor", "leave"): 2, ("register", "leave"): 1}
    edges, starts, ends = pm4py.discover_dfg(frame)
    assert dict(edges) == {("register", "see doctor"): 2, ("see doctor", "leave"): 2, ("register", "leave"): 1}
    assert (dict(starts), dict(ends)) == ({"register": 3}, {"leave": 3})


def test_numbers_that_are_missing_stay_whole(small_log: EventLog) -> None:
    frame = to_pandas(small_log)
    assert str(frame["case:age"].dtype) == "Int64"
    assert str(frame["urgent"].dtype) == "boolean"
    assert pl.from_pandas(frame["cost"]).null_count() == 3


@pytest.mark.parametrize("other", ["27.05.2024", "n/a", 1714982400, date(2024, 5, 27), datetime(2024, 5, 27, tzinfo=UTC)])
@pytest.mark.parametrize("said", [{"timestamp_format": "%d.%m.%Y"}, {"epoch_unit": "s"}, {}])
def test_a_value_of_another_kind_takes_away_nobodys_datetime(other: object, said: dict[str, Any]) -> None:
    def read(times: list[object]) -> EventLog:
        columns = {"case": range(len(times)), "activity": "a", "time": pd.Series(times, dtype=object)}
        return libra.read(pd.DataFrame(columns), drop_invalid=True, **said)

    times: list[object] = [datetime(2024, 5, 6, hour) for hour in range(12)]
    alone = read(times).events
    if said:
        with pytest.raises(InputError, match='"time" holds datetimes and values of other kinds'):
            read([*times, other])
    else:
        assert read([*times, other]).events[:12].equals(alone)
