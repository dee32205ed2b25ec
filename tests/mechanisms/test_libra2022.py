"""Libra as published: its parameters, other anonymizers of the subsamples, and why a release is empty."""

from __future__ import annotations

import json
import math
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from some_cases import COUNTS, log_of, variants_in

import libra
from libra import example
from libra._system.randomness import SEEDED, Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Cases, Traces, cases_of, traces_of
from libra.eventlog.log import EventLog, empty_log
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.example.simulate import simulate
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.algorithm import explain_clipping, named_anonymizer, with_times_of
from libra.mechanisms.libra2022.steps import clipping_threshold
from libra.mechanisms.variant_queries import Counted, counted_of
from libra.privacy.renyi import laplace_epsilon


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("noise", [False, True])
def test_no_variant_comes_out_that_did_not_go_in(noise: bool, signed: bool) -> None:
    log = simulate()
    for alpha in (2, 10):
        mechanism = Libra2022(alpha=alpha, trace_noise=noise, signed_times=signed)
        release = mechanism.anonymize(log, Randomness(seed=alpha))
        assert release.log.n_cases > 500
        counts = log.variants.traces.filter(pl.col("count") >= release.confidential["clipping_threshold"])["trace"].to_list()
        frequent = {tuple(log.activities[code] for code in trace) for trace in counts}
        assert variants_in(release.log) <= frequent < variants_in(log)
        assert signed is not release.log.in_time_order


def test_rare_variants_are_left_out_and_frequent_ones_stay() -> None:
    log = log_of({"abc": 200, "de": 40, "fg": 39})
    epsilon = laplace_epsilon(10, 2)
    delta = 2 * 3 / math.exp(40 * epsilon)
    assert clipping_threshold(epsilon, delta, 3) == 40
    released = Libra2022(delta=delta, trace_noise=False, subsamples=100).anonymize(log, Randomness(seed=1)).log
    assert variants_in(released) == {tuple("abc"), tuple("de")}


def test_the_release_has_about_as_many_cases_as_were_kept_where_all_is_relevant() -> None:
    log = log_of({"abc": 800, "acb": 400})
    released = Libra2022(trace_noise=False, omega=0).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases == pytest.approx(1200, abs=4 * math.sqrt(20 * 1200 * 0.05 * 0.95))


def test_the_default_noise_is_that_of_epsilon_alpha() -> None:
    log = log_of({"ab": 3000}, minutes=100_000)
    for alpha in (2, 100):
        mechanism = Libra2022(alpha=alpha, gamma=1, subsamples=1, trace_noise=False, omega=0)
        released = mechanism.anonymize(log, Randomness(seed=1)).log
        minutes = released.directly_follows.step_micros / 60_000_000 - 100_000
        assert released.n_cases == 3000
        assert np.abs(minutes).mean() * laplace_epsilon(alpha, 2) == pytest.approx(1, rel=0.08)


def test_omega_reaches_the_choice_of_relevant_cases() -> None:
    log = log_of({"abc": 900, "acb": 300})
    sizes = [Libra2022(trace_noise=False, omega=omega).anonymize(log, Randomness(seed=1)).log.n_cases for omega in (0, 1e9)]
    assert sizes[0] > 1000
    assert sizes[1] < 100


def test_trace_noise_can_be_switched_off() -> None:
    log = log_of({"abc": 400}, minutes=100_000)
    whole = Libra2022(gamma=1, subsamples=1, trace_noise=False, omega=0).anonymize(log, Randomness(seed=2))
    assert whole.log.n_cases == 400
    assert any("switched off" in caveat for caveat in whole.guarantee.caveats)
    noisy = [Libra2022(gamma=1, subsamples=1, omega=0).anonymize(log, Randomness(seed)).log.n_cases for seed in range(8)]
    assert len(set(noisy)) > 2


def test_the_same_seed_gives_the_same_log_and_another_seed_another() -> None:
    log = log_of(COUNTS)
    one, again, other = (Libra2022(delta=1e-2).anonymize(log, Randomness(seed)) for seed in (1, 1, 2))
    assert one.log.equals(again.log)
    assert not one.log.equals(other.log)
    assert one.seeded
    assert one.certificate()["randomness"] == SEEDED
    assert one.log.metadata.attributes == (Attribute("privacy", "string", SEEDED),)


