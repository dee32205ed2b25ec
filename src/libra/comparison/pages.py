"""A comparison as text: Markdown with one table a log, CSV with one line a run.

CSV is for further computing: all measures of every run, unrounded. No cell of it can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

from libra.comparison.comparison import CONFIDENTIAL, FIGURES, Comparison, Outcome
from libra.comparison.tables import FIRST, LEGEND, Table, table_of
from libra.eventlog.tables.csv_write import FORMULA

RESULTS = ("cases", "has_times", "seconds", "peak_megabytes", "reading_megabytes", "guarantee", "unit")
RUN = ("log", "mechanism", "setting", "parameters", "epsilon", "delta", "seed")
HEADER = (*RUN, *FIGURES, *RESULTS, "missing", "reason")


def markdown(comparison: Comparison) -> str:
    """A page with one table a log."""
    runs = "one seed" if len(comparison.seeds) == 1 else f"{len(comparison.seeds)} seeds"
    asked = f"{comparison.said_delta}, {runs}. {LEGEND}"
    lines = ["# A comparison of mechanisms", "", f"**{CONFIDENTIAL}**", "", f"{asked[0].upper()}{asked[1:]}"]
    for log in comparison.logs:
        lines += ["", f"## {_plain(log.name)}", "", *markdown_table(table_of(comparison, log))]
    return "\n".join(lines) + "\n"


def markdown_table(table: Table) -> list[str]:
    """The lines of a table and of what stands below it.

    Example:
        >>> markdown_table(Table("log", ("mechanism", "dfg_l1"), (("libra", "0.04"),), ("Remark.",)))
        ['| mechanism | dfg_l1 |', '|---|---:|', '| libra | 0.04 |', '', '- Remark.']
    """
    rule = "|".join("---" if heading in FIRST[:1] else "---:" for heading in table.headings)
    lines = [f"| {' | '.join(table.headings)} |", f"|{rule}|"]
    lines += [f"| {' | '.join(map(_plain, row))} |" for row in table.rows]
    return lines + (["", *(f"- {_plain(note)}" for note in table.footnotes)] if table.footnotes else [])


def csv_text(comparison: Comparison) -> str:
    """One line a run, with a heading."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for outcome in comparison.outcomes:
        writer.writerow([_cell(value) for value in _line(outcome)])
    return stream.getvalue()


def _line(outcome: Outcome) -> list[Any]:
    run, result, missing = outcome.run, outcome.result, outcome.missing
    asked = json.dumps(dict(run.parameters))
    return [
        *(run.log, run.setting.mechanism, run.setting.label, asked, run.epsilon, run.delta, run.seed),
        *(None if result is None else result.figure(name) for name in FIGURES),
        *(None if result is None else getattr(result, name) for name in RESULTS),
        *((None, None) if missing is None else (missing.why, missing.reason)),
    ]


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and re.search(FORMULA, value) else value


def _plain(text: str) -> str:
    """Text in which Markdown finds no cell border and no markup of its own."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))
