"""Released attributes: their values, how they go together and where they stand; and nothing that was not declared or chosen."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import libra
from agreement import ReadPublic
from attributed import (
    ATOM,
    ATOM_SHARE,
    BORN,
    COIN,
    COST,
    DOSE,
    EVERY,
    PLACE,
    PLACES,
    SCAN,
    SCANNED,
    SCORE,
    TEST,
    WARD,
    attributed,
    has_activity,
)
from libra.eventlog.attributes import Attribute, case_values
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import OTHER
from libra.example.simulate import simulate
from libra.mechanisms.libra.generate import planned
from libra.mechanisms.libra.model_file import read_model, write_model
from libra.release import Release

ASKED: dict[str, Any] = {"epsilon": 6.0, "delta": 1e-3, "seed": 1, "labels": "public", "attributes": EVERY}
CASES = 1500
ELSEWHERE = """
import json, sys, hashlib
from libra.mechanisms.libra.figures import Figures
from libra.example.simulate import simulate
from libra.mechanisms.libra.generate import planned
runs = [Figures.from_dict(run) for run in json.load(open(sys.argv[1]))]
for part_events in (1_000_000, 3000):
    log = planned(runs, part_events=part_events).in_parts(seeded=False)
    print(hashlib.sha256(log.to_polars().write_csv().encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def original() -> EventLog:
    return attributed(CASES)


@pytest.fixture(scope="module")
def release(original: EventLog) -> Release:
    return libra.anonymize(original, **ASKED)


def shares(values: pl.Series) -> dict[Any, float]:
    found = values.value_counts(normalize=True)
    return dict(found.iter_rows())


def test_columns_have_the_types_that_are_declared(release: Release) -> None:
    kinds = {name: dtype for name, dtype in release.log.cases.schema.items() if name != "concept:name"}
    assert kinds == {
        "coin": pl.Boolean(),
        "scanned": pl.Boolean(),
        "place": pl.String(),
        "ward": pl.String(),
        "score": pl.Float64(),
        "cost": pl.Int64(),
        "born": UTC_MICROSECONDS,
    }
    assert release.log.events.schema["dose"] == pl.Int64()
    assert len(EVERY) == len(kinds) + 1


@pytest.mark.parametrize("attribute", [COIN, SCANNED, PLACE, WARD], ids=lambda one: one.name)
def test_shares_of_values_are_kept_and_so_is_the_share_of_missing_ones(
    attribute: Attribute, original: EventLog, release: Release
) -> None:
    name = attribute.name.removeprefix("case:")
    before, after = shares(original.cases[name]), shares(release.log.cases[name])
    for value, share in before.items():
        if share > 0.02 and (attribute.values is None or value in (*attribute.values, None)):
            assert after[value] == pytest.approx(share, abs=0.03), value


def test_values_of_few_cases_are_other_and_what_was_not_chosen_or_declared_never_shows(release: Release) -> None:
    assert set(release.log.cases["place"].drop_nulls()) <= {*PLACES, OTHER}
    assert set(release.log.cases["ward"].drop_nulls()) == {"north", "south", OTHER}
    assert shares(release.log.cases["ward"])[OTHER] == pytest.approx(shares(attributed(CASES).cases["ward"])["west"], abs=0.03)


def test_what_goes_together_with_an_activity_still_does(original: EventLog, release: Release) -> None:
    for log in (original, release.log):
        has = has_activity(log, SCAN)
        scanned = log.cases["scanned"].fill_null(False).to_numpy()
        north = (log.cases["ward"] == "north").fill_null(False).to_numpy()
        assert scanned[has].mean() > 0.93
        assert scanned[~has].mean() < 0.07
        assert north[has].mean() - north[~has].mean() > 0.3
        coin = log.cases["coin"].cast(pl.Float64).to_numpy()
        assert abs(np.nanmean(coin[has]) - np.nanmean(coin[~has])) < 0.12, "a coin goes with nothing"


def test_what_goes_together_with_another_attribute_still_does(original: EventLog, release: Release) -> None:
    for log in (original, release.log):
        score, scanned = log.cases["score"], log.cases["scanned"]
        rest = score.is_not_null() & (score != ATOM)
        high, low = (np.median(score.filter(rest & side)) for side in (scanned, ~scanned))
        assert high - low > 15


def test_numbers_keep_their_bounds_their_decimals_and_the_value_that_many_have(original: EventLog, release: Release) -> None:
    score = release.log.cases["score"]
    assert score.min() >= 0  # type: ignore[operator]  # a number
    assert score.max() <= 120  # type: ignore[operator]
    assert score.round(1).equals(score)
    assert shares(score)[ATOM] == pytest.approx(ATOM_SHARE * 0.9, abs=0.03)
    assert shares(score)[None] == pytest.approx(0.1, abs=0.03)
    rest = [log.cases["score"].filter(log.cases["score"] != ATOM) for log in (original, release.log)]
    for level in (0.1, 0.25, 0.5, 0.75, 0.9):
        assert rest[1].quantile(level) == pytest.approx(rest[0].quantile(level), abs=4)


def test_numbers_without_declared_bounds_are_near_those_of_others_and_an_extreme_one_is_gone(
    original: EventLog, release: Release
) -> None:
    before, after = original.cases["cost"], release.log.cases["cost"].drop_nulls()
    assert before.max() == 10**14
    assert after.max() < 10**5  # type: ignore[operator]
    for level in (0.25, 0.5, 0.75):
        assert after.quantile(level) == pytest.approx(before.quantile(level), rel=0.15)


def test_dates_are_about_as_long_before_the_case_as_in_the_original(original: EventLog, release: Release) -> None:
    years = []
    for log in (original, release.log):
        known = log.cases["born"].is_not_null()
        before = (log.case_spans[0] - log.cases["born"].to_physical().fill_null(0).to_numpy())[known.to_numpy()]
        assert known.mean() > 0.97  # type: ignore[operator]
        years.append(before / (365.25 * 86_400e6))
    for level in (0.1, 0.5, 0.9):
        assert np.quantile(years[1], level) == pytest.approx(np.quantile(years[0], level), abs=2.5)


def test_a_value_that_stands_on_an_activity_is_on_the_first_event_of_it_and_nowhere_else(release: Release) -> None:
    events = release.log.events.with_row_index("row")
    with_value = events.filter(pl.col("dose").is_not_null())
    firsts = events.filter(pl.col("concept:name") == TEST).group_by("@case").agg(pl.col("row").min())
    assert set(with_value["row"]) <= set(firsts["row"])
    assert with_value.height > 0.9 * firsts.height
    assert set(with_value["dose"]) <= set(range(51))
    assert with_value.filter(pl.col("dose") % 5 == 0).height > 0.6 * with_value.height


def test_where_an_activity_is_not_released_nothing_stands_on_it(original: EventLog) -> None:
    found = libra.anonymize(original, **ASKED | {"labels": ["Arrive", "Register", "Triage"], "attributes": (DOSE, COIN)}).log
    assert found.n_cases > 1000
    assert "dose" not in found.events.columns
    assert shares(found.cases["coin"])[True] == pytest.approx(0.45, abs=0.04)


def test_another_process_makes_the_same_values_of_the_figures(release: Release, tmp_path: Path) -> None:
    plain = [run.to_dict() for run in release.figures]
    (tmp_path / "figures.json").write_text(json.dumps(plain, allow_nan=False))
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "figures.json")]
    made = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    here = [planned(release.figures, part_events=each).in_parts(seeded=False) for each in (1_000_000, 3000)]
    assert made == [hashlib.sha256(log.to_polars().write_csv().encode()).hexdigest() for log in here]
    assert here[0].to_polars().drop("case:concept:name").equals(release.log.to_polars().drop("case:concept:name"))


