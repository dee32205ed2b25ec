"""Help, pages, keywords and parameters tell the same: no flag without its page, and no command shown that does not parse."""

from __future__ import annotations

import json
import math
import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from libra import example
from libra.certificate.document import schema
from libra.cli.app import app
from libra.cli.options import EXAMPLES, flag_of
from libra.keywords import OtherParameters
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.mechanism import HOMES, description_of, parameters_of
from libra.privacy.gaussian import upper_tail
from libra.privacy.guarantee import Guarantee, from_even_odds

from .conftest import Run

ROOT = Path(__file__).resolve().parents[2]
COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]  # typer's own class is private
PAGES = {"libra": "docs/how-it-works.md", "libra2022": "docs/libra2022.md"}
PARAMETERS: dict[str, dict[str, Any]] = {
    "libra": {field.name: getattr(Libra(), field.name) for field in fields(Libra) if field.init},
    "libra2022": {field.name: field.default for field in fields(Libra2022) if field.init},
}
OPTIONS = {option.name: option for option in COMMANDS["anonymize"].params}
SHOWN = ("README.md", "CONTRIBUTING.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))))


def _page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _table(page: str) -> dict[str, str]:
    """The second cell by flag or parameter, from the table of parameters of a page."""
    rows = re.findall(r"^\| (`[a-z_-][^|]*`) \| ([^|]*) \|", _page(page), re.MULTILINE)
    return {name: cell for names, cell in rows for name in re.findall(r"`(-?-?[a-z0-9_-]+)`", names)}


def _table_of_flags(mechanism: str) -> dict[str, str]:
    return _table(PAGES[mechanism])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _told_defaults(name: str) -> list[str]:
    """The defaults that the help of a flag tells: that of libra first, that of libra2022 last."""
    return re.findall(r"(?:Default|of libra2022): (\S+?)[.;,]?(?:\s|$)", OPTIONS[name].help)


@pytest.mark.parametrize(
    "name", [name for name in OPTIONS if name in ("epsilon", "delta") or name in OtherParameters.__annotations__]
)
def test_a_flag_of_a_parameter_leaves_the_default_to_the_mechanism(name: str) -> None:
    assert _flag(name) in OPTIONS[name].opts
    assert not OPTIONS[name].default


def test_all_parameters_of_libra_and_those_of_the_paper_have_flags() -> None:
    assert [name for name in (*PARAMETERS["libra"], "alpha", "b", "gamma") if not flag_of(name)] == []


def test_every_parameter_is_a_keyword_and_no_other() -> None:
    known = {name for mechanism in HOMES for name in parameters_of(mechanism)}
    assert {*OtherParameters.__annotations__, "epsilon", "delta"} == known


@pytest.mark.parametrize("mechanism", HOMES)
def test_every_parameter_has_a_meaning_and_a_range_and_is_listed_with_them(mechanism: str, run: Run) -> None:
    document = json.loads(run("mechanisms", mechanism, "--json").out)
    assert [one["name"] for one in document["parameters"]] == list(parameters_of(mechanism))
    listed = " ".join(run("mechanisms", mechanism).out.split())
    assert document["summary"].endswith(".")
    for one in document["parameters"]:
        assert one["meaning"].endswith(".")
        assert one["allowed"]
        assert one["name"] in listed
        assert one["default"] is not None or one["unset"]


@pytest.mark.parametrize("name", [name for name in PARAMETERS["libra"] if name not in ("labels", "delta")])
def test_the_help_of_a_flag_is_the_meaning_of_the_parameter(name: str) -> None:
    (meaning,) = (one.meaning for one in description_of("libra").parameters if one.name == name)
    assert OPTIONS[flag_of(name).removeprefix("--").replace("-", "_")].help.startswith(meaning)


def test_the_parameters_of_other_mechanisms_are_in_the_table_of_their_page() -> None:
    rows = re.findall(r"^\| (`[a-z-][^|]*`) \| [^|]* \| ([^|]*) \| ", _page("docs/peers.md"), re.MULTILINE)
    whose = {name: told for cell, told in rows for name in re.findall(r"`((?:--)?[a-z_-]+)`", cell)}
    others = [name for name in HOMES if name not in PAGES]
    parameters = {parameter for name in others for parameter in parameters_of(name)}
    assert set(whose) == {flag_of(parameter) or parameter for parameter in parameters} | {"--set"}
    for parameter in (parameter for parameter in parameters if not flag_of(parameter)):
        takes = [name for name in others if parameter in parameters_of(name)]
        assert sorted(whose[parameter].split(", ")) == sorted(takes), parameter


@pytest.mark.parametrize("mechanism", PAGES)
def test_every_parameter_of_a_mechanism_is_in_the_table_of_its_page_and_no_other(mechanism: str) -> None:
    parameters = {flag_of(name) or name for name in PARAMETERS[mechanism]}
    more = {"--explain", "--public-labels", "--all-attributes"} if mechanism == "libra" else set()
    assert set(_table_of_flags(mechanism)) >= parameters | more | {"--seed"}
    flags = {name for name in _table_of_flags(mechanism) if name.startswith("--")}
    assert flags <= parameters | more | {"--seed"}


@pytest.mark.parametrize("name", ["alpha", "b", "gamma", "delta", "omega"])
def test_the_defaults_told_of_libra2022_are_those_that_count(name: str) -> None:
    assert float(_table_of_flags("libra2022")[flag_of(name) or name]) == PARAMETERS["libra2022"][name]
    if flag_of(name):
        assert float(_told_defaults(name)[-1]) == PARAMETERS["libra2022"][name]


@pytest.mark.parametrize("name", ["epsilon", "delta", "gamma", "subsamples"])
def test_the_numbers_told_as_defaults_of_libra_are_those_that_count(name: str) -> None:
    assert float(_table_of_flags("libra")[_flag(name)]) == PARAMETERS["libra"][name]
    assert float(_told_defaults(name)[0]) == PARAMETERS["libra"][name]


@pytest.mark.parametrize("name", ["tail", "budget", "time_zone"])
def test_the_words_told_as_defaults_of_libra_are_those_that_count(name: str) -> None:
    told = _table_of_flags("libra")[_flag(name)]
    said: dict[str, Any] = {name: told}
    assert getattr(Libra(**said), name) == PARAMETERS["libra"][name]
    assert _told_defaults(name) == [told]


def test_the_switches_of_libra_are_told_as_they_are() -> None:
    table = _table_of_flags("libra")
    assert (table["--public-labels"], PARAMETERS["libra"]["labels"]) == ("off", "private")
    assert (table["--explain"], OPTIONS["explain"].default) == ("off", False)
    assert (table["--seed"], OPTIONS["seed"].default) == ("none", None)
    assert PARAMETERS["libra"]["cases"] is None


def _commands(page: str) -> list[list[str]]:
    """The commands of Libra that a page shows in a block, as a shell would split them."""
    joined = _page(page).replace("\\\n", " ")
    lines = re.findall(r"^    (?:\.venv/bin/)?libra (.*)$", joined, re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def test_the_pages_do_show_commands() -> None:
    assert {words[0] for words in _commands("README.md")} >= {"inspect", "convert", "measure", "anonymize"}
    assert [words[0] for words in _commands("docs/libra2022.md")] == ["anonymize", "epsilon", "reproduce"]
    assert [words[0] for words in _commands("docs/how-it-works.md")] == ["anonymize", "anonymize"]


def test_the_first_command_of_the_readme_is_the_default_mechanism_with_an_epsilon() -> None:
    words = _commands("README.md")[0]
    assert words[0] == "anonymize"
    parsed = COMMANDS[words[0]].make_context(words[0], words[1:]).params
    assert (parsed["mechanism"], parsed["epsilon"]) == ("libra", 1.0)


@pytest.mark.parametrize("page", SHOWN)
def test_every_command_that_a_page_shows_parses(page: str) -> None:
    for words in _commands(page):
        COMMANDS[words[0]].make_context(words[0], words[1:])


@pytest.mark.parametrize("example", EXAMPLES["anonymize"])
def test_every_example_of_anonymize_parses_and_names_a_mechanism_that_is_there(example: str) -> None:
    words = shlex.split(example)
    assert words[0] == "libra"
    assert COMMANDS[words[1]].make_context(words[1], words[2:]).params["mechanism"] in HOMES


def test_the_readmes_table_of_commands_shows_flags_that_are_there(run: Run) -> None:
    rows = re.findall(r"^\| `libra (\w+)[^`]*` \|.*$", _page("README.md"), re.MULTILINE)
    assert set(rows) == set(COMMANDS)
    for row in re.findall(r"^\| `libra \w+.*$", _page("README.md"), re.MULTILINE):
        shown = run(re.findall(r"libra (\w+)", row)[0], "--help").out
        assert [flag for flag in re.findall(r"--[a-z-]+", row) if flag not in shown] == []


def test_the_plan_that_the_page_shows_is_what_explain_prints(run: Run) -> None:
    (words,) = re.findall(r"^`libra (anonymize .* --explain)`:$", _page(PAGES["libra"]), re.MULTILINE)
    (shown,) = re.findall(r"^<!-- explain -->\n```text\n(.*?)```$", _page(PAGES["libra"]), re.MULTILINE | re.DOTALL)
    assert run(*shlex.split(words)).out == shown


def test_what_the_page_says_of_each_epsilon_is_true() -> None:
    rows = re.findall(
        r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) % \| (0\.\d+) \| (\d+) cases \| ([\d.]+) \|$",
        _page(PAGES["libra"]),
        re.MULTILINE,
    )
    assert [float(row[0]) for row in rows] == [0.1, 0.5, 1, 2, 5]
    for epsilon, factor, belief, beyond, least, noise in (tuple(map(float, row)) for row in rows):
        plan = Libra(epsilon=epsilon, delta=1e-5).plan
        mu, rest, shows = plan.calibration.mu, plan.calibration.mu_rest, plan.calibration.variant_shows
        assert math.exp(epsilon) < factor < 1.005 * math.exp(epsilon)
        assert f"{belief:g} %" == from_even_odds(epsilon)
        assert beyond == pytest.approx(upper_tail(epsilon / mu - mu / 2), rel=0.03)
        assert shows + upper_tail(epsilon / rest - rest / 2) < beyond  # a case with a variant of its own
        assert least == round(plan.calibration.least_count)
        assert noise == pytest.approx(1 / math.hypot(plan.mu_second, plan.calibration.mu_variants), rel=0.03)


def _fields(node: Any) -> set[str]:
    """The names of all fields in a schema."""
    if isinstance(node, list):
        return {name for inner in node for name in _fields(inner)}
    return {*node.get("properties", {}), *_fields(list(node.values()))} if isinstance(node, dict) else set()


def test_the_page_names_every_field_of_the_certificate_and_no_other() -> None:
    (section,) = re.findall(r"^## The fields\n(.*?)^How to add up", _page("docs/certificate.md"), re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"`(\w+)`", section))
    assert named - set(HOMES) == _fields(schema())
    assert {field.name for field in fields(Guarantee)} <= named


