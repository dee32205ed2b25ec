"""Scales: every figure has its place, larger ones lie farther, and ticks are round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.reporting.drawing import ROOM, scale_of


@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=8))
def test_every_figure_has_its_place_on_the_scale_and_larger_ones_are_higher(values: Sequence[float]) -> None:
    scale = scale_of(values, 300.0, 0.0)
    places = [scale(value) for value in sorted(values)]
    assert all(0 <= place <= 300 for place in places)
    assert places == sorted(places, reverse=True)
    assert 2 <= len(scale.ticks) <= 20
    assert scale.low <= max(min(values), max(values) / 1e6)
    assert max(values) <= scale.high * (1 + 1e-12)


@pytest.mark.parametrize(("low", "high"), [(0.3, 35.0), (0.004, 3.5), (12.0, 197_758.0), (1e-5, 7.0)])
def test_a_logarithm_has_round_figures_around_every_value_with_room_between(low: float, high: float) -> None:
    scale = scale_of([low, high], 300.0, 0.0)
    assert scale.log
    assert scale.ticks[0] <= low
    assert scale.ticks[-1] >= high
    assert max(after / before for before, after in pairwise(scale.ticks)) < 3.4
    assert min(scale(before) - scale(after) for before, after in pairwise(scale.ticks)) >= ROOM
    assert {f"{tick:e}"[0] for tick in scale.ticks} <= set("1235")


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=5), st.integers(2, 6))
def test_a_linear_scale_starts_at_zero_and_has_about_as_many_ticks_as_asked_for(values: Sequence[float], ticks: int) -> None:
    scale = scale_of(values, 0.0, 100.0, log=False, ticks=ticks)
    assert not scale.log
    assert scale.ticks[0] == 0
    assert 2 <= len(scale.ticks) <= ticks + 1
    steps = [after - before for before, after in pairwise(scale.ticks)]
    assert steps == pytest.approx([scale.ticks[1]] * len(steps))


def test_figures_that_are_not_finite_do_not_count() -> None:
    assert scale_of([1.0, math.nan, math.inf, 4.0], 0.0, 1.0) == scale_of([1.0, 4.0], 0.0, 1.0)
    assert scale_of([math.nan], 0.0, 1.0).ticks == scale_of([], 0.0, 1.0).ticks
