"""Traces drawn from a chain: as often as its weights say, never too long, contexts remembered."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from libra._system.randomness import Randomness
from libra.mechanisms.libra.tail.generate import Chain, draw_traces

FIRST = np.array([[1.0, 3.0, 4.0], [2.0, 0.0, 6.0], [5.0, 5.0, 0.0]])  # two labels; the last node is start and end
NONE = np.zeros(0, np.int64)
CONTEXTS = np.array([1, 6])  # from label 0 to label 1; from the start to label 0
SECOND = np.array([[9.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def probability(trace: tuple[int, ...], chain: Chain) -> float:
    """How likely a trace is, step by step."""
    outside = len(chain.first) - 1
    whole = (outside, *trace, outside)
    likely = 1.0
    for position in range(1, len(whole)):
        row: NDArray[np.float64] = chain.first[whole[position - 1]]
        if position > 1:
            place = np.flatnonzero(chain.contexts == whole[position - 2] * len(chain.first) + whole[position - 1])
            row = chain.second[place[0]] if len(place) else row
        likely *= row[whole[position]] / row.sum()
    return likely


@pytest.mark.parametrize("chain", [Chain(FIRST, NONE, np.zeros((0, 3))), Chain(FIRST, CONTEXTS, SECOND)])
def test_draws_follow_the_weights(chain: Chain) -> None:
    n, longest = 20_000, 5
    drawn = Counter(tuple(trace) for trace in draw_traces(chain, n, longest, Randomness(seed=11)).to_lists())
    traces = [trace for length in range(1, longest + 1) for trace in product((0, 1), repeat=length)]
    expected = {trace: n * probability(trace, chain) for trace in traces}
    assert set(drawn) <= {trace for trace, times in expected.items() if times > 0}
    often = [trace for trace, times in expected.items() if times >= 10]
    rest = n - sum(expected[trace] for trace in often)
    observed = [drawn[trace] for trace in often]
    assert len(often) >= 5
    assert chisquare([*observed, n - sum(observed)], [*(expected[trace] for trace in often), rest]).pvalue > 1e-3


def test_a_context_changes_what_follows_and_only_there() -> None:
    with_contexts = draw_traces(Chain(FIRST, CONTEXTS, SECOND), 2000, 5, Randomness(seed=3)).to_lists()
    assert all(trace[1:2] == [1] for trace in with_contexts if trace[0] == 0)
    assert any(trace[:2] == [1, 0] for trace in with_contexts)
    assert any(trace == [1] for trace in with_contexts)


@pytest.mark.parametrize("longest", [1, 2, 7, 40])
def test_no_trace_is_empty_or_longer_than_the_longest(longest: int) -> None:
    forever = np.array([[1000.0, 1.0], [1.0, 1.0]])  # a loop that hardly ever ends, and starts that end at once
    drawn = draw_traces(Chain(forever, NONE, np.zeros((0, 2))), 3000, longest, Randomness(seed=5))
    assert len(drawn) < 3000
    lengths = drawn.lengths
    assert not len(lengths) or (lengths.min() >= 1 and lengths.max() <= longest)


def test_what_has_no_weight_never_happens_and_a_seed_repeats() -> None:
    only = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    chain = Chain(only, NONE, np.zeros((0, 3)))
    assert draw_traces(chain, 500, 9, Randomness(seed=2)).to_lists() == [[0, 1]] * 500
    mixed = Chain(FIRST, NONE, np.zeros((0, 3)))
    assert draw_traces(mixed, 50, 9, Randomness(seed=2)).to_lists() == draw_traces(mixed, 50, 9, Randomness(seed=2)).to_lists()
