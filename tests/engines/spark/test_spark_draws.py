"""What is drawn on Spark is drawn once: by one action, the same after a task failed, and with the right distribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from libra._system.randomness import Randomness
from libra.engines.contract import FINE, Integers, Unit, VariantRule
from libra.engines.control_flow_tables import BaseEdges, Lengths, Size
from libra.engines.polars import engine_of as in_memory
from libra.engines.spark.engine import SparkEngine, open_log
from libra.engines.spark.session import Spark
from libra.engines.time_tables import StepDurations
from libra.errors import InputError
from libra.eventlog.options import ReadOptions, RoleNames
from libra.eventlog.read import read
from libra.mechanisms.libra.plan import Budget, make_plan
from libra.mechanisms.libra.release_run import release_run
from libra.privacy.gate import Gate
from libra.privacy.selection import GaussianRule

from . import both_engines as both

ALL_PASS = GaussianRule(0.5, -(10**6), 1)
CASES = 3000


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory, spark: Spark) -> Iterator[SparkEngine]:
    """As many variants as cases."""
    file = tmp_path_factory.mktemp("variants") / "log.parquet"
    both.many_variants(CASES).write_parquet(file)
    yield both.on_spark(str(file))
    spark.forget()


def failing_once() -> Callable[[], None]:
    """Something that a task calls, and that fails the first time the task is tried."""

    def fail() -> None:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0:
            raise RuntimeError("the executor is lost")

    return fail


def failing_rule(rule: Any) -> VariantRule:
    """A rule whose tasks fail once, after they drew."""
    fail = failing_once()

    class Failing:
        def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
            passed: tuple[Integers, Integers] = rule.passing(counts, random)
            fail()
            return passed

    return Failing()


def as_set(engine: SparkEngine, rule: VariantRule, random: Randomness) -> dict[bytes, int]:
    """What was selected, in no order."""
    traces, noisy = engine.select_variants(rule, random)
    found = dict(zip(traces.as_bytes(), noisy.tolist(), strict=True))
    assert len(found) == len(traces)  # no variant twice
    return found


def test_a_seeded_selection_is_the_same_after_every_task_failed(engine: SparkEngine) -> None:
    rule = GaussianRule(0.5, 3, 1)
    once = as_set(engine, rule, Randomness(seed=5))
    assert 0 < len(once) < CASES
    assert as_set(engine, failing_rule(rule), Randomness(seed=5)) == once
    assert as_set(engine, rule, Randomness(seed=6)) != once


def test_without_a_seed_every_selection_is_another_and_a_failure_leaves_one_draw_each(engine: SparkEngine) -> None:
    first, second = (as_set(engine, failing_rule(ALL_PASS), Randomness()) for _ in range(2))
    assert len(first) == len(second) == CASES
    assert first != second


def test_each_variant_gets_one_draw_by_one_action(engine: SparkEngine, tmp_path: Path) -> None:
    """Whoever draws leaves a mark: all marks together are as many as there are variants."""
    folder = str(tmp_path)

    class Marking:
        def passing(self, counts: Integers, random: Randomness) -> tuple[Integers, Integers]:
            import os
            import secrets

            with open(os.path.join(folder, secrets.token_hex(8)), "w") as file:  # noqa: PTH118, PTH123  # runs elsewhere
                file.write(str(len(counts)))
            return ALL_PASS.passing(counts, random)

    traces, _ = engine.select_variants(Marking(), Randomness())
    assert sum(int(file.read_text()) for file in tmp_path.iterdir()) == len(traces) == CASES


def test_the_noise_of_a_selection_has_its_distribution(engine: SparkEngine) -> None:
    _, noisy = engine.select_variants(ALL_PASS, Randomness(seed=11))  # what workers draw is up to the seed alone
    noise = noisy - 1
    assert len(noise) == CASES
    assert abs(noise.mean()) < 5 * 2 / np.sqrt(CASES)
    assert abs(noise.std() - np.sqrt(4 + 1 / 12)) < 5 * 2 / np.sqrt(2 * CASES)
    assert abs((noise > 2).mean() - 0.1056) < 0.03  # P(N(0, 2) > 2.5)


def test_labels_are_weighed_as_in_memory_and_drawn_by_the_driver(tmp_path: Path, spark: Spark) -> None:
    file = tmp_path / "log.parquet"
    both.table_of([(f"{i // 4}", f"{i % 4 + (i % 100 == 0) * 10}", i) for i in range(4000)]).write_parquet(file)
    engine = both.on_spark(str(file))
    gates = [Gate(one, Randomness(seed=2)) for one in (engine, in_memory(read(file, ReadOptions())))]
    for threshold in (100 * FINE, 5 * FINE, 480 * FINE):  # clear, low, and as much as some of them have
        on_spark, here = (gate.select_labels((), 0.05 if threshold > 400 * FINE else 5.0, threshold) for gate in gates)
        assert on_spark == here
    assert Gate(engine, Randomness()).select_labels((), 0.5, 100 * FINE) == ("0", "1", "2", "3")


def test_a_subsample_has_its_rate_and_is_the_same_whenever_it_is_computed(engine: SparkEngine, spark: Spark) -> None:
    some = engine.subsampled(0.3, Randomness())
    size = int(some.count_all([Size()])[0][0])
    assert abs(size - 0.3 * CASES) < 5 * np.sqrt(CASES * 0.3 * 0.7)
    assert some.labels == engine.labels
    before = some.count_all([Lengths(), BaseEdges(2, 3.0), StepDurations(1.0)])
    spark.forget()
    again = some.count_all([Lengths(), BaseEdges(2, 3.0), StepDurations(1.0)])
    assert all(np.array_equal(one, other) for one, other in zip(before, again, strict=True))
    ids = {row[0] for row in some.cases.select("case").collect()}
    others = {row[0] for row in engine.subsampled(0.3, Randomness()).cases.select("case").collect()}
    assert len(ids) == size
    assert ids != others
    assert abs(len(ids & others) - 0.09 * CASES) < 5 * np.sqrt(CASES * 0.09 * 0.91)  # independent of each other
    assert not engine.subsampled(0.0, Randomness()).count_all([Size()])[0][0]


@pytest.mark.parametrize("control", [0.55, 0.95])
def test_released_figures_are_the_same_after_tasks_failed(control: float, tmp_path: Path, spark: Spark) -> None:
    """A whole run with a seed: tasks that read times fail once, and so do those that draw."""
    (tmp_path / "log.csv").write_text(
        "case,activity,time\n" + "".join(f"{i // 3},{'abc'[i % 3]},2024-05-{i % 28 + 1:02}T0{i % 9}:00:00Z\n" for i in range(900))
    )
    engine, plan = both.on_spark(str(tmp_path / "log.csv")), make_plan(2.0, 1e-3, Budget(control, 1 - control), tail="drop")

    def figures(engine: SparkEngine) -> dict[str, Any]:
        gate = Gate(engine, Randomness(seed=4))
        return release_run(gate, plan, engine.labels, "UTC", draw=7)[0].to_dict()

    fail, moments = failing_once(), engine.events.moments

    @dataclass(frozen=True)
    class FailingReader:
        reader: Any

        def __call__(self, batch: pl.DataFrame) -> pl.Series:
            fail()
            read: pl.Series = self.reader(batch)
            return read

    @dataclass(frozen=True, eq=False, repr=False)
    class FailingEngine(SparkEngine):
        def select_variants(self, rule: VariantRule, random: Randomness) -> Any:
            return super().select_variants(failing_rule(rule), random)

    failing = replace(engine.events, moments=replace(moments, reader=FailingReader(moments.reader)))
    expected = figures(engine)
    spark.forget()
    assert figures(FailingEngine(failing, spark)) == expected


@pytest.fixture
def shared_cases(tmp_path: Path) -> Path:
    """Cases of which somebody has up to six: ann one, bert two, … and three of people without a name."""
    owners = [name for n, name in enumerate(("ann", "bert", "cleo", "dora", "emil", "fred"), 1) for _ in range(n)] + [" "] * 3
    rows = both.table_of([(f"{case}", label, case) for case in range(len(owners)) for label in ("a", "b")])
    whose = [owners[int(case)] for case in rows["case:concept:name"]]
    rows.with_columns(pl.Series("who", whose)).write_parquet(tmp_path / "log.parquet")
    return tmp_path / "log.parquet"


def test_no_more_cases_of_an_individual_count(shared_cases: Path, spark: Spark) -> None:
    log = open_log(str(shared_cases), ReadOptions(roles=RoleNames(individual="who")))
    assert (log.individual, log.has_individual) == ("who", True)
    found: list[list[str]] = []
    for seed in range(2):
        engine = log.engine(Unit(most_cases=2), Randomness(seed=seed))
        ids = sorted(row[0] for row in engine.cases.select("case").collect())
        owners = pl.read_parquet(shared_cases).filter(pl.col("case:concept:name").is_in(ids)).unique("case:concept:name")
        counts = dict(owners.group_by("who").len().rows())
        assert counts == {"ann": 1, "bert": 2, "cleo": 2, "dora": 2, "emil": 2, "fred": 2, " ": 3}
        found.append(ids)
    assert found[0] != found[1]


@pytest.mark.parametrize(("second", "told"), [(None, 'no value in "who"'), ("bert", '"who" changes within a case')])
def test_a_case_is_one_individual_s(second: str | None, told: str, tmp_path: Path, spark: Spark) -> None:
    rows = both.table_of([("1", "a", 0), ("1", "b", 1)]).with_columns(pl.Series("who", ["ann", second]))
    rows.write_parquet(tmp_path / "log.parquet")
    log = open_log(str(tmp_path / "log.parquet"), ReadOptions(roles=RoleNames(individual="who")))
    with pytest.raises(InputError, match=told):
        log.engine(Unit(most_cases=1), Randomness())


def test_a_file_of_libra_remembers_whose_cases_are_whose(shared_cases: Path, tmp_path: Path, spark: Spark) -> None:
    from libra.eventlog.write import write

    options = ReadOptions(roles=RoleNames(individual="who"))
    write(read(shared_cases, options), tmp_path / "again.parquet")
    assert open_log(str(tmp_path / "again.parquet"), ReadOptions()).individual == "case:who"
