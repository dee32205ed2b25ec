from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.errors import InputError
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.tables.flat import from_flat

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)


def log_of(columns: dict[str, Any], roles: RoleNames | None = None, **choices: Any) -> EventLog:
    frame = pl.DataFrame(columns, strict=False)
    return from_flat(frame, ReadOptions(roles=roles or RoleNames(), **choices), place="row {}".format, source="table")


def standard(cases: list[Any], **more: Any) -> dict[str, Any]:
    labels = [f"a{i}" for i in range(len(cases))]
    return {"case:concept:name": cases, "concept:name": labels, "time:timestamp": [NOON] * len(cases)} | more


def test_attributes_of_the_case_lose_their_prefix() -> None:
    log = log_of(standard(["x", "y", "x"]) | {"case:age": [3, None, 3], "cost": [1.5, None, 2.0]})
    assert log.cases.to_dict(as_series=False) == {"concept:name": ["x", "y"], "age": [3, None]}
    assert log.events["cost"].to_list() == [1.5, 2.0, None]


@pytest.mark.parametrize("values", [[1, 2, 3], [1, 2, None], [None, 2, 1]])
def test_what_varies_within_a_case_belongs_to_its_events(values: list[int | None]) -> None:
    log = log_of(standard(["x", "y", "x"]) | {"case:age": values})
    assert log.cases.columns == ["concept:name"]
    assert log.events["age"].to_list() == [values[0], values[2], values[1]]
    assert log.notes == ('"case:age" differs within some cases and is kept as the event attribute "age".',)


def test_a_name_already_taken_by_an_event_attribute_gets_a_prefix() -> None:
    log = log_of(standard(["x", "x"]) | {"case:age": [1, 2], "age": [5, 6]})
    assert log.events.select("age", "event:age").rows() == [(5, 1), (6, 2)]


def test_not_a_number_is_the_same_as_itself_within_a_case() -> None:
    assert log_of(standard(["x", "x"]) | {"case:score": [float("nan"), float("nan")]}).cases.columns == ["concept:name", "score"]


def test_a_column_whose_part_another_plays_is_left_out_with_a_note() -> None:
    log = log_of(standard(["x", "y"]) | {"label": ["p", "q"]}, RoleNames(activity=("label",)))
    assert log.activities == ["p", "q"]
    assert log.notes == ('Column "concept:name" was ignored because another column is used for its role.',)


def test_columns_of_a_composite_stay_as_attributes() -> None:
    columns = {"case": ["x", "x", "x"], "part": [1, 2, 1], "activity": ["a", "b", "c"], "time": [NOON] * 3}
    log = log_of(columns, RoleNames(case_id=("case", "part"), activity=("activity", "part")))
    assert log.cases["concept:name"].to_list() == ["x+1", "x+2"]
    assert log.events["concept:name"].to_list() == ["a+1", "c+1", "b+2"]
    assert log.events["part"].to_list() == [1, 1, 2]
    assert log.events["activity"].to_list() == ["a", "c", "b"]


def test_an_activity_may_include_its_transition_which_stays() -> None:
    columns = standard(["x", "x"]) | {"lifecycle:transition": ["start", "complete"]}
    log = log_of(columns, RoleNames(activity=("concept:name", "lifecycle:transition")))
    assert log.events["concept:name"].to_list() == ["a0+start", "a1+complete"]
    assert log.events["lifecycle:transition"].to_list() == ["start", "complete"]


def test_a_missing_part_of_a_composite_makes_it_missing() -> None:
    columns = {"case": ["x", "x"], "part": ["1", None], "activity": ["a", "b"], "time": [NOON] * 2}
    with pytest.raises(InputError, match=r"^row 1: no case id\."):
        log_of(columns, RoleNames(case_id=("case", "part")))
    with pytest.raises(InputError, match=r"^row 1: no activity\."):
        log_of(columns, RoleNames(activity=("activity", "part")))


@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a+", "+a", "+", "a (2)", "b"]), st.sampled_from(["a", "+a", "a+", "+", "b"])), min_size=1
    )
)
def test_different_combinations_are_different_cases(pairs: list[tuple[str, str]]) -> None:
    columns = {
        "p": [p for p, _ in pairs],
        "q": [q for _, q in pairs],
        "activity": ["a"] * len(pairs),
        "time": [NOON] * len(pairs),
    }
    log = log_of(columns, RoleNames(case_id=("p", "q")))
    distinct = list(dict.fromkeys(pairs))
    assert log.n_cases == len(distinct)
    assert log.events.select("@case", "p", "q").unique().height == len(distinct)
    assert any("told apart" in note for note in log.notes) == (len({f"{p}+{q}" for p, q in distinct}) < len(distinct))


