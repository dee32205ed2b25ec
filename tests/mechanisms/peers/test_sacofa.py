"""sacofa: relations as defined, prefixes that keep them first, and what is claimed."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from cases_for_peers import cases_from
from hypothesis import given
from hypothesis import strategies as st

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import cases_of, traces_of
from libra.example.simulate import simulate
from libra.mechanisms import sacofa
from libra.mechanisms.peers import EpsilonClaim
from libra.mechanisms.sacofa import MOST_LABELS, Sacofa, _admitted, _let_in, _some_of, relations_of
from libra.mechanisms.variant_queries import Counted

QUIET = 60.0  # an epsilon at which noise is 0 and nothing is let in
LABELS = 4
Trace = tuple[int, ...]
some_traces = st.lists(
    st.lists(st.integers(0, LABELS - 1), min_size=1, max_size=6).map(tuple), min_size=1, max_size=6, unique=True
)


def answer(counted: Counted) -> dict[Trace, int]:
    return dict(zip(map(tuple, counted.traces.to_lists()), counted.counts.tolist(), strict=True))


def plainly(traces: list[Trace], holds: Any) -> list[list[bool]]:
    """Whether something holds of all traces with an a, for each a and b."""
    labels = range(LABELS)
    return [[all(holds(trace, a, b) for trace in traces if a in trace) for b in labels] for a in labels]


def after(trace: Trace, a: int, b: int) -> list[bool]:
    """For each a, whether a b comes later."""
    return [b in trace[position + 1 :] for position, code in enumerate(trace) if code == a]


def before(trace: Trace, a: int, b: int) -> list[bool]:
    """For each a, whether a b came earlier."""
    return [b in trace[:position] for position, code in enumerate(trace) if code == a]


@given(some_traces, st.sampled_from((1, 7, 11, 5_000_000)))
def test_relations_are_those_of_the_definition(traces: list[Trace], at_once: int) -> None:
    original = sacofa.AT_ONCE
    sacofa.AT_ONCE = at_once
    try:
        found = relations_of(traces_of(traces), LABELS)
    finally:
        sacofa.AT_ONCE = original
    assert found.never_followed.tolist() == plainly(traces, lambda trace, a, b: not any(after(trace, a, b)))
    assert found.always_followed.tolist() == plainly(traces, lambda trace, a, b: all(after(trace, a, b)))
    assert found.always_preceded.tolist() == plainly(traces, lambda trace, a, b: all(before(trace, a, b)))


@given(some_traces, st.integers(0, 4), st.data())
def test_a_prefix_breaks_what_it_makes_untrue_and_the_end_what_is_still_owed(
    traces: list[Trace], depth: int, data: st.DataObject
) -> None:
    some = st.lists(st.integers(0, LABELS - 1), min_size=depth, max_size=depth).map(tuple)
    prefixes: list[Trace] = data.draw(st.lists(some, min_size=1, max_size=5, unique=True))
    relations = relations_of(traces_of(traces), LABELS)
    found = relations.broken(np.array(prefixes, np.int64).reshape(len(prefixes), depth))
    labels = range(LABELS)
    for row, prefix in enumerate(prefixes):
        for code in labels:
            banned = any(relations.never_followed[a, code] for a in prefix)
            lacking = any(relations.always_preceded[code, b] and b not in prefix for b in labels)
            assert found[row, code] == (banned or lacking)
        owed = any(relations.always_followed[a, b] and not all(after(prefix, a, b)) for a in set(prefix) for b in labels)
        assert found[row, LABELS] == owed


@given(some_traces)
def test_no_trace_breaks_the_relations_of_its_own_log(traces: list[Trace]) -> None:
    relations = relations_of(traces_of(traces), LABELS)
    for trace in traces:
        for length in range(len(trace) + 1):
            going_on = relations.broken(np.array([trace[:length]], np.int64).reshape(1, length))[0]
            assert not going_on[trace[length] if length < len(trace) else LABELS]


def test_finished_traces_are_never_pruned_and_open_prefixes_are() -> None:
    cases = cases_from([[0, 1]] * 50 + [[0]] * 2 + [[2, 1]] * 3)
    found = answer(Sacofa(epsilon=QUIET, prune=4, max_length=3).variants(cases, Randomness(seed=1)))
    assert found == {(0,): 2, (0, 1): 50}


def test_prefixes_of_the_longest_length_come_out_as_complete_traces_however_few() -> None:
    cases = cases_from([[0, 1, 2]] * 50 + [[0, 2, 1]] * 2)
    found = answer(Sacofa(epsilon=QUIET, prune=4, max_length=2).variants(cases, Randomness(seed=1)))
    assert found == {(0, 1): 50, (0, 2): 2}


@pytest.mark.parametrize(("n", "epsilon"), [(0, 1.0), (1, 1.0), (5, 0.5), (40, 2.0), (40, 0.01)])
def test_as_many_are_let_in_as_the_exponential_mechanism_says(n: int, epsilon: float) -> None:
    random = Randomness(seed=1)
    drawn = np.bincount([_let_in(n, epsilon, random) for _ in range(20_000)], minlength=n + 1) / 20_000
    weights = np.exp(-epsilon * np.arange(n + 1) / 2)
    assert len(drawn) == n + 1
    np.testing.assert_allclose(drawn, weights / weights.sum(), atol=0.012)


def test_what_is_let_in_is_drawn_from_what_breaks_a_relation_each_as_likely() -> None:
    broken = np.array([[True, False, True], [True, True, False]])
    random = Randomness(seed=1)
    let_in = np.array([_admitted(broken, 0.5, random) for _ in range(8_000)])
    assert let_in[:, ~broken].all()
    often = let_in[:, broken].mean(axis=0)
    assert often.max() - often.min() < 0.03
    assert 0.2 < often.mean() < 0.5


@pytest.mark.parametrize(("n", "m"), [(0, 0), (5, 0), (5, 1), (6, 2), (5, 3), (4, 4)])
def test_every_set_of_a_size_is_as_likely(n: int, m: int) -> None:
    random, n_draws = Randomness(seed=1), 20_000
    often = Counter(tuple(sorted(_some_of(n, m, random).tolist())) for _ in range(n_draws))
    assert set(often) == set(combinations(range(n), m))
    assert max(often.values()) - min(often.values()) < 0.03 * n_draws


def test_more_labels_than_can_be_related_are_refused_before_anything_else() -> None:
    cases = replace(cases_from([[0, 1]] * 50), n_activities=MOST_LABELS + 1)
    with pytest.raises(UsageError, match="Group the labels, or use prefix-laplace"):
        Sacofa().variants(cases, Randomness(seed=1))


def test_memory_does_not_grow_with_pairs_of_labels_beyond_the_relations_themselves() -> None:
    n_labels = 2_500
    traces = traces_of([list(range(n_labels)), list(range(n_labels - 1, -1, -1))])
    tracemalloc.start()
    try:
        relations = relations_of(traces, n_labels)
        relations.broken(np.arange(1_000)[:, None])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert relations.never_followed.sum() == n_labels  # nothing happens twice
    assert peak < 3 * n_labels**2 + 100 * sacofa.AT_ONCE


def test_traces_that_break_a_relation_are_rare() -> None:
    cases = cases_from([[0, 1, 2]] * 60 + [[0, 2, 3]] * 40)
    relations, random = relations_of(traces_of([[0, 1, 2], [0, 2, 3]]), LABELS), Randomness(seed=1)
    query = Sacofa(epsilon=2.0, prune=10, max_length=3)
    broke = all_of_them = 0
    for _ in range(100):
        for trace, count in answer(query.variants(cases, random)).items():
            steps = [relations.broken(np.array([trace[:length]], np.int64).reshape(1, length))[0] for length in range(len(trace))]
            broke += count * any(step[code] for step, code in zip(steps, trace, strict=True))
            all_of_them += count
    assert 0 < broke < 0.02 * all_of_them


def test_the_claim_is_that_of_its_authors_with_what_speaks_against_it() -> None:
    query = Sacofa(epsilon=0.5, max_length=5, prune=20)
    guarantee = query.guarantee(seeded=False, individuals=False)
    assert (guarantee.kind, guarantee.epsilon, query.claim()) == ("claimed", None, EpsilonClaim(0.5))
    assert "raw log" in guarantee.caveats[0]
    assert "With 5 levels, that is up to 2.5 in place of 0.5." in guarantee.caveats[1]
    assert len(query.guarantee(seeded=False, individuals=True).caveats) == len(guarantee.caveats) + 1


def test_a_seed_makes_the_same_release_again() -> None:
    log = simulate(cases=400)
    one, other = (Sacofa().anonymize(log, Randomness(seed=7)) for _ in range(2))
    assert one.log.events.equals(other.log.events)
    assert not one.has_times
    assert not Sacofa().anonymize(log, Randomness(seed=8)).log.events.equals(one.log.events)


def test_times_can_be_modelled_from_a_share_of_epsilon() -> None:
    query = Sacofa(epsilon=4.0, times="model", delta=1e-4)
    release = query.anonymize(simulate(cases=800), Randomness(seed=1))
    assert release.has_times
    assert query.query_epsilon < 4.0
    assert query.claim() == EpsilonClaim(4.0, 1e-4)


def test_what_would_run_away_is_refused() -> None:
    with pytest.raises(UsageError, match="prune"):
        Sacofa(epsilon=0.1).variants(cases_of(simulate(cases=300)), Randomness(seed=1))


def test_parameters_that_play_no_part_are_not_told() -> None:
    assert Sacofa().parameters() == {"epsilon": 1.0, "prune": 0.01, "max_length": None, "times": "none"}
    assert Sacofa(**Sacofa(times="model").parameters()) == Sacofa(times="model")
