"""prefix-laplace with its budget split: all that leaves goes through the gate, and adds up to what is promised."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from cases_for_peers import cases_from, log_from

from libra._system.randomness import Randomness
from libra.engines.control_flow_tables import CASE_LENGTH_BINS, CaseLengths, CaseNumber, PrefixLevel
from libra.engines.polars import PolarsEngine, engine_of
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.example.simulate import simulate
from libra.mechanisms.prefix_laplace import PrefixLaplace, Split, average_of
from libra.privacy.accounting import delta_of_ledger, epsilon_of_ledger
from libra.privacy.gate import Gate
from libra.privacy.ledger import DISCRETE_LAPLACE, Entry, Ledger
from libra.privacy.noise import NoisyTable

ASKED: dict[str, Any] = {"epsilon": 2.0, "prune": 60, "max_length": 6, "split_budget": True}


def ledger_of(log: EventLog, seed: int | None = 1, **said: Any) -> Ledger:
    ledger = PrefixLaplace(**{**ASKED, **said}).anonymize(log, Randomness(seed=seed)).ledger
    assert ledger is not None
    return ledger


@pytest.mark.parametrize("prune", [0.0, 0.05, 40])
@pytest.mark.parametrize("max_length", [None, 3])
def test_releases_add_up_to_epsilon_and_no_more(prune: float, max_length: int | None) -> None:
    split = Split(2.0, prune, max_length)
    for levels in (2, 4, 30, split.most_levels):
        entries = split.entries(levels)
        assert sum(1 / entry.noise for entry in entries) == pytest.approx(2.0, rel=1e-12)
        assert {entry.sensitivity for entry in entries} == {1.0}
        assert delta_of_ledger(Ledger(tuple(entries)), 2.0) < 1e-10
        assert delta_of_ledger(Ledger(tuple(entries)), 1.9) > 1e-10 or levels > 4  # and all of it is used
    purposes = [entry.purpose for entry in split.entries(2)]
    assert (CaseNumber.purpose in purposes) == (0 < prune < 1)
    assert (CaseLengths.purpose in purposes) == (max_length is None)


def test_the_ledger_is_what_the_parameters_say_whatever_the_log() -> None:
    one, other = ledger_of(simulate(cases=900)), ledger_of(log_from({"ab": 500, "b": 2}), seed=2)
    assert one == other
    assert [entry.purpose for entry in one.entries] == [PrefixLevel.purpose] * 7
    assert {(entry.mechanism, entry.sensitivity, entry.noise) for entry in one.entries} == {(DISCRETE_LAPLACE, 1.0, 3.5)}
    assert epsilon_of_ledger(one, 1e-5) <= 2.0


def test_what_is_not_said_is_released_first() -> None:
    ledger = ledger_of(simulate(cases=4_000), prune=0.1, max_length=None, epsilon=4.0)
    first, second, *levels = ledger.entries
    assert (first.purpose, second.purpose) == (CaseNumber.purpose, CaseLengths.purpose)
    assert first.noise == second.noise == 5.0
    assert {entry.purpose for entry in levels} == {PrefixLevel.purpose}
    assert levels[0].noise == pytest.approx(len(levels) / 3.6)
    assert not list(PrefixLaplace(epsilon=4.0, prune=0.1, split_budget=True).departures(ledger.entries))


def test_the_noise_that_is_drawn_is_the_noise_in_the_ledger() -> None:
    """Of nobody's counts only noise is left."""
    gate = Gate(PolarsEngine(*_nobody(30_000)), Randomness(seed=4))
    released = gate.release_whole(PrefixLevel(np.zeros((1, 0), np.int64), 30_000), scale=3.5)
    (entry,) = gate.ledger().entries
    assert (entry.mechanism, entry.noise) == (DISCRETE_LAPLACE, 3.5)
    assert released.values.std() == pytest.approx(released.sd, rel=0.03)
    assert np.abs(released.values).mean() == pytest.approx(1 / np.sinh(1 / 3.5), rel=0.03)


def test_whole_noise_is_refused_for_tables_in_which_a_case_moves_several_numbers() -> None:
    from libra.engines.control_flow_tables import BaseEdges

    gate = Gate(engine_of(simulate(cases=10)), Randomness(seed=1))
    with pytest.raises(AssertionError, match="several numbers"):
        gate.release_whole(BaseEdges(3, 2.0), 1.0)
    assert not gate.ledger().entries