def test_numbers_serve_as_ids_without_a_decimal_point() -> None:
    assert log_of(standard([17.0, 18.0])).cases["concept:name"].to_list() == ["17", "18"]


def test_every_type_finds_its_place_or_a_note() -> None:
    columns = standard(["x"]) | {
        "small": pl.Series([1], dtype=pl.Int8),
        "huge": pl.Series([2**64 - 1], dtype=pl.UInt64),
        "single": pl.Series([0.5], dtype=pl.Float32),
        "decimal": pl.Series([Decimal("1.25")]),
        "day": [date(2024, 5, 6)],
        "naive": [datetime(2024, 5, 6)],
        "berlin": pl.Series([datetime(2024, 5, 6, 2)]).dt.replace_time_zone("Europe/Berlin"),
        "category": pl.Series(["k"], dtype=pl.Categorical),
        "clock": [time(8, 30)],
        "took": [timedelta(seconds=90)],
        "list": [[1]],
        "struct": [{"a": 1}],
        "binary": [b"x"],
        "nothing": [None],
        "late": [datetime(9999, 12, 31, tzinfo=UTC)],
    }
    log = log_of(columns)
    midnight = datetime(2024, 5, 6, tzinfo=UTC)
    assert log.events.drop("@case", "concept:name", "time:timestamp").row(0, named=True) == {
        "small": 1,
        "huge": "18446744073709551615",
        "single": 0.5,
        "decimal": 1.25,
        "day": midnight,
        "naive": midnight,
        "berlin": midnight,
        "category": "k",
        "clock": "08:30:00",
        "took": 90.0,
        "late": datetime(9999, 12, 31, tzinfo=UTC),
    }
    told = " ".join(log.notes)
    assert all(f'"{name}"' in told for name in ("huge", "took", "list", "struct", "binary", "day", "naive"))


def test_the_individual_is_kept_with_the_case() -> None:
    columns = standard(["x", "y", "x"]) | {"patient": ["p", "p", "p"], "case:ward": [1, 2, 1]}
    log = log_of(columns, RoleNames(individual="patient"))
    assert log.individual == "patient"
    assert log.cases["patient"].to_list() == ["p", "p"]
    assert "patient" not in log.events.columns
    assert log_of(columns, RoleNames(individual="ward")).individual == "ward"
    assert log_of(columns, RoleNames(individual="case:concept:name")).individual == "concept:name"


@pytest.mark.parametrize(("values", "what"), [(["p", "q", "r"], "changes within a case"), (["p", None, "p"], "no value in")])
def test_an_individual_that_is_not_one_per_case_is_refused(values: list[str | None], what: str) -> None:
    with pytest.raises(InputError, match=rf"^row \d: .*{what}.*--individual\.$"):
        log_of(standard(["x", "y", "x"]) | {"patient": values}, RoleNames(individual="patient"))


def test_places_name_the_row_of_the_source_after_grouping_and_dropping() -> None:
    columns = standard(["x", None, "y", "x"]) | {"patient": ["p", "p", "q", "r"]}
    with pytest.raises(InputError, match=r"^row 3: "):
        log_of(columns, RoleNames(individual="patient"), drop_invalid=True)


def test_dropping_everything_is_refused_unless_an_empty_log_will_do() -> None:
    with pytest.raises(InputError, match=r"^table: no event has a case id"):
        log_of(standard([None, ""]), drop_invalid=True)
    assert log_of(standard([None, ""]), drop_invalid=True, allow_empty=True).n_events == 0


def test_a_placeholder_start_is_refused_or_cleared_and_the_event_stays() -> None:
    columns = standard(["x", "x"]) | {"start_timestamp": [NOON, datetime(1, 1, 1, tzinfo=UTC)]}
    with pytest.raises(InputError, match="most likely a placeholder"):
        log_of(columns)
    assert log_of(columns, drop_invalid=True).events["start_timestamp"].to_list() == [NOON, None]


def test_the_inner_name_for_cases_does_not_clash_with_a_column() -> None:
    log = log_of(standard(["x"]) | {"@case": [5]})
    assert log.events["event:@case"].to_list() == [5]


def test_metadata_and_notes_are_passed_on() -> None:
    metadata = LogMetadata(attributes=(Attribute("concept:name", "string", "emergency"),))
    log = from_flat(
        pl.DataFrame(standard(["x"])), ReadOptions(), place=str, source="table", metadata=metadata, notes=["Read twice."]
    )
    assert log.metadata == metadata
    assert log.notes == ("Read twice.",)


