"""Computing the tables: what is run, what is compared, and what is said about it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.measures import measure
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.claim import PRINTED
from libra.privacy.randomness import Randomness
from libra.reproduce.page import page
from libra.reproduce.paper import TABLE_1, TABLE_2
from libra.reproduce.results import Compared
from libra.reproduce.run import reproduce
from libra.reproduce.settings import SETTINGS, settings_named

PRINTED = SETTINGS["printed"]


def test_mean_and_spread_are_those_of_the_runs_with_these_seeds() -> None:
    log = simulate(cases=400)
    (row,) = reproduce({"emergency": log}, [PRINTED], alphas=[10], seeds=[3, 5]).rows
    mechanism = Libra2022(alpha=10, delta=1e-3, trace_noise=False)
    one, other = (measure(log, mechanism.anonymize(log, Randomness(seed)).log) for seed in (3, 5))
    assert one.emd_freq != other.emd_freq
    assert row.emd_freq.mean == pytest.approx((one.emd_freq + other.emd_freq) / 2)
    assert row.emd_freq.spread == pytest.approx(abs(one.emd_freq - other.emd_freq) / math.sqrt(2))
    assert row.emd_time.mean == pytest.approx((one.emd_time + other.emd_time) / 2)
    assert (row.emd_freq.empty, row.emd_time.empty) == (one.empty.emd_freq, one.empty.emd_time)
    assert row.seconds > 0


def test_settings_differ_in_delta_and_trace_noise() -> None:
    found = reproduce({"emergency": simulate(cases=400)}, alphas=[2], seeds=[0])
    printed, text, stated = (row.emd_freq.mean for row in found.rows)
    assert printed != text
    assert text != stated
    parameters = {setting.name: (setting.delta, setting.trace_noise) for setting in found.settings}
    assert parameters == {"printed": (1e-3, False), "text": (1e-3, True), "stated": (1e-4, True)}


def test_one_run_has_no_spread() -> None:
    (row,) = reproduce({"emergency": simulate(cases=200)}, [PRINTED], alphas=[10], seeds=[0]).rows
    assert row.emd_freq.mean is not None
    assert row.emd_freq.spread is None


def test_a_log_of_rare_variants_is_not_available_and_never_a_number(small_log: EventLog) -> None:
    found = reproduce({"sepsis": small_log}, [PRINTED], seeds=[0, 1])
    assert {(row.emd_freq.mean, row.emd_time.spread, row.empty_runs) for row in found.rows} == {(None, None, 2)}
    assert {row.emd_freq.difference_percent for row in found.rows} == {None}
    rows = [line for line in page(found) if line.startswith("| sepsis |")]
    assert rows[0].split("|")[5:7] == [" N/A ", " N/A "]
    assert rows[1].split("|")[5:7] == [" N/A ", " 123 "]


def test_claimed_figures_stand_beside_the_printed_ones(small_log: EventLog) -> None:
    rows = reproduce({"x": small_log}, [PRINTED], seeds=[0]).rows
    assert [(round(row.renyi_epsilon, 3), row.printed_epsilon) for row in rows] == [(0.011, 0.04), (0.145, 0.37), (0.64, 4.7)]


def test_logs_of_the_paper_are_known_by_name_and_others_get_a_dash(small_log: EventLog) -> None:
    found = reproduce({"BPIC13": small_log, "bpic14f": small_log}, [PRINTED], alphas=[10, 3], seeds=[0])
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


def test_some_empty_runs_are_told(small_log: EventLog) -> None:
    found = reproduce({"x": small_log}, [PRINTED], alphas=[10], seeds=[0, 1])
    (row,) = found.rows
    partly = replace(found, rows=(replace(row, empty_runs=1),))
    told = 'x, setting "printed", alpha 10: 1 of 2 runs gave an empty log, and count with its value.'
    assert f"- {told}" in page(partly)
    assert f"- {told}" not in page(found)


def test_a_name_cannot_break_the_table(small_log: EventLog) -> None:
    lines = page(reproduce({"a|b": small_log}, [PRINTED], alphas=[10], seeds=[0]))
    assert [line for line in lines if line.startswith("| a\\|b |")]


def test_nothing_to_do_is_refused(small_log: EventLog) -> None:
    for logs, settings, alphas, seeds in (
        ({}, [PRINTED], [2], [0]),
        ({"x": small_log}, [], [2], [0]),
        ({"x": small_log}, [PRINTED], [], [0]),
        ({"x": small_log}, [PRINTED], [2], []),
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


def test_a_difference_is_relative_to_the_paper() -> None:
    assert Compared(90, 1, 100, 200).difference_percent == pytest.approx(-10)
    assert Compared(None, None, 100, 200).difference_percent is None
    assert Compared(90, 1, None, 200).difference_percent is None
