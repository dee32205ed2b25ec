"""An empty release says why, and what would have kept something: to the custodian alone, and in few words."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from some_cases import COUNTS, log_of

from libra.eventlog.cases import Cases
from libra.eventlog.log import empty_log
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.algorithm import explain_clipping
from libra.mechanisms.libra2022.steps import clipping_threshold
from libra.privacy.randomness import Randomness
from libra.privacy.renyi import laplace_epsilon


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
