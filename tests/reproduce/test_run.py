"""Computing the tables: what is run, what is compared, and what is said about it."""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.measures import measure
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import PRINTED
from libra.reproduce import SETTINGS, TABLE_1, TABLE_2, Cell, settings_named
from libra.reproduce.run import CONFIDENTIAL, LEGEND, MACHINES, Compared, page, reproduce

AS_PRINTED = SETTINGS["printed"]


def test_mean_and_spread_are_those_of_the_runs_with_these_seeds() -> None:
    log = simulate(cases=400)
    (row,) = reproduce({"emergency": log}, [AS_PRINTED], alphas=[10], seeds=[3, 5]).rows
    mechanism = Libra2022(alpha=10, delta=1e-3, trace_noise=False)
    one, other = (measure(log, mechanism.anonymize(log, Randomness(seed)).log) for seed in (3, 5))
    assert one.emd_freq != other.emd_freq
    assert row.emd_freq.mean == pytest.approx((one.emd_freq + other.emd_freq) / 2)
    assert row.emd_freq.spread == pytest.approx(abs(one.emd_freq - other.emd_freq) / math.sqrt(2))
    assert row.emd_time.mean == pytest.approx((one.emd_time + other.emd_time) / 2)
    assert (row.emd_freq.empty, row.emd_time.empty) == (one.empty.emd_freq, one.empty.emd_time)
    assert row.seconds > 0


def test_where_some_runs_are_empty_the_mean_is_still_that_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """One subsample of 40 cases, of which a few are drawn and not one is left in some runs."""
    monkeypatch.setattr("libra.reproduce.SUBSAMPLES", 1)
    start = datetime(2024, 5, 6, tzinfo=UTC)
    rows = [(case, "ab"[step], start + timedelta(hours=case + 9 * step)) for case in range(40) for step in range(2)]
    events = pl.DataFrame(rows, schema=["@case", "concept:name", "time:timestamp"], orient="row")
    log, seeds = EventLog(events, pl.DataFrame({"concept:name": [f"patient {case}" for case in range(40)]})), range(12)
    mechanism = Libra2022(alpha=10, delta=1e-3, subsamples=1)
    released = [mechanism.anonymize(log, Randomness(seed)).log for seed in seeds]
    empty = [not anonymized.n_cases for anonymized in released]
    assert 0 < sum(empty) < len(seeds)
    freqs, times = zip(*((found.emd_freq, found.emd_time) for found in (measure(log, other) for other in released)), strict=True)
    (row,) = reproduce({"x": log}, [SETTINGS["text"]], alphas=[10], seeds=seeds).rows
    assert row.empty_runs == sum(empty)
    assert (row.emd_freq.mean, row.emd_time.mean) == pytest.approx((statistics.fmean(freqs), statistics.fmean(times)))
    assert row.emd_freq.spread == pytest.approx(statistics.stdev(freqs))
    assert freqs[empty.index(True)] == row.emd_freq.empty


def test_settings_differ_in_delta_and_trace_noise() -> None:
    found = reproduce({"emergency": simulate()}, alphas=[100], seeds=[0])
    printed, text, stated = (row.emd_freq.mean for row in found.rows)
    assert printed != text
    assert text != stated
    parameters = {setting.name: (setting.delta, setting.trace_noise) for setting in found.settings}
    assert parameters == {"printed": (1e-3, False), "text": (1e-3, True), "stated": (1e-4, True)}


def test_one_run_has_no_spread() -> None:
    (row,) = reproduce({"emergency": simulate(cases=200)}, [AS_PRINTED], alphas=[10], seeds=[0]).rows
    assert row.emd_freq.mean is not None
    assert row.emd_freq.spread is None


def test_a_log_of_rare_variants_is_not_available_and_never_a_number(small_log: EventLog) -> None:
    found = reproduce({"sepsis": small_log}, [AS_PRINTED], seeds=[0, 1])
    assert {(row.emd_freq.mean, row.emd_time.spread, row.empty_runs) for row in found.rows} == {(None, None, 2)}
    assert {row.emd_freq.difference_percent for row in found.rows} == {None}
    rows = [line for line in page(found) if line.startswith("| sepsis |")]
    assert rows[0].split("|")[5:7] == [" N/A ", " N/A "]
    assert rows[1].split("|")[5:7] == [" N/A ", " 123 "]


def test_claimed_figures_stand_beside_the_printed_ones(small_log: EventLog) -> None:
    rows = reproduce({"x": small_log}, [AS_PRINTED], seeds=[0]).rows
    assert [(round(row.renyi_epsilon, 3), row.printed_epsilon) for row in rows] == [(0.011, 0.04), (0.145, 0.37), (0.64, 4.7)]


def test_logs_of_the_paper_are_known_by_name_and_others_get_a_dash(small_log: EventLog) -> None:
    found = reproduce({"BPIC13": small_log, "bpic14f": small_log}, [AS_PRINTED], alphas=[10, 3], seeds=[0])
    assert [(row.log, row.in_paper, row.emd_freq.printed, row.printed_seconds) for row in found.rows] == [
        ("BPIC13", True, 3586, 49),
        ("BPIC13", False, None, None),
        ("bpic14f", False, None, None),
        ("bpic14f", False, None, None),
    ]
    assert found.remarks == ("bpic14f: a filtered log, not the BPIC14 of the paper.",)
    lines = page(found)
    rows = [line.split("|") for line in lines if line.startswith(("| BPIC13", "| bpic14f"))]
    assert [cells[6].strip() for cells in rows[:4]] == ["3,586", "-", "-", "-"]
    assert [cells[3].strip() for cells in rows[4:]] == ["49", "-"]
    assert f"- {found.remarks[0]}" in lines


