"""The parameters of the published algorithm: what is refused, what they come to, and another anonymizer among them."""

from __future__ import annotations

import json
import math
import threading
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from some_cases import COUNTS, log_of

from libra.errors import UsageError
from libra.eventlog.cases import Cases
from libra.mechanisms.libra2022 import Libra2022
from libra.privacy.randomness import Randomness
from libra.privacy.renyi import laplace_epsilon

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
    with pytest.raises(UsageError, match="another one was given"):
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

    with pytest.raises(UsageError, match=f"An anonymizer gives back cases, not {type(given).__name__}."):
        Libra2022(anonymizer=careless).anonymize(log_of(COUNTS), Randomness())


@pytest.mark.parametrize("code", [-1, 99])
def test_an_anonymizer_that_makes_up_an_activity_is_refused(code: int) -> None:
    def made_up(cases: Cases, _epsilon: float, _random: Randomness) -> Cases:
        return replace(cases, codes=np.full_like(cases.codes, code))

    with pytest.raises(UsageError, match="made up a code"):
        Libra2022(anonymizer=made_up).anonymize(log_of(COUNTS), Randomness(1))
