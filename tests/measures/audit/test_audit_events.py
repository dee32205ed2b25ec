"""The telling event: what was planted is found, what is not there promises little, and every run is judged alone."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.measures.audit.events import Event, telling_event
from libra.measures.distances import Floats

N_FIGURES = 6


def noise(seed: int, n: int = 600) -> tuple[Floats, Floats]:
    """Runs of both sides between which there is no difference."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, N_FIGURES)), random.normal(size=(n, N_FIGURES))


def main_figure(event: Event) -> int:
    """Which figure it is about, alone or above all."""
    return int(np.abs(event.weights).argmax())


def often(event: Event, runs: Floats) -> float:
    return float(event.happens(runs).mean())


@pytest.mark.parametrize("figure", [0, 3, 5])
@pytest.mark.parametrize("shift", [-2.0, 2.0])
def test_a_figure_that_is_shifted_is_found_with_its_direction(figure: int, shift: float) -> None:
    with_canary, without = noise(1)
    with_canary[:, figure] += shift
    event = telling_event(with_canary, without, delta=0.01)
    assert main_figure(event) == figure
    assert (event.above == event.with_canary) == (shift * event.weights[figure] > 0)
    fresh_with, fresh_without = noise(2)
    fresh_with[:, figure] += shift
    likelier, other = (fresh_with, fresh_without) if event.with_canary else (fresh_without, fresh_with)
    assert often(event, likelier) > 5 * often(event, other)


@pytest.mark.parametrize("with_it", [True, False])
@pytest.mark.parametrize("value", [-7.0, 7.0])
def test_something_rare_that_one_side_alone_has_is_found(value: float, with_it: bool) -> None:
    sides = noise(3)
    for side in sides:
        side[:, 4] = 0.0
    sides[0 if with_it else 1][:60, 4] = value
    event = telling_event(*sides, delta=0.001)
    assert (event.figure, event.with_canary, event.above) == (4, with_it, value > 0)
    assert [often(event, side) for side in sides] == ([0.1, 0.0] if with_it else [0.0, 0.1])


def test_what_delta_allows_is_not_what_tells() -> None:
    """One figure gives the canary away in 5 % of the runs, another is merely shifted: the first is no news at a delta of 0.1."""
    with_canary, without = noise(4)
    with_canary[:, 2] += 0.7
    with_canary[:, 4] = without[:, 4] = 0.0
    with_canary[::20, 4] = 1.0
    rare, common = (telling_event(with_canary, without, delta) for delta in (1e-4, 0.1))
    assert rare.figure == 4
    assert often(rare, with_canary) == 0.05
    assert often(common, with_canary if common.with_canary else without) > 0.2


def test_figures_that_tell_only_together_are_weighed() -> None:
    """Two figures that mostly cancel out: each alone hides the shift in the noise that both share."""
    sides = noise(5)
    shared = [8 * np.random.default_rng(seed).normal(size=600) for seed in (6, 7)]
    for side, common in zip(sides, shared, strict=True):
        side[:, 0] += common
        side[:, 1] -= common
    sides[0][:, :2] += 1.5
    event = telling_event(*sides, delta=0.01)
    assert event.figure is None
    assert 0.5 < event.weights[0] / event.weights[1] < 2
    assert event.above == event.with_canary
    likelier, other = sides if event.with_canary else sides[::-1]
    assert often(event, likelier) > 4 * often(event, other)


@pytest.mark.parametrize(("n", "most"), [(2, 0.7), (5, 0.9), (30, 0.9), (300, 0.6), (1500, 0.2)])
def test_where_there_is_no_difference_little_is_promised(n: int, most: float) -> None:
    promised = [telling_event(*noise(seed, n), delta=0.01).promised for seed in range(15)]
    assert min(promised) > -1
    assert max(promised) < most


@pytest.mark.parametrize("n", [2, 3, 50])
@pytest.mark.parametrize("n_figures", [1, 4])
def test_figures_that_never_change_promise_nothing(n: int, n_figures: int) -> None:
    constant = np.full((n, n_figures), np.log10(1 + 15_183.0))
    event = telling_event(constant, constant.copy(), delta=0.01)
    assert event.promised < 0
    assert event.happens(constant).all() or not event.happens(constant).any()


def test_a_constant_figure_that_is_another_on_each_side_tells_all() -> None:
    event = telling_event(np.full((50, 1), 44.0), np.full((50, 1), 43.0), delta=0.01)
    sides = [bool(event.happens(np.array([[figure]]))[0]) for figure in (44.0, 43.0)]
    assert sides == [event.with_canary, not event.with_canary]
    assert event.promised > 2


def test_more_runs_promise_more() -> None:
    promised = [telling_event(np.ones((n, 1)), np.zeros((n, 1)), delta=0.01).promised for n in (20, 200, 2000)]
    assert promised == sorted(promised)
    assert promised[2] > promised[0] + 3


@given(st.integers(0, 2**32), st.integers(2, 40))
def test_whether_it_happens_in_a_run_depends_on_that_run_alone(seed: int, n_figures: int) -> None:
    """To the last bit, wherever the run stands and among however many: an atom at the threshold must not move with the side."""
    random = np.random.default_rng(seed)
    weights, run = random.normal(size=n_figures), random.integers(0, 300, n_figures).astype(np.float64)
    alone = Event(tuple(weights.tolist()), 0.0, above=True, with_canary=True)
    (reached,) = (np.array([run]) * weights).sum(axis=1).tolist()
    event = Event(alone.weights, reached, above=True, with_canary=True)
    for n in (1, 2, 7, 37, 225):
        rows = np.tile(run, (n, 1))
        assert event.happens(rows).all()
        assert event.happens(np.asfortranarray(rows)).all()
        assert event.happens(np.tile(rows, (1, 2))[:, np.arange(n_figures)]).all()


def test_an_event_of_weights_is_about_no_single_figure() -> None:
    assert Event((0.0, 0.5, 0.0), 1.0, above=True, with_canary=True).figure == 1
    assert Event((0.0, 0.5, 0.1), 1.0, above=True, with_canary=True).figure is None
    assert Event((0.0, 0.0), 1.0, above=True, with_canary=True).figure is None


@pytest.mark.parametrize("above", [True, False])
def test_reaching_the_threshold_is_being_above_it(above: bool) -> None:
    event = Event((0.0, 1.0), 2.0, above=above, with_canary=True)
    assert event.happens(np.array([[9.0, 1.99], [0.0, 2.0], [0.0, 2.01]])).tolist() == [not above, above, above]


def test_choosing_sees_no_runs_but_those_it_is_given() -> None:
    assert list(inspect.signature(telling_event).parameters) == ["with_canary", "without", "delta"]
    with_canary, without = noise(8)
    before = with_canary.copy(), without.copy()
    assert telling_event(with_canary, without, 0.01) == telling_event(with_canary, without, 0.01)
    assert (with_canary == before[0]).all()
    assert (without == before[1]).all()