def test_progress_counts_every_run(small_log: EventLog) -> None:
    told: list[tuple[int, int]] = []
    reproduce({"a": small_log, "b": small_log}, alphas=[2], seeds=[0, 1], progress=lambda *step: told.append(step))
    assert told == [(done, 12) for done in range(1, 13)]


def test_the_document_is_json_and_gives_the_same_for_the_same_seeds() -> None:
    log = simulate(cases=200)

    def figures() -> list[dict[str, object]]:
        document = json.loads(json.dumps(reproduce({"emergency": log}, seeds=[0, 1]).to_dict(), allow_nan=False))
        return [{name: value for name, value in row.items() if name != "seconds"} for row in document["rows"]]

    assert figures() == figures()
    assert {row["setting"] for row in figures()} == set(SETTINGS)


def test_the_document_says_what_the_figures_were_computed_with(small_log: EventLog) -> None:
    document = reproduce({"bpic12": small_log, "bpic20": small_log}, [AS_PRINTED], alphas=[2, 10], seeds=[4, 5]).to_dict()
    assert document["parameters"] == {"b": 2, "gamma": 0.05, "subsamples": 20}
    assert (document["alphas"], document["seeds"]) == ([2, 10], [4, 5])
    assert [(setting["name"], setting["delta"], setting["trace_noise"]) for setting in document["settings"]] == [
        ("printed", 1e-3, False)
    ]
    assert [remark.partition(":")[0] for remark in document["remarks"]] == ["bpic12", "bpic20"]
    assert document["remarks"][0] == "bpic12: only the events with the lifecycle transition COMPLETE, as in the paper."


def test_some_empty_runs_are_told(small_log: EventLog) -> None:
    found = reproduce({"x": small_log}, [AS_PRINTED], alphas=[10], seeds=[0, 1])
    (row,) = found.rows
    partly = replace(found, rows=(replace(row, empty_runs=1),))
    told = 'x, setting "printed", alpha 10: 1 of 2 runs gave an empty log, and count with its value.'
    assert f"- {told}" in page(partly)
    assert f"- {told}" not in page(found)


def test_the_page_explains_its_columns_and_settings_and_that_it_is_confidential(small_log: EventLog) -> None:
    found = reproduce({"x": small_log}, seeds=[0, 1])
    lines = page(found)
    assert lines[2:4] == ["libra2022 with b = 2, gamma = 0.05, 20 subsamples; 2 runs with seeds (0, 1).", LEGEND]
    for words in ("mean ± standard deviation", "what a log without any case scores", "as claimed, not a guarantee"):
        assert words in LEGEND
    for setting in found.settings:
        heading = lines.index(f'## Table 1, setting "{setting.name}"')
        meaning = lines[heading + 2]
        assert meaning.lower() == f"{setting.meaning.lower()}."
        assert f"1e-{4 if setting.name == 'stated' else 3}" in meaning
    assert lines[lines.index("## Table 2: seconds at alpha 10") + 2] == MACHINES
    assert "take it for an order of magnitude" in MACHINES
    assert lines[-1] == f"- {CONFIDENTIAL}"
    assert CONFIDENTIAL.endswith("for a log that is not public, this page is confidential.")


def test_table_2_is_about_alpha_10_and_absent_without_it(small_log: EventLog) -> None:
    lines = page(reproduce({"x": small_log}, alphas=[2, 100], seeds=[0]))
    assert not [line for line in lines if "Table 2" in line or line == MACHINES]
    assert len([line for line in lines if line.startswith("| x |")]) == 6
    assert lines[-1] == f"- {CONFIDENTIAL}"


def test_a_name_cannot_break_the_table(small_log: EventLog) -> None:
    lines = page(reproduce({"a|b": small_log}, [AS_PRINTED], alphas=[10], seeds=[0]))
    assert [line for line in lines if line.startswith("| a\\|b |")]


def test_nothing_to_do_is_refused(small_log: EventLog) -> None:
    for logs, settings, alphas, seeds in (
        ({}, [AS_PRINTED], [2], [0]),
        ({"x": small_log}, [], [2], [0]),
        ({"x": small_log}, [AS_PRINTED], [], [0]),
        ({"x": small_log}, [AS_PRINTED], [2], []),
    ):
        with pytest.raises(UsageError):
            reproduce(logs, settings, alphas, seeds)


def test_an_unknown_setting_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match="printed, text, stated"):
        settings_named(["print"])
    assert settings_named([]) == tuple(SETTINGS.values())


def test_the_tables_of_the_paper_are_complete() -> None:
    assert set(TABLE_1) == set(TABLE_2)
    assert len(TABLE_1) == 8
    assert {tuple(cells) for cells in TABLE_1.values()} == {tuple(PRINTED)}
    assert PRINTED == {2: 0.04, 10: 0.37, 100: 4.7}
    assert {name for name, cells in TABLE_1.items() if cells[2] == Cell(None, None)} == {"hospital", "sepsis"}
    assert (TABLE_1["bpic17"][2], TABLE_1["bpic14"][10]) == (Cell(1563, 48254), Cell(466, 6970))
    assert (TABLE_1["bpic20"][100], TABLE_1["hospital"][10]) == (Cell(79, 13504), Cell(35, 2507))
    assert (TABLE_2["bpic14"], TABLE_2["urineweginfectie"]) == (323, 9)


def test_a_difference_is_relative_to_the_paper() -> None:
    assert Compared(90, 1, 100, 200).difference_percent == pytest.approx(-10)
    assert Compared(None, None, 100, 200).difference_percent is None
    assert Compared(90, 1, None, 200).difference_percent is None
