"""Trace noise: the minimal automaton of the variants, and copies and deletions until its transitions carry noise."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from some_cases import as_lists, cases_from

from libra.mechanisms.libra2022.trace_noise import (
    START,
    Automaton,
    Paths,
    copies_and_deletions,
    cover,
    minimal_automaton,
    trace_noise,
    transition_paths,
)
from libra.privacy.randomness import Randomness

Word = tuple[int, ...]
LETTERS = (0, 1, 2)
LONGEST = 5
WORDS = st.sets(st.lists(st.sampled_from(LETTERS), max_size=LONGEST).map(tuple), min_size=1, max_size=25)
EVERYTHING = [word for length in range(LONGEST + 2) for word in product(LETTERS, repeat=length)]


def accepts(automaton: Automaton, word: Sequence[int]) -> bool:
    """Whether a word is one of those that the automaton was made from."""
    try:
        taken = automaton.path(word)
    except KeyError:
        return False
    return (automaton.targets[taken[-1]] if taken else START) in automaton.final


def right_languages(words: set[Word]) -> set[frozenset[Word]]:
    """For every beginning of a word the set of its possible ends: as many different ones as the smallest automaton has states."""
    prefixes = {word[:length] for word in words for length in range(len(word) + 1)}
    return {frozenset(word[len(prefix) :] for word in words if word[: len(prefix)] == prefix) for prefix in prefixes}


@given(WORDS)
def test_it_accepts_exactly_the_sequences_it_was_made_from(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    assert {word for word in EVERYTHING if accepts(automaton, word)} == words


@given(WORDS)
def test_it_has_as_many_states_and_transitions_as_there_are_right_languages_and_next_symbols(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    languages = right_languages(words)
    assert len(automaton.steps) == len(languages)
    assert len(automaton.targets) == sum(len({end[0] for end in ends if end}) for ends in languages)
    assert len(automaton.final) == sum(() in ends for ends in languages)


@given(WORDS)
def test_transitions_are_numbered_once_each(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    numbers = [transition for of_state in automaton.steps for transition in of_state.values()]
    assert sorted(numbers) == list(range(len(automaton.targets)))
    assert set(automaton.targets) | {START} == set(range(len(automaton.steps)))


@given(WORDS)
def test_a_path_spells_its_sequence_and_never_repeats_a_transition(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    symbol = {number: letter for of_state in automaton.steps for letter, number in of_state.items()}
    for word in words:
        path = automaton.path(word)
        assert tuple(symbol[transition] for transition in path) == word
        assert len(set(path)) == len(path)
    used = {transition for word in words for transition in automaton.path(word)}
    assert used == set(range(len(automaton.targets)))


@given(st.lists(st.lists(st.sampled_from(LETTERS), max_size=LONGEST), min_size=1, max_size=12), st.randoms())
def test_order_and_repetition_make_no_difference(words: list[list[int]], shuffle: random.Random) -> None:
    shuffled = words + words[:3]
    shuffle.shuffle(shuffled)
    assert minimal_automaton(shuffled) == minimal_automaton(words)


def test_a_sequence_that_leaves_the_automaton_has_no_path() -> None:
    automaton = minimal_automaton([[0, 1, 2], [0, 2]])
    assert not accepts(automaton, [0, 1])
    assert not accepts(automaton, [0, 1, 2, 2])
    assert not accepts(automaton, [])
    with pytest.raises(KeyError):
        automaton.path([1])


def test_no_sequences_and_the_empty_one() -> None:
    assert minimal_automaton([]) == Automaton(({},), (), frozenset())
    assert minimal_automaton([[]]) == Automaton(({},), (), frozenset({START}))
    assert accepts(minimal_automaton([]), []) is False
    assert accepts(minimal_automaton([[]]), []) is True


def test_all_words_of_a_length_share_everything() -> None:
    automaton = minimal_automaton(product(range(3), repeat=9))
    assert len(automaton.steps) == 10
    assert len(automaton.targets) == 27


def test_long_and_many_sequences_are_fine() -> None:
    long = [0, 1] * 10_000
    automaton = minimal_automaton([long, [2, *long[1:]]])
    assert len(automaton.steps) == 20_001
    assert len(automaton.targets) == 20_001
    draw = random.Random(1)
    many = {tuple(draw.choices(range(12), k=10)) for _ in range(5_000)}
    automaton = minimal_automaton(many)
    assert all(accepts(automaton, word) for word in many)
    assert len(automaton.targets) < 50_000


Outcome = TypeVar("Outcome", bound=Hashable)

CHANCE = 1e-3
CROSSED = [[0, 2], [1, 2], [0, 3], [1, 3]]  # every transition is on two paths
SPELLED = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=15)


def fit(observed: Mapping[Outcome, int], expected: Mapping[Outcome, float]) -> float:
    """The p-value of Pearson's test, with what is expected less than ten times counted together."""
    total = sum(observed.values())
    common = [value for value, probability in expected.items() if total * probability >= 10]
    counts = [observed.get(value, 0) for value in common]
    means = [total * expected[value] for value in common]
    if total - sum(means) > 1e-6:
        counts, means = [*counts, total - sum(counts)], [*means, total - sum(means)]
    assert sum(counts) == total
    return float(stats.chisquare(counts, means).pvalue)