def test_all_parts_of_a_log_have_the_attributes_and_together_their_shares(release: Release) -> None:
    whole = planned(release.figures, part_events=3000).in_parts(seeded=False)
    assert isinstance(whole, LogInParts)
    parts = list(whole.parts())
    assert len(parts) > 3
    assert {tuple(part.cases.columns) for part in parts} == {tuple(release.log.cases.columns)}
    assert {tuple(part.events.columns) for part in parts} == {tuple(release.log.events.columns)}
    for name in ("coin", "scanned", "place", "ward"):
        together = shares(pl.concat([part.cases[name] for part in parts]))
        for value, share in shares(release.log.cases[name]).items():
            assert together.get(value, 0.0) == pytest.approx(share, abs=0.02), (name, value)
    has = np.concatenate([has_activity(part, SCAN) for part in parts])
    scanned = pl.concat([part.cases["scanned"] for part in parts]).fill_null(False).to_numpy()
    assert scanned[has].mean() > 0.9
    assert scanned[~has].mean() < 0.1


def test_a_model_file_has_the_attributes_and_makes_logs_of_any_size(release: Release, tmp_path: Path) -> None:
    write_model(release, tmp_path / "model.json")
    model = read_model(tmp_path / "model.json")
    assert planned(model.figures).in_parts(seeded=True).equals(release.log)
    made = model.planned(3000, seed=7).in_parts(seeded=True)
    assert (made.n_cases, made.cases.columns) == (3000, release.log.cases.columns)
    for value, share in shares(release.log.cases["place"]).items():
        assert shares(made.cases["place"]).get(value, 0.0) == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.update(counts=one["counts"][:-1]),
        lambda one: one.update(texts=one["texts"][:-1]),
        lambda one: one.update(counts=["many"] * len(one["counts"])),
    ],
)
def test_a_model_whose_attributes_do_not_fit_together_is_refused(change: Any, release: Release, tmp_path: Path) -> None:
    write_model(release, tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    change(document["figures"][0]["attributes"]["each"][EVERY.index(PLACE)])
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(libra.errors.InputError, match="do not fit together"):
        read_model(tmp_path / "model.json")


def test_several_runs_on_subsamples_have_the_values_of_all(original: EventLog) -> None:
    found = libra.anonymize(original, **ASKED | {"epsilon": 20.0, "subsamples": 2, "attributes": (PLACE, SCORE)})
    assert len(found.figures) == 2
    after = shares(found.log.cases["place"])
    assert set(after) <= {*PLACES, OTHER, None}
    assert after["north"] == pytest.approx(0.5, abs=0.06)


def test_a_date_far_from_everything_is_still_a_date(original: EventLog) -> None:
    """What noise makes of it has to be within the years that files can hold."""
    far = original.cases.with_columns(pl.lit(-62_135_596_800_000_000).cast(UTC_MICROSECONDS).alias("born"))
    found = libra.anonymize(replace(original, cases=far), **ASKED | {"attributes": (BORN, COST)}).log
    assert found.cases["born"].dt.year().is_between(1, 9999).all()


def test_dates_in_whole_days_have_no_time_of_day_and_are_as_far_from_the_start(original: EventLog) -> None:
    """Due on the day itself, or 10 days later; a case may begin shortly before midnight."""
    day = 86_400_000_000
    due = original.case_spans[0] // day * day + np.where(np.arange(original.n_cases) % 4 == 0, 0, 10) * day
    log = replace(original, cases=original.cases.with_columns(pl.Series("due", due).cast(UTC_MICROSECONDS)))
    found = libra.anonymize(log, **ASKED | {"attributes": [Attribute("case:due", "date", unit="days")]}).log
    due_then = found.cases["due"]  # by noise, one may be missing
    assert due_then.null_count() <= 2
    after = due_then.drop_nulls().to_physical().to_numpy()
    assert (after % day == 0).all()
    days = (after - found.case_spans[0][due_then.is_not_null().to_numpy()] // day * day) // day
    assert np.mean(days == 0) == pytest.approx(0.25, abs=0.04)
    assert np.mean(days == 10) == pytest.approx(0.75, abs=0.04)


def test_numbers_that_both_go_with_a_third_are_not_tied_to_each_other() -> None:
    """What goes with the same does not have to go together: measured pairs imply a tie that has to be measured as well."""
    log, random = simulate(cases=30_000), np.random.Generator(np.random.PCG64(2))
    one, other, third = random.normal(size=(3, log.n_cases))
    numbers = [
        np.round(np.clip(50 + 12 * each, 0, 100), 1) for each in (one, other, (one + other) / 2**0.5, (one + third) / 2**0.5)
    ]
    log = replace(log, cases=log.cases.with_columns(pl.Series(f"n{i}", each) for i, each in enumerate(numbers)))
    asked = [Attribute(f"case:n{i}", "number", lowest=0, highest=100, decimals=1) for i in range(len(numbers))]
    found = libra.anonymize(log, epsilon=1.0, delta=1e-4, seed=1, attributes=asked).log.cases
    after = np.corrcoef([found[f"n{i}"].fill_null(50).to_numpy() for i in range(len(numbers))])
    assert np.abs(after - np.corrcoef(numbers)).max() < 0.18


def test_the_last_day_that_files_can_hold_is_a_whole_day(original: EventLog, tmp_path: Path) -> None:
    """Written for "never" by many systems; what noise makes of it lies beyond the year 9999."""
    never = pl.Series("due", [datetime(9999, 12, 31, tzinfo=UTC) if i % 3 else None for i in range(original.n_cases)])
    log = replace(original, cases=original.cases.with_columns(never.cast(UTC_MICROSECONDS)))
    release = libra.anonymize(log, **ASKED | {"attributes": [Attribute("case:due", "date", unit="days")]})
    release.write(tmp_path / "log.csv", certificate=tmp_path / "certificate.json")  # which says that all dates are whole days
    after = release.log.cases["due"].drop_nulls()
    assert after.len()
    assert (after.to_physical() % 86_400_000_000 == 0).all()


@pytest.mark.parametrize("unit", ["days", ""])
def test_dates_are_within_their_bounds(original: EventLog, unit: str) -> None:
    """Nobody is older than 40 years and a half when a case begins, or so it is declared."""
    bounded = Attribute("case:born", "date", lowest=-40.5 * 365, highest=-1, unit=unit)
    found = libra.anonymize(original, **ASKED | {"attributes": [bounded]}).log
    days = ((found.cases["born"].drop_nulls().to_physical() - found.case_spans[0]) / 86_400e6).to_numpy()
    slack = 1.0 if unit else 1e-4  # of the day itself, and of a second
    assert ((days >= -40.5 * 365 - slack) & (days <= -1 + slack)).all()
    oldest = np.mean(days < -40.4 * 365)
    before = (original.case_spans[0] - original.cases["born"].to_physical().to_numpy()) / 86_400e6
    assert oldest == pytest.approx(np.mean(before > 40.5 * 365), abs=0.06)  # all of these count as the bound


def test_numbers_that_go_together_do_so_in_a_large_log() -> None:
    """Many cases allow many intervals, and noise on each of their pairs; what is high together needs few."""
    log, random = simulate(cases=40_000), np.random.Generator(np.random.PCG64(1))
    common = random.normal(size=log.n_cases)
    numbers = [np.round(50 + 10 * (0.8 * common + 0.6 * random.normal(size=log.n_cases)), 1) for _ in range(4)]
    log = replace(log, cases=log.cases.with_columns(pl.Series(f"n{i}", one) for i, one in enumerate(numbers)))
    asked = [Attribute(f"case:n{i}", "number", lowest=0, highest=100, decimals=1) for i in range(len(numbers))]
    found = libra.anonymize(log, epsilon=1.0, delta=1e-4, seed=1, attributes=asked).log.cases
    after = np.corrcoef([found[f"n{i}"].fill_null(50).to_numpy() for i in range(len(numbers))])
    apart = np.abs(after - np.corrcoef(numbers))[np.triu_indices(len(numbers), 1)]
    assert apart.mean() < 0.12
    assert apart.max() < 0.2


def test_attributes_without_values_are_named_in_a_note() -> None:
    log = simulate(cases=300)
    own = pl.Series("own", [f"v{i}" for i in range(log.n_cases)])
    log = replace(log, cases=log.cases.with_columns(own, own.alias("too")))
    nowhere = [Attribute("cost:total", "number", at="Triagge"), *(Attribute(f"cost:{i}", "number", at="X") for i in range(2))]
    rare = [Attribute("case:own", "category"), Attribute("case:too", "category")]
    asked = [*nowhere, *rare, Attribute("case:complaint", "category")]
    notes = libra.anonymize(log, epsilon=2.0, delta=1e-3, seed=1, attributes=asked).notes
    found = [note for note in notes if '"cost:' in note or '"case:' in note]
    assert found == [
        '"cost:total" has no value in the anonymized log: "Triagge", its activity, is not in it. Did you mean Triage?',
        '"cost:0", "cost:1" have no value in the anonymized log: "X", their activity, is not in it.',
        'No value of "case:own", "case:too" is frequent enough to be released: all are "(other)". Declared values stay.',
    ]


def test_numbers_that_may_be_far_off_are_named_in_one_note() -> None:
    log = simulate(cases=1000)
    heights = pl.Series([170 + i % 20 for i in range(log.n_cases)])
    columns = (heights.alias("height"), (heights % 2 + 1).alias("rank"), heights.alias("bound"))
    log = replace(log, cases=log.cases.with_columns(columns))
    asked = [Attribute("case:height", "number"), Attribute("case:rank", "number")]
    asked.append(Attribute("case:bound", "number", lowest=0, highest=300))
    found = [note for note in libra.anonymize(log, seed=1, attributes=asked).notes if "lowest and highest" in note]
    assert found == [
        'Many released numbers of "case:height" may be off by a factor of two or more. Declare lowest and highest in the '
        "description to keep them in range."
    ]
    precise = libra.anonymize(log, epsilon=20.0, delta=1e-3, seed=1, attributes=asked).notes
    assert not any("lowest and highest" in note for note in precise)


def test_declared_values_that_the_log_hardly_has_are_named_in_a_note() -> None:
    log = simulate(cases=300)
    right, wrong = ("female", "male"), ("F", "M")
    sexes = pl.Series("sex", [right[i % 2] for i in range(log.n_cases)])
    log = replace(log, cases=log.cases.with_columns(sexes))
    for values, told in ((right, False), (wrong, True)):
        asked = [Attribute("case:sex", "category", values=values)]
        notes = libra.anonymize(log, epsilon=6.0, delta=1e-3, seed=1, attributes=asked).notes
        assert ('Nearly all values of "case:sex" are "(other)": check the declared values and their spelling.' in notes) == told


def test_a_declared_list_that_is_long_for_the_noise_is_named_in_a_note() -> None:
    log = simulate(cases=600)
    codes = pl.Series("code", [f"K{i % 3}" for i in range(log.n_cases)])
    log = replace(log, cases=log.cases.with_columns(codes))
    for n, noted in ((3, False), (30_000, True)):
        asked = Attribute("case:code", "category", values=tuple(f"K{i}" for i in range(n)))
        notes = libra.anonymize(log, epsilon=0.2, delta=1e-3, seed=3, attributes=[asked]).notes
        assert any(note.startswith('Many released values of "case:code" may be noise') for note in notes) is noted


@pytest.mark.parametrize("bounds", [{}, {"lowest": 0}, {"lowest": 0, "highest": 100_000}, {"lowest": 1, "highest": 100_000}])
def test_bounds_far_from_most_numbers_do_not_blur_them(bounds: dict[str, Any]) -> None:
    """Costs of some tens, a few of them of thousands: declared bounds leave them where they are, and nobody pays nothing."""
    log, random = simulate(cases=3_000), np.random.Generator(np.random.PCG64(6))
    costs = np.round(np.where(random.random(log.n_cases) < 0.03, 4_000, 20) * np.exp(random.normal(0, 0.5, log.n_cases)) + 3, 2)
    log = replace(log, cases=log.cases.with_columns(pl.Series("costs", costs)))
    asked = Attribute("case:costs", "number", decimals=2, **bounds)
    found = libra.anonymize(log, epsilon=2.0, delta=1e-4, seed=1, attributes=[asked]).log.cases["costs"].drop_nulls().to_numpy()
    for part in (0.1, 0.5, 0.9):
        assert 0.6 < np.quantile(found, part) / np.quantile(costs, part) < 1.7
    assert np.mean(found == 0) < 0.01
    assert max(np.unique(found, return_counts=True)[1]) < 0.05 * len(found)  # no number is that of many


def test_the_form_of_a_hospital_comes_out_as_it_was_filled_in(read_public: ReadPublic) -> None:
    """Of some twenty yes or no in 1,050 cases, nearly all of them never missing, each has the share that it had."""
    log = read_public("sepsis")
    named = [name for name, dtype in log.events.schema.items() if dtype == pl.Boolean]
    asked = [Attribute(name, "boolean", at="ER Registration") for name in named]
    found = libra.anonymize(log, epsilon=2.0, delta=1e-3, seed=1, attributes=asked).log
    off = []
    for attribute in asked:
        before, after = (case_values(each, attribute).to_numpy() == 1 for each in (log, found))
        off.append(abs(before.mean() - after.mean()))
    assert len(off) > 15
    assert np.mean(off) < 0.03
