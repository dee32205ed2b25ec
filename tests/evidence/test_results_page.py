"""The page of outcomes has a row for every audit that `make audit` makes, and an outcome for every mechanism there is."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.audits import SETTINGS

from libra.mechanisms.mechanism import HOMES

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "audit-results.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([^`]+)` \| \([^)]+\) \| ([^|]+) \|", PAGE, re.MULTILINE))


def test_every_mechanism_has_an_outcome() -> None:
    assert {words.split()[0] for words in ROWS} == set(HOMES)


def test_every_audit_that_is_made_is_on_the_page() -> None:
    assert list(ROWS) == [setting.words for setting in SETTINGS]


def test_what_is_proved_stands_and_what_is_claimed_falls() -> None:
    assert {outcome for words, outcome in ROWS.items() if words.startswith("libra2022")} == {"**refuted**"}
    assert {outcome for words, outcome in ROWS.items() if not words.startswith("libra2022")} == {"not refuted"}
