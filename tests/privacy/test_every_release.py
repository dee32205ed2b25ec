"""The proof of every release: what the page on guarantees says of each table is what the code releases, none is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import libra
from attributed import EVERY, attributed
from libra.engines import attribute_tables, control_flow_tables, event_tables, time_tables
from libra.engines.counting.count import TABLES as COUNTED
from libra.example.simulate import simulate
from libra.privacy.gate import KEPT_EVENT_VALUES, KEPT_LABELS, KEPT_VALUES, KEPT_VARIANTS, VARIANT_COUNTS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guarantees.md"
TABLES = {
    found.purpose: found
    for module in (control_flow_tables, time_tables, attribute_tables, event_tables)
    for found in vars(module).values()
    if isinstance(found, type) and hasattr(found, "purpose")
}


def _told() -> dict[str, str]:
    """The sensitivity that the page tells, by purpose."""
    (section,) = re.findall(r"^## Every release\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in re.findall(r"^\|.*\|$", section, re.MULTILINE)]
    assert [len(row) for row in rows] == [4] * len(rows)
    purposes = [purpose for purpose, *_ in rows[2:]]
    assert len(set(purposes)) == len(purposes)
    return {purpose: sensitivity for purpose, _, sensitivity, _ in rows[2:]}


def test_every_purpose_in_the_code_is_in_the_table_of_the_page_and_no_other() -> None:
    assert set(_told()) == {*TABLES, KEPT_VARIANTS, VARIANT_COUNTS, KEPT_LABELS, KEPT_VALUES, KEPT_EVENT_VALUES}


def test_every_table_that_an_engine_counts_has_a_purpose_of_its_own() -> None:
    assert set(TABLES.values()) == set(COUNTED)


OF_CELLS = {  # the sensitivity follows from the number of cells or pairs, which are public or released
    attribute_tables.ValueCounts: "sqrt(1 - 1/K)",
    attribute_tables.PairCounts: "sqrt(P)",
    attribute_tables.Interactions: "sqrt(sum of (1 - 1/K)(1 - 1/S))",
}


def test_the_page_says_which_tables_are_clipped() -> None:
    told = _told()
    for purpose, table in TABLES.items():
        clipped = "clip" in getattr(table, "__dataclass_fields__", {})
        assert told[purpose] == ("C" if clipped else OF_CELLS.get(table, "1")), purpose


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tail": "nearest"},
        {"tail": "drop"},
        {"labels": "public"},
        {"gamma": 0.5, "subsamples": 2},
        {"budget": "control=0.95"},
        {"budget": "control=0.95", "tail": "drop"},
    ],
)
def test_every_entry_of_a_ledger_is_in_the_table_with_its_sensitivity(options: dict[str, Any]) -> None:
    told = _told()
    ledger = libra.anonymize(simulate(cases=300), epsilon=8.0, delta=1e-3, seed=1, **options).ledger
    assert ledger is not None
    assert len(ledger.entries) > 8
    for entry in ledger.entries:
        assert told[entry.purpose] == "C" or entry.sensitivity == 1, entry.purpose


@pytest.mark.parametrize("options", [{}, {"gamma": 0.5, "subsamples": 2}])
def test_entries_about_attributes_have_the_sensitivities_of_the_page(options: dict[str, Any]) -> None:
    ledger = libra.anonymize(attributed(800), epsilon=8.0, delta=1e-3, seed=1, attributes=EVERY, **options).ledger
    assert ledger is not None
    found: dict[str, list[float]] = {}
    for entry in ledger.entries:
        found.setdefault(entry.purpose, []).append(entry.sensitivity**2)
    counts, (pairs,), (together,) = (found[table.purpose] for table in OF_CELLS)  # type: ignore[attr-defined]  # of the protocol `Table`
    assert all(1 / 2 <= square < 1 + 1e-9 and 1 / (1 - square) == pytest.approx(round(1 / (1 - square))) for square in counts)
    assert pairs == pytest.approx(round(pairs))
    assert 1 / 4 <= together < pairs
    assert set(found[KEPT_VALUES]) == set(found[attribute_tables.ValueGrains.purpose]) == {1.0}