def test_the_operating_system_gives_another_log_each_time() -> None:
    log = log_of(COUNTS)
    one, other = (Libra2022(delta=1e-2).anonymize(log, Randomness()) for _ in range(2))
    assert not one.log.equals(other.log)
    assert not one.seeded
    assert one.certificate()["randomness"] == "operating system"
    assert one.log.metadata == LogMetadata()


def test_progress_counts_the_subsamples() -> None:
    told: list[tuple[int, int]] = []
    Libra2022(subsamples=3).anonymize(log_of(COUNTS), Randomness(seed=1), lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("make", [simulate, lambda: log_of(COUNTS, minutes=0), lambda: log_of(COUNTS, minutes=-30)])
def test_sorting_by_time_in_pandas_makes_no_new_variant(make: Callable[[], EventLog]) -> None:
    pytest.importorskip("pandas")
    log = make()
    released = Libra2022(delta=1e-2).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases > 100
    table = released.to_pandas().sort_values("time:timestamp", kind="stable")
    traces = table.groupby("case:concept:name", sort=False)["concept:name"].agg(tuple)
    assert len(traces) == released.n_cases
    assert set(traces) <= variants_in(log)


NO_NUMBERS = (math.nan, math.inf, -math.inf, "x", "10", True, None, -1, 0, [2])


def test_with_the_papers_number_of_subsamples_there_are_gamma_times_the_kept_cases() -> None:
    calls: list[Cases] = []

    def watch(cases: Cases, epsilon: float, random: Randomness) -> Cases:
        calls.append(cases)
        return cases

    log = log_of({"abc": 300, "acb": 100, "z": 15})
    release = Libra2022(gamma=0.1, delta=1e-3, subsamples="paper", anonymizer=watch).anonymize(log, Randomness(seed=1))
    assert len(calls) == 40
    assert release.to_dict()["claimed"]["subsamples"] == 40
    assert release.certificate()["claimed"]["subsamples"] is None


def test_the_anonymizer_is_called_once_a_subsample_with_epsilon_and_the_clipped_cases() -> None:
    calls: list[tuple[Cases, float]] = []
    randomness = Randomness(seed=1)

    def first_of_each(cases: Cases, epsilon: float, random: Randomness) -> Cases:
        assert random is randomness
        calls.append((cases, epsilon))
        return cases.take(np.arange(min(len(cases), 1)))

    log = log_of({"abc": 300, "acb": 100, "z": 5})
    release = Libra2022(alpha=3, b=1.5, gamma=0.2, subsamples=12, anonymizer=first_of_each).anonymize(log, randomness)
    assert len(calls) == 12
    assert {epsilon for _, epsilon in calls} == {laplace_epsilon(3, 1.5)}
    assert {variant for cases, _ in calls for variant in cases.variant.tolist()} == {0, 1}
    assert np.mean([len(cases) for cases, _ in calls]) == pytest.approx(80, abs=10)
    assert release.log.n_cases == 12
    assert set(release.log.timestamps) <= set(log.timestamps)
    assert release.certificate()["parameters"]["anonymizer"] == "first_of_each"
    assert any("another anonymizer" in caveat for caveat in release.guarantee.caveats)


def test_more_subsamples_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("libra.mechanisms.libra2022.algorithm.MOST_EVENTS", 700)
    log = log_of({"abc": 200, "rarest": 24})
    assert Libra2022(subsamples=20).anonymize(log, Randomness()).log.n_cases
    with pytest.raises(UsageError, match="Ask for fewer: --subsamples N"):
        Libra2022(subsamples=24).anonymize(log, Randomness())


def test_what_would_take_all_memory_is_refused_before_anything_is_drawn() -> None:
    def drawn(done: int, total: int) -> None:
        pytest.fail(f"subsample {done} of {total} was drawn")

    with pytest.raises(UsageError, match="do not fit into memory"):
        Libra2022(gamma=1, subsamples=1_000_000).anonymize(log_of(COUNTS), Randomness(), drawn)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("alpha", value) for value in (*NO_NUMBERS, 1, 0.5, 1e9)),
        *(("b", value) for value in NO_NUMBERS),
        *(("gamma", value) for value in (*NO_NUMBERS, 1.01, 1e-9)),
        *(("delta", value) for value in (*NO_NUMBERS, 1, 1.5)),
        *(("subsamples", value) for value in (0, -1, 2.0, 2.5, True, math.nan, "x", "Paper", [1], 10**7)),
        *(("omega", value) for value in (math.nan, math.inf, "x", True, None, -0.1)),
        *(("trace_noise", value) for value in (None, 0, "no")),
        *(("signed_times", value) for value in (None, 1, "yes")),
        ("anonymizer", 3),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        Libra2022(**{name: value})


