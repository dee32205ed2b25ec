"""TraVaS: noisy counts of variants that are high enough, exactly as private as it says, and the figures that are known of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import libra
from agreement import ReadPublic
from libra import example
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import cases_of, traces_of
from libra.example.simulate import simulate
from libra.measures import measure
from libra.mechanisms.travas import Travas, _averaged
from libra.mechanisms.variant_queries import counted_of
from libra.privacy.accounting import delta_of_ledger, epsilon_of_ledger
from libra.privacy.ledger import ROUNDED_GAUSSIAN, TRUNCATED_GEOMETRIC, Ledger

# dfg_l1 of the query of its authors on public logs, by epsilon and delta; means of runs
KNOWN = {
    "urineweginfectie": {(1.0, 1e-6): 0.191, (0.1, 1e-4): 0.313, (4.7, 1e-6): 0.062},
    "bpic13": {(1.0, 1e-6): 0.596, (0.1, 1e-4): 0.718, (4.7, 1e-6): 0.490},
    "sepsis": {(1.0, 1e-6): 0.982, (0.1, 1e-4): 0.991, (4.7, 1e-6): 0.940},
    "bpic12": {(1.0, 1e-6): 0.842, (0.1, 1e-4): 0.887, (4.7, 1e-6): 0.757},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", KNOWN)
def test_the_known_figures_come_out(name: str, read_public: ReadPublic) -> None:
    log = read_public(name, instances="events")  # as the figures were measured
    for (epsilon, delta), known in KNOWN[name].items():
        made = Travas(epsilon, delta)
        found = [measure(log, made.anonymize(log, Randomness(seed)).log).dfg_l1 or 0.0 for seed in range(5)]
        assert np.mean(found) == pytest.approx(known, rel=0.1)


def test_a_variant_is_released_as_often_as_its_noise_passes_and_never_without_cases() -> None:
    made = Travas(epsilon=1.0, delta=0.01)
    cases = cases_of(simulate(cases=30))
    noise, counted = made.noise, counted_of(cases)
    bound = -noise.first
    chances = noise.pmf()
    random = Randomness(seed=3)
    runs = 4_000
    seen = np.zeros(len(counted))
    row = {trace: number for number, trace in enumerate(counted.traces.as_bytes())}
    for _ in range(runs):
        released = made.variants(cases, random)
        assert bool((released.counts > bound).all())
        for trace in released.traces.as_bytes():
            seen[row[trace]] += 1
    expected = np.array([chances[noise.values + count > bound].sum() for count in counted.counts])
    assert bool((np.abs(seen / runs - expected) < 5 * np.sqrt(expected * (1 - expected) / runs) + 1e-9).all())


@pytest.mark.parametrize("options", [{}, {"repeats": 3}, {"times": "model"}, {"times": "model", "repeats": 2}])
def test_the_ledger_comes_to_what_was_asked_for_and_hardly_less(options: dict[str, object]) -> None:
    made = Travas(epsilon=1.0, delta=1e-4, **options)  # type: ignore[arg-type]  # of different types, as on a command line
    release = made.anonymize(libra.read(example.path()), Randomness())
    assert release.ledger is not None
    kinds = [entry.mechanism for entry in release.ledger.entries]
    assert kinds[: made.repeats] == [TRUNCATED_GEOMETRIC] * made.repeats
    assert set(kinds[made.repeats :]) == ({ROUNDED_GAUSSIAN} if made.times == "model" else set())
    assert delta_of_ledger(release.ledger, 1.0) <= 1e-4
    assert 0.93 < epsilon_of_ledger(release.ledger, 1e-4) <= 1.0


def test_a_query_of_its_own_is_not_private_as_promised_with_one_bound_less() -> None:
    """The bound is the smallest that keeps delta: the accountant finds the next smaller one out."""
    made = Travas(epsilon=1.0, delta=1e-4)
    (entry,) = made.entries()
    assert entry.bound is not None
    assert delta_of_ledger(Ledger((entry,)), 1.0) <= 1e-4
    assert delta_of_ledger(Ledger((replace(entry, bound=entry.bound - 1),)), 1.0) > 1e-4


@pytest.mark.parametrize("repeats", [1, 5, 20])
@pytest.mark.parametrize("delta", [1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 8.0, 15.0, 19.0, 30.0])
def test_whatever_is_accepted_is_kept(epsilon: float, delta: float, repeats: int) -> None:
    try:
        made = Travas(epsilon, delta, repeats=repeats)
    except UsageError:
        assert epsilon / repeats < 0.01 or epsilon > 5 or (delta < 1e-11 and repeats > 1)  # not drawn, or not exact enough
        return
    assert made.anonymize(simulate(cases=100), Randomness()).guarantee.kind == "proved"


def test_averages_count_what_was_not_released_as_none() -> None:
    first, second = traces_of([[0], [1]]), traces_of([[1], [2]])
    found = _averaged([(first, np.array([10, 20])), (second, np.array([31, 7]))])
    assert found.traces.to_lists() == [[0], [1], [2]]
    assert found.counts.tolist() == [5, 26, 4]


def test_where_individuals_are_named_one_case_of_each_counts() -> None:
    log = libra.read(example.path())
    persons = replace(log, cases=log.cases.with_columns(log.cases["concept:name"].str.slice(-1).alias("who")), individual="who")
    release = Travas(epsilon=5.0, delta=0.1).anonymize(persons, Randomness())
    assert release.guarantee.unit == "one individual, with all cases, added or removed"
    assert release.log.n_cases < 100  # ten persons and some noise, of 2,000 cases
    assert any("Of each individual, one case counted" in sentence for sentence in release.guarantee.assumptions)


def test_an_empty_log_is_released_like_any_other() -> None:
    empty = libra.read(example.path()).events.head(0)
    release = libra.anonymize(empty, mechanism="travas")
    assert (release.log.n_cases, release.guarantee.kind) == (0, "proved")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"epsilon": 0}, "epsilon has to be a number above 0"),
        ({"delta": 0.5}, "delta has to be a number above 0 and below 0.5"),
        ({"repeats": 0}, "repeats has to be a whole number from 1 to 100"),
        ({"times": "some"}, "times is one of none, model, not 'some'."),
        (
            {"time_zone": "Asia/Tokyo"},
            "budget and time_zone apply to modelled times only. Add --set times=model.",
        ),
        ({"budget": "control=0.9"}, "budget and time_zone apply to modelled times only"),
        ({"epsilon": 50, "delta": 1e-12}, "too small for a table"),
        ({"epsilon": 2e-6, "delta": 1e-9}, "needs too large a table"),
    ],
)
def test_what_cannot_be_meant_or_drawn_is_refused(said: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told.replace(".", r"\.")):
        Travas(**said)  # type: ignore[arg-type]  # wrong on purpose
