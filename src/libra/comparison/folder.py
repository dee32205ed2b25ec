"""A comparison as files: comparison.md, .csv and .json, and a plot for every log and measure that has figures.

In: a comparison and a folder. Out: the names of what was written, each file whole or not at all. Plots that an earlier comparison
left there go, since its tables do too; nothing else is touched.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from libra._system.files import atomic_output
from libra.comparison.comparison import DOCUMENT, MEASURES, Comparison
from libra.errors import InputError
from libra.reporting.curves import CONFIDENTIAL, curves_of

TABLE = "comparison.json"
BEGINNING = 2_000  # bytes of a plot, in which it says what it is


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before any time is spent.

    Example:
        >>> import libra.example
        >>> try:
        ...     check_folder(libra.example.path())
        ... except InputError as error:
        ...     print(error.what)
        this is a file
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise InputError("this is a file", place=str(folder), remedy="Name a folder") from error
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot be made ({reason})", place=str(folder), remedy="Name another folder") from error
    if not os.access(folder, os.W_OK):
        raise InputError("you may not write to this folder", place=str(folder), remedy="Name another folder")


def write(comparison: Comparison, folder: Path, measures: Sequence[str] = tuple(MEASURES)) -> list[Path]:
    """Write tables and plots into a folder, which is made where it is not there."""
    check_folder(folder)
    document = json.dumps(comparison.to_dict(), indent=2, allow_nan=False) + "\n"
    tables = {"comparison.md": comparison.to_markdown(), "comparison.csv": comparison.to_csv()}
    texts = tables | plots(comparison, measures) | {TABLE: document}  # which is last: until then it tells what is to go
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
                images[f"{names[log.name]}-{measure}.svg"] = comparison.plot(log.name, measure)
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
    return beginning.startswith(b"<svg") and CONFIDENTIAL.encode() in beginning


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