def test_nothing_is_seen_but_through_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    log = simulate(cases=900)
    asked: list[type] = []
    count_all = PolarsEngine.count_all

    def counted(self: PolarsEngine, tables: Any) -> Any:
        asked.extend(type(table) for table in tables)
        return count_all(self, tables)

    def forbidden(self: PolarsEngine, *_: Any) -> Any:
        raise AssertionError("raw variants were looked at")

    monkeypatch.setattr(PolarsEngine, "count_all", counted)
    monkeypatch.setattr(PolarsEngine, "variants", forbidden)
    monkeypatch.setattr(PolarsEngine, "select_variants", forbidden)
    ledger = ledger_of(log, prune=0.1, max_length=None, epsilon=4.0)
    assert len(asked) == len(ledger.entries)
    assert set(asked) == {CaseNumber, CaseLengths, PrefixLevel}


def test_a_seed_makes_the_same_answer_from_cases_as_from_a_log_without_times() -> None:
    traces = [[0, 1]] * 300 + [[0, 1, 2]] * 200
    query = PrefixLaplace(epsilon=3.0, prune=20, max_length=3, split_budget=True)
    one, other = (query.variants(cases_from(traces), Randomness(seed=5)) for _ in range(2))
    assert one.counts.tolist() == other.counts.tolist()
    assert one.traces.to_lists() == other.traces.to_lists()
    assert abs(one.n_cases - 500) < 60


def test_the_promise_is_proved_and_says_whom_it_protects() -> None:
    query = PrefixLaplace(**ASKED)
    for individuals, unit in ((False, "one case"), (True, "one individual")):
        guarantee = query.guarantee(seeded=False, individuals=individuals)
        assert (guarantee.kind, guarantee.epsilon, guarantee.delta) == ("proved", 2.0, 1e-5)
        assert guarantee.unit.startswith(unit)
    assert query.claim() is None
    assert query.accepts_empty
    assert query.parameters()["delta"] == 1e-5


def test_one_case_of_each_individual_counts() -> None:
    log = log_from({"ab": 600})
    owned = EventLog(log.events, log.cases.with_columns(pl.Series("who", [row % 100 for row in range(600)])), individual="who")
    query = PrefixLaplace(epsilon=20.0, prune=20, max_length=2, split_budget=True)
    assert abs(query.anonymize(owned, Randomness(seed=1)).log.n_cases - 100) < 10
    assert abs(query.anonymize(log, Randomness(seed=1)).log.n_cases - 600) < 10


def test_what_is_said_is_refused_where_it_runs_away_with_a_setting_that_works_before_anything_is_asked() -> None:
    log = simulate(cases=1_237)
    with pytest.raises(UsageError, match="run away") as refused:
        PrefixLaplace(epsilon=1.0, split_budget=True, prune=3, max_length=8).anonymize(log, Randomness(seed=1))
    (prune,) = re.findall(r"--set prune=(\d+)", str(refused.value))
    assert "1237" not in str(refused.value).replace(",", "")
    for seed in range(5):
        query = PrefixLaplace(epsilon=1.0, split_budget=True, prune=int(prune), max_length=8)
        assert query.anonymize(log, Randomness(seed=seed)).guarantee.kind == "proved"


@pytest.mark.parametrize("said", [{}, {"prune": 3}, {"max_length": 8}, {"epsilon": 0.1}])
def test_once_noise_is_drawn_nothing_is_refused(said: dict[str, Any]) -> None:
    """A refusal would tell what came out, and the next run would spend it again: more is pruned instead."""
    for cases, seed in ((1_237, 1), (40, 2), (3, 3)):
        release = PrefixLaplace(split_budget=True, **said).anonymize(simulate(cases=cases), Randomness(seed=seed))
        assert release.guarantee.kind == "proved"
        assert release.log.n_events < 100_000


def test_a_log_without_cases_is_released_by_noise_alone() -> None:
    log = log_from({"ab": 3})
    empty = EventLog(log.events.clear(), log.cases.clear())
    for said in (ASKED, {"split_budget": True}, {"split_budget": True, "prune": 50}):
        assert PrefixLaplace(**said).anonymize(empty, Randomness(seed=1)).log.n_cases == 0


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ({"epsilon": 0.005, "prune": 0.01, "max_length": 3}, "prune"),
        ({"epsilon": 0.005, "prune": 500, "max_length": None}, "max_length"),
        ({"epsilon": 0.005, "prune": 500, "max_length": 30}, "--set max_length=9"),
        ({"epsilon": 1.0, "prune": 500, "max_length": 500}, "max_length"),
        ({"epsilon": 15.0, "delta": 1e-13}, "--delta"),
        ({"epsilon": 45.0}, "Ask for a smaller --epsilon"),
        ({"epsilon": 0.05}, "max_length"),
    ],
)
def test_what_cannot_be_drawn_or_counted_is_refused_with_a_remedy(said: dict[str, Any], names: str) -> None:
    with pytest.raises(UsageError, match=names):
        PrefixLaplace(split_budget=True, **said)


