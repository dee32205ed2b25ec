"""Labels shown apart: always different, never much longer than allowed, and the same in whatever order they come."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from libra.reporting.text import numbers_behind, shown, shown_apart

PIECES = st.sampled_from(["a", "b", " ", "…", " (1)", " (2)", "(3)", "\x00", "\u202e", "\u200b", "e\u0301", "🏥", "\ud800", ""])
LABELS = st.lists(st.one_of(st.lists(PIECES, max_size=9).map("".join), st.text(max_size=12)), max_size=40)
NUMBER = len(" (40)")


@given(LABELS, st.integers(1, 12))
def test_different_labels_are_shown_differently_and_about_as_long_as_allowed(labels: list[str], most: int) -> None:
    found = shown_apart(labels, most)
    assert set(found) == set(labels)
    assert len(set(found.values())) == len(set(labels))
    for label, text in found.items():
        assert text.startswith(shown(label, most))
        assert len(text) <= max(most, len("(empty)")) + NUMBER + 1


@given(LABELS, st.integers(1, 12), st.randoms())
def test_the_order_of_the_labels_does_not_matter(labels: list[str], most: int, chance: random.Random) -> None:
    mixed = [*labels, *labels]
    chance.shuffle(mixed)
    assert shown_apart(mixed, most) == shown_apart(labels, most)


@given(LABELS)
def test_a_label_that_nothing_clashes_with_has_no_number(labels: list[str]) -> None:
    texts = [shown(label, 6) for label in set(labels)]
    for label, text in shown_apart(labels, 6).items():
        assert (text == shown(label, 6)) == (texts.count(shown(label, 6)) == 1)


def test_numbers_go_by_the_alphabet_and_pass_over_what_is_there() -> None:
    assert shown_apart(["b  b", "b b", "b b (2)", "b\tb"], 9) == {
        "b\tb": "b b (1)",
        "b  b": "b b (3)",
        "b b": "b b (4)",
        "b b (2)": "b b (2)",
    }


def test_fifty_thousand_labels_that_clash_are_told_apart_also_where_every_other_number_is_taken() -> None:
    n = 50_000
    labels = [f"{place:016b}".translate({ord("0"): "\x00", ord("1"): "\x01"}) for place in range(n)]
    assert len({shown(label) for label in labels}) == 1
    taken = [f"{shown(labels[0])} ({place})" for place in range(1, n, 2)]
    found = shown_apart([*labels, *taken], 60)
    assert len(set(found.values())) == len(labels) + len(taken)
    assert max(map(len, found.values())) == len(f"{shown(labels[0])} ({n + len(taken)})")


def test_numbers_are_the_same_behind_all_forms_of_a_label() -> None:
    forms = {"x1": ("long one", "lo…"), "x2": ("long two", "lo…"), "x3": ("long one (1)", "lo… (2)"), "x4": ("y", "y")}
    assert numbers_behind(forms) == {"x1": " (3)", "x2": " (4)", "x3": "", "x4": ""}
