"""Text of unknown origin: nothing hidden, nothing that breaks out, nothing too long."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra.reporting.text import EMPTY, MOST_MARKS, shown, width, wrapped, xml

from .reading import HOSTILE

ANY = st.text(st.characters(), max_size=200)
HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


@given(ANY, st.integers(1, 80))
def test_what_is_shown_hides_nothing_and_is_short(label: str, most: int) -> None:
    text = shown(label, most)
    assert not HIDDEN.search(text)
    assert 0 < len(text) <= max(most, len(EMPTY))
    assert "  " not in text
    assert text == text.strip()


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u2003", "\u2028"])
def test_a_label_of_nothing_but_space_is_called_empty(blank: str) -> None:
    assert shown(blank) == "(empty)"


def test_labels_that_need_no_change_stay_as_they_are() -> None:
    kept = (
        "ER Registration",
        "Überweisung",
        "急診",
        "\u0645\u06cc\u200c\u0631\u0648\u062f",
        "\U0001f468\u200d\u2695\ufe0f",
        "a" * 60,
    )
    assert [shown(label) for label in kept] == list(kept)


def test_labels_that_differ_in_hidden_characters_look_different() -> None:
    assert len({shown(f"Pay{hidden}ment") for hidden in ("", "\u200b", "\u200d", " ", "\xad", "\u3164")}) == 3
    assert "\ufffd" in shown("Pay\u200dment")


def test_heaps_of_combining_marks_are_cut() -> None:
    assert shown("Z" + "\u0301" * 50) == "Z" + "\u0301" * MOST_MARKS


@given(ANY)
def test_escaped_text_is_read_back_by_an_xml_parser(text: str) -> None:
    element = ElementTree.fromstring(f'<a b="{xml(text)}">{xml(text)}</a>')
    plain = re.sub("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)
    assert (element.text or "").replace("\r\n", "\n") == plain.replace("\r\n", "\n").replace("\r", "\n")
    assert len(element.attrib["b"]) >= len(plain) - plain.count("\r\n")


@given(ANY.map(shown), st.floats(2.0, 20.0), st.integers(1, 4))
def test_lines_fit_and_hold_the_text_from_its_beginning(text: str, most: float, lines: int) -> None:
    found = wrapped(text, most, lines)
    assert 1 <= len(found) <= lines
    assert all(width(line) <= most + 1e-9 for line in found)
    whole = "".join(found).replace(" ", "")
    assert text.replace(" ", "").startswith(whole.removesuffix("…"))
    assert whole == text.replace(" ", "") or whole.endswith("…")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Admission to ward", ["Admission", "to ward"]),
        ("Admission_to_ward", ["Admission_", "to_ward"]),
        ("AdmissionToWard", ["Admission", "ToWard"]),
        ("Admission/ward", ["Admission/", "ward"]),
    ],
)
def test_lines_break_where_words_end(text: str, lines: list[str]) -> None:
    assert wrapped(text, 6.8, 2) == lines


def test_a_word_too_long_for_a_line_breaks_anywhere_and_is_cut_at_the_end() -> None:
    found = wrapped("x" * 10_000, 6.2, 2)
    assert found == ["x" * 10, "x" * 9 + "…"]


def test_wide_letters_count_double_and_marks_nothing() -> None:
    assert width("医") > 1.9 * width("e")
    assert width("\U0001f600") > 1.9 * width("e")
    assert width("e\u0301\u0302") == width("e")
    assert width("iii") < width("nnn") < width("WWW")


def test_hostile_labels_become_one_harmless_line() -> None:
    assert [len(shown(label)) <= 60 for label in HOSTILE] == [True] * len(HOSTILE)
    assert all("<" not in xml(label) and '"' not in xml(label) for label in HOSTILE)
