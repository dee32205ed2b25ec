"""A comparison as Markdown with one table a log, as CSV with one line a run, and as files with a plot for every log and measure.

No cell of the CSV can be taken for a formula by a spreadsheet. Each file is written whole or not at all. Plots that an earlier
comparison left in the folder go, since its tables do too; nothing else is touched.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from libra._system.files import atomic_output
from libra.comparison.comparison import CONFIDENTIAL, DOCUMENT, MEASURES, Comparison, Outcome
from libra.errors import InputError
from libra.eventlog.tables.csv_write import FORMULA
from libra.measures.utility import FIGURES
from libra.reporting.comparison_tables import FIRST, LEGEND, Table, table_of
from libra.reporting.curves import CONFIDENTIAL as IN_A_PLOT
from libra.reporting.curves import curves_of, plot

RESULTS = ("cases", "has_times", "seconds", "peak_megabytes", "reading_megabytes", "guarantee", "unit")
RUN = ("log", "mechanism", "setting", "parameters", "epsilon", "delta", "seed")
HEADER = (*RUN, *FIGURES, *RESULTS, "missing", "reason")
TABLE = "comparison.json"
BEGINNING = 2_000  # bytes of a plot, in which it says what it is


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


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before any time is spent."""
    try:
        there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
        if not there.is_dir():
            raise InputError("this is a file", place=str(there), remedy="Name a folder")
    except (OSError, ValueError) as error:
        raise _cannot_be_made(folder, error) from error
    if not os.access(there, os.W_OK):
        raise InputError("you may not write to this folder", place=str(there), remedy="Name another folder")


def _cannot_be_made(folder: Path, error: OSError | ValueError) -> InputError:
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    return InputError(f"cannot be made ({reason})", place=str(folder), remedy="Name another folder")


def write(comparison: Comparison, folder: Path) -> list[Path]:
    """Write tables and plots into a folder, which is made where it is not there."""
    check_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _cannot_be_made(folder, error) from error
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
    images = {}
    names = plot_names(comparison)
    for log in comparison.logs:
        for measure in measures:
            if curves_of(comparison, log.name, measure):
                images[f"{names[log.name]}-{measure}.svg"] = plot(comparison, log.name, measure)
    return images


def _earlier_plots(folder: Path) -> list[Path]:
    """The plots of the comparison that is in a folder: named after its logs, and with our own words in them."""
    try:
        before = json.loads((folder / TABLE).read_text(encoding="utf-8"))
        logs = [str(log["name"]) for log in before["logs"]] if before["document"] == DOCUMENT else []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    files = (folder / f"{name}-{measure}.svg" for name in _file_names(logs).values() for measure in MEASURES)
    return [file for file in files if _is_plot(file)]


def _is_plot(file: Path) -> bool:
    try:
        with file.open("rb") as stream:
            beginning = stream.read(BEGINNING)
    except OSError:
        return False
    return beginning.startswith(b"<svg") and IN_A_PLOT.encode() in beginning


def plot_names(comparison: Comparison) -> dict[str, str]:
    """What the files of a log begin with: its name as far as any system takes it, each once."""
    return _file_names([log.name for log in comparison.logs])


def _file_names(logs: Sequence[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for log in logs:
        plain = re.sub(r"[^\w.-]+", "-", log).strip(".-") or "log"
        taken, number = {name.lower() for name in names.values()}, 1
        while (plain if number == 1 else f"{plain}-{number}").lower() in taken:
            number += 1
        names[log] = plain if number == 1 else f"{plain}-{number}"
    return names


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
