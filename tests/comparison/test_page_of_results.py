"""The script behind docs/comparison.md: it rewrites what is between the markers, and names every exception."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import comparison as script

from libra.comparison.comparison import Missing, Result

from .some_outcomes import comparison, result

PAGE = Path(__file__).resolve().parents[2] / "docs" / "comparison.md"
SLOW = Missing("time", "slow")
Found = list[list[Result | Missing]]


def test_the_page_has_a_place_for_every_part_and_text_around_it_stays() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = re.findall(r"^<!-- begin: (\w+) -->$", page, re.MULTILINE)
    assert names == ["setting", "summary", "exceptions", "plots", "ablation", "tables"]
    for name in names:
        changed = script.replaced(page, name, "something else")
        assert f"<!-- begin: {name} -->\nsomething else\n<!-- end: {name} -->" in changed
        assert script.replaced(changed, name, "again") == script.replaced(page, name, "again")
        without = re.compile(rf"<!-- begin: {name} -->.*<!-- end: {name} -->", re.DOTALL)
        assert without.sub("", changed) == without.sub("", page)


def test_a_page_without_its_marker_is_refused() -> None:
    with pytest.raises(SystemExit, match="no place for summary"):
        script.replaced("a page", "summary", "text")


def test_every_mechanism_that_is_ahead_is_named() -> None:
    ours: Found = [[result(0.3)], [result(0.2)], [result(0.1)]]
    theirs: Found = [[result(0.4)], [result(0.1)], [SLOW]]
    told = list(script.exceptions(comparison({"libra": ours, "travas": theirs})))
    assert told == [
        "- sepsis, epsilon 1, `dfg_l1`: `travas` (proved) 0.1; `libra` 0.2.",
        "- sepsis, epsilon 1, edge durations (log10): `travas` (proved) 0.05; `libra` 0.1.",
    ]
    (none,) = script.exceptions(comparison({"libra": ours, "travas": [[result(0.4)]] * 3}))
    assert "is ahead of every other" in none
    assert len(list(script.exceptions(comparison({"libra": [[SLOW]], "travas": theirs[:1]})))) == 2


def test_the_summary_has_a_row_a_log_with_all_budgets_and_the_kinds_of_guarantees() -> None:
    timeless = [[result(0.5, has_times=False)]] * 3
    found = comparison({"libra": [[result(0.3)], [result(0.2)], [result(0.1)]], "travas": timeless, "sacofa": [[SLOW]] * 3})
    lines = list(script.summary(found))
    assert "| sepsis | 0.3 / 0.2 / 0.1 | 0.5 / 0.5 / 0.5 | - | 1 |" in lines
    assert "| sepsis | 0.15 / 0.1 / 0.05 | no times | - | 2.5 |" in lines
    assert "Guarantee proved: `libra`, `travas`." in lines
    assert "Guarantee claimed: none." in lines


def test_the_ablation_shows_the_best_way_of_each_log() -> None:
    ways = {script.setting_of(*way): [[result(0.1 + 0.1 * place)]] * 3 for place, way in enumerate(script.WAYS)}
    lines = list(script.ablation(comparison(ways)))
    assert lines.count("| 1 | 1 | **0.1** |") == 3
    assert lines.count("| 0.05 | 20 | 0.9 |") == 3
    assert len([line for line in lines if line.startswith("**")]) == 6
