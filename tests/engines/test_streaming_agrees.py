"""The engine for logs larger than memory counts exactly what the one in memory counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from every_table import assert_same_tables
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Unit
from libra.engines.control_flow_tables import Size
from libra.engines.counting.blocks import distinct
from libra.engines.polars import LogInMemory, engine_of
from libra.engines.polars_streaming import StreamedLog, StreamingEngine, spill
from libra.eventlog.cases import Traces, traces_of
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import batches_of, read

EIGHT = ("bpic12", "bpic13", "bpic14f", "bpic20", "hospital", "roadtraffic", "sepsis", "urineweginfectie")
START = 1_714_982_400_000_000  # a Monday of May 2024, in microseconds


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """So little in memory that everything is dealt out, spilled and merged many times."""
    with monkeypatch.context() as patch:
        patch.setattr(spill, "DEALT", 7_000)
        patch.setattr(spill, "BUCKET_EVENTS", 20_000)
        patch.setattr(spill, "HELD", 300_000)
        yield


def streamed(
    source: Any, options: ReadOptions | None = None, unit: Unit = CASE, labels: tuple[str, ...] | None = None
) -> StreamingEngine:
    options = options or ReadOptions()
    log = StreamedLog(batches_of(source, options), sort_by_time=options.sort_by_time)
    return log.engine(unit, Randomness(seed=1), labels=labels)


def table(cases: list[str] | list[int], labels: list[str], micros: list[int]) -> pl.DataFrame:
    times = pl.Series(micros, dtype=pl.Int64).cast(pl.Datetime("us", "UTC"))
    return pl.DataFrame({"case:concept:name": cases, "concept:name": labels, "time:timestamp": times})


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("name", EIGHT)
def test_all_tables_of_real_logs_agree(read_public: ReadPublic, tmp_path: Path, name: str) -> None:
    log = read_public(name)
    by_time = log.to_polars().select("case:concept:name", "concept:name", "time:timestamp").sort("time:timestamp")
    by_time.write_parquet(tmp_path / "log.parquet", row_group_size=10_000)  # cases interleaved, as in a data lake
    assert_same_tables(streamed(tmp_path / "log.parquet"), engine_of(read(tmp_path / "log.parquet", ReadOptions())))


HOSTILE = {
    "equal times": table(["a", "b"] * 30, ["x", "y", "z"] * 20, [START] * 60),
    "unicode": table(["ä", "a\u0308", "😀", "", "a b", "a"] * 5, ["é", "e\u0301", "名"] * 10, list(range(START, START + 30))),
    "one giant case": table(["only"] * 120_000, ["x", "y", "x"] * 40_000, list(range(START, START + 120_000))),
    "one event": table(["a"], ["x"], [START]),
    "one label": table([str(i % 50) for i in range(400)], ["x"] * 400, [START + i for i in range(400)]),
    "whole numbers for ids": table([i % 7 for i in range(300)], ["x", "y"] * 150, [START + i for i in range(300)]),
    "times backwards": table(["a", "b", "c"] * 40, ["x", "y"] * 60, [START - i * 3_600_000_000 for i in range(120)]),
    "long ids": table([f"{'long-' * 20}{i % 13}" for i in range(400)], ["x", "y"] * 200, [START + i for i in range(400)]),
    "more labels than a byte holds": table(
        [str(i // 3) for i in range(1200)], [f"label {i % 400}" for i in range(1200)], [START + i for i in range(1200)]
    ),
    "every case its own variant": table(
        [str(i // 4) for i in range(4000)], [f"l{(i * i) % 61}" for i in range(4000)], [START + i for i in range(4000)]
    ),
}


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("sort_by_time", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_all_tables_of_hostile_logs_agree(name: str, sort_by_time: bool) -> None:
    options = ReadOptions(sort_by_time=sort_by_time)
    frame = HOSTILE[name].filter(pl.col("case:concept:name").cast(pl.String) != "")
    assert_same_tables(streamed(frame, options), engine_of(read(frame, options)))


def test_an_empty_log_has_tables_too() -> None:
    options = ReadOptions(allow_empty=True)
    engine = streamed(HOSTILE["one event"].clear(), options)
    assert engine.labels == ()
    traces, noisy = engine.select_variants(_Everything(), Randomness(seed=1))
    assert (len(traces), len(noisy)) == (0, 0)


class _Everything:
    """A rule by which every variant passes, with its true count."""

    def passing(self, counts: Any, _random: Randomness) -> Any:
        return np.arange(len(counts)), counts


events = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 10)), min_size=1, max_size=60)


@given(events, st.booleans(), st.integers(1, 9))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_interleaving_of_cases_agrees(rows: list[tuple[int, int, int]], sort_by_time: bool, size: int) -> None:
    frame = table([f"case {case}" for case, _, _ in rows], ["abcd"[code] for _, code, _ in rows], [START + t for *_, t in rows])
    options = ReadOptions(sort_by_time=sort_by_time)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "DEALT", size)
        patch.setattr(spill, "HELD", 500)
        assert_same_tables(streamed(frame, options), engine_of(read(frame, options)))


@pytest.mark.parametrize("hashes", [lambda n: np.zeros(n, np.uint64), lambda n: np.full(n, 2**64 - 1, np.uint64)])
def test_cases_that_share_a_hash_stay_two_cases(monkeypatch: pytest.MonkeyPatch, hashes: Any) -> None:
    monkeypatch.setattr(spill, "_hashes", lambda ids: hashes(len(ids)))
    frame = HOSTILE["equal times"]
    assert_same_tables(streamed(frame), engine_of(read(frame, ReadOptions())))


def test_traces_that_share_a_fingerprint_stay_two_variants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Traces, "fingerprints", lambda self: np.zeros(len(self), np.uint64))
    found = distinct(traces_of([[0, 1], [1, 0], [0], [0, 1], [], []]), np.array([1, 2, 3, 4, 5, 6]), n_labels=2)
    got = sorted(zip(found.traces.to_lists(), found.counts.tolist(), strict=True))
    assert got == [([], 11), ([0], 3), ([0, 1], 5), ([1, 0], 2)]


@pytest.mark.usefixtures("_small_pieces")
def test_labels_that_are_given_are_all_that_there_are(read_public: ReadPublic) -> None:
    log = read_public("sepsis")
    some = ("A label that nobody has", *sorted(log.activities)[::2])
    assert_same_tables(streamed(log.to_polars(), labels=some), engine_of(log, labels=some))


def test_tables_about_times_are_not_asked_of_a_tail() -> None:
    from libra.engines.time_tables import StartDays

    with pytest.raises(AssertionError, match="not about a tail"):
        streamed(HOSTILE["one label"]).tail(traces_of([])).count_all([StartDays()])


def test_batches_of_any_size_give_the_same_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = HOSTILE["every case its own variant"]
    monkeypatch.setattr(spill, "DEALT", 1)
    assert_same_tables(streamed(frame), engine_of(read(frame, ReadOptions())))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_of_each_individual_no_more_cases_count_than_said_and_as_many_as_in_memory(most: int) -> None:
    rng = np.random.default_rng(1)
    cases = [f"c{i}" for i in range(300)]
    whose = {case: f"p{rng.integers(0, 60)}" for case in cases}
    rows = [case for case in cases for _ in range(3)]
    frame = table(rows, ["x", "y", "z"] * 300, [START + i for i in range(900)]).with_columns(
        pl.Series("person", [whose[case] for case in rows])
    )
    options = ReadOptions(roles=RoleNames(individual="person"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spill, "BUCKET_EVENTS", 30)
        engine = streamed(frame, options, Unit(most))
    memory = LogInMemory(read(frame, options)).engine(Unit(most), Randomness(seed=1))
    had = np.unique(list(whose.values()), return_counts=True)[1]
    assert sum(len(block) for block in engine.store.cases()) == len(memory.cases) == np.minimum(had, most).sum()


def test_an_individual_that_changes_within_a_case_is_refused() -> None:
    from libra.errors import InputError

    frame = table(["a", "a"], ["x", "y"], [START, START + 1]).with_columns(pl.Series("person", ["p", "q"]))
    with pytest.raises(InputError, match="changes within a case"):
        streamed(frame, ReadOptions(roles=RoleNames(individual="person")), Unit(1))


def test_a_subsample_of_individuals_takes_each_with_the_rate_however_many_cases_they_have() -> None:
    """Drawn by case, somebody with fifty of them would nearly always take part, and the amplification would be false."""
    people, each, rate = 600, 50, 0.1
    cases = np.repeat(np.arange(people * each), 1)
    frame = table([f"c{case}" for case in cases], ["x"] * len(cases), [START + int(case) for case in cases]).with_columns(
        pl.Series("person", [f"p{case // each}" for case in cases])
    )
    options = ReadOptions(roles=RoleNames(individual="person"))
    for origin in (StreamedLog(batches_of(frame, options)), LogInMemory(read(frame, options))):
        engine = origin.engine(Unit(1), Randomness(seed=2), rate)
        (size,) = engine.count_all([Size()])[0].tolist()
        assert abs(size - rate * people) < 5 * np.sqrt(rate * people)


@pytest.mark.parametrize(
    "ids",
    [
        pl.Series([10**17 + i for i in range(40)]).cast(pl.Decimal(38, 0)),
        pl.Series(range(40)).cast(pl.Datetime("ns")),
        pl.Series(range(40)).cast(pl.Duration("ns")),
        pl.Series(range(40)).cast(pl.Time),
        pl.Series([2**63 + i for i in range(40)], dtype=pl.UInt64),
    ],
    ids=lambda ids: str(ids.dtype),
)
def test_individuals_whose_values_a_log_cannot_hold_stay_apart(ids: pl.Series) -> None:
    frame = table([f"c{i}" for i in range(40)], ["x"] * 40, [START + i for i in range(40)]).with_columns(ids.alias("person"))
    options = ReadOptions(roles=RoleNames(individual="person"))
    for origin in (StreamedLog(batches_of(frame, options)), LogInMemory(read(frame, options))):
        assert origin.engine(Unit(1), Randomness(seed=2)).count_all([Size()])[0].tolist() == [40]


def test_case_ids_that_are_times_of_day_stay_apart() -> None:
    ids = pl.Series([1_000, 2_000, 3_000_000_000]).cast(pl.Time)
    frame = table(["a", "b", "c"], ["x"] * 3, [START] * 3).with_columns(ids.alias("case:concept:name"))
    assert streamed(frame).count_all([Size()])[0].tolist() == [3]
    assert engine_of(read(frame, ReadOptions())).count(Size()).tolist() == [3]