def test_the_page_names_every_check_and_no_other(tmp_path: Path, run: Run) -> None:
    assert run("keygen", tmp_path / "key", "--no-password").code == 0
    words = ("-o", tmp_path / "out.csv", "--certificate", tmp_path / "c.json", "--sign-key", tmp_path / "key", "--quiet")
    assert run("anonymize", example.path(), *words).code == 0
    verify = ("verify", tmp_path / "c.json", tmp_path / "out.csv", "--key", tmp_path / "key.pub", "--json")
    checks = json.loads(run(*verify).out)["checks"]
    (section,) = re.findall(r"^\| check \|.*?\n\n", _page("docs/certificate.md"), re.MULTILINE | re.DOTALL)
    assert re.findall(r"^\| (\w+) \|", section, re.MULTILINE)[1:] == [check["name"] for check in checks]


def test_the_readme_repeats_the_figures_of_the_comparison() -> None:
    (table,) = re.findall(
        r"^### `dfg_l1` at epsilon 0.1 / 1 / 4.7\n\n(.*?)\n\n", _page("docs/comparison.md"), re.MULTILINE | re.DOTALL
    )
    heading, _, *logs = ([cell.strip(" `") for cell in row.strip("|").split("|")] for row in table.splitlines())
    told = {log[0]: {name: cell.split(" / ")[1] for name, cell in zip(heading[1:-1], log[1:-1], strict=True)} for log in logs}
    rows = re.findall(r"^\| (\w+) \| \*\*([\d.]+)\*\* \| (.*) \|$", _page("README.md"), re.MULTILINE)
    shown = ("travas", "prefix-laplace:split_budget=true", "sacofa", "prefix-laplace", "pripel", "amun", "libra2022")
    assert len(rows) == len(told) == 8
    for log, ours, others in rows:
        assert [ours, *others.split(" | ")] == [told[log][name] for name in ("libra", *shown)]
