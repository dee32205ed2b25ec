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
        ("case concept:name", "event concept:name", "event time:timestamp"),
    ],
)
def test_common_names_are_recognized(case: str, activity: str, timestamp: str) -> None:
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


def test_the_standard_names_behind_event_or_case_are_recognized() -> None:
    more = {"case Name": LABELS, "event User": LABELS, "event org:resource": LABELS, "event lifecycle:transition": LABELS}
    roles = found({"case concept:name": CASES, **more, "event concept:name": LABELS, "event time:timestamp": DAYS})
    assert roles == {
        "case_id": "case concept:name",
        "activity": "event concept:name",
        "timestamp": "event time:timestamp",
        "lifecycle": "event lifecycle:transition",
        "resource": "event org:resource",
    }


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
    assert (roles["activity"], roles["case_id"], roles["timestamp"]) == ("Task", "Order", "date+time")


def test_a_running_number_called_id_is_no_case_id() -> None:
    assert found({"id": NUMBERS, "folder": CASES, "activity": LABELS, "time": DAYS})["case_id"] == "folder"


def test_dates_are_recognized_by_their_values() -> None:
    frame = pl.DataFrame({"case": CASES, "activity": LABELS, "x": DAYS})
    reasons = {role.role: role.reason for role in find_roles(frame, ReadOptions(), "a.csv")}
    assert reasons["timestamp"] == "the only column left whose values read as dates"
    assert reasons["case_id"] == 'called "case"'


def test_reasons_tell_the_users_word_from_the_standard() -> None:
    frame = pl.DataFrame({"case:concept:name": CASES, "concept:name": LABELS, "time:timestamp": DAYS})
    roles = find_roles(frame, ReadOptions(roles=RoleNames(activity=("concept:name",))), "a.csv")
    assert [role.reason for role in roles] == [
        "its name is the XES standard's",
        "named in the call",
        "its name is the XES standard's",
    ]


