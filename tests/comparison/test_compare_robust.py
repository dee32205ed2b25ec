"""A comparison outlives bad plug-ins, says what it does not know, and leaves nothing of an earlier one beside its own files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import libra
from libra.comparison.compare import named
from libra.comparison.plan import parsed_parameters, plan_of, settings_of
from libra.errors import UsageError
from libra.eventlog.log import EventLog
from libra.mechanisms.mechanism import HOMES

from .some_outcomes import comparison, result

LEAVING = '''
import os, sys
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Leaving:
    name: ClassVar[str] = "leaving"
    epsilon: float = 1.0
    how: str = "sys.exit(0)"

    def anonymize(self, log, random, progress):
        exec(self.how)


@dataclass(frozen=True)
class Needy:
    """Cannot be made without a parameter of its own."""

    name: ClassVar[str] = "needy"
    epsilon: float
    k: int

    def anonymize(self, log, random, progress):
        raise NotImplementedError
'''
FOUND = comparison({"libra": [[result(0.1), result(0.3)]], "travas": [[result(0.5)]]})


@pytest.fixture
def leaving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package with a mechanism that ends its process, one that needs to be told more, and one that is not there."""
    information = tmp_path / "leaving_package.dist-info"
    information.mkdir()
    (tmp_path / "leaving_package.py").write_text(LEAVING, encoding="utf-8")
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: leaving-package\nVersion: 1\n", encoding="utf-8")
    entries = "leaving = leaving_package:Leaving\nneedy = leaving_package:Needy\nabsent = no_such_module:Absent\n"
    (information / "entry_points.txt").write_text(f"[libra.mechanisms]\n{entries}", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("leaving")
@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("sys.exit(0)", "SystemExit: 0"),
        ("os._exit(0)", "its process ended without an answer that can be read"),
        ("import json; json.dumps = lambda *said, **more: '[1'", "its process ended without an answer that can be read"),
        ("import json; json.dumps = lambda *said, **more: '[1]'", "its process ended without an answer that can be read"),
        ("raise MemoryError", "more memory than there is"),
    ],
)
def test_a_mechanism_that_ends_its_process_is_a_run_that_broke_down(log: EventLog, how: str, told: str) -> None:
    asked = replace(settings_of("leaving")[0], parameters={"how": how})
    found = libra.compare({"log": log}, mechanisms=[asked, "travas"], epsilon=1.0, seeds=1, cache=False, processes=2)
    broken, fine = found.outcomes
    assert broken.missing is not None
    assert told in broken.missing.reason
    assert broken.missing.why == ("memory" if "Memory" in how else "failed")
    assert fine.result is not None


@pytest.mark.usefixtures("leaving")
def test_plug_ins_that_cannot_be_used_are_passed_over_where_nobody_named_them() -> None:
    plan = plan_of(settings_of(None), 1.0, 1e-4, 1)
    assert {setting.mechanism for setting, *_ in plan.asked} == {*HOMES, "leaving"}
    absent, needy = plan.notes
    assert absent.startswith('Not compared: The mechanism "absent" of the package leaving-package cannot be loaded')
    assert needy.startswith('Not compared: The mechanism "needy" of another package cannot be made (TypeError')


@pytest.mark.usefixtures("leaving")
@pytest.mark.parametrize(("name", "told"), [("absent", "cannot be loaded"), ("needy", "cannot be made")])
def test_plug_ins_that_cannot_be_used_are_refused_where_they_are_named(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        plan_of(settings_of(f"libra,{name}"), 1.0, 1e-4, 1)


def test_a_mistake_of_the_caller_is_refused_for_all_mechanisms_too() -> None:
    with pytest.raises(UsageError, match="tail is one of"):
        plan_of(settings_of(None, {"tail": "no"}), 1.0, 1e-4, 1)


@pytest.mark.parametrize("name", ["epsilon", "delta"])
def test_the_budget_is_not_set_twice(name: str) -> None:
    with pytest.raises(UsageError, match=f"Use --{name} for all mechanisms, or NAME:{name}=VALUE for one"):
        settings_of("libra,travas", {name: 0.5})


def test_a_shared_parameter_is_explained_by_its_own_flag() -> None:
    with pytest.raises(UsageError, match="Write it as --set NAME=VALUE"):
        parsed_parameters(["nope"])
    with pytest.raises(UsageError, match="Write it as NAME:PARAMETER=VALUE"):
        settings_of("libra:nope")


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/x.csv", "b/x.csv", "y.csv"], ["a/x", "b/x", "y"]),
        (["a/logs/x.csv", "b/logs/x.xes"], ["a/logs/x", "b/logs/x"]),
        (["a/x.csv", "a/x.xes.gz"], ["x.csv", "x.xes.gz"]),
        (["a/x.csv", "a/x.xes", "b/x.csv"], ["a/x.csv", "a/x.xes", "b/x.csv"]),
        (["/x.csv", "/a/x.csv"], ["x", "a/x"]),
        (["a/x.csv", "b/../a/x.csv"], ["x", "x 2"]),
    ],
)
def test_files_of_the_same_name_are_told_apart_by_what_differs(files: list[str], names: list[str]) -> None:
    assert list(named(files)) == names
    assert list(named(files).values()) == files


def test_the_plots_of_an_earlier_comparison_go_and_nothing_else(tmp_path: Path) -> None:
    earlier = comparison({"libra": [[result(0.1)]]}, log="old/log")
    earlier.write(tmp_path)
    drawn = (tmp_path / "old-log-dfg_l1.svg").read_text(encoding="utf-8")
    strangers = {"mine.svg": drawn, "old-log-dfg_tv.svg": "<svg>my own</svg>", "notes.txt": "mine"}
    for name, text in strangers.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    written = {path.name for path in FOUND.write(tmp_path)}
    assert {path.name for path in tmp_path.iterdir()} == written | set(strangers)
    assert {name: (tmp_path / name).read_text(encoding="utf-8") for name in strangers} == strangers


@pytest.mark.parametrize("other", ["{}", "no JSON", '{"document": "another", "logs": [{"name": "old"}]}', "[1]"])
def test_a_folder_whose_table_is_not_ours_keeps_its_images(tmp_path: Path, other: str) -> None:
    image = comparison({"libra": [[result(0.1)]]}, log="old").plot("old", "dfg_l1")
    (tmp_path / "old-dfg_l1.svg").write_text(image, encoding="utf-8")
    (tmp_path / "comparison.json").write_text(other, encoding="utf-8")
    FOUND.write(tmp_path)
    assert (tmp_path / "old-dfg_l1.svg").exists()


def test_what_a_comparison_does_not_know_is_refused_with_what_it_knows() -> None:
    with pytest.raises(UsageError, match=r'no log "nosuch" in this comparison\. Available: sepsis'):
        FOUND.rows("nosuch")
    with pytest.raises(UsageError, match='no log "nosuch"'):
        FOUND.plot("nosuch", "dfg_l1")
    with pytest.raises(UsageError, match=r'no measure "nosuch".*dfg_l1'):
        FOUND.rows("sepsis")[0].measure("nosuch")
    with pytest.raises(UsageError, match=r'no measure "empty"'):
        FOUND.rows("sepsis")[0].measure("empty")


def test_notebooks_show_the_tables_and_a_prompt_one_line() -> None:
    assert FOUND._repr_markdown_() == FOUND.to_markdown()
    assert (
        repr(FOUND) == "<Comparison: 1 log, 2 settings, 3 of 3 runs with a result; rows(log) and plot(log, measure) know sepsis>"
    )
