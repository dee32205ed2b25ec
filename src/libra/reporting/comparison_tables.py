"""A comparison as text: one table a log, as Markdown too, and CSV with one line a run."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from libra.comparison.comparison import CONFIDENTIAL, FIGURES, MEASURES, OF_TIMES, ComparedLog, Comparison, Mean, Outcome, Row
from libra.comparison.plan import PUBLISHED
from libra.eventlog.tables.csv_write import FORMULA
from libra.privacy.unit import CASE, Unit
from libra.reporting.numbers import number

NONE = "-"
UNITS = {str(CASE): "cases", str(Unit(most_cases=1)): "individuals"}
MOST_PLACES = 5  # behind the point
NO_TIMES = "no times"
AS_SET = "as set"
EMPTY_LOG = "empty log"
FIRST = ("mechanism", "epsilon")
LAST = ("seconds", "peak MB", "guarantee", "audit")
HEADINGS = (*FIRST, *MEASURES.values(), *LAST)
ESSENTIAL = (*FIRST, "dfg_l1", "EMD Freq", "edge durations, log10", "seconds", "guarantee")
NARROWER = ((*FIRST, "dfg_l1", "edge durations, log10", "guarantee"), (*FIRST, "dfg_l1", "guarantee"), (*FIRST, "dfg_l1"))
SPREAD = " ± "
LEGEND = (
    "0 is equal to the original, lower is closer. ±: standard deviation over the seeds. Seconds are those of anonymizing alone; "
    "peak MB is the most memory that the process of a run had, interpreter and log included."
)
FAVOURABLE = (
    "libra2022 takes no epsilon. It is run with the b at which its subsampled Laplace releases would be (epsilon, delta)-"
    "differentially private, if they were all that it releases: the reading most favourable to it."
)


@dataclass(frozen=True)
class Table:
    """A table of text: `rows` are as long as `headings`."""

    log: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    footnotes: tuple[str, ...]

    def only(self, headings: tuple[str, ...]) -> Table:
        """The same with some of the columns."""
        kept = [self.headings.index(heading) for heading in headings]
        return Table(self.log, headings, tuple(tuple(row[column] for column in kept) for row in self.rows), self.footnotes)

    def without_spread(self) -> Table:
        """The same with means alone."""
        return Table(
            self.log, self.headings, tuple(tuple(cell.partition(SPREAD)[0] for cell in row) for row in self.rows), self.footnotes
        )


def table_of(comparison: Comparison, log: ComparedLog) -> Table:
    """The table of a log."""
    rows = comparison.rows(log.name)
    body = (_empty(log), *(_cells(row, _promise(row, log)) for row in rows))
    return Table(log.name, HEADINGS, body, tuple(_footnotes(rows)))


def shown(figure: Mean | None) -> str:
    """A mean with three digits that count, and its spread to the same place."""
    if figure is None:
        return NONE
    if figure.spread is None:
        return number(figure.mean)
    size = math.floor(math.log10(abs(figure.mean))) if figure.mean else 0
    places = min(max(2 - size, 0), MOST_PLACES)
    return f"{figure.mean:,.{places}f} ± {figure.spread:,.{places}f}"


def budget(epsilon: float | None) -> str:
    """An epsilon for people; where the setting decides, that it does."""
    return AS_SET if epsilon is None else f"{epsilon:g}"


def _cells(row: Row, promise: str) -> tuple[str, ...]:
    seconds, peak = row.seconds, row.peak_megabytes
    return (
        row.setting.label,
        budget(row.epsilon),
        *(NO_TIMES if row.results and not row.has_times and name in OF_TIMES else shown(row.measure(name)) for name in MEASURES),
        NONE if seconds is None else f"{seconds.mean:,.2f}" if seconds.mean < 100 else number(seconds.mean),
        NONE if peak is None else f"{peak:,.0f}",
        promise,
        row.audit or NONE,
    )


def _promise(row: Row, log: ComparedLog) -> str:
    """Whether the guarantee is proved or claimed; where a person may have several cases, for which of the two."""
    if row.guarantee is None or row.unit is None:
        return NONE
    unit = next((several for one, several in UNITS.items() if row.unit.startswith(one)), row.unit)
    return f"{row.guarantee}, {unit}" if log.has_individuals else row.guarantee


def _empty(log: ComparedLog) -> tuple[str, ...]:
    figures = (getattr(log.empty, name) for name in MEASURES)
    return EMPTY_LOG, "", *(NONE if figure is None else number(figure) for figure in figures), *("" for _ in LAST)


def _footnotes(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        where = row.setting.label if row.epsilon is None else f"{row.setting.label} at {row.epsilon:g}"
        for missing in {missing.why: missing for missing in reversed(row.missing)}.values():
            gone = sum(outcome.missing is not None and outcome.missing.why == missing.why for outcome in row.outcomes)
            some = f" ({gone} of {len(row.outcomes)} runs)" if gone < len(row.outcomes) else ""
            said = "refused" if missing.why == "refused" else "no result"
            yield f"{where}, {said}{some}: {missing.reason.rstrip('.')}."
        empty = sum(result.cases == 0 for result in row.results)
        if empty:
            all_of = "the release" if len(row.results) == 1 else "the releases"
            which = all_of if empty == len(row.results) else f"{empty} of {len(row.results)} releases"
            yield f"{where}: {which} {'is an empty log' if empty == 1 else 'are empty logs'}."
    if any(row.setting.mechanism == PUBLISHED and row.epsilon is not None for row in rows):
        yield FAVOURABLE


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
    """The lines of a table and of what stands below it."""
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
