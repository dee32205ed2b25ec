"""Edges that are almost certain: two looks, a false discovery rate, and a path from a start to an end for each of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import false_discovery_control, norm
from some_logs import log_from, structured

import libra
from libra._system.randomness import Randomness
from libra.eventlog.cases import Integers
from libra.measures import measure
from libra.mechanisms.libra.tail.certain import certain_edges, discovered, doubtful_edges, on_paths, tails_of_two
from libra.mechanisms.libra.tail.release import TailFigures
from libra.privacy.noise import NoisyTable, rounded_gaussian

FALSE_SHARE, LIKELY, CLEAR = 0.02, 0.5, 4.5  # said here once more: a change has to be meant
NONE = np.zeros(0, np.int64)
NODES = 21


def looks(truth: Integers, seed: int) -> tuple[NoisyTable, Integers, NoisyTable]:
    """Both looks at a true table, and which cells the second is of: with half the noise, and half the counts."""
    random = Randomness(seed=seed)
    first = NoisyTable(truth + rounded_gaussian(20.0, truth.size, random).reshape(truth.shape), 1, 20.0)
    doubtful = doubtful_edges(first, NONE)
    again = truth.ravel()[doubtful] // 2 + rounded_gaussian(10.0, len(doubtful), random)
    return first, doubtful, NoisyTable(again, 1, 10.0)


def some_steps(uses: int) -> Integers:
    """A true table in which every node is often first and last, and is followed by the next one so many times."""
    truth = np.zeros((NODES, NODES), np.int64)
    truth[NODES - 1, : NODES - 1] = truth[: NODES - 1, NODES - 1] = 400
    truth[np.arange(NODES - 2), np.arange(1, NODES - 1)] = uses
    return truth


def test_a_second_look_is_for_edges_between_lost_and_clear_that_no_kept_variant_has() -> None:
    counts = np.array([[4, 6], [44, 46]])
    table = NoisyTable(counts, 1, 10.0)
    assert doubtful_edges(table, NONE).tolist() == [1, 2]
    assert doubtful_edges(table, np.array([2])).tolist() == [1]


def test_of_many_cells_a_bounded_number_of_noisy_ones_is_looked_at_again() -> None:
    noise = rounded_gaussian(10.0, 400 * 400, Randomness(seed=1)).reshape(400, 400)
    assert 400 < len(doubtful_edges(NoisyTable(noise, 1, 10.0), NONE)) < 600


@pytest.mark.parametrize(("weight", "least"), [(0.3, 0.5), (0.7, 0.5), (0.6, 2.5)])
def test_a_score_of_two_looks_is_as_probable_as_the_normal_distribution_says(weight: float, least: float) -> None:
    """Where no case has the edge: P(least < first < clear and sum > score), and as often in a million draws."""
    first, other = np.random.Generator(np.random.PCG64(1)).normal(size=(2, 1_000_000))
    doubtful, together = (first > least) & (first < CLEAR), weight * first + np.sqrt(1 - weight**2) * other
    for score in (0.5, 1.0, 2.0, 3.0, 4.0):
        exact, _ = quad(lambda x, t=score: norm.pdf(x) * norm.sf((t - weight * x) / np.sqrt(1 - weight**2)), least, CLEAR)
        found = tails_of_two(np.array([score]), weight, least)[0]
        assert found == pytest.approx(exact, rel=0.01)
        assert found == pytest.approx((doubtful & (together >= score)).mean(), rel=0.06, abs=7e-5)  # 4 standard deviations


@given(st.lists(st.sampled_from([1e-9, 1e-4, 5e-4, 0.002, 0.01, 0.2, 1.0]), min_size=1, max_size=30))
def test_what_is_discovered_is_what_the_rule_of_benjamini_and_hochberg_says(tails: list[float]) -> None:
    found = discovered(np.array(tails))
    assert found.tolist() == (false_discovery_control(tails) <= FALSE_SHARE * (1 + 1e-12)).tolist()


@given(st.data())
@settings(max_examples=200)
def test_only_edges_without_a_path_from_start_to_end_are_left_out(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(2, 6))
    edges = sorted(data.draw(st.sets(st.integers(0, nodes * nodes - 2))))
    found = on_paths(np.array(edges, np.int64), nodes).tolist()
    walks: set[tuple[int, ...]] = {(nodes - 1,)}  # all ways to go from the start, without a node twice, plainly
    used: set[int] = set()
    while walks:
        walk = walks.pop()
        for edge in edges:
            source, target = divmod(edge, nodes)
            if source == walk[-1] and (target == nodes - 1 or target not in walk):
                if target == nodes - 1:
                    used |= {a * nodes + b for a, b in zip(walk, (*walk[1:], target), strict=True)}
                else:
                    walks.add((*walk, target))
    assert used <= set(found) <= set(edges)
    assert on_paths(np.array(found, np.int64), nodes).tolist() == found
    assert bool(found) == bool(used)


def test_of_the_edges_that_are_taken_hardly_any_is_false_and_the_second_look_finds_more() -> None:
    taken = false = found_steps = by_the_first = 0
    truth = some_steps(uses=70)
    steps = truth[:-1, :-1] > 0
    for seed in range(30):
        first, doubtful, second = looks(truth, seed)
        found = np.zeros(truth.shape, bool)
        found.ravel()[certain_edges(first, NONE, doubtful, second)] = True
        taken += int(found.sum())
        false += int((found & (truth == 0)).sum())
        found_steps += int((found[:-1, :-1] & steps).sum())
        by_the_first += int((discovered(norm.sf(first.values / first.sd)[:-1, :-1]) & steps).sum())
    assert false <= FALSE_SHARE * taken * 1.5
    assert 30 * steps.sum() * 0.85 < found_steps
    assert by_the_first < 0.8 * found_steps


def test_noise_alone_gives_no_edge() -> None:
    nothing = np.zeros((NODES, NODES), np.int64)
    given = [
        len(certain_edges(first, NONE, doubtful, second)) for first, doubtful, second in (looks(nothing, i) for i in range(60))
    ]
    assert sum(given) == 0, "a start, an end and what joins them would all have to stand out"


def test_edges_of_kept_variants_are_taken_as_soon_as_something_speaks_for_them() -> None:
    counts = np.zeros((4, 4), np.int64)
    counts[3, 0] = counts[0, 1] = counts[1, 3] = 100
    counts[0, 2], counts[2, 1], counts[1, 0] = 8, 8, 3
    table = NoisyTable(counts, 1, 10.0)
    frequent = [1, 7, 12]
    assert certain_edges(table, NONE, NONE, None).tolist() == frequent
    assert certain_edges(table, np.array([2, 4, 9]), NONE, None).tolist() == sorted([*frequent, 2, 9])
    assert certain_edges(table, np.array([2]), NONE, None).tolist() == frequent, "a step into a node that nothing leaves"


def test_the_share_of_steps_that_was_left_out_follows_from_the_first_look() -> None:
    counts = np.array([[90, 10, 5], [0, -4, 7], [100, 0, 0]])
    table = NoisyTable(counts, 1, 2.0)
    figures = TailFigures(*(NoisyTable(np.array([1]), 1, 1.0),) * 3, base=table, edges=(0, 5, 6))
    assert list(figures.left_out()) == pytest.approx([6 / 96, 2.0 * 3**0.5 / 96])


@pytest.mark.parametrize("log", [structured(), log_from(["abcd", "abdc", "acd", "abd", "acbd"] * 120 + ["xab"] * 3)])
def test_a_release_has_hardly_a_step_start_or_end_that_the_log_does_not_have(log: libra.EventLog) -> None:
    precise = [measure(log, libra.anonymize(log, epsilon=1.0, delta=1e-4, seed=seed).log).edge_precision for seed in range(5)]
    assert sum(precise) / 5 >= 0.98  # type: ignore[arg-type]  # none of them is empty
