"""A comparison as tables of text, as Markdown, as CSV with one line a run, and as files with a plot for every log and measure.

A table has a row for every setting and epsilon, the empty log first. A figure that is missing is a dash, and the reason stands
below; where a mechanism releases no times, the table says so. No cell of the CSV can be taken for a formula by a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from libra._system.files import atomic_output
from libra.comparison.comparison import CONFIDENTIAL, DOCUMENT, MEASURES, OF_TIMES, ComparedLog, Comparison, Mean, Outcome, Row
from libra.comparison.plan import PUBLISHED
from libra.engines.contract import CASE, Unit
from libra.errors import InputError
from libra.eventlog.tables.csv_write import FORMULA
from libra.measures.utility import FIGURES
from libra.reporting.curves import AS_SET, EMPTY_LOG, curves_of, plot
from libra.reporting.curves import CONFIDENTIAL as IN_A_PLOT
from libra.reporting.numbers import number

NONE, NO_TIMES, SPREAD = "-", "no times", " ± "
UNITS = {str(CASE): "cases", str(Unit(most_cases=1)): "individuals"}
MOST_PLACES = 5  # behind the point
FIRST = ("mechanism", "epsilon")
LAST = ("seconds", "peak MB", "guarantee", "audit")
HEADINGS = (*FIRST, *MEASURES.values(), *LAST)
ESSENTIAL = (*FIRST, "dfg_l1", "EMD Freq", "edge durations, log10", "seconds", "guarantee")
NARROWER = ((*FIRST, "dfg_l1", "edge durations, log10", "guarantee"), (*FIRST, "dfg_l1", "guarantee"), (*FIRST, "dfg_l1"))
LEGEND = (
    "0 is equal to the original, lower is closer. ±: standard deviation over the seeds. Seconds are those of anonymizing alone; "
    "peak MB is the most memory that the process of a run had, interpreter and log included."
)
FAVOURABLE = (
    "libra2022 takes no epsilon. It is run with the b at which its subsampled Laplace releases would be (epsilon, delta)-"
    "differentially private, if they were all that it releases: the reading most favourable to it."
)
RESULTS = ("cases", "has_times", "seconds", "peak_megabytes", "reading_megabytes", "guarantee", "unit")
HEADER = (*("log", "mechanism", "setting", "parameters", "epsilon", "delta", "seed"), *FIGURES, *RESULTS, "missing", "reason")
TABLE = "comparison.json"
BEGINNING = 2_000  # bytes of a plot, in which it says what it is


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
        return replace(self, headings=headings, rows=tuple(tuple(row[column] for column in kept) for row in self.rows))

    def without_spread(self) -> Table:
        """The same with means alone."""
        return replace(self, rows=tuple(tuple(cell.partition(SPREAD)[0] for cell in row) for row in self.rows))


def table_of(comparison: Comparison, log: ComparedLog) -> Table:
    """The table of a log."""
    rows = comparison.rows(log.name)
    figures = (getattr(log.empty, name) for name in MEASURES)
    empty = (EMPTY_LOG, "", *(NONE if figure is None else number(figure) for figure in figures), *("" for _ in LAST))
    return Table(log.name, HEADINGS, (empty, *(_cells(row, log) for row in rows)), tuple(_footnotes(rows)))


def _cells(row: Row, log: ComparedLog) -> tuple[str, ...]:
    seconds, peak, promise = row.seconds, row.peak_megabytes, NONE
    if row.guarantee is not None and row.unit is not None:
        unit = next((several for one, several in UNITS.items() if row.unit.startswith(one)), row.unit)
        promise = f"{row.guarantee}, {unit}" if log.has_individuals else row.guarantee
    return (
        row.setting.label,
        AS_SET if row.epsilon is None else f"{row.epsilon:g}",
        *(NO_TIMES if row.results and not row.has_times and name in OF_TIMES else _mean(row.measure(name)) for name in MEASURES),
        NONE if seconds is None else f"{seconds.mean:,.2f}" if seconds.mean < 100 else number(seconds.mean),
        NONE if peak is None else f"{peak:,.0f}",
        promise,
        row.audit or NONE,
    )


def _mean(figure: Mean | None) -> str:
    """A mean with three digits that count, and its spread to the same place."""
    if figure is None or figure.spread is None:
        return NONE if figure is None else number(figure.mean)
    size = math.floor(math.log10(abs(figure.mean))) if figure.mean else 0
    places = min(max(2 - size, 0), MOST_PLACES)
    return f"{figure.mean:,.{places}f}{SPREAD}{figure.spread:,.{places}f}"


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


def _plain(text: str) -> str:
    """Text in which Markdown finds no cell border and no markup of its own."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))


