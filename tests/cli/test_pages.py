"""Help, pages, keywords and parameters tell the same: no flag without its page, and no command shown that does not parse."""

from __future__ import annotations

import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from libra.cli.app import app
from libra.cli.commands.anonymize import EXAMPLES, PANEL
from libra.keywords import MechanismKeywords
from libra.mechanisms.libra2022 import Libra2022

from .conftest import Run

ROOT = Path(__file__).resolve().parents[2]
COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # typer's own class is private
PARAMETERS = {field.name: field.default for field in fields(Libra2022) if field.name != "anonymizer"}
FLAGS = {option.name: option for option in COMMANDS["anonymize"].params if getattr(option, "rich_help_panel", "") == PANEL}
SHOWN = ("README.md", "CONTRIBUTING.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))))


def _page(name: str = "docs/libra2022.md") -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _table_of_flags() -> dict[str, str]:
    """The default in the page by flag."""
    rows = re.findall(r"^\| (`--[^|]*`) \| ([^|]*) \|", _page(), re.MULTILINE)
    return {flag: default for cell, default in rows for flag in re.findall(r"`(--[a-z-]+)`", cell)}


def test_every_parameter_of_libra2022_has_a_flag_and_a_keyword() -> None:
    assert set(FLAGS) == set(PARAMETERS)
    assert set(MechanismKeywords.__annotations__) == {*PARAMETERS, "anonymizer", "epsilon"}
    for name, option in FLAGS.items():
        assert f"--{name.replace('_', '-')}" in option.opts


def test_every_flag_of_libra2022_is_in_the_table_of_its_page_and_no_other() -> None:
    flags = {flag for option in FLAGS.values() for flag in (*option.opts, *option.secondary_opts)}
    assert set(_table_of_flags()) == flags | {"--seed"}


@pytest.mark.parametrize("name", ["alpha", "b", "gamma", "delta", "omega"])
def test_the_defaults_that_are_told_are_those_that_count(name: str) -> None:
    assert float(_table_of_flags()[f"--{name}"]) == PARAMETERS[name]
    assert float(FLAGS[name].help.split("Default: ")[1].removesuffix(".")) == PARAMETERS[name]
    assert FLAGS[name].default is None


def _commands(page: str) -> list[list[str]]:
    """The commands of Libra that a page shows in a block, as a shell would split them."""
    joined = _page(page).replace("\\\n", " ")
    lines = re.findall(r"^    (?:\.venv/bin/)?libra (.*)$", joined, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def test_the_pages_do_show_commands() -> None:
    assert {words[0] for words in _commands("README.md")} >= {"inspect", "convert", "measure", "anonymize"}
    assert [words[0] for words in _commands("docs/libra2022.md")] == ["anonymize", "epsilon", "reproduce"]


@pytest.mark.parametrize("page", SHOWN)
def test_every_command_that_a_page_shows_parses(page: str) -> None:
    for words in _commands(page):
        COMMANDS[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_of_anonymize_parses_and_names_a_mechanism_that_is_there(example: str) -> None:
    words = shlex.split(example)
    assert words[0] == "libra"
    assert COMMANDS[words[1]].make_context(words[1], words[2:]).params["mechanism"] == "libra2022"


def test_the_readmes_table_of_commands_shows_flags_that_are_there(run: Run) -> None:
    rows = re.findall(r"^\| `libra (\w+)[^`]*` \|.*$", _page("README.md"), re.MULTILINE)
    assert set(rows) == set(COMMANDS)
    for row in re.findall(r"^\| `libra \w+.*$", _page("README.md"), re.MULTILINE):
        shown = run(re.findall(r"libra (\w+)", row)[0], "--help").out
        assert [flag for flag in re.findall(r"--[a-z-]+", row) if flag not in shown] == []
