"""The page of outcomes has a row for every audit that `make audit` makes, and an outcome for every mechanism there is."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.audits import SETTINGS, Setting

from libra._system.randomness import Randomness
from libra.eventlog.options import no_progress
from libra.example.simulate import simulate
from libra.measures.audit.outcome import outcome_of
from libra.mechanisms.mechanism import HOMES, mechanism, parameters_of

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "audit-results.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([^`]+)` \| \([^)]+\) \| ([^|]+) \|", PAGE, re.MULTILINE))


def test_every_mechanism_has_an_outcome() -> None:
    assert {re.split("[ :]", words)[0] for words in ROWS} == set(HOMES)


def test_every_audit_that_is_made_is_on_the_page() -> None:
    assert list(ROWS) == [setting.words for setting in SETTINGS]


def test_what_is_proved_stands_and_what_is_claimed_falls() -> None:
    proved = {setting.words: _is_proved(setting) for setting in SETTINGS}
    assert {words for words, outcome in ROWS.items() if outcome == "not refuted"} == {words for words in proved if proved[words]}
    assert {words for words, outcome in ROWS.items() if outcome == "**refuted**"} == {
        words for words in proved if not proved[words]
    }


def test_what_comparisons_say_is_what_the_page_says() -> None:
    for setting in SETTINGS:
        parameters = {name: value for name, value in setting.keywords.items() if name in parameters_of(setting.mechanism)}
        assert outcome_of(setting.mechanism, parameters) == ROWS[setting.words].strip("*")


def _is_proved(setting: Setting) -> bool:
    asked = {name: value for name, value in setting.keywords.items() if name in parameters_of(setting.mechanism)}
    made = mechanism(setting.mechanism, asked)
    return made.anonymize(simulate(cases=2_000), Randomness(), no_progress).guarantee.kind == "proved"