def test_a_table_without_attributes_is_grouped() -> None:
    log = log_of(standard(["x", "y", "x"]))
    assert log.events["concept:name"].to_list() == ["a0", "a2", "a1"]


def test_a_date_and_a_time_of_day_make_one_timestamp() -> None:
    columns = {"case": ["x", "x"], "activity": ["a", "b"], "date": ["2024-05-06"] * 2, "time": ["08:00", "9:30 pm"]}
    log = log_of(columns)
    assert log.events["time:timestamp"].to_list() == [NOON.replace(hour=8), NOON.replace(hour=21, minute=30)]
    assert log.events.columns == ["@case", "concept:name", "time:timestamp"]
    typed = columns | {"date": [date(2024, 5, 6)] * 2, "time": [time(8), time(21, 30)]}
    assert log_of(typed).equals(log)


def test_a_time_of_day_that_cannot_be_read_is_refused_or_its_event_dropped() -> None:
    clocks = ["08:00"] * 10 + ["25:99", None]
    columns = {"case": ["x"] * 12, "activity": ["a"] * 12, "date": ["2024-05-06"] * 12, "time": clocks}
    with pytest.raises(InputError, match=r'^row 10: time of day "25:99" in "time" cannot be read'):
        log_of(columns)
    assert log_of(columns, drop_invalid=True).n_events == 10
    with pytest.raises(InputError, match=r"^row 11: no timestamp"):
        log_of(columns | {"time": ["08:00"] * 11 + [None]})


def test_times_of_day_that_are_not_used_are_named() -> None:
    columns = {"case": ["x"], "activity": ["a"], "date": [date(2024, 5, 6)], "time": ["08:00"]}
    log = log_of(columns, RoleNames(timestamp="date"))
    assert any('If "time" holds times of day' in note for note in log.notes)
    assert log.events["time"].to_list() == ["08:00"]


def test_one_column_of_times_shows_the_order_of_day_and_month_for_the_other() -> None:
    columns = {"case": ["x"], "activity": ["a"], "start": ["05/06/2024 08:00"], "complete timestamp": ["05/13/2024 08:00"]}
    log = log_of(columns)
    assert log.events["start_timestamp"].to_list() == [NOON.replace(hour=8)]
    assert any(note.endswith('read month first, as in "complete timestamp".') for note in log.notes)


def test_a_start_that_cannot_be_used_is_noted_when_it_is_left_out() -> None:
    log = log_of(standard(["x", "x"]) | {"start_timestamp": [NOON, datetime(1, 1, 1, tzinfo=UTC)]}, drop_invalid=True)
    assert log.notes == ('Some times in "start_timestamp" cannot be used and were left out; their events stay.',)


@pytest.mark.parametrize("role", ["case:concept:name", "concept:name"])
@pytest.mark.parametrize("values", [[["a"]], [{"a": 1}], [b"\xff"]])
def test_what_is_no_text_is_no_case_id_and_no_activity(role: str, values: list[Any]) -> None:
    with pytest.raises(InputError, match=rf'^row 0: "{role}" is of the type .* Name another column with --'):
        log_of(standard(["x"]) | {role: values})


def test_bytes_that_are_text_serve_as_case_id() -> None:
    assert log_of(standard([b"x"])).cases["concept:name"].to_list() == ["x"]


def test_lists_are_no_timestamps_and_no_resource() -> None:
    with pytest.raises(InputError, match=r'^row 0: "time:timestamp" is of the type List.* holds no moments in time'):
        log_of(standard(["x"]) | {"time:timestamp": [[NOON]]})
    log = log_of({"case": ["x"], "activity": ["a"], "time": [NOON], "resource": [["r"]]})
    assert log.notes == ('The column "resource" has a type no event log can hold (List(String)) and was left out.',)


def test_attributes_beyond_any_clock_are_left_out_with_a_note() -> None:
    far = pl.Series([2**62, 0]).cast(pl.Datetime("ms", "UTC"))
    log = log_of(standard(["x", "x"]) | {"due": far, "took": pl.Series([2**62, 0]).cast(pl.Duration("ms"))})
    assert log.events["due"].to_list() == [None, datetime(1970, 1, 1, tzinfo=UTC)]
    assert log.events["took"].to_list() == [2**62 / 1000, 0.0]
    assert 'Some times in "due" are outside the years 1 to 9999 and were left out.' in log.notes
    with pytest.raises(InputError, match=r"^row 0: no case id"):
        log_of(standard(["x", "x"]) | {"case:concept:name": far})
