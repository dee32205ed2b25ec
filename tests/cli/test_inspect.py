"""`libra inspect`: the figures, the columns with their reasons, and a document scripts can rely on."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import TABLE, Run


def test_json_holds_the_promised_keys(table: Path, run: Run) -> None:
    document = json.loads(run("inspect", table, "--json").out)
    figures = {key: document[key] for key in ("cases", "events", "activities", "variants")}
    assert figures == {"cases": 3, "events": 8, "activities": 3, "variants": 2}
    assert document["columns"]["case_id"] == "case id"
    assert document["columns"]["timestamp"] == "timestamp"
    assert document["variants_unique_share"] == 0.5
    assert document["cases_unique_share"] == pytest.approx(1 / 3)
    assert document["start"].startswith("2024-05-06T08:00:00")
    assert document["end"].startswith("2024-05-07T10:00:00")


def test_json_says_why_each_column_was_taken_and_which_flag_overrides_it(table: Path, run: Run) -> None:
    roles = {role["role"]: role for role in json.loads(run("inspect", table, "--json").out)["roles"]}
    assert roles["case_id"]["flag"] == "--case-id"
    assert roles["case_id"]["columns"] == ["case id"]
    assert all(role["reason"] for role in roles.values())


def test_people_see_figures_columns_flags_variants_and_the_hint(table: Path, run: Run) -> None:
    answer = run("inspect", table)
    assert answer.code == 0
    for text in ("3 cases", "8 events", "2 variants", "--case-id", "register", "see doctor", "cost", "33.3 %"):
        assert text in answer.out


def test_sentences_are_true_of_cases_that_take_no_time_and_all_differ(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "moments.csv"
    moments = "2024-05-06T08:00:00Z"
    path.write_text(
        "case,activity,timestamp\n" + "".join(f"{case},{act}{case},{moments}\n" for case in "12" for act in "ab"),
        encoding="utf-8",
    )
    answer = run("inspect", path)
    assert "2 events in every case; median case duration 0 minutes" in answer.out
    assert "100.0 % of the cases" in answer.out
    assert "more cases apart" not in answer.out


def test_lengths_of_traces_are_told_with_their_median(table: Path, run: Run) -> None:
    assert "2 to 3 events per case, median 3; median case duration" in run("inspect", table).out


def test_flags_override_the_roles_and_may_be_repeated(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("A;B;C;D\n1;x;go;06.05.2024 08:00\n1;y;go;06.05.2024 09:00\n1;x;stop;14.05.2024 10:00\n", encoding="utf-8")
    flags = ("--case-id", "A", "--case-id", "B", "--activity", "C", "--timestamp", "D")
    document = json.loads(run("inspect", path, *flags, "--json").out)
    assert document["cases"] == 2
    assert document["columns"] == {"case_id": ["A", "B"], "activity": "C", "timestamp": "D"}
    assert document["end"].startswith("2024-05-14T10:00")


@pytest.mark.parametrize(("flag", "start"), [("--day-first", "2024-04-03"), ("--month-first", "2024-03-04")])
def test_the_order_of_day_and_month_is_the_users_word(flag: str, start: str, tmp_path: Path, run: Run) -> None:
    path = tmp_path / "dates.csv"
    path.write_text("case,activity,timestamp\n1,go,03/04/2024 08:00\n1,stop,03/04/2024 09:00\n", encoding="utf-8")
    assert json.loads(run("inspect", path, flag, "--json").out)["start"].startswith(start)


def test_ambiguous_dates_are_noted_on_stderr_and_quiet_hides_it(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "dates.csv"
    path.write_text("case,activity,timestamp\n1,go,03/04/2024 08:00\n1,stop,03/04/2024 09:00\n", encoding="utf-8")
    loud, quiet = run("inspect", path, "--json"), run("inspect", path, "--json", "--quiet")
    assert "--month-first" in loud.err
    assert all(line.startswith("note: ") for line in loud.err.splitlines())
    assert quiet.err == ""
    assert json.loads(loud.out) == json.loads(quiet.out)


def test_brackets_and_control_characters_print_literally(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "[bold]odd.csv"
    names = TABLE.replace("cost", "[red]cost[/red]").replace("see doctor", "see [bold]\x1b[31mdoctor :smile:")
    path.write_text(names, encoding="utf-8")
    answer = run("inspect", path)
    assert answer.code == 0
    assert "[bold]odd.csv" in answer.out
    assert "[red]cost[/red]" in answer.out
    assert r"see [bold]\x1b[31mdoctor :smile:" in answer.out
    assert "\x1b[31m" not in answer.out


def test_one_flag_with_several_columns_is_told_to_be_repeated(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("Patient,Visit,activity,timestamp\n1,1,a,2024-05-06T08:00:00Z\n", encoding="utf-8")
    for said in ("Patient,Visit", "Patient, Visit"):
        answer = run("inspect", path, "--case-id", said)
        assert answer.code == 3
        assert "Give --case-id once for each column" in answer.err
        assert "Did you mean" not in answer.err
    assert "Did you mean" in run("inspect", path, "--case-id", "Pateint,Visit").err


def test_many_attributes_are_cut_short_for_people_and_complete_in_json(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "wide.csv"
    names = [f"extra{i}" for i in range(40)]
    path.write_text(f"case,activity,timestamp,{','.join(names)}\n1,a,2024-05-06T08:00:00Z{',x' * 40}\n", encoding="utf-8")
    answer = run("inspect", path)
    assert "extra29 " in answer.out
    assert "extra30 " not in answer.out
    assert "and 10 more attributes" in answer.out
    assert [a["name"] for a in json.loads(run("inspect", path, "--json").out)["attributes"]] == names


def test_a_long_trace_is_cut_short_for_people(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "long.csv"
    rows = [f"1,step {i},2024-05-06T08:00:{i:02}Z\n" for i in range(20)]
    path.write_text("case,activity,timestamp\n" + "".join(rows), encoding="utf-8")
    answer = run("inspect", path)
    assert "step 11 > … (8 more)" in " ".join(answer.out.split())
    assert "1 case, 20 events" in answer.out


def test_activities_that_few_cases_have_are_listed_where_there_are_any(tmp_path: Path, run: Run) -> None:
    rows = [f"{case},Triage,2024-05-06 08:00" for case in range(20)]
    log = tmp_path / "log.csv"
    log.write_text("\n".join(["case,activity,timestamp", *rows, ""]), encoding="utf-8")
    answer = run("inspect", log)
    assert (answer.code, "Activities that" in answer.out) == (0, False)
    log.write_text("\n".join(["case,activity,timestamp", *rows, "7,Biopsy,2024-05-06 09:00", ""]), encoding="utf-8")
    shown = run("inspect", log).out.partition("Activities that occur in fewer than 20 cases")[2].split()
    assert shown[shown.index("Biopsy") - 1] == "1"


def test_lifecycle_keep_counts_only_those_events(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "steps.csv"
    path.write_text(
        "case,activity,timestamp,lifecycle:transition\n"
        "1,a,2024-05-06T08:00:00Z,START\n1,a,2024-05-06T09:00:00Z,COMPLETE\n1,b,2024-05-06T10:00:00Z,COMPLETE\n",
        encoding="utf-8",
    )
    assert json.loads(run("inspect", path, "--lifecycle-keep", "complete", "--json").out)["events"] == 2


def test_a_published_log_has_its_published_figures(shared_logs: Path, run: Run) -> None:
    document = json.loads(run("inspect", shared_logs / "sepsis.xes.gz", "--json").out)
    assert [document[key] for key in ("cases", "events", "activities", "variants")] == [1050, 15214, 16, 846]


def test_attributes_show_what_they_are_and_why(tmp_path: Path, run: Run) -> None:
    path, many = tmp_path / "wide.csv", range(130)
    header = ",".join(["case", "activity", "timestamp", "Ward", *(f"code {i}" for i in many)])
    rows = [f"{case},a,2024-05-06T08:00:{case % 60:02}Z,{'AB'[case % 3 > 0]}" + f",n{case}" * len(many) for case in range(60)]
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    answer = run("inspect", path)
    assert "… and 101 more attributes; --json lists them all" in answer.out
    assert answer.out.index("Ward") < answer.out.index("code 0"), "what may be released comes first"
    assert "case attribute, category" in answer.out
    found = {one["name"]: one for one in json.loads(run("inspect", path, "--json").out)["attributes"]}
    assert len(found) == 131
    assert (found["Ward"]["role"], found["Ward"]["releasable"], found["Ward"]["kind"]) == ("case attribute", True, "category")
    assert (found["code 7"]["role"], found["code 7"]["releasable"]) == ("identifier", False)
    assert found["code 7"]["reason"] == "another value in nearly every case"


def test_a_value_on_one_event_of_each_case_is_counted_by_case(tmp_path: Path, run: Run) -> None:
    rows = [
        f"{case},{step},2024-05-06T08:{case}:00Z,{'AB'[case % 3 > 0] * (step == 'a')}" for case in range(10, 60) for step in "abc"
    ]
    (tmp_path / "log.csv").write_text("\n".join(["case,activity,timestamp,Ward", *rows, ""]), encoding="utf-8")
    assert re.search(r"Ward +case attribute, .* 100.0 % of cases", run("inspect", tmp_path / "log.csv").out)