def rounded_up_laplace(epsilon: float) -> dict[int, float]:
    """The probabilities of ceil(Laplace(1/epsilon))."""
    noise = stats.laplace(scale=1 / epsilon)
    return {value: noise.cdf(value) - noise.cdf(value - 1) for value in range(-60, 61)}


@pytest.mark.parametrize("epsilon", [0.4287, 1.3])
def test_one_variant_of_one_activity_changes_by_laplace_noise_rounded_up(epsilon: float) -> None:
    cases = cases_from([[0]] * 100)
    random = Randomness(seed=1)
    changes = Counter(len(trace_noise(cases, epsilon, random)) - 100 for _ in range(4000))
    assert fit(changes, rounded_up_laplace(epsilon)) > CHANCE


def test_one_variant_of_two_activities_changes_by_the_most_that_one_lacks_less_the_most_that_one_is_over() -> None:
    expected: defaultdict[int, float] = defaultdict(float)
    probabilities = rounded_up_laplace(0.5)
    for (one, p), (other, q) in product(probabilities.items(), repeat=2):
        expected[max(0, one, other) - max(0, -one, -other)] += p * q
    paths = transition_paths([[0, 1]])
    random = Randomness(seed=2)
    changes = Counter(int(copies_and_deletions(paths, 0.5, random)[0]) for _ in range(10_000))
    assert fit(changes, expected) > CHANCE


def exact_cover(needed: list[int], paths: Paths) -> dict[tuple[int, ...], float]:
    """The distribution of picking one at random among those that lack and drawing what it lacks, again and again."""
    result: defaultdict[tuple[int, ...], float] = defaultdict(float)

    def go_on(drawn: tuple[int, ...], probability: float) -> None:
        served = [sum(drawn[user] for user in users) for users in paths.users]
        lacking = [transition for transition, need in enumerate(needed) if need > served[transition]]
        if not lacking:
            result[drawn] += probability
        for transition in lacking:
            users = paths.users[transition].tolist()
            often = needed[transition] - served[transition]
            for choice in product(users, repeat=often):
                after = tuple(count + choice.count(variant) for variant, count in enumerate(drawn))
                go_on(after, probability / len(lacking) / len(users) ** often)

    go_on((0,) * len(paths.of_variant), 1.0)
    return result


@pytest.mark.parametrize("needed", [[2, 1, 2, 0], [1, 0, 3, 1], [1, 1, 1, 1]])
def test_a_random_order_with_skips_is_as_good_as_picking_one_that_lacks_again_and_again(needed: list[int]) -> None:
    paths = transition_paths(CROSSED)
    random = Randomness(seed=3)
    drawn = Counter(tuple(cover(np.array(needed), paths, random).tolist()) for _ in range(8000))
    assert fit(drawn, exact_cover(needed, paths)) > CHANCE


def literal_noise(paths: Paths, epsilon: float, draw: np.random.Generator) -> list[int]:
    """The algorithm as it is described, transition by transition and draw by draw."""
    noise = [int(np.ceil(draw.laplace(0, 1 / epsilon))) for _ in paths.users]
    net = [0] * len(paths.of_variant)
    for sign in (1, -1):
        lacking = [max(sign * value, 0) for value in noise]
        while any(value > 0 for value in lacking):
            transition = draw.choice([t for t, value in enumerate(lacking) if value > 0])
            for variant in draw.choice(paths.users[transition], size=lacking[transition]):
                net[variant] += sign
                for used in paths.of_variant[variant]:
                    lacking[used] -= 1
    return net


