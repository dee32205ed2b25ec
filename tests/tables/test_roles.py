from __future__ import annotations

import polars as pl
import pytest

from libra.errors import InputError
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.tables.roles import find_roles

DAYS = ["2024-05-06", "2024-05-07", "2024-05-08", "2024-05-09"] * 3
CASES = ["17", "17", "17", "18", "18", "18", "19", "19", "19", "20", "20", "20"]
LABELS = ["register", "triage", "leave"] * 4
NUMBERS = [str(number) for number in range(12)]


def found(columns: dict[str, list[str]], roles: RoleNames | None = None) -> dict[str, str]:
    options = ReadOptions(roles=roles or RoleNames())
    return {role.role: "+".join(role.columns) for role in find_roles(pl.DataFrame(columns), options, "a.csv")}


@pytest.mark.parametrize(
    ("case", "activity", "timestamp"),
    [
        ("case:concept:name", "concept:name", "time:timestamp"),
        ("Case ID", "Activity", "Complete Timestamp"),
        ("_CASE_KEY", "ACTIVITY_EN", "EVENTTIME"),
        ("caseid", "task", "timestamp"),
        ("Patient ID", "Event", "Date"),
        ("Incident ID", "Action", "end_time"),
        ("Fall-ID", "Aktivität", "Zeitstempel"),
        ("zaaknummer", "activiteit", "tijdstip"),
        ("Numéro dossier", "Activité", "Horodatage"),
    ],
)
def test_common_names_are_recognised(case: str, activity: str, timestamp: str) -> None:
    roles = found({"noise": NUMBERS, timestamp: DAYS, activity: LABELS, case: CASES})
    assert roles == {"case_id": case, "activity": activity, "timestamp": timestamp}


def test_optional_roles_are_found_by_name() -> None:
    roles = found(
        {
            "Case ID": CASES,
            "Activity": LABELS,
            "Start Timestamp": DAYS,
            "Complete Timestamp": DAYS,
            "Resource": LABELS,
            "lifecycle": LABELS,
        }
    )
    assert roles["timestamp"] == "Complete Timestamp"
    assert roles["start_timestamp"] == "Start Timestamp"
    assert roles["resource"] == "Resource"
    assert roles["lifecycle"] == "lifecycle"


def test_a_lone_start_is_the_timestamp() -> None:
    assert found({"Case ID": CASES, "Activity": LABELS, "Start Time": DAYS}) == {
        "case_id": "Case ID",
        "activity": "Activity",
        "timestamp": "Start Time",
    }


def test_a_start_that_is_no_date_is_an_ordinary_column() -> None:
    assert "start_timestamp" not in found({"case": CASES, "activity": LABELS, "time": DAYS, "start": NUMBERS})


def test_a_table_in_the_standards_names_is_taken_at_its_word() -> None:
    standard = {"case:concept:name": CASES, "concept:name": LABELS, "time:timestamp": DAYS}
    assert set(found(standard | {"user": LABELS, "start": DAYS})) == {"case_id", "activity", "timestamp"}


def test_the_better_name_wins() -> None:
    assert (
        found({"Patient ID": NUMBERS, "Case ID": CASES, "Task": LABELS, "Activity": LABELS, "time": DAYS})["case_id"] == "Case ID"
    )


def test_content_decides_between_names_that_are_equally_good() -> None:
    roles = found({"Event": NUMBERS, "Task": LABELS, "Ticket": ["1"] * 12, "Order": CASES, "time": ["8:00"] * 12, "date": DAYS})
    assert (roles["activity"], roles["case_id"], roles["timestamp"]) == ("Task", "Order", "date")


def test_a_running_number_called_id_is_no_case_id() -> None:
    assert found({"id": NUMBERS, "folder": CASES, "activity": LABELS, "time": DAYS})["case_id"] == "folder"


def test_dates_are_recognised_by_their_values() -> None:
    frame = pl.DataFrame({"case": CASES, "activity": LABELS, "x": DAYS})
    reasons = {role.role: role.reason for role in find_roles(frame, ReadOptions(), "a.csv")}
    assert reasons["timestamp"] == "the only column whose values read as dates"
    assert reasons["case_id"] == 'called "case"'


def test_reasons_tell_the_users_word_from_the_standard() -> None:
    frame = pl.DataFrame({"case:concept:name": CASES, "concept:name": LABELS, "time:timestamp": DAYS})
    roles = find_roles(frame, ReadOptions(roles=RoleNames(activity=("concept:name",))), "a.csv")
    assert [role.reason for role in roles] == [
        "its name is the XES standard's",
        "named in the call",
        "its name is the XES standard's",
    ]


def test_labels_and_ids_are_recognised_by_their_values_where_one_column_stands_out() -> None:
    many = [str(number // 3) for number in range(120)]
    roles = found({"a": many, "b": LABELS * 10, "c": DAYS * 10})
    assert roles == {"case_id": "a", "activity": "b", "timestamp": "c"}


def test_two_columns_of_dates_are_not_guessed_between() -> None:
    with pytest.raises(InputError) as error:
        found({"case": CASES, "activity": LABELS, "x": DAYS, "y": DAYS})
    assert str(error.value) == (
        'a.csv: no timestamp column was recognised among the columns "case", "activity", "x", "y". Name it with --timestamp.'
    )


def test_all_missing_roles_are_named_with_their_flags() -> None:
    with pytest.raises(InputError) as error:
        found({"a": NUMBERS, "b": NUMBERS})
    for part in ('"a", "b"', "--case-id", "--activity", "--timestamp", "case id"):
        assert part in str(error.value)


def test_a_timestamp_that_cannot_be_read_is_still_the_timestamp() -> None:
    assert found({"case": CASES, "activity": LABELS, "timestamp": ["soon"] * 12})["timestamp"] == "timestamp"


def test_a_named_column_that_does_not_exist_is_answered_with_a_guess() -> None:
    with pytest.raises(
        InputError, match=r'^a.csv: --activity names "Activty", which is no column here. Did you mean "Activity"\? There are'
    ):
        found({"Case ID": CASES, "Activity": LABELS, "time": DAYS}, RoleNames(activity=("Activty",)))


def test_a_column_of_the_case_may_be_named_without_its_prefix() -> None:
    assert (
        found({"case": CASES, "activity": LABELS, "time": DAYS, "case:who": CASES}, RoleNames(individual="who"))["individual"]
        == "case:who"
    )


def test_several_columns_may_form_a_role() -> None:
    roles = found({"case": CASES, "n": NUMBERS, "activity": LABELS, "time": DAYS}, RoleNames(case_id=("case", "n")))
    assert roles["case_id"] == "case+n"
