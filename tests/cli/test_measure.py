"""`libra measure`: the figures of the interface, for any two logs, the second of which may be empty or named differently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from libra.cli.measure import MEANINGS
from libra.measures.utility import FIGURES, OF_ATTRIBUTES, OF_INSTANCES, SHARES_KEPT

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
    assert {document[key] for key in SHARES_KEPT} == {1}
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
    answer, document = run("measure", table, table), json.loads(run("measure", table, table, "--json").out)
    assert answer.code == 0
    for name, meaning in MEANINGS.items():
        lines = [line for line in answer.out.splitlines() if f" {name} " in f" {line}"]
        if name in (*OF_INSTANCES, *OF_ATTRIBUTES[:7]):  # which this log has none of: its attributes are those of events
            assert document[name] is None
            assert lines == []
        else:
            assert meaning in lines[0]


def test_people_see_figures_that_each_log_has_by_itself(table: Path, run: Run) -> None:
    document = json.loads(run("measure", table, table, "--json").out)
    assert document["path_duration_eta2"] == {"original": None, "anonymized": None}
    assert document["pair_duration_correlation"] == {"original": pytest.approx(1), "anonymized": pytest.approx(1)}
    text = " ".join(run("measure", table, table).out.split())
    assert "variants explain, difference (- in the original, - here, - in a fresh sample)" in text
    assert "consecutive steps, difference (1 in the original, 1 here" in text


def test_what_ties_a_case_together_stands_beside_a_fresh_sample_that_is_always_the_same(tmp_path: Path, run: Run) -> None:
    log = tmp_path / "log.csv"
    run("simulate", "--cases", "300", "-o", log)
    once, again = (json.loads(run("measure", log, log, "--json").out)["sample"] for _ in range(2))
    assert once == again
    assert once.keys() == {
        *("edge_time_share_l1", "edge_duration_p90_log", "path_duration_eta2", "cooccurrence_slope"),
        "pair_duration_correlation",
    }
    assert 0 < once["edge_time_share_l1"] < 0.5
    assert 0.8 < once["cooccurrence_slope"] < 1.2
    text = " ".join(run("measure", log, log).out.split())
    assert text.count("in a fresh sample)") == 5
    assert f"(0 equal, 2 disjoint) ({once['edge_time_share_l1']:.4g} in a fresh sample)" in text


def test_every_figure_has_a_meaning_and_a_definition() -> None:
    figures = set(FIGURES)
    definitions = (Path(__file__).resolve().parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    assert set(MEANINGS) == figures
    assert [name for name in figures if f"`{name}`" not in definitions] == []


def test_flags_apply_to_both_logs_where_the_columns_exist(odd_table: Path, run: Run) -> None:
    answer = run("measure", odd_table, odd_table, *FLAGS, "--delimiter", ";", "--json")
    assert json.loads(answer.out)["emd_freq"] == 0
    assert answer.err == ""


def test_columns_that_the_anonymized_log_lacks_are_found_there_with_a_note(odd_table: Path, table: Path, run: Run) -> None:
    answer = run("measure", odd_table, table, *FLAGS, "--json")
    document = json.loads(answer.out)
    assert document["dfg_l1"] == 0
    assert document["notes"] == [
        f'visits.csv: There is no column "{name}" here, so {flag} did not apply to this log.'
        for flag, name in zip(FLAGS[::2], FLAGS[1::2], strict=True)
    ]
    assert answer.err.splitlines() == [f"note: {note}" for note in document["notes"]]


@pytest.mark.parametrize("name", ["clean.xes", "clean.csv", "clean.parquet"])
def test_an_odd_table_compares_with_what_it_was_converted_to(name: str, odd_table: Path, run: Run) -> None:
    times = odd_table.read_text(encoding="utf-8").replace("2024-05-06T", "6/5/24 ").replace("2024-05-07T", "7/5/24 ")
    odd_table.write_text(times.replace("desk", "dësk"), encoding="cp1252")
    flags = (*FLAGS, "--timestamp-format", "%d/%m/%y %H:%M:%SZ", "--encoding", "cp1252", "--delimiter", ";")
    assert run("convert", odd_table, odd_table.parent / name, *flags).code == 0
    answer = run("measure", odd_table, odd_table.parent / name, *flags, "--json")
    assert answer.code == 0, answer.err
    assert {json.loads(answer.out)[key] for key in KEYS} == {0}
    assert "--encoding, --delimiter and --timestamp-format did not apply to this log" in answer.err


def test_a_timestamp_format_does_not_empty_a_log_of_our_own_writing(tmp_path: Path, run: Run) -> None:
    original, copy = tmp_path / "o.csv", tmp_path / "copy.csv"
    original.write_text("case;activity;timestamp\n1;a;06.05.2024 08:00\n1;b;06.05.2024 09:00\n", encoding="utf-8")
    assert run("convert", original, copy, "--day-first").code == 0
    answer = run("measure", original, copy, "--timestamp-format", "%d.%m.%Y %H:%M", "--drop-invalid", "--json")
    assert json.loads(answer.out)["emd_freq"] == 0


def test_a_lifecycle_that_the_copy_lacks_is_noted(tmp_path: Path, run: Run) -> None:
    original, copy = tmp_path / "o.csv", tmp_path / "copy.csv"
    row = "1,a,2024-05-06T08:00:00Z"
    original.write_text(f"case,activity,timestamp,lifecycle\n{row},complete\n", encoding="utf-8")
    copy.write_text(f"case,activity,timestamp\n{row}\n", encoding="utf-8")
    answer = run("measure", original, copy, "--lifecycle-keep", "complete", "--json")
    assert any("--lifecycle-keep did not apply" in note for note in json.loads(answer.out)["notes"])


def test_only_the_missing_column_is_left_aside(tmp_path: Path, run: Run) -> None:
    original, without = tmp_path / "o.csv", tmp_path / "noward.csv"
    rows = ["1,1,a,2024-05-06T08:00:00Z", "1,2,a,2024-05-06T09:00:00Z", "1,2,b,2024-05-06T10:00:00Z"]
    original.write_text("\n".join(["Patient,Visit,activity,timestamp,Ward", *(f"{row},A" for row in rows)]), encoding="utf-8")
    without.write_text("\n".join(["Patient,Visit,activity,timestamp", *rows]), encoding="utf-8")
    flags = ("--case-id", "Patient", "--case-id", "Visit", "--resource", "Ward", "--json")
    document = json.loads(run("measure", original, without, *flags).out)
    assert {document[key] for key in KEYS} == {0}
    assert document["notes"] == ['noward.csv: There is no column "Ward" here, so --resource did not apply to this log.']


def test_a_value_that_cannot_be_read_is_an_error_of_the_second_log_too(tmp_path: Path, run: Run) -> None:
    good, bad = tmp_path / "c.csv", tmp_path / "d.csv"
    text = (
        "Order,case id,Step,activity,Done,timestamp\n"
        "O1,1,x,a,2024-05-06T08:00:00Z,2023-01-01\nO1,2,y,a,2024-05-06T09:00:00Z,2023-01-02\n"
    )
    good.write_text(text, encoding="utf-8")
    bad.write_text(text.replace("2024-05-06T09:00:00Z", "n/a"), encoding="utf-8")
    flags = ("--case-id", "Order", "--activity", "Step", "--timestamp", "Done", "--json")
    assert run("measure", good, good, *flags).code == 0
    answer = run("measure", good, bad, *flags)
    assert (answer.code, answer.out) == (3, "")
    assert f"{bad}, line 3" in answer.err
    assert '"n/a"' in answer.err


def test_a_column_that_the_original_lacks_is_an_error(odd_table: Path, table: Path, run: Run) -> None:
    answer = run("measure", table, odd_table, *FLAGS)
    assert answer.code == 3
    assert f'{table}: --case-id: there is no column "Who"' in answer.err


@pytest.mark.parametrize("first_is_xes", [False, True])
def test_an_encoding_is_that_of_the_table_where_the_other_log_is_xes(first_is_xes: bool, table: Path, run: Run) -> None:
    table.write_text(table.read_text(encoding="utf-8").replace("see doctor", "zum Öffnen"), encoding="utf-16")
    xes = table.parent / "log.xes"
    assert run("convert", table, xes, "--encoding", "utf-16").code == 0
    logs = (xes, table) if first_is_xes else (table, xes)
    answer = run("measure", *logs, "--encoding", "utf-16", "--json")
    assert answer.code == 0, answer.err
    assert json.loads(answer.out)["dfg_l1"] == 0


def test_both_logs_are_ordered_by_time_where_that_is_asked_for(table: Path, run: Run) -> None:
    header, *rows = table.read_text(encoding="utf-8").splitlines()
    backwards = table.parent / "backwards.csv"
    backwards.write_text("\n".join([header, *reversed(rows)]) + "\n", encoding="utf-8")
    for logs in ((table, backwards), (backwards, table)):
        assert json.loads(run("measure", *logs, "--json").out)["dfg_l1"] > 0
        assert json.loads(run("measure", *logs, "--sort-by-time", "--json").out)["dfg_l1"] == 0


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