def test_copies_and_deletions_are_distributed_as_in_the_algorithm_step_by_step() -> None:
    paths = transition_paths([[0, 1, 2], [0, 2], [3, 2], [3, 1, 2]])
    random, generator = Randomness(seed=4), np.random.default_rng(5)
    ours = np.array([copies_and_deletions(paths, 0.6, random) for _ in range(3000)])
    literal = np.array([literal_noise(paths, 0.6, generator) for _ in range(1500)])
    views: list[Callable[[np.ndarray[tuple[int, int], np.dtype[np.int64]]], object]] = [
        *(lambda net, variant=variant: net[:, variant] for variant in range(4)),
        lambda net: net.sum(axis=1),
        lambda net: np.abs(net).sum(axis=1),
        lambda net: net[:, 0] - net[:, 1],
        lambda net: net[:, 0] + net[:, 3],
    ]
    for view in views:
        assert stats.ks_2samp(view(ours), view(literal)).pvalue > CHANCE


@given(SPELLED, st.data())
def test_every_transition_is_drawn_at_least_as_often_as_needed_and_nothing_is_drawn_for_nothing(
    words: list[list[int]], data: st.DataObject
) -> None:
    paths = transition_paths([list(word) for word in sorted(set(map(tuple, words)))])
    n = len(paths.users)
    needed = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), np.int64)
    drawn = cover(needed, paths, Randomness(data.draw(st.integers(0, 10**6))))
    served = np.array([drawn[users].sum() for users in paths.users])
    assert (drawn >= 0).all()
    assert (served >= needed).all()
    assert needed.max() <= drawn.sum() <= needed.sum()


@given(SPELLED)
def test_paths_and_users_say_the_same(words: list[list[int]]) -> None:
    paths = transition_paths([list(word) for word in sorted(set(map(tuple, words)))])
    by_path = sorted((int(t), variant) for variant, path in enumerate(paths.of_variant) for t in path)
    by_user = sorted((t, int(variant)) for t, users in enumerate(paths.users) for variant in users)
    assert by_path == by_user
    assert all(len(users) for users in paths.users)


@settings(max_examples=150)
@given(SPELLED, st.sampled_from([0.1, 0.4, 2.0]), st.integers(0, 10**6))
def test_cases_are_copied_or_deleted_within_their_variant_and_none_is_made_up(
    words: list[list[int]], epsilon: float, seed: int
) -> None:
    cases = cases_from(words)
    noisy = trace_noise(cases, epsilon, Randomness(seed))
    original, result = Counter(as_lists(cases)), Counter(as_lists(noisy))
    assert set(result) <= set(original)
    assert noisy.variant.tolist() == [cases.variant[as_lists(cases).index(case)] for case in as_lists(noisy)]
    assert noisy.n_activities == cases.n_activities
    for variant in set(map(tuple, words)):
        before = [case for case in original if case[0] == variant]
        after = {case: count for case, count in result.items() if case[0] == variant}
        if sum(after.values()) >= len(before):
            assert set(after) == set(before)  # copied only: each of them is still there
        else:
            assert set(after.values()) <= {1}  # deleted only: none is there twice


def test_the_variants_of_a_sample_change_by_what_their_transitions_say() -> None:
    words = [[0, 1]] * 40 + [[2]] * 30 + [[0, 3, 1]] * 20
    cases = cases_from(words)
    paths = transition_paths([[0, 1], [2], [0, 3, 1]])
    for seed in range(30):
        change = copies_and_deletions(paths, 0.3, Randomness(seed))
        after = np.bincount(trace_noise(cases, 0.3, Randomness(seed)).variant, minlength=3)
        assert after.tolist() == np.maximum(np.array([40, 30, 20]) + change, 0).tolist()


def test_which_case_is_copied_or_deleted_is_up_to_chance_alone() -> None:
    cases = cases_from([[0]] * 5)
    random = Randomness(seed=6)
    copied, deleted = Counter[int](), Counter[int]()
    for _ in range(5000):
        starts = Counter((trace_noise(cases, 1.0, random).micros // cases.micros[1]).tolist())
        if starts.total() == 6:
            copied.update([case for case, count in starts.items() if count == 2])
        if starts.total() == 4:
            deleted.update(set(range(5)) - set(starts))
    for chosen in (copied, deleted):
        assert chosen.total() > 400
        assert fit(chosen, dict.fromkeys(range(5), 0.2)) > CHANCE


def test_an_empty_subsample_stays_empty() -> None:
    nothing = cases_from([[0]]).take(np.zeros(0, np.int64))
    assert len(trace_noise(nothing, 0.4, Randomness(seed=1))) == 0