def csv_text(comparison: Comparison) -> str:
    """One line a run, with a heading."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(map(_line, comparison.outcomes))
    return stream.getvalue()


def _line(outcome: Outcome) -> list[Any]:
    run, result, missing = outcome.run, outcome.result, outcome.missing
    asked = json.dumps(dict(run.parameters))
    values = (
        *(run.log, run.setting.mechanism, run.setting.label, asked, run.epsilon, run.delta, run.seed),
        *(None if result is None else result.figure(name) for name in FIGURES),
        *(None if result is None else getattr(result, name) for name in RESULTS),
        *((None, None) if missing is None else (missing.why, missing.reason)),
    )
    plain = (str(value).lower() if isinstance(value, bool) else value for value in values)
    return [f"'{value}" if isinstance(value, str) and re.search(FORMULA, value) else value for value in plain]


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before any time is spent."""
    try:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not there.is_dir():
            raise InputError("this is a file", place=str(there), remedy="Name a folder")
    except (OSError, ValueError) as error:
        raise _cannot_be_created(folder, error) from error
    if not os.access(there, os.W_OK):
        raise InputError("you may not write to this folder", place=str(there), remedy="Name another folder")


def _cannot_be_created(folder: Path, error: OSError | ValueError) -> InputError:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"cannot be created ({reason})", place=str(folder), remedy="Name another folder")


def write(comparison: Comparison, folder: Path) -> list[Path]:
    """Write tables and plots into a folder, which is made where it is not there; each file whole or not at all.

    Plots that an earlier comparison left there go, since its tables do too; nothing else is touched.
    """
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_be_created(folder, error) from error
    document = json.dumps(comparison.to_dict(), indent=2, allow_nan=False) + "\n"
    tables = {"comparison.md": markdown(comparison), "comparison.csv": csv_text(comparison)}
    texts = tables | plots(comparison) | {TABLE: document}  # which is last: until then it tells what is to go
    old = _earlier_plots(folder)
    for name, text in texts.items():
        with atomic_output(folder / name) as stream:
            stream.write(text.encode())
    new = {name.lower() for name in texts}
    for file in old:
        if file.name.lower() not in new:
            file.unlink(missing_ok=True)
    return [folder / name for name in texts]


def plots(comparison: Comparison, measures: Sequence[str] = tuple(MEASURES)) -> dict[str, str]:
    """The images by the name of their file."""
    names = file_names([log.name for log in comparison.logs])
    return {
        f"{file}-{measure}.svg": plot(comparison, log, measure)
        for log, file in names.items()
        for measure in measures
        if curves_of(comparison, log, measure)
    }


def _earlier_plots(folder: Path) -> list[Path]:
    """The plots of the comparison that is in a folder: named after its logs, and with our own words in them."""
    try:
        before = json.loads((folder / TABLE).read_text(encoding="utf-8"))
        logs = [str(log["name"]) for log in before["logs"]] if before["document"] == DOCUMENT else []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    files = (folder / f"{name}-{measure}.svg" for name in file_names(logs).values() for measure in MEASURES)
    return [file for file in files if _is_plot(file)]


def _is_plot(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            beginning = stream.read(BEGINNING)
    except OSError:
        return False
    return beginning.startswith(b"<svg") and IN_A_PLOT.encode() in beginning


def file_names(logs: Sequence[str]) -> dict[str, str]:
    """What the files of each log begin with: its name as far as any system takes it, each once."""
    names: dict[str, str] = {}
    for log in logs:
        plain = re.sub(r"[^\w.-]+", "-", log).strip(".-") or "log"
        taken, number = {name.lower() for name in names.values()}, 1
        while (plain if number == 1 else f"{plain}-{number}").lower() in taken:
            number += 1
        names[log] = plain if number == 1 else f"{plain}-{number}"
    return names
