"""`libra measure`: the figures of the interface, for any two logs, the second of which may be empty or named differently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from libra.cli.pages import MEANINGS
from libra.measures import Utility

from .conftest import TABLE, Run

KEYS = {
    *("emd_freq", "emd_time", "dfg_l1", "dfg_tv", "variant_tv", "unseen_variant_share", "length_w1", "case_duration_w1_hours"),
    *("edge_duration_w1_hours", "edge_duration_w1_log", "arrival_w1_days"),
}
FLAGS = ("--case-id", "Who", "--activity", "What", "--timestamp", "When")


@pytest.fixture
def odd_table(tmp_path: Path) -> Path:
    """The same log under column names that nobody can guess, with another delimiter."""
    path = tmp_path / "odd.csv"
    rows = TABLE.splitlines()[1:]
    path.write_text("\n".join(["Who;What;When;resource;cost", *(row.replace(",", ";") for row in rows)]) + "\n", encoding="utf-8")
    return path


def test_a_log_against_itself_gives_zeros(table: Path, run: Run) -> None:
    document = json.loads(run("measure", table, table, "--json").out)
    assert document.keys() >= KEYS | {"empty"}
    assert {document[key] for key in KEYS} == {0}
    assert document["empty"]["emd_freq"] > 0


def test_an_empty_log_scores_what_the_baseline_says(table: Path, empty_table: Path, run: Run) -> None:
    document = json.loads(run("measure", table, empty_table, "--json").out)
    assert {key: document[key] for key in ("emd_freq", "emd_time")} == document["empty"]
    assert document["variant_tv"] == 1


def test_an_empty_original_is_bad_input(table: Path, empty_table: Path, run: Run) -> None:
    answer = run("measure", empty_table, table, "--json")
    assert (answer.code, answer.out) == (3, "")
    assert empty_table.name in answer.err


def test_people_see_every_figure_with_its_meaning(table: Path, run: Run) -> None:
    answer = run("measure", table, table)
    assert answer.code == 0
    for name, meaning in MEANINGS.items():
        (line,) = (line for line in answer.out.splitlines() if f" {name} " in f" {line}")
        assert meaning in line


def test_every_figure_has_a_meaning_and_a_definition() -> None:
    figures = set(Utility.__dataclass_fields__) - {"empty"}
    definitions = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    assert set(MEANINGS) == figures
    assert [name for name in figures if f"`{name}`" not in definitions] == []


def test_flags_apply_to_both_logs_where_the_columns_exist(odd_table: Path, run: Run) -> None:
    answer = run("measure", odd_table, odd_table, *FLAGS, "--delimiter", ";", "--json")
    assert json.loads(answer.out)["emd_freq"] == 0
    assert answer.err == ""


def test_flags_that_do_not_fit_the_anonymized_log_are_left_aside_with_a_note(odd_table: Path, table: Path, run: Run) -> None:
    answer = run("measure", odd_table, table, *FLAGS, "--delimiter", ";", "--json")
    assert json.loads(answer.out)["dfg_l1"] == 0
    assert "visits.csv" in answer.err
    assert "read as found" in answer.err


def test_an_anonymized_log_that_cannot_be_read_is_an_error(odd_table: Path, table: Path, run: Run) -> None:
    table.write_text("nothing,useful\n1,2\n", encoding="utf-8")
    answer = run("measure", odd_table, table, *FLAGS)
    assert answer.code == 3
    assert table.name in answer.err


def test_lifecycle_keep_applies_to_both_logs(tmp_path: Path, run: Run) -> None:
    whole, complete, none = (tmp_path / name for name in ("whole.csv", "complete.csv", "none.csv"))
    header = "case,activity,timestamp,lifecycle:transition\n"
    done = "1,a,2024-05-06T09:00:00Z,COMPLETE\n1,b,2024-05-06T10:00:00Z,COMPLETE\n"
    whole.write_text(header + "1,a,2024-05-06T08:00:00Z,START\n" + done, encoding="utf-8")
    complete.write_text(header + done, encoding="utf-8")
    none.write_text(header, encoding="utf-8")
    keep = ("--lifecycle-keep", "complete", "--json")
    assert json.loads(run("measure", whole, complete, *keep).out)["dfg_l1"] == 0
    assert json.loads(run("measure", whole, whole, *keep).out)["dfg_l1"] == 0
    empty = json.loads(run("measure", whole, none, *keep).out)
    assert empty["emd_freq"] == empty["empty"]["emd_freq"] == 1


@pytest.mark.parametrize(
    ("name", "flags", "emd_freq", "emd_time"),
    [("sepsis", (), 123.2, 6218), ("bpic12", ("--lifecycle-keep", "complete"), 1097.2, 19383)],
)
def test_an_empty_log_scores_the_published_values(
    name: str, flags: tuple[str, ...], emd_freq: float, emd_time: float, shared_logs: Path, empty_table: Path, run: Run
) -> None:
    document = json.loads(run("measure", shared_logs / f"{name}.xes.gz", empty_table, *flags, "--json").out)
    assert document["emd_freq"] == pytest.approx(emd_freq, abs=0.05)
    assert document["emd_time"] == pytest.approx(emd_time, abs=0.5)
