"""The page in the docs tells what a run tells."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from libra.eventlog.options import no_progress
from libra.reproduce import SETTINGS
from libra.reproduce.run import read_logs, reproduce, table_1_row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reproduction.md"
LOGS = ("bpic12", "bpic13", "hospital", "sepsis", "urineweginfectie")


@pytest.mark.slow
def test_the_tables_of_the_page_are_those_of_a_run(shared_logs: Path) -> None:
    """To a percent, since the last digit may differ from one processor to another, and N/A where a run says so."""
    logs = read_logs([shared_logs / f"{name}.xes.gz" for name in LOGS], lambda _: nullcontext(no_progress))
    found = reproduce(logs, alphas=[10])
    tables = re.findall(r'Table 1, setting "(\w+)"\n(.*?)(?=\n#)', PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert [name for name, _ in tables] == list(SETTINGS)
    for name, table in tables:
        told = [line for line in table.splitlines() if line.startswith(tuple(f"| {log} | 10 |" for log in LOGS))]
        rows = [table_1_row(row) for row in found.rows if row.setting == name]
        assert len(told) == len(rows) == len(LOGS)
        for line, row in zip(told, rows, strict=True):
            for shown, computed in zip(_figures(line), _figures(row), strict=True):
                assert shown == (computed if isinstance(computed, str) else pytest.approx(computed, rel=0.01))


def _figures(line: str) -> list[float | str]:
    """The cells of a row but for differences: what can be read as a number as one, without its standard deviation."""
    cells = [cell.split(" ± ")[0].strip().replace(",", "") for cell in line.strip("|").split("|")]
    return [float(cell) if re.fullmatch(r"[\d.]+", cell) else cell for cell in cells if "%" not in cell]