@pytest.mark.parametrize("flag", [{"trace_noise": False}, {"signed_times": True}])
def test_flags_of_the_papers_anonymizer_do_not_go_with_another_one(flag: dict[str, bool]) -> None:
    with pytest.raises(UsageError, match="anonymizer only"):
        Libra2022(anonymizer=lambda cases, epsilon, random: cases, **flag)


@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": np.float64(10), "b": np.int64(2), "gamma": np.float32(0.25), "delta": np.float64(1e-3)},
        {"subsamples": np.int64(3), "omega": np.int32(5)},
        {
            "alpha": Fraction(21, 2),
            "b": Fraction(3, 2),
            "gamma": Fraction(1, 20),
            "delta": Fraction(1, 1000),
            "omega": Fraction(5),
        },
    ],
)
def test_numbers_of_any_kind_come_out_as_plain_ones(parameters: dict[str, Any]) -> None:
    release = Libra2022(**parameters).anonymize(log_of(COUNTS), Randomness())
    plain = release.certificate()["parameters"]
    assert {name: type(value) for name, value in plain.items() if name in parameters} == {
        name: int if name == "subsamples" else float for name in parameters
    }
    assert {name: plain[name] for name in parameters} == {name: float(value) for name, value in parameters.items()}
    for document in (release.certificate(), release.to_dict()):
        assert json.loads(json.dumps(document, allow_nan=False)) == document


def unchanged(cases: Cases, epsilon: float, random: Randomness, how: str = "") -> Cases:
    """An anonymizer that does nothing."""
    return cases


class WithLock:
    """An anonymizer that can be neither copied nor pickled."""

    def __init__(self) -> None:
        """Hold what has no copy."""
        self.lock = threading.Lock()

    def __call__(self, cases: Cases, epsilon: float, random: Randomness) -> Cases:
        """The cases as they are."""
        with self.lock:
            return cases


@pytest.mark.parametrize(
    ("anonymizer", "name"), [(unchanged, "unchanged"), (partial(unchanged, how="not"), "partial"), (WithLock(), "WithLock")]
)
def test_another_anonymizer_is_known_by_its_name_or_its_kind(anonymizer: Any, name: str) -> None:
    release = Libra2022(anonymizer=anonymizer).anonymize(log_of(COUNTS), Randomness())
    assert release.log.n_cases
    parameters = release.certificate()["parameters"]
    assert parameters["anonymizer"] == name
    assert set(parameters) == {"alpha", "b", "gamma", "delta", "subsamples", "omega", "anonymizer"}


def test_without_another_anonymizer_the_flags_of_the_papers_are_told() -> None:
    release = Libra2022(trace_noise=False).anonymize(log_of(COUNTS), Randomness())
    numbers = {"alpha": 10, "b": 2, "gamma": 0.05, "delta": 1e-4, "subsamples": 20, "omega": 20}
    assert release.parameters == numbers | {"trace_noise": False, "signed_times": False}


@pytest.mark.parametrize("given", [None, [], log_of({"ab": 2})])
def test_an_anonymizer_that_gives_no_cases_back_is_refused(given: object) -> None:
    def careless(cases: Cases, epsilon: float, random: Randomness) -> Any:
        return given

    with pytest.raises(UsageError, match=f"An anonymizer must return Cases, not {type(given).__name__}."):
        Libra2022(anonymizer=careless).anonymize(log_of(COUNTS), Randomness())


@pytest.mark.parametrize("code", [-1, 99])
def test_an_anonymizer_that_makes_up_an_activity_is_refused(code: int) -> None:
    def made_up(cases: Cases, _epsilon: float, _random: Randomness) -> Cases:
        return replace(cases, codes=np.full_like(cases.codes, code))

    with pytest.raises(UsageError, match="made up a code"):
        Libra2022(anonymizer=made_up).anonymize(log_of(COUNTS), Randomness(1))


PEERS = ("amun", "pripel", "prefix-laplace", "sacofa", "travas")


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_anonymizes_subsamples(name: str) -> None:
    options = {"mechanism": "libra2022", "anonymizer": name, "gamma": 0.5, "b": 0.4, "subsamples": 3, "seed": 1}
    release = libra.anonymize(example.path(), **options)  # type: ignore[arg-type]  # of different types, as on a command line
    assert release.log.n_cases > 100
    assert set(release.log.activities) <= set(libra.read(example.path()).activities)
    assert release.parameters["anonymizer"] == name
    assert "Another one was used, for which nothing is claimed" in release.guarantee.statement
    again = libra.anonymize(example.path(), **options)  # type: ignore[arg-type]  # likewise
    assert again.log.events.equals(release.log.events)