def test_labels_and_ids_are_recognized_by_their_values_where_one_column_stands_out() -> None:
    many = [str(number // 3) for number in range(120)]
    roles = found({"a": many, "b": LABELS * 10, "c": DAYS * 10})
    assert roles == {"case_id": "a", "activity": "b", "timestamp": "c"}


def test_two_columns_of_dates_are_not_guessed_between() -> None:
    with pytest.raises(InputError) as error:
        found({"case": CASES, "activity": LABELS, "x": DAYS, "y": DAYS})
    assert str(error.value) == (
        'a.csv: several columns hold dates ("x", "y"). Name the one that says when an event happened with --timestamp.'
    )


def test_a_visit_is_the_case_rather_than_the_person() -> None:
    people = ["p1", "p1", "p1", "p1", "p1", "p1", "p2", "p2", "p2", "p2", "p2", "p2"]
    roles = found({"Patient ID": people, "Encounter ID": CASES, "Activity": LABELS, "Start": DAYS, "End": DAYS})
    assert (roles["case_id"], roles["start_timestamp"], roles["timestamp"]) == ("Encounter ID", "Start", "End")


def test_a_timestamp_format_that_fits_nothing_is_named() -> None:
    table = pl.DataFrame({"case": CASES, "activity": LABELS, "x": DAYS})
    with pytest.raises(InputError, match=r'no column is written in the --timestamp-format "dd.mm.yyyy"'):
        find_roles(table, ReadOptions(timestamp_format="dd.mm.yyyy"), "a.csv")


def test_all_missing_roles_are_named_with_their_flags() -> None:
    with pytest.raises(InputError) as error:
        found({"a": NUMBERS, "b": NUMBERS})
    for part in ('"a", "b"', "--case-id", "--activity", "--timestamp", "case id"):
        assert part in str(error.value)


def test_a_timestamp_that_cannot_be_read_is_still_the_timestamp() -> None:
    assert found({"case": CASES, "activity": LABELS, "timestamp": ["soon"] * 12})["timestamp"] == "timestamp"


def test_a_named_column_that_does_not_exist_is_answered_with_a_guess() -> None:
    with pytest.raises(
        InputError, match=r'^a.csv: --activity: there is no column "Activty"\. Did you mean "Activity"\? The columns are'
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


ENDS = ["2024-06-30"] * 3 + ["2024-07-30"] * 3 + ["2024-08-30"] * 3 + ["2024-09-30"] * 3


@pytest.mark.parametrize(
    ("event", "end"),
    [("timestamp", "end date"), ("Datum", "Einddatum"), ("date", "date fin"), ("event time", "completed at")],
)
@pytest.mark.parametrize("ends", [ENDS, DAYS])
def test_the_time_of_an_event_comes_before_an_end_that_has_no_start(event: str, end: str, ends: list[str]) -> None:
    assert found({"case": CASES, "activity": LABELS, end: ends, event: DAYS})["timestamp"] == event


def test_an_end_beside_a_start_is_the_timestamp() -> None:
    roles = found({"case": CASES, "activity": LABELS, "date": DAYS, "end date": DAYS, "start date": DAYS})
    assert (roles["timestamp"], roles["start_timestamp"]) == ("end date", "start date")


def test_times_that_differ_within_cases_come_before_those_of_whole_cases() -> None:
    roles = found({"case": CASES, "activity": LABELS, "timestamp": ENDS, "end time": DAYS})
    assert roles["timestamp"] == "end time"
    roles = found({"case": CASES, "activity": LABELS, "date": DAYS, "start date": ENDS, "end date": ENDS})
    assert roles["timestamp"] == "date"


def test_the_time_of_day_may_stand_in_a_column_of_its_own() -> None:
    columns = {"case": CASES, "activity": LABELS, "Datum": DAYS, "Uhrzeit": ["08:00", "9:30", "17:05:10"] * 4}
    (timestamp,) = (role for role in find_roles(pl.DataFrame(columns), ReadOptions(), "a.csv") if role.role == "timestamp")
    assert timestamp.columns == ("Datum", "Uhrzeit")
    assert timestamp.reason == 'called "Datum", with the time of day from "Uhrzeit"'


@pytest.mark.parametrize(
    "more", [{"time": ["3:1"] * 12}, {"score": ["03:10"] * 12}, {"Uhrzeit": ["8:00"] * 12, "time": ["9:00"] * 12}]
)
def test_only_a_single_column_of_clock_times_is_joined(more: dict[str, list[str]]) -> None:
    assert found({"case": CASES, "activity": LABELS, "date": DAYS, **more})["timestamp"] == "date"


def test_a_timestamp_with_a_time_or_named_by_the_user_is_not_joined() -> None:
    columns = {"case": CASES, "activity": LABELS, "date": DAYS, "time": ["9:00"] * 12}
    assert found(columns, RoleNames(timestamp="date"))["timestamp"] == "date"
    assert found(columns | {"date": [f"{day} 08:00" for day in DAYS]})["timestamp"] == "date"


@pytest.mark.parametrize("clock", ["Wartezeit", "Waiting time", "Start Time"])
def test_a_name_that_merely_speaks_of_time_is_not_the_clock_of_the_dates(clock: str) -> None:
    assert found({"case": CASES, "activity": LABELS, "Datum": DAYS, clock: ["00:30", "01:15"] * 6})["timestamp"] == "Datum"


@pytest.mark.parametrize("values", [["080000", "093015"], ["0800", "0930"], ["08.30", "9.15"], ["08:30 Uhr", "09:15 Uhr"]])
def test_times_of_day_in_other_spellings_are_joined(values: list[str]) -> None:
    assert found({"case": CASES, "activity": LABELS, "DATUM": DAYS, "UZEIT": values * 6})["timestamp"] == "DATUM+UZEIT"


@pytest.mark.parametrize("day", ["1899-12-30", "12/30/1899", "30.12.1899"])
def test_times_that_stand_on_excels_day_zero_are_times_of_day(day: str) -> None:
    columns = {"case": CASES, "activity": LABELS, "Date": DAYS, "Time": [f"{day} 08:00:00", f"{day} 09:30:00"] * 6}
    assert found(columns)["timestamp"] == "Date+Time"


def test_the_individual_may_be_the_case_as_well() -> None:
    roles = found({"case": CASES, "activity": LABELS, "time": DAYS}, RoleNames(individual="case"))
    assert (roles["case_id"], roles["individual"]) == ("case", "case")


def test_two_columns_that_repeat_about_as_often_are_not_guessed_between() -> None:
    columns = {"x": CASES, "y": ["1", "1", "2", "2", "3", "3"] * 2, "activity": LABELS, "time": DAYS}
    with pytest.raises(InputError, match="no case id column"):
        found(columns)