@pytest.mark.parametrize("said", [{"epsilon": 0.05}, {"epsilon": 0.1, "times": "model"}, {"epsilon": 0.05, "prune": 30}])
def test_the_longest_trace_that_is_named_can_be_asked_for(said: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be split") as refused:
        PrefixLaplace(split_budget=True, **said)
    (longest,) = re.findall(r"--set max_length=(\d+)\.$", str(refused.value))
    assert PrefixLaplace(split_budget=True, max_length=int(longest), **said)


@pytest.mark.parametrize("epsilon", [0.5, 5.0, 14.0, 19.0, 25.0])
def test_whatever_is_accepted_is_kept(epsilon: float) -> None:
    for said in ({}, {"max_length": 3, "prune": 30}, {"delta": 1e-9}):
        try:
            query = PrefixLaplace(split_budget=True, epsilon=epsilon, **said)
        except UsageError:
            continue
        assert query.anonymize(simulate(cases=300), Randomness(seed=1)).guarantee.kind == "proved"


def test_the_remedies_work() -> None:
    assert PrefixLaplace(split_budget=True, epsilon=0.005, prune=500, max_length=9)
    with pytest.raises(UsageError) as refused:
        PrefixLaplace(split_budget=True, epsilon=15.0, delta=1e-13)
    (delta,) = re.findall(r"--delta (\S+?)\.$", str(refused.value))
    assert PrefixLaplace(split_budget=True, epsilon=15.0, delta=float(delta))


def test_times_get_what_the_query_leaves_and_the_whole_stays_within_the_promise() -> None:
    query = PrefixLaplace(epsilon=4.0, prune=60, max_length=8, split_budget=True, times="model", delta=1e-4)
    release = query.anonymize(simulate(cases=2_000), Randomness(seed=1))
    assert release.has_times
    assert release.ledger is not None
    assert query.mu_times is not None
    assert release.ledger.mu == pytest.approx(query.mu_times, rel=1e-6)
    assert 0 < delta_of_ledger(release.ledger, 4.0) <= 1e-4


def test_however_epsilon_is_split_the_times_are_planned_for_no_less() -> None:
    """A single release of all of it tells more than many of a part each."""
    query = PrefixLaplace(epsilon=2.0, split_budget=True, times="model", delta=1e-4)
    assert query.mu_times is not None
    of_times = Entry("durations of all steps", "rounded gaussian", query.mu_times, 1.0)
    split = Split(query.query_epsilon, query.prune, None)
    for levels in (2, 6, 40, split.most_levels):
        assert delta_of_ledger(Ledger((*split.entries(levels), of_times)), 2.0) <= 1e-4


def test_a_ledger_that_departs_from_the_parameters_is_noticed() -> None:
    query = PrefixLaplace(**ASKED)
    entries = list(ledger_of(simulate(cases=500)).entries)
    assert not list(query.departures(entries))
    for forged in (entries[1:], [*entries, entries[0]], [Entry("number of cases", DISCRETE_LAPLACE, 1.0, 3.5), *entries[1:]]):
        assert list(query.departures(forged))


def test_the_average_length_is_found_within_the_noise() -> None:
    counts = np.zeros(len(CASE_LENGTH_BINS), np.int64)
    counts[3:9] = 300, 900, 1500, 900, 300, 100  # lengths 4 to 11
    true = (counts @ CASE_LENGTH_BINS) / counts.sum()
    random = np.random.default_rng(1)
    found = [average_of(NoisyTable(counts + random.laplace(0, 20, len(counts)).astype(np.int64), 1, 28.0)) for _ in range(200)]
    assert np.mean(found) == pytest.approx(true, abs=0.8)
    assert average_of(NoisyTable(np.zeros(len(CASE_LENGTH_BINS), np.int64), 1, 28.0)) == 1.0


def _nobody(n_labels: int) -> tuple[Any, ...]:
    engine = engine_of(log_from({"a": 1}), labels=())
    return engine.cases, engine.rows, engine.traces, engine.counts, tuple(map(str, range(n_labels)))