def test_times_that_are_taken_over_carry_the_noise_of_the_paper() -> None:
    cases = cases_of(simulate(cases=400))
    released = named_anonymizer("travas", 1e-2)(cases, 2.0, Randomness(seed=1))
    assert len(released) > 50
    gaps = set(np.diff(cases.micros).tolist())
    same = [gap in gaps for gap in np.diff(released.micros).tolist()]
    assert np.mean(same) < 0.05


def test_what_is_known_of_a_named_anonymizer_is_said() -> None:
    told = {
        name: " ".join(libra.anonymize(example.path(), mechanism="libra2022", anonymizer=name, gamma=0.5).guarantee.caveats)
        for name in ("travas", "pripel", "amun")
    }
    assert ["moved by some days" in told[name] for name in told] == [True, False, False]
    assert ["are pruned follows" in told[name] for name in told] == [False, True, False]
    assert all(f"went through {name}" in told[name] for name in told)


def test_a_trace_that_cases_follow_takes_over_the_times_of_one_of_them() -> None:
    cases = cases_of(simulate(cases=300))
    timed = with_times_of(counted_of(cases), cases, Randomness(seed=1))
    originals = {_key(cases, row) for row in range(len(cases))}
    assert {_key(timed, row) for row in range(len(timed))} <= originals
    assert len({_key(timed, row) for row in range(len(timed))}) > 100  # not always the same one


def test_a_trace_that_no_case_follows_has_gaps_of_its_activities() -> None:
    codes, micros = [0, 1, 0, 1, 2], [0, 7, 100, 113, 150]
    cases = Cases(np.array(codes), np.array(micros), np.array([0, 2, 5]), np.array([0, 1]), n_activities=4)
    new = Counted(traces_of([[0, 2, 1], [3, 3]]), np.array([40, 2]))
    timed = with_times_of(new, cases, Randomness(seed=1))
    first = timed.micros.reshape(-1)[: 40 * 3].reshape(40, 3)
    assert set(first[:, 0].tolist()) == {0, 100}
    assert set(np.diff(first, axis=1)[:, 0].tolist()) == {37}  # the only gap before a 2
    assert set(np.diff(first, axis=1)[:, 1].tolist()) == {7, 13}
    assert set(np.diff(timed.micros[120:].reshape(2, 2), axis=1).ravel().tolist()) <= {7, 13, 37}  # 3 has none of its own


@pytest.mark.parametrize("traces", [[], [[]], [[0]]])
def test_no_cases_or_no_traces_are_no_error(traces: list[list[int]]) -> None:
    cases = cases_of(simulate(cases=20))
    counted = Counted(traces_of(traces), np.ones(len(traces), np.int64))
    nobody = cases.take(np.zeros(0, np.int64))
    assert len(with_times_of(counted, cases, Randomness())) == (1 if traces == [[0]] else 0)
    assert (
        len(with_times_of(Counted(Traces(cases.codes[:0], np.zeros(1, np.int64)), np.zeros(0, np.int64)), nobody, Randomness()))
        == 0
    )


@pytest.mark.parametrize("name", ["libra", "libra2022", "lapras"])
def test_what_cannot_anonymize_a_subsample_is_refused_before_anything_is_read(name: str) -> None:
    with pytest.raises(UsageError, match=f'"{name}" cannot anonymize a subsample. Available: amun, pripel'):
        Libra2022(anonymizer=name)


def _key(cases: Cases, row: int) -> tuple[tuple[int, ...], ...]:
    events = slice(cases.offsets[row], cases.offsets[row + 1])
    return tuple(cases.codes[events].tolist()), tuple(cases.micros[events].tolist())


def test_an_empty_release_says_which_parameters_would_have_kept_something() -> None:
    log = log_of({"abc": 25, "acb": 10, "z": 5})
    release = Libra2022(delta=1e-4).anonymize(log, Randomness())
    assert release.log.n_cases == 0
    assert release.confidential == {"clipping_threshold": 26, "needed_threshold": 25}
    assert release.shortfall is not None
    assert "26" in release.shortfall
    assert "25" in release.shortfall
    suggested = suggestions(release.shortfall)
    assert set(suggested) == {"b", "delta"}
    for name, value in suggested.items():
        parameters: dict[str, Any] = {name: value}
        again = Libra2022(subsamples=200, trace_noise=False, **parameters).anonymize(log, Randomness(seed=1))
        assert again.confidential["clipping_threshold"] <= 25
        assert again.log.n_cases > 0
        assert again.shortfall is None


