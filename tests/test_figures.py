"""The figures in the page on how Libra works: the script that makes them runs, and the page tells what it tells."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import libra
from libra.example.simulate import simulate

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-it-works.md"


def _printed(folder: Path, *words: str) -> list[str]:
    command = [sys.executable, "-m", "benchmarks.figures", str(folder), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()


def _told(table: str) -> list[str]:
    (rows,) = re.findall(rf"^<!-- {table} -->\n(.*?)\n\n", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(rows).splitlines()


def _figures(row: str) -> list[str]:
    return [cell.replace(",", "") for cell in re.split(r" [|/] ", row.strip("| "))]


@pytest.mark.parametrize(("words", "table"), [((), "figures"), (("--subsampling",), "subsampling")])
def test_the_script_prints_the_table_of_the_page(words: tuple[str, ...], table: str, tmp_path: Path) -> None:
    libra.write(simulate(cases=200), tmp_path / "sepsis.xes")
    heading, rule, *rows = _printed(tmp_path, "--seeds", "1", *words)
    assert [heading, rule] == _told(table)[:2]
    assert rows
    for row in rows:
        assert row.startswith("| sepsis |")
        assert [len(cell.split(" / ")) for cell in row.split("|")] == [
            len(cell.split(" / ")) for cell in _told(table)[2].split("|")
        ]


@pytest.mark.slow
def test_the_figures_of_the_page_are_those_of_a_run(shared_logs: Path, tmp_path: Path) -> None:
    """To some percent, since a last digit that differs from one processor to another may move a draw."""
    (tmp_path / "urineweginfectie.xes.gz").symlink_to(shared_logs / "urineweginfectie.xes.gz")
    (row,) = _printed(tmp_path)[2:]
    (told,) = (line for line in _told("figures") if line.startswith("| urineweginfectie |"))
    assert len(_figures(row)) == 21
    for found, shown in zip(_figures(row)[1:], _figures(told)[1:], strict=True):
        assert float(found) == pytest.approx(float(shown), rel=0.05, abs=0.002)
