"""The rule that turns a distance into a word."""

from __future__ import annotations

import pytest

from libra.reporting.facts.aspects import FROM_BEST, MEANINGS, Verdict, middle, verdict_of


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.0, "kept"), (0.5, "kept"), (0.51, "close"), (2.0, "close"), (2.01, "rough"), (6.0, "rough"), (6.1, "lost")],
)
def test_the_scale_runs_from_equal_to_nothing(value: float, verdict: Verdict) -> None:
    assert verdict_of(value, None, 10.0) == verdict


def test_what_is_as_near_as_a_fresh_sample_is_kept() -> None:
    assert verdict_of(0.4, 0.4, 1.0) == "kept"


def test_what_is_a_quarter_farther_than_a_fresh_sample_is_close() -> None:
    assert verdict_of(0.41, 0.4, 1.0) == verdict_of(0.5, 0.4, 1.0) == "close"
    assert verdict_of(0.51, 0.4, 1.0) == "rough"
    assert verdict_of(0.04, 0.035, 1.0) == "kept"
    assert verdict_of(0.7, 0.59, 1.0) == "close"
    assert verdict_of(0.7, 0.61, 1.0) == "lost"


def test_a_sample_that_is_lost_itself_is_no_excuse() -> None:
    assert verdict_of(0.7, 0.8, 1.0) == "lost"
    assert verdict_of(7.0, 7.0, 1.0) == "lost"


def test_where_nothing_is_no_distance_only_equal_is_kept() -> None:
    assert verdict_of(0.0, 0.0, 0.0) == "kept"
    assert verdict_of(0.1, 0.0, 0.0) == "lost"


def test_what_is_not_defined_is_unknown() -> None:
    assert verdict_of(None, 0.1, 1.0) == "unknown"
    assert verdict_of(0.1, 0.1, None) == "unknown"


def test_the_verdict_in_the_middle_is_reached_by_more_than_half() -> None:
    assert middle(["kept", "kept", "lost", "lost"]) == "lost"
    assert middle(["kept", "close", "lost"]) == "close"
    assert middle(["unknown", "unknown", "rough"]) == "rough"
    assert middle([]) == "unknown"


def test_every_verdict_has_words() -> None:
    assert set(MEANINGS) == {*FROM_BEST, "unknown"}