def suggestions(text: str) -> dict[str, float]:
    """The parameters that an explanation names."""
    return {name: float(value) for name, value in re.findall(r"--(b|delta) (\S+)", text)}


@settings(max_examples=200)
@given(st.floats(1.01, 200), st.floats(0.05, 50), st.floats(1e-12, 0.5), st.integers(1, 10**6), st.data())
def test_what_an_empty_release_suggests_does_help(alpha: float, b: float, delta: float, k: int, data: st.DataObject) -> None:
    threshold = clipping_threshold(laplace_epsilon(alpha, b), delta, k)
    if threshold > 1:
        needed = data.draw(st.integers(1, threshold - 1))
        suggested = suggestions(explain_clipping(threshold, needed, k, alpha, b, delta))
        assert 0 < suggested["b"] < b
        assert clipping_threshold(laplace_epsilon(alpha, suggested["b"]), delta, k) <= needed
        if "delta" in suggested:
            assert delta < suggested["delta"] <= 0.1
            assert clipping_threshold(laplace_epsilon(alpha, b), suggested["delta"], k) <= needed


def test_a_release_whose_few_draws_are_all_deleted_says_so() -> None:
    log = log_of({"a": 30})
    empty = [Libra2022(subsamples=1).anonymize(log, Randomness(seed)) for seed in range(20)]
    explained = [release.shortfall for release in empty if not release.log.n_cases]
    assert explained
    assert all(text is not None and "--subsamples" in text for text in explained)
    assert all(release.shortfall is None for release in empty if release.log.n_cases)


def test_a_log_without_cases_gives_one_without_cases() -> None:
    release = Libra2022().anonymize(empty_log(log_of(COUNTS)), Randomness())
    assert release.log.n_cases == 0
    assert release.shortfall == "There was no case to begin with."


@pytest.mark.parametrize("scale", [1e20, 1e100])
def test_noise_beyond_measure_gives_an_empty_release_and_a_usable_hint(scale: float) -> None:
    release = Libra2022(b=scale).anonymize(log_of(COUNTS), Randomness())
    assert release.log.n_cases == 0
    assert release.shortfall is not None
    assert 0.1 < suggestions(release.shortfall)["b"] < 100
    assert len(release.shortfall) < 400
    assert not re.search(r"\d{16}", release.shortfall.replace(",", ""))


@pytest.mark.parametrize(("most_frequent", "offered"), [(16, False), (17, True)])
def test_a_delta_of_a_tenth_or_more_is_never_offered(most_frequent: int, offered: bool) -> None:
    """Of 50 variants it takes a delta of 0.105 to keep those with 16 cases, and one of 0.068 to keep those with 17."""
    least = 2 * 50 * math.exp(-laplace_epsilon(10, 2) * most_frequent)
    assert least == pytest.approx(0.068 if offered else 0.105, abs=5e-4)
    assert ("delta" in suggestions(explain_clipping(27, most_frequent, 50, 10, 2, 1e-3))) is offered


def test_thresholds_are_told_in_full_up_to_where_nobody_could_read_them() -> None:
    told = explain_clipping(1_234_567, 35, 846, 10, 1e5, 1e-4)
    assert "only those with 1,234,567 cases or more are kept, and none has more than 35." in told
    assert told.endswith("These figures are of your log: keep them to yourself.")


@pytest.mark.parametrize(("needed", "price"), [(35, "less protection"), (3, "next to no protection")])
def test_the_price_of_a_lower_threshold_is_told(needed: int, price: str) -> None:
    told = explain_clipping(39, needed, 846, 10, 2, 1e-4)
    assert f" gives, for {price}. " in told
    assert told.endswith("These figures are of your log: keep them to yourself.")


def test_another_anonymizer_that_gives_back_nothing_is_not_answered_with_flags() -> None:
    def none(cases: Cases, _epsilon: float, _random: Randomness) -> Cases:
        return cases.take(np.zeros(0, np.int64))

    release = Libra2022(anonymizer=none).anonymize(log_of(COUNTS), Randomness())
    assert release.shortfall == "No case was drawn, or the anonymizer gave back none."
