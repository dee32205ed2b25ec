"""Released attributes of events: values follow their activities and each other, and nothing comes out that was not asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import libra
from attributed_events import (
    ARRIVE,
    COST,
    DAY,
    DESK,
    DUE,
    LEVEL,
    NAMES,
    OF_EVENTS,
    OWN_NAMES,
    PAID,
    ROLE,
    TEST,
    URGENT,
    WHO,
    apart,
    by_activity,
    handovers,
    shares,
    valued,
    with_values,
)
from libra.errors import UsageError
from libra.eventlog.attributes import Attribute
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import LIFECYCLE, OTHER, RESOURCE
from libra.example.simulate import simulate
from libra.mechanisms.libra.attributes.release import ReleasedAttribute
from libra.mechanisms.libra.generate import planned
from libra.mechanisms.libra.model_file import read_model, write_model
from libra.release import Release

HARDLY_ANY_NOISE: dict[str, Any] = {"epsilon": 100.0, "delta": 1e-2, "labels": "public", "seed": 1, "resource_names": True}
KINDS = ("boolean", "category", "number", "date")


@pytest.fixture(scope="module")
def original() -> EventLog:
    return with_values(1200)


@pytest.fixture(scope="module")
def release(original: EventLog) -> Release:
    return libra.anonymize(original, attributes=OF_EVENTS, **HARDLY_ANY_NOISE)


def _as_declared(log: EventLog) -> EventLog:
    """With what a list, or a choice, does not hold as other."""
    listed = {"org:role": ROLE.values or (), RESOURCE: NAMES}
    named = [
        pl.when(pl.col(name).is_in(list(values)) | pl.col(name).is_null()).then(pl.col(name)).otherwise(pl.lit(OTHER)).alias(name)
        for name, values in listed.items()
    ]
    return replace(log, events=log.events.with_columns(named))


def test_columns_have_the_types_that_are_declared(release: Release) -> None:
    assert dict(list(release.log.events.schema.items())[3:]) == {
        RESOURCE: pl.String(),
        "org:role": pl.String(),
        "urgent": pl.Boolean(),
        "level": pl.Float64(),
        "paid": pl.Int64(),
        "cost": pl.Int64(),
        "due": UTC_MICROSECONDS,
    }
    assert release.log.cases.columns == ["concept:name"]


@pytest.mark.parametrize("attribute", [WHO, ROLE, URGENT], ids=lambda one: one.name)
def test_values_by_activity_and_next_values_are_those_of_the_original(
    attribute: Attribute, original: EventLog, release: Release
) -> None:
    """With hardly any noise; missing values are among those of an activity."""
    expected = _as_declared(original)
    assert apart(by_activity(expected, attribute.name), by_activity(release.log, attribute.name)) < 0.02
    assert apart(handovers(expected, attribute.name), handovers(release.log, attribute.name)) < 0.02


def test_next_values_are_not_what_activities_alone_would_give(original: EventLog, release: Release) -> None:
    """Of each role somebody is the same in all of a case."""
    bedside = NAMES[2:5]
    for log in (original, release.log):
        table = handovers(log, RESOURCE)
        same = sum(table.get((name, name), 0.0) for name in bedside)
        assert same > 0.9 * sum(table.get((one, other), 0.0) for one in bedside for other in bedside)


def test_an_activity_without_values_gets_none_and_missing_shares_are_kept(original: EventLog, release: Release) -> None:
    arrived = release.log.events.filter(pl.col("concept:name") == ARRIVE)
    assert arrived.height > 1000
    assert arrived[RESOURCE].null_count() == arrived["level"].null_count() == arrived.height
    others = release.log.events.filter(pl.col("concept:name") != ARRIVE)
    assert others[RESOURCE].null_count() < 0.003 * others.height
    for activity in ("Register", TEST, "Triage"):
        there = [log.events.filter(pl.col("concept:name") == activity)["urgent"] for log in (original, release.log)]
        assert shares(there[1])[None] == pytest.approx(shares(there[0])[None], abs=0.03)
        assert shares(there[1])[True] == pytest.approx(shares(there[0])[True], abs=0.03)


def test_a_laboratory_value_stands_on_its_activity_alone(original: EventLog, release: Release) -> None:
    with_value = release.log.events.filter(pl.col("level").is_not_null())
    assert set(with_value["concept:name"]) == {TEST}
    assert with_value.height > 0.97 * release.log.events.filter(pl.col("concept:name") == TEST).height
    level = with_value["level"]
    assert level.is_between(0, 20).all()
    assert level.round(1).equals(level)
    before = shares(original.events["level"].drop_nulls())
    for value in (2.5, 4.0, 7.5):
        assert shares(level).get(value, 0.0) == pytest.approx(before[value], abs=0.04)


def test_counters_never_fall_stay_within_bounds_and_grow_as_in_the_original(original: EventLog, release: Release) -> None:
    grown = []
    for log in (original, release.log):
        paid = log.events.filter(pl.col("paid").is_not_null())
        assert set(paid["concept:name"]) <= set(DESK)
        assert paid["paid"].is_between(0, 400).all()
        steps = paid.with_columns(pl.col("paid").diff().over("@case").fill_null(pl.col("paid")).alias("step"))["step"]
        assert steps.min() == 0
        grown.append(shares(steps))
    assert apart(*grown) < 0.05


def test_numbers_without_bounds_are_near_those_of_others_and_an_extreme_one_is_gone(original: EventLog, release: Release) -> None:
    before, after = original.events["cost"], release.log.events["cost"]
    assert before.max() == 10**13
    assert after.max() < 10**4  # type: ignore[operator]  # a number
    for level in (0.1, 0.5, 0.9):
        assert after.quantile(level) == pytest.approx(before.quantile(level), rel=0.1)


def test_dates_are_counted_from_their_event(original: EventLog, release: Release) -> None:
    days = []
    for log in (original, release.log):
        later = log.events["due"].to_physical() - log.events["time:timestamp"].to_physical()
        days.append(shares((later / DAY).round(3)))
    assert set(days[1]) == {14.0, 30.0, None}
    assert apart(*days) < 0.03


def test_what_a_list_does_not_have_is_other_and_values_of_single_cases_never_show(release: Release) -> None:
    role = shares(release.log.events["org:role"])
    assert set(role) <= {"desk", "bedside", "nobody's", OTHER}
    assert role[OTHER] > 0.15
    assert role.get("nobody's", 0.0) < 0.005
    assert set(release.log.events[RESOURCE].drop_nulls()) <= {*NAMES, OTHER}
    assert not any(own in str(release.figures[0].to_dict()) for own in OWN_NAMES)


@pytest.mark.parametrize("seed", range(4))
def test_with_real_noise_values_stay_where_they_belong(original: EventLog, seed: int) -> None:
    found = libra.anonymize(original, epsilon=2.0, delta=1e-4, seed=seed, attributes=OF_EVENTS).log
    assert set(found.events[RESOURCE].drop_nulls()) <= {*(f"R{i}" for i in range(1, 8)), OTHER}
    steps = found.events.filter(pl.col("paid").is_not_null()).with_columns(pl.col("paid").diff().over("@case").alias("step"))
    assert steps["step"].fill_null(0).min() >= 0  # type: ignore[operator]  # a number
    assert found.events["paid"].drop_nulls().is_between(0, 400).all()
    assert found.events["level"].drop_nulls().is_between(0, 20).all()
    assert found.events.filter(pl.col("concept:name") == ARRIVE)[RESOURCE].is_null().mean() > 0.95  # type: ignore[operator]


@pytest.mark.parametrize("kind", KINDS)
def test_where_no_event_has_a_value_there_is_no_column(kind: Any) -> None:
    log = simulate(cases=200)
    empty = replace(log, events=log.events.with_columns(pl.lit(None, pl.String).alias("nothing")))
    for one in (log, empty):
        found = libra.anonymize(one, attributes=[Attribute("nothing", kind, "event")], **HARDLY_ANY_NOISE | {"epsilon": 4.0}).log
        assert found.n_cases > 150
        assert "nothing" not in found.events.columns


def test_a_category_of_which_nothing_is_chosen_is_other_throughout() -> None:
    log = simulate(cases=400)
    different = pl.Series("x", [f"value {i}" for i in range(log.n_events)])
    found = libra.anonymize(
        replace(log, events=log.events.with_columns(different)),
        attributes=[Attribute("x", "category", "event")],
        **HARDLY_ANY_NOISE | {"epsilon": 4.0, "delta": 1e-6},
    ).log
    assert set(found.events["x"].drop_nulls()) == {OTHER}
    assert found.events["x"].null_count() < 0.05 * found.n_events


def test_a_giant_case_neither_shows_nor_slows() -> None:
    words, n = ["abcd"] * 400, 30_000
    events = pl.DataFrame(
        {
            "@case": pl.Series([0] * n + [1 + i // 4 for i in range(4 * len(words))], dtype=pl.UInt32),
            "concept:name": ["a"] * n + list("".join(words)),
            "time:timestamp": pl.Series(np.arange(n + 4 * len(words)) * 1_000_000).cast(UTC_MICROSECONDS),
            "x": ["giant"] * n + ["p", "p", "q", "q"] * len(words),
            "y": [float(7 * 10**6)] * n + [float(i % 50) for i in range(4 * len(words))],
        }
    )
    log = EventLog(events, pl.DataFrame({"concept:name": [f"{i}" for i in range(len(words) + 1)]}))
    asked = [Attribute("x", "category", "event"), Attribute("y", "number", "event")]
    found = libra.anonymize(log, attributes=asked, **HARDLY_ANY_NOISE | {"epsilon": 8.0, "delta": 1e-4}).log
    assert set(found.events["x"]) <= {"p", "q", OTHER, None}
    assert found.events["y"].max() < 10**4  # type: ignore[operator]  # a number
    assert shares(found.events["x"])["p"] == pytest.approx(0.5, abs=0.05)


def _instances(log: EventLog) -> EventLog:
    """Each event took ten minutes, apart from those of arriving."""
    began = (log.events["time:timestamp"].to_physical() - 600_000_000).cast(UTC_MICROSECONDS)
    start = began.set(log.events["concept:name"] == ARRIVE, None).alias("start_timestamp")
    return replace(log, events=log.events.drop(LIFECYCLE).with_columns(start), instances="pair")


def test_instances_have_their_values_once(original: EventLog) -> None:
    found = libra.anonymize(_instances(original), attributes=OF_EVENTS, **HARDLY_ANY_NOISE).log
    assert found.instances == "pair"
    assert found.events["start_timestamp"].null_count() < 0.3 * found.n_events
    expected = _as_declared(original)
    for name in (RESOURCE, "org:role", "urgent"):
        assert apart(by_activity(expected, name), by_activity(found, name)) < 0.04
        assert apart(handovers(expected, name), handovers(found, name)) < 0.06


def test_an_activity_that_is_only_ever_started_is_no_trouble() -> None:
    """In a table of starts and completions its label may be chosen, and nothing completes it."""
    log = simulate(cases=150)
    names = log.events["concept:name"].to_list()
    transition = pl.Series(LIFECYCLE, ["start" if name == "Triage" else "complete" for name in names])
    started = libra.read(replace(valued(log), events=valued(log).events.with_columns(transition)).to_polars(), instances="pair")
    found = libra.anonymize(started, attributes=[WHO, LEVEL], **HARDLY_ANY_NOISE | {"epsilon": 20.0}).log
    assert set(found.events[RESOURCE].drop_nulls()) <= {*NAMES, OTHER}


@pytest.mark.parametrize("mode", ["events", None])
def test_transitions_stand_there_once_whether_in_labels_or_as_an_attribute(mode: Any) -> None:
    log = simulate(cases=300)
    twice = log.events.select(pl.all().repeat_by(2).explode()).with_columns(
        pl.Series(LIFECYCLE, ["start", "complete"] * log.n_events)
    )
    asked = [Attribute(LIFECYCLE, "category", "event"), WHO]
    found = libra.anonymize(replace(log, events=twice, instances=mode), attributes=asked, **HARDLY_ANY_NOISE).log
    assert found.events.columns.count(LIFECYCLE) == 1
    assert shares(found.events[LIFECYCLE])["start"] == pytest.approx(0.5, abs=0.02)
    assert RESOURCE in found.events.columns


@pytest.mark.parametrize("name", ["concept:name", "time:timestamp", "case:concept:name"])
def test_what_every_log_has_is_no_attribute(name: str, original: EventLog) -> None:
    with pytest.raises(UsageError, match="has a role in every log, and is no attribute"):
        libra.anonymize(original, attributes=[Attribute(name, "category", "case" if name[:5] == "case:" else "event")])


def test_several_subsamples_choose_on_their_own_and_have_the_same_pseudonyms(original: EventLog) -> None:
    rare = original.events
    for one_in in (30, 35, 40, 45, 50, 55, 60, 70):  # names around the threshold: each run chooses some of them
        there = (pl.col("@case") % one_in == 7) & pl.col(RESOURCE).is_not_null()
        rare = rare.with_columns(
            pl.when(there).then(pl.lit(f"Ottokar Rare {one_in}")).otherwise(pl.col(RESOURCE)).alias(RESOURCE)
        )
    said: dict[str, Any] = HARDLY_ANY_NOISE | {"attributes": [WHO, URGENT], "subsamples": 3, "gamma": 0.4, "epsilon": 40.0}
    found = libra.anonymize(replace(original, events=rare), **said | {"resource_names": False})
    named = libra.anonymize(replace(original, events=rare), **said)
    chosen = [set(run.of_events[0].of.texts) for run in named.figures]
    assert set.union(*chosen) > set.intersection(*chosen), "or the test tests nothing"
    pseudonyms = [set(run.of_events[0].of.texts) for run in found.figures]
    assert list(map(len, chosen)) == list(map(len, pseudonyms))
    assert set.union(*pseudonyms) == {f"R{i + 1}" for i in range(len(set.union(*chosen)))}
    pairs = set()
    for mine, theirs in zip(named.figures, found.figures, strict=True):
        known = {count: text for text, count in _counted(mine.of_events[0].of)}
        pairs |= {(known[count], text) for text, count in _counted(theirs.of_events[0].of)}
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs}), "one name for each, in all runs"


def _counted(one: ReleasedAttribute) -> list[tuple[str, float]]:
    return list(zip(one.texts, one.counts[1:].tolist(), strict=False))


@pytest.mark.parametrize("cases", [2, 3, 4, 8])
def test_runs_in_which_hardly_a_case_stands_out_go_together(cases: int) -> None:
    """A run may have so few cases that none of the released log is its own."""
    events = pl.DataFrame(
        {
            "@case": pl.Series([i for i in range(cases) for _ in "ab"], dtype=pl.UInt32),
            "concept:name": ["a", "b"] * cases,
            "time:timestamp": pl.Series(np.arange(2 * cases) * 1_000_000).cast(UTC_MICROSECONDS),
            "x": ["p", "q"] * cases,
        }
    )
    log = EventLog(events, pl.DataFrame({"concept:name": [f"{i}" for i in range(cases)], "y": ["u"] * cases}))
    asked = [Attribute("x", "category", "event"), Attribute("case:y", "category")]
    for seed in range(12):
        said: dict[str, Any] = HARDLY_ANY_NOISE | {"seed": seed, "tail": "drop", "gamma": 1.0, "subsamples": 5}
        found = libra.anonymize(log, attributes=asked, **said)
        for run in found.figures:
            assert run.attributes is not None
            assert len(run.attributes.each) == len(run.of_events)


def test_parts_have_the_same_columns_and_together_the_same_values(original: EventLog, release: Release) -> None:
    whole = planned(release.figures, part_events=3000).in_parts(seeded=False)
    assert isinstance(whole, LogInParts)
    parts = list(whole.parts())
    assert len(parts) > 3
    assert {tuple(part.events.schema.items()) for part in parts} == {tuple(release.log.events.schema.items())}
    joined = whole.to_polars()
    assert list(joined.columns) == list(release.log.to_polars().columns)
    before = np.cumsum([0, *(part.n_cases for part in parts)]).tolist()
    numbered = [part.events.with_columns(pl.col("@case") + first) for first, part in zip(before, parts, strict=False)]
    together = EventLog(pl.concat(numbered), pl.concat([part.cases for part in parts]))
    events = together.events
    for name in (RESOURCE, "org:role", "urgent"):
        assert apart(by_activity(together, name), by_activity(release.log, name)) < 0.02
        assert apart(handovers(together, name), handovers(_as_declared(original), name)) < 0.03
    days = shares(((events["due"].to_physical() - events["time:timestamp"].to_physical()) / DAY).round(3))
    assert set(days) == {14.0, 30.0, None}


def test_a_model_file_makes_the_same_log_and_logs_of_any_size(original: EventLog, release: Release, tmp_path: Path) -> None:
    write_model(release, tmp_path / "model.json")
    model = read_model(tmp_path / "model.json")
    assert [run.to_dict() for run in model.figures] == [run.to_dict() for run in release.figures]
    assert planned(model.figures).in_parts(seeded=True).equals(release.log)
    made = model.planned(3000, seed=7).in_parts(seeded=True)
    assert (made.n_cases, made.events.schema) == (3000, release.log.events.schema)
    assert apart(by_activity(made, RESOURCE), by_activity(_as_declared(original), RESOURCE)) < 0.03
    assert apart(handovers(made, RESOURCE), handovers(_as_declared(original), RESOURCE)) < 0.03
    one = model.planned(1, seed=3).in_parts(seeded=True)
    assert one.n_cases == 1


def test_a_log_of_any_number_of_cases_has_values(original: EventLog) -> None:
    for cases in (1, 7, 300):
        found = libra.anonymize(original, attributes=[WHO, PAID, DUE, COST], cases=cases, **HARDLY_ANY_NOISE).log
        assert found.n_cases == cases
        assert found.events[RESOURCE].null_count() < found.n_events


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("values", [(0, 1), (10, 20, 30)])
def test_no_number_lies_where_nothing_but_noise_is(values: tuple[int, ...], seed: int) -> None:
    """Without bounds, intervals reach up to 10^15; a few single values are all that there is."""
    log, attribute = simulate(cases=300), Attribute("x", "number", "event")
    numbers = pl.Series("x", np.resize(values, log.n_events))
    log = replace(log, events=log.events.with_columns(numbers))
    found = libra.anonymize(log, attributes=[attribute], seed=seed, delta=1e-3).log.events
    if "x" in found.columns:
        assert found["x"].drop_nulls().is_between(0, 99).all()


@pytest.mark.parametrize("seed", range(3))
def test_no_date_is_centuries_away(seed: int) -> None:
    log = simulate(cases=600)
    due = log.events["time:timestamp"].dt.offset_by("30d").alias("due")
    log = replace(log, events=log.events.with_columns(due))
    found = libra.anonymize(log, attributes=[Attribute("due", "date", "event")], epsilon=2.0, delta=1e-3, seed=seed).log.events
    if "due" in found.columns:
        assert (found["due"] - found["time:timestamp"]).drop_nulls().dt.total_days().is_between(-400, 400).all()
