"""Tables: means over the seeds, the empty log as the baseline, and a word on whatever has no figure."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from libra.comparison.comparison import CONFIDENTIAL, MEASURES, Missing
from libra.engines.contract import CASE, Unit
from libra.errors import InputError
from libra.reporting.comparison_files import ESSENTIAL, FAVOURABLE, HEADER, HEADINGS, file_names, table_of

from .some_outcomes import comparison, result

SLOW = Missing("time", "it took more than 300 seconds")
FOUND = comparison(
    {
        "libra": [[result(0.1), result(0.3)], [result(0.05), result(0.05)]],
        "travas": [[result(0.5, has_times=False)] * 2, [SLOW, SLOW]],
        "libra2022": [[result(1.0, cases=0), result(0.9)], [Missing("refused", "too small."), result(0.8)]],
    }
)


def _cell(row: int, heading: str) -> str:
    return table_of(FOUND, FOUND.logs[0]).rows[row][HEADINGS.index(heading)]


def test_a_row_has_the_mean_and_the_spread_over_the_seeds() -> None:
    row = FOUND.rows("sepsis")[0]
    mean = row.measure("dfg_l1")
    assert mean is not None
    assert mean.mean == pytest.approx(0.2)
    assert mean.spread == pytest.approx(0.1414, abs=1e-4)
    assert _cell(1, "dfg_l1") == "0.200 ± 0.141"
    assert _cell(1, "epsilon") == "0.1"
    assert (_cell(1, "guarantee"), _cell(1, "peak MB"), _cell(1, "seconds")) == ("proved", "110", "0.25")


def test_the_empty_log_comes_first() -> None:
    assert [_cell(0, heading) for heading in ("mechanism", "dfg_l1", "EMD Freq", "arrivals, days")] == [
        "empty log",
        "1",
        "355",
        "-",
    ]


def test_mechanisms_without_times_have_no_number_there() -> None:
    times = ("EMD Time", "edge durations, log10", "case durations, hours", "arrivals, days")
    assert [_cell(3, heading) for heading in times] == ["no times"] * 4
    assert _cell(3, "dfg_l1") == "0.500 ± 0.000"
    plain = FOUND.outcomes[4].to_dict()["result"]
    assert plain["utility"]["emd_time"] is None
    assert plain["utility"]["dfg_l1"] == 0.5
    assert {plain["utility"][name] for name in ("edge_time_share_l1", "path_duration_eta2", "pair_duration_correlation")} == {
        None
    }


def test_a_run_without_a_result_is_a_dash_and_the_reason_stands_below() -> None:
    assert {_cell(4, heading) for heading in (*MEASURES.values(), "seconds", "peak MB", "guarantee")} == {"-"}
    notes = table_of(FOUND, FOUND.logs[0]).footnotes
    assert "travas at 1, no result: it took more than 300 seconds." in notes
    assert "libra2022 at 1, refused (1 of 2 runs): too small." in notes
    assert "libra2022 at 0.1: 1 of 2 releases is an empty log." in notes
    assert notes[-1] == FAVOURABLE


@pytest.mark.parametrize(
    ("cases", "told"),
    [
        ([0], "the release is an empty log"),
        ([0, 0], "the releases are empty logs"),
        ([0, 5, 5], "1 of 3 releases is an empty log"),
        ([0, 0, 5], "2 of 3 releases are empty logs"),
    ],
)
def test_empty_releases_are_told(cases: list[int], told: str) -> None:
    found = comparison({"travas": [[result(1.0, cases=released) for released in cases]]})
    assert table_of(found, found.logs[0]).footnotes == (f"travas at 0.1: {told}.",)


def test_where_a_person_may_have_several_cases_the_table_says_whom_a_guarantee_protects() -> None:
    found = comparison({"libra": [[result(0.1, unit=Unit(most_cases=2))]], "travas": [[result(0.1)]], "sacofa": [[SLOW]]})
    (log,) = found.logs
    column = HEADINGS.index("guarantee")
    told = [[row[column] for row in table_of(found, one).rows] for one in (log, replace(log, has_individuals=True))]
    assert told == [["", "proved", "proved", "-"], ["", "proved, individuals", "proved, cases", "-"]]
    assert [row.unit for row in found.rows("sepsis")] == [Unit(most_cases=2).statement(), CASE.statement(), None]
    assert next(csv.DictReader(io.StringIO(found.to_csv())))["unit"] == Unit(most_cases=2).statement()


@pytest.mark.parametrize(
    ("labels", "of_runs", "heading"),
    [
        (["travas", "travas:delta=0.1"], ["0.0001", "0.1"], "delta 0.0001 unless a setting says otherwise"),
        (["travas:delta=0.1", "amun"], ["0.1", ""], "delta 0.1"),
        (["travas", "amun"], ["0.0001", ""], "delta 0.0001"),
        (["amun"], [""], "no delta"),
    ],
)
def test_delta_is_that_of_the_run(labels: list[str], of_runs: list[str], heading: str) -> None:
    found = comparison({label: [[result(0.1)]] for label in labels})
    assert [line["delta"] for line in csv.DictReader(io.StringIO(found.to_csv()))] == of_runs
    assert [run["delta"] for run in found.to_dict()["runs"]] == [float(delta) if delta else None for delta in of_runs]
    assert found.said_delta == heading
    assert f"{heading}, one seed" in found.plot("sepsis", "dfg_l1")
    assert f"{heading[0].upper()}{heading[1:]}, one seed." in found.to_markdown()


def test_reasons_of_a_kind_that_differ_by_seed_are_told_once() -> None:
    found = comparison({"travas": [[Missing("refused", f"of {seed}.") for seed in range(3)] + [SLOW]]})
    told = table_of(found, found.logs[0]).footnotes
    assert set(told) == {
        "travas at 0.1, refused (3 of 4 runs): of 0.",
        "travas at 0.1, no result (1 of 4 runs): it took more than 300 seconds.",
    }


def test_the_word_on_the_published_mechanism_stands_only_where_it_takes_part() -> None:
    without = comparison({"libra": [[result(0.1)]]})
    assert table_of(without, without.logs[0]).footnotes == ()


def test_narrow_tables_have_the_essential_columns() -> None:
    narrow = table_of(FOUND, FOUND.logs[0]).only(ESSENTIAL)
    assert narrow.headings == ESSENTIAL
    assert narrow.rows[1] == ("libra", "0.1", "0.200 ± 0.141", "20.0 ± 14.1", "0.100 ± 0.071", "0.25", "proved")


def test_the_markdown_has_one_table_a_log_and_says_that_it_is_confidential() -> None:
    page = FOUND.to_markdown()
    rows = [line for line in page.splitlines() if line.startswith("|")]
    assert CONFIDENTIAL in page
    assert "## sepsis" in page
    assert len(rows) == 2 + 1 + 6
    assert {row.count("|") for row in rows} == {len(HEADINGS) + 1}


def test_names_of_logs_cannot_break_the_markdown() -> None:
    page = comparison({"libra": [[result(0.1)]]}, log="a|b\n<script>`*_").to_markdown()
    assert r"## a\|b \<script\>\`\*\_" in page.splitlines()


def test_the_csv_has_a_line_for_every_run_unrounded() -> None:
    lines = list(csv.DictReader(io.StringIO(FOUND.to_csv())))
    assert tuple(lines[0]) == HEADER
    assert "notes" not in HEADER
    assert len(lines) == len(FOUND.outcomes) == 12
    assert [line["dfg_l1"] for line in lines[:3]] == ["0.1", "0.3", "0.05"]
    assert (lines[4]["has_times"], lines[4]["emd_time"]) == ("false", "")
    assert (lines[6]["missing"], lines[6]["reason"], lines[6]["dfg_l1"]) == ("time", SLOW.reason, "")


def test_no_cell_of_the_csv_is_a_formula() -> None:
    (line,) = csv.DictReader(io.StringIO(comparison({"libra": [[result(0.1)]]}, log="=1+1").to_csv()))
    assert line["log"] == "'=1+1"


def test_the_json_holds_rows_and_runs_and_no_nan() -> None:
    document = json.loads(json.dumps(FOUND.to_dict(), allow_nan=False))
    (log,) = document["logs"]
    assert document["confidential"] == CONFIDENTIAL
    assert log["empty_log"]["emd_freq"] == 355
    assert [row["runs"] for row in log["rows"]] == [2, 2, 2, 0, 2, 1]
    assert log["rows"][3]["missing"] == [{"why": "time", "reason": SLOW.reason}]
    assert [run["cached"] for run in document["runs"]] == [False] * 12


def test_what_audits_found_stands_in_the_row() -> None:
    from libra.measures.audit.outcome import outcome_of

    assert FOUND.rows("sepsis")[0].audit == outcome_of("libra", {})


def test_a_folder_gets_tables_and_a_plot_for_every_measure_with_figures(tmp_path: Path) -> None:
    written = FOUND.write(tmp_path / "new" / "folder")
    names = {path.name for path in written}
    assert names == {path.name for path in (tmp_path / "new" / "folder").iterdir()}
    assert {"comparison.md", "comparison.csv", "comparison.json", "sepsis-dfg_l1.svg", "sepsis-arrival_w1_days.svg"} <= names
    assert json.loads((tmp_path / "new" / "folder" / "comparison.json").read_text(encoding="utf-8")) == FOUND.to_dict()


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="this is a file"):
        FOUND.write(tmp_path / "file")


@pytest.mark.parametrize("log", ["../../etc/passwd", "a/b", ".", "", "CON|x"])
def test_plots_stay_in_their_folder_whatever_a_log_is_called(log: str) -> None:
    (name,) = file_names([log]).values()
    assert name
    assert not set(name) & set('/\\:|<>"')
    assert not name.startswith(".")
