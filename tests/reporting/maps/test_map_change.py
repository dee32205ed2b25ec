"""What counts as a change: by more than a fifth, and by more than chance, both at once and no less."""

from __future__ import annotations

import math

import pytest

from libra.reporting.map_graph import change_of_count, change_of_mean


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (10_000, 12_000, "same"),  # a fifth exactly
        (10_000, 12_001, "more"),
        (10_000, 8_000, "same"),
        (10_000, 7_999, "less"),
        (25, 35, "same"),  # two standard deviations exactly, and two fifths
        (25, 36, "more"),
        (25, 15, "same"),
        (25, 14, "less"),
        (0, 0, "same"),
        (0, 1, "false"),
        (1, 0, "lost"),
    ],
)
def test_a_count_has_to_pass_a_fifth_and_two_standard_deviations(before: int, after: int, said: str) -> None:
    assert change_of_count(before, after, 50_000, 50_000) == said


def test_counts_are_compared_per_case_and_chance_in_view_of_the_cases_that_are_left() -> None:
    assert change_of_count(10_000, 6_001, 1_000, 500) == "more"
    assert change_of_count(10_000, 6_000, 1_000, 500) == "same"
    assert change_of_count(100, 35, 1_000, 250) == "same"  # 25 are expected, give or take 10
    assert change_of_count(100, 36, 1_000, 250) == "more"
    assert change_of_count(10_000, 12_001, 500, 1_000) == "less"


@pytest.mark.parametrize(
    ("before", "after", "errors", "said"),
    [
        (100.0, 120.0, (0.0, 0.0), ""),
        (100.0, 121.0, (0.0, 0.0), "longer"),
        (100.0, 79.0, (0.0, 0.0), "shorter"),
        (-100.0, -120.0, (0.0, 0.0), ""),
        (-100.0, -79.0, (0.0, 0.0), "longer"),
        (100.0, 150.0, (15.0, 20.0), ""),  # twice 25
        (100.0, 151.0, (15.0, 20.0), "longer"),
        (100.0, 151.0, (26.0, 0.0), ""),
        (100.0, 151.0, (0.0, 26.0), ""),
        (100.0, 900.0, (math.inf, 1.0), ""),
        (100.0, math.nan, (1.0, math.nan), ""),
        (math.nan, 100.0, (math.nan, 1.0), ""),
    ],
)
def test_a_mean_has_to_pass_a_fifth_and_two_standard_errors(
    before: float, after: float, errors: tuple[float, float], said: str
) -> None:
    assert change_of_mean(before, after, *errors) == said
