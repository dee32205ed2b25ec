"""Attributes of cases: the engine for logs larger than memory has the same values as the one in memory, and draws as often."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import attribute_logs as logs
import numpy as np
import polars as pl
import pytest
from attribute_logs import DECLARED, described
from every_table import assert_same_counts, assert_same_tables, attribute_tables
from two_engines import Everything, both, in_small_pieces

import libra
from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Integers, Unit
from libra.engines.polars import PolarsEngine
from libra.engines.polars_streaming import StreamedLog, StreamingEngine
from libra.errors import InputError
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import MISSING
from libra.eventlog.in_parts import LogInParts
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import batches_of, read
from libra.eventlog.write import write
from libra.mechanisms.libra.generate import planned


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    in_small_pieces(monkeypatch)


def assert_same_values(engine: Any, memory: PolarsEngine) -> None:
    """That two engines have the same distinct values, each as often."""
    for number in range(len(memory.values)):
        found = engine.select_values(number, Everything(), Randomness(seed=1))
        expected = memory.select_values(number, Everything(), Randomness(seed=1))
        order = np.argsort(found[0])
        assert all(np.array_equal(one[order], other) for one, other in zip(found, expected, strict=True))


@pytest.mark.parametrize("sort_by_time", [False, True])
@pytest.mark.parametrize("form", ["frame", "typed", "csv", "parquet"])
def test_a_log_made_to_hurt_has_the_same_values(form: str, sort_by_time: bool, tmp_path: Path) -> None:
    frame = logs.with_types(logs.hurtful()) if form in ("typed", "parquet") else logs.hurtful()
    source: Any = frame
    if form == "csv":
        source = tmp_path / "log.csv"
        frame.write_csv(source, quote_style="non_numeric")
    elif form == "parquet":
        source = tmp_path / "log.parquet"
        frame.write_parquet(source, row_group_size=5_000)
    streamed, memory = both(source, described(sort_by_time=sort_by_time))
    assert_same_tables(streamed, memory)
    assert_same_values(streamed, memory)
    assert memory.values[2] == ("f", "m")
    assert memory.cases.attributes[2].max() == 2
    assert set(memory.cases.attributes[6].tolist()) == {MISSING}


@pytest.mark.parametrize("mode", ["pair", "complete", "events"])
def test_of_instances_the_completion_has_the_value_or_else_the_start(mode: Any) -> None:
    roles = replace(logs.ROLES, lifecycle="lifecycle:transition")
    streamed, memory = both(logs.in_instances(logs.hurtful(giant=900)), described(roles=roles, instances=mode))
    assert_same_tables(streamed, memory)


def test_a_value_may_stand_on_an_event_of_a_label_that_is_not_listed() -> None:
    streamed, memory = both(logs.hurtful(giant=900), described(), labels=("a", "c", "nobody has it"))
    assert_same_tables(streamed, memory)
    assert (memory.cases.attributes[0] != MISSING).any()  # of "b"


@pytest.mark.parametrize("name", ["sepsis", "roadtraffic"])
def test_attributes_of_real_logs_agree(read_public: ReadPublic, tmp_path: Path, name: str) -> None:
    log = read_public(name)
    if name == "roadtraffic":
        log = replace(log, events=log.events.filter(log.events["@case"] < 3_000), cases=log.cases[:3_000])
    for ending in ("parquet", "csv") if name == "sepsis" else ("xes",):
        file = tmp_path / f"{name}.{ending}"
        write(log, file)
        options = libra.describe(file).options()
        options = replace(options, attributes=tuple(one for one in options.attributes if one.level == "case"))
        assert len(options.attributes) > 3
        streamed, memory = both(file, options)
        assert streamed.values == memory.values
        assert_same_counts(streamed, memory, attribute_tables(memory))


def test_traces_in_xes_have_their_attributes(tmp_path: Path) -> None:
    flat = logs.with_types(logs.hurtful(giant=50)).drop("never").sort("time:timestamp")
    write(read(flat, described(DECLARED[:-1])), tmp_path / "log.xes")
    options = ReadOptions(attributes=DECLARED[:-1])
    streamed, memory = both(tmp_path / "log.xes", options)
    assert_same_tables(streamed, memory)
    late = pl.concat([flat.filter(pl.col("case:concept:name") != "case 7"), flat.filter(pl.col("case:concept:name") == "case 7")])
    only_one = late.with_columns(pl.when(pl.col("case:concept:name") == "case 7").then(pl.lit("x")).alias("case:only"))
    write(read(only_one, ReadOptions()), tmp_path / "late.xes")
    streamed, memory = both(tmp_path / "late.xes", ReadOptions(attributes=(Attribute("case:only", "category"), *DECLARED[:1])))
    assert streamed.values[0] == ("x",)
    assert_same_tables(streamed, memory)


def test_a_hundred_thousand_values_are_told_apart() -> None:
    n = 100_000
    times = pl.Series(np.full(n, logs.START), dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    ids = pl.Series(np.arange(n)).cast(pl.String)
    frame = pl.DataFrame({"case:concept:name": ids, "concept:name": "a", "time:timestamp": times, "case:of": "v" + ids})
    streamed, memory = both(frame, described((Attribute("case:of", "category"),)))
    assert streamed.values == memory.values
    assert len(streamed.values[0]) == n
    assert_same_values(streamed, memory)


@pytest.mark.parametrize("rate", [1.0, 0.4])
def test_cases_keep_their_values_in_subsamples_and_among_those_of_an_individual(rate: float) -> None:
    """The value of a case is its id, and its only event says it too."""
    n = 500
    times = pl.Series(logs.START + np.arange(n) * logs.MINUTE, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    frame = pl.DataFrame(
        {
            "case:concept:name": [f"c{i}" for i in range(n)],
            "concept:name": [f"label {i % 7}" for i in range(n)],
            "time:timestamp": times,
            "number": np.arange(n),
            "who": [f"p{i % 100}" for i in range(n)],
        }
    )
    options = described((Attribute("number", "number"),), replace(logs.ROLES, individual="who"))
    for labels in (None, ("label 0", "label 3")):
        log = StreamedLog(batches_of(frame, options))
        engine = log.engine(Unit(2), Randomness(seed=1), rate, labels, options.attributes)
        if rate < 1:
            engine = engine.subsampled(0.5, Randomness(seed=2))
        blocks = list(engine.store.cases())
        values = np.concatenate([block.attributes[0] for block in blocks])
        micros = np.concatenate([block.micros for block in blocks])
        assert np.array_equal(micros, logs.START + values * logs.MINUTE)
        assert 0 < len(values) <= 200
        assert np.bincount(values % 100).max() <= 2


def test_one_case_more_changes_nobody_elses_values() -> None:
    """The added case has new texts, a number that is none, and words where others have numbers that are declared as no value."""
    flat = logs.hurtful(giant=20)
    more = flat[:1].with_columns(
        pl.lit("added").alias("case:concept:name"), pl.lit("AA").alias("grade"), pl.lit("").alias("amount"),
        pl.lit("ward").alias("case:ward"), pl.lit("b").alias("concept:name"),
    )  # fmt: skip
    for engine_of in (0, 1):
        before, after = (both(frame, described())[engine_of] for frame in (flat, pl.concat([more, flat])))
        for number, (old, new) in enumerate(zip(before.values, after.values, strict=True)):
            found = [dict(zip(*map(np.ndarray.tolist, _values(engine, number)), strict=True)) for engine in (before, after)]
            if old != DECLARED[number].values and DECLARED[number].kind == "category":
                found = [{texts[v]: n for v, n in one.items()} for texts, one in zip((old, new), found, strict=True)]
            differ = {value for value in found[1] if found[0].get(value) != found[1][value]}
            assert set(found[0]) <= set(found[1])
            assert len(differ) <= 1
            assert sum(found[1].values()) - sum(found[0].values()) <= 1


def _values(engine: Any, number: int) -> tuple[Integers, Integers]:
    found: tuple[Integers, Integers] = engine.select_values(number, Everything(), Randomness(seed=1))
    return found


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_cannot_be_read_is_refused_with_its_place(ending: str, tmp_path: Path) -> None:
    frame, file = logs.hurtful(giant=20), tmp_path / f"log.{ending}"

    def written(frame: pl.DataFrame) -> str:
        frame.write_csv(file) if ending == "csv" else frame.write_parquet(file)
        return str(file)

    bad = frame.with_columns(pl.Series("amount", [*["1"] * 10, "much", *["2"] * (frame.height - 11)]))
    changing = frame.with_columns(pl.Series("case:ward", [f"{i}" for i in range(frame.height)]))
    where = "line 12" if ending == "csv" else "row 11"
    for made in (lambda: read(written(bad), described()), lambda: both(written(bad), described())):
        with pytest.raises(InputError, match=rf'{file}, {where}: "amount" is described as a number, and "much" is none'):
            made()
    for engine in (read, lambda source, options: _streamed(source, options)):
        with pytest.raises(InputError, match='"case:ward" is described as an attribute of the case and changes within one'):
            engine(written(changing), described())
        with pytest.raises(InputError, match='there is no column "case:ward"') as caught:
            engine(written(frame.drop("case:ward")), described())
        assert str(caught.value).startswith(str(file))


def _streamed(source: Any, options: ReadOptions) -> StreamingEngine:
    return StreamedLog(batches_of(source, options)).engine(CASE, Randomness(), attributes=options.attributes)


def test_only_what_is_asked_for_is_read() -> None:
    frame = logs.hurtful(giant=20).with_columns(pl.lit("no number").alias("amount"))
    (batch, *_) = batches_of(frame, described((DECLARED[1],)))
    assert [name for name in batch.columns if name.startswith("attribute")] == ["attribute:case:ward"]
    with pytest.raises(AssertionError, match="that are read"):
        StreamedLog(batches_of(frame, described((DECLARED[1],)))).engine(CASE, Randomness(), attributes=DECLARED)


@pytest.fixture(scope="module")
def described_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """A log of a few thousand cases in a file, and its description."""
    file = tmp_path_factory.mktemp("log") / "log.parquet"
    logs.with_types(logs.hurtful(cases=2_000, giant=20, wards=3)).write_parquet(file)
    return file, replace(libra.describe(file), attributes=DECLARED[:-1])


def released(file: Path, description: Any, engine: str, seed: int | None, **more: Any) -> Any:
    request = {"delta": 1e-3, "epsilon": 4.0, "attributes": "all", "description": description, "engine": engine}
    return libra.anonymize(file, seed=seed, **{**request, **more})


def test_the_same_seed_gives_the_same_release(described_file: tuple[Path, Any]) -> None:
    one, other = (released(*described_file, "polars-streaming", 3) for _ in range(2))
    assert one.log.to_polars().equals(other.log.to_polars())


def test_releases_of_both_engines_have_the_same_figures_but_for_noise(described_file: tuple[Path, Any]) -> None:
    """With so much budget that there is hardly any noise: as many cases have each value, wherever they are counted."""
    both_logs = [released(*described_file, engine, 3, epsilon=100.0).log.to_polars() for engine in ("polars", "polars-streaming")]
    for name in ("case:ward", "case:sex", "case:urgent"):
        one, other = (dict(log.unique("case:concept:name").group_by(name).len().rows()) for log in both_logs)
        assert all(abs(one.get(value, 0) - other.get(value, 0)) < 20 for value in one.keys() | other.keys())


@pytest.mark.parametrize("by_individual", [False, True])
@pytest.mark.parametrize("gamma", [1.0, 0.5])
def test_subsamples_and_individuals_are_released_with_attributes(
    described_file: tuple[Path, Any], gamma: float, by_individual: bool
) -> None:
    file, description = described_file
    if by_individual:
        description = replace(description, unit="individual", individual="case:concept:name", most_cases=1)
    log = released(file, description, "polars-streaming", 3, gamma=gamma).log.to_polars()
    assert {"case:sex", "grade"} <= set(log.columns)
    assert set(log["case:sex"].drop_nulls().unique()) <= {"f", "m", "(other)"}


@pytest.mark.parametrize("ending", ["parquet", "csv", "xes", "xes.gz"])
def test_a_release_in_parts_is_read_back_with_its_attributes(
    described_file: tuple[Path, Any], tmp_path: Path, ending: str
) -> None:
    release = released(*described_file, "polars-streaming", 3)
    log = planned(release.figures, part_events=900).in_parts(seeded=True)
    assert isinstance(log, LogInParts)
    assert log.n_parts > 1
    write(log, tmp_path / f"out.{ending}")
    found, expected = libra.read(tmp_path / f"out.{ending}").to_polars(), log.to_polars()
    assert set(found.columns) >= {"case:ward", "case:sex", "case:urgent", "grade", "amount", "due"}
    assert found.select(expected.columns).equals(expected)
    if ending == "parquet":
        assert found.schema == expected.schema
