"""`libra epsilon`: the paper's figures beside the true ones, for people and for scripts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from libra.cli.research import MEANINGS, NOTES

from .conftest import Run

PAGE = Path(__file__).resolve().parents[2] / "docs" / "accounting.md"
PAPER = ("--alpha", "10", "--b", "2", "--gamma", "0.05", "--delta", "1e-4", "--subsamples", "20")


def test_json_holds_the_parameters_and_every_figure(run: Run) -> None:
    answer = run("epsilon", "--json", "--quiet")
    document = json.loads(answer.out)
    assert (answer.code, answer.err) == (0, "")
    assert document.keys() == {"parameters", "notes", *MEANINGS}
    assert document["parameters"] == {"alpha": 10, "b": 2, "gamma": 0.05, "delta": 1e-4, "subsamples": 20}
    assert document["best_order_exact"].keys() >= {"order", "epsilon"}
    assert document["notes"] == list(NOTES)


def test_the_papers_parameters_are_the_defaults(run: Run) -> None:
    assert run("epsilon", "--json").out == run("epsilon", *PAPER, "--json").out


@pytest.mark.parametrize(
    ("alpha", "row"), [(2, "0.011 | 9.22 | 0.2996"), (10, "0.145 | 1.17 | 0.2996"), (100, "0.640 | 0.73 | 0.2996")]
)
def test_the_known_figures_are_printed_and_stand_in_the_page(alpha: int, row: str, run: Run) -> None:
    document = json.loads(run("epsilon", "--alpha", str(alpha), "--json").out)
    found = f"{document['renyi_epsilon']:.3f} | {document['epsilon_at_order']:.2f} | {document['pld_epsilon']:.4f}"
    assert found == row
    assert f"| {alpha} | {row} | {document['pld_epsilon_drawn']:.4f} |" in PAGE.read_text(encoding="utf-8")
    assert (document["best_order_exact"]["order"], round(document["best_order_exact"]["epsilon"], 4)) == (34, 0.3355)


def test_people_see_every_figure_with_its_meaning_in_one_line(run: Run) -> None:
    answer = run("epsilon")
    document = json.loads(run("epsilon", "--json").out)
    assert answer.code == 0
    title = "alpha 10, b 2, gamma 0.05, delta 0.0001: 20 subsamples (none is a guarantee of libra2022)"
    assert answer.out.splitlines()[0].rstrip() == title
    for name, meaning in MEANINGS.items():
        (line,) = (line for line in answer.out.splitlines() if f" {name} " in f" {line}")
        best = document[name] if isinstance(document[name], dict) else {"epsilon": document[name]}
        assert line.split()[:2] == [name, f"{best['epsilon']:.4g}"]
        assert meaning.format(**best) in line
    assert answer.err.splitlines() == [f"note: {note}" for note in NOTES]


def test_the_number_of_subsamples_follows_gamma_unless_it_is_said(run: Run) -> None:
    def subsamples(*words: str) -> int:
        return int(json.loads(run("epsilon", *words, "--json").out)["parameters"]["subsamples"])

    assert subsamples("--gamma", "0.3") == 3
    assert subsamples("--gamma", "1") == 1
    assert subsamples("--gamma", "0.3", "--subsamples", "7") == 7


@pytest.mark.parametrize(
    ("flag", "value"),
    [("--alpha", "1"), ("--alpha", "nan"), ("--b", "0"), ("--gamma", "0"), ("--delta", "1"), ("--subsamples", "0")],
)
def test_a_parameter_that_cannot_be_meant_is_a_usage_error_of_one_line(flag: str, value: str, run: Run) -> None:
    answer = run("epsilon", flag, value)
    assert (answer.code, answer.out) == (2, "")
    assert re.fullmatch(rf"libra: {flag[2:]} has to be a [^\n]+\.\n", answer.err)


def test_the_help_loads_nothing_heavy() -> None:
    heavy = ("numpy", "polars", "scipy", "dp_accounting")
    code = (
        f"import sys, libra.cli\nlibra.cli.main(['epsilon', '--help'])\nprint([name for name in {heavy} if name in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines()[-1] == "[]"


def test_every_figure_and_parameter_has_its_place_in_the_page_on_accounting() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = (*MEANINGS, "alpha", "b", "gamma", "delta", "subsamples")
    assert [name for name in names if f"`{name}`" not in page] == []


def test_the_figures_in_the_page_are_those_of_the_command(run: Run) -> None:
    document = json.loads(run("epsilon", "--json").out)
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d.]+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    best = {name: value["epsilon"] if isinstance(value, dict) else value for name, value in document.items() if name in MEANINGS}
    assert rows == {name: f"{value:.4g}" for name, value in best.items()}
