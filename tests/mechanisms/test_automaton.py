"""The automaton accepts exactly its sequences, and none with that property is smaller (Myhill and Nerode)."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.mechanisms.libra2022.trace_noise import START, Automaton, minimal_automaton

Word = tuple[int, ...]
LETTERS = (0, 1, 2)
LONGEST = 5
WORDS = st.sets(st.lists(st.sampled_from(LETTERS), max_size=LONGEST).map(tuple), min_size=1, max_size=25)
EVERYTHING = [word for length in range(LONGEST + 2) for word in product(LETTERS, repeat=length)]


def right_languages(words: set[Word]) -> set[frozenset[Word]]:
    """For every beginning of a word the set of its possible ends: as many different ones as the smallest automaton has states."""
    prefixes = {word[:length] for word in words for length in range(len(word) + 1)}
    return {frozenset(word[len(prefix) :] for word in words if word[: len(prefix)] == prefix) for prefix in prefixes}


@given(WORDS)
def test_it_accepts_exactly_the_sequences_it_was_made_from(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    assert {word for word in EVERYTHING if automaton.accepts(word)} == words


@given(WORDS)
def test_it_has_as_many_states_and_transitions_as_there_are_right_languages_and_next_symbols(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    languages = right_languages(words)
    assert automaton.n_states == len(languages)
    assert automaton.n_transitions == sum(len({end[0] for end in ends if end}) for ends in languages)
    assert len(automaton.final) == sum(() in ends for ends in languages)


@given(WORDS)
def test_transitions_are_numbered_once_each(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    numbers = [transition for of_state in automaton.steps for transition in of_state.values()]
    assert sorted(numbers) == list(range(automaton.n_transitions))
    assert set(automaton.targets) | {START} == set(range(automaton.n_states))


@given(WORDS)
def test_a_path_spells_its_sequence_and_never_repeats_a_transition(words: set[Word]) -> None:
    automaton = minimal_automaton(words)
    symbol = {number: letter for of_state in automaton.steps for letter, number in of_state.items()}
    for word in words:
        path = automaton.path(word)
        assert tuple(symbol[transition] for transition in path) == word
        assert len(set(path)) == len(path)
    used = {transition for word in words for transition in automaton.path(word)}
    assert used == set(range(automaton.n_transitions))


@given(st.lists(st.lists(st.sampled_from(LETTERS), max_size=LONGEST), min_size=1, max_size=12), st.randoms())
def test_order_and_repetition_make_no_difference(words: list[list[int]], shuffle: random.Random) -> None:
    shuffled = words + words[:3]
    shuffle.shuffle(shuffled)
    assert minimal_automaton(shuffled) == minimal_automaton(words)


def test_a_sequence_that_leaves_the_automaton_has_no_path() -> None:
    automaton = minimal_automaton([[0, 1, 2], [0, 2]])
    assert not automaton.accepts([0, 1])
    assert not automaton.accepts([0, 1, 2, 2])
    assert not automaton.accepts([])
    with pytest.raises(KeyError):
        automaton.path([1])


def test_no_sequences_and_the_empty_one() -> None:
    assert minimal_automaton([]) == Automaton(({},), (), frozenset())
    assert minimal_automaton([[]]) == Automaton(({},), (), frozenset({START}))
    assert minimal_automaton([]).accepts([]) is False
    assert minimal_automaton([[]]).accepts([]) is True


def test_all_words_of_a_length_share_everything() -> None:
    automaton = minimal_automaton(product(range(3), repeat=9))
    assert automaton.n_states == 10
    assert automaton.n_transitions == 27


def test_long_and_many_sequences_are_fine() -> None:
    long = [0, 1] * 10_000
    automaton = minimal_automaton([long, [2, *long[1:]]])
    assert automaton.n_states == 20_001
    assert automaton.n_transitions == 20_001
    draw = random.Random(1)
    many = {tuple(draw.choices(range(12), k=10)) for _ in range(5_000)}
    automaton = minimal_automaton(many)
    assert all(automaton.accepts(word) for word in many)
    assert automaton.n_transitions < 50_000
