"""A comparison as files: comparison.md, .csv and .json, and a plot for every log and measure that has figures.

In: a comparison and a folder. Out: the names of what was written, each file whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from libra.comparison.comparison import MEASURES, Comparison
from libra.comparison.plot import lines_of
from libra.errors import InputError
from libra.eventlog.files import atomic_output


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
    texts = {
        "comparison.md": comparison.to_markdown(),
        "comparison.csv": comparison.to_csv(),
        "comparison.json": document,
    } | plots(comparison, measures)
    for name, text in texts.items():
        with atomic_output(folder / name) as stream:
            stream.write(text.encode())
    return [folder / name for name in texts]


def plots(comparison: Comparison, measures: Sequence[str] = tuple(MEASURES)) -> dict[str, str]:
    """The images by the name of their file."""
    images = {}
    names = plot_names(comparison)
    for log in comparison.logs:
        for measure in measures:
            if lines_of(comparison, log.name, measure):
                images[f"{names[log.name]}-{measure}.svg"] = comparison.plot(log.name, measure)
    return images


def plot_names(comparison: Comparison) -> dict[str, str]:
    """What the files of a log begin with: its name as far as any system takes it, each once."""
    names: dict[str, str] = {}
    for log in comparison.logs:
        plain = re.sub(r"[^\w.-]+", "-", log.name).strip(".-") or "log"
        taken, number = {name.lower() for name in names.values()}, 1
        while (plain if number == 1 else f"{plain}-{number}").lower() in taken:
            number += 1
        names[log.name] = plain if number == 1 else f"{plain}-{number}"
    return names
