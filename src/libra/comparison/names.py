"""What the logs of a comparison are called: a file by its name up to the first dot, others by their own name or by a number.

Files that would be called alike are told apart by the folders above them, or by the rest of their names.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from libra.errors import UsageError

if TYPE_CHECKING:
    from libra.api import Source


def named(sources: Source | Sequence[Source] | Mapping[str, Source]) -> dict[str, Source]:
    """The logs by name, no name twice.

    Example:
        >>> named(["logs/sepsis.xes.gz", "old/sepsis.csv", "sales.csv"])
        {'logs/sepsis': 'logs/sepsis.xes.gz', 'old/sepsis': 'old/sepsis.csv', 'sales': 'sales.csv'}
    """
    if isinstance(sources, Mapping):
        found = {str(name): source for name, source in sources.items()}
    else:
        several: Sequence[Source] = sources if isinstance(sources, list | tuple) else [sources]
        files = _names_of_files([_whole(source) for source in several if isinstance(source, str | Path)])
        found = {}
        for source in several:
            found[_free(files[_whole(source)] if isinstance(source, str | Path) else _own_name(source), found)] = source
    if not found:
        raise UsageError("There is no log to compare on. Name one or more.")
    return found


def _names_of_files(files: Sequence[Path]) -> dict[Path, str]:
    alike: dict[str, list[Path]] = {}
    for file in dict.fromkeys(files):
        alike.setdefault(_stem(file), []).append(file)
    return {file: name for several in alike.values() for file, name in zip(several, _apart(several), strict=True)}


def _apart(files: Sequence[Path]) -> list[str]:
    """Names for files that are called alike: with as many folders as it takes, and with endings where that is not enough."""
    ends = [[_stem(file) for file in files], [file.name for file in files]]
    for end in ends:
        for folders in range(max(len(file.parts) for file in files)):
            names = ["/".join((*_last(file, folders), last)) for file, last in zip(files, end, strict=True)]
            if len(set(names)) == len(files):
                return names
    return ends[1]


def _last(file: Path, folders: int) -> tuple[str, ...]:
    """The folders next to a file; the root of the disk is none."""
    above = file.parent.relative_to(file.anchor).parts
    return above[len(above) - folders :] if folders < len(above) else above


def _whole(file: str | Path) -> Path:
    return Path(os.path.abspath(file))  # noqa: PTH100  # resolve() would follow links, whose names are what the user knows


def _stem(file: Path) -> str:
    return file.name.partition(".")[0] or file.name or "log"


def _own_name(source: Source) -> str:
    own = getattr(getattr(source, "metadata", None), "name", None)
    return own if isinstance(own, str) and own else "log"


def _free(name: str, taken: Mapping[str, Source]) -> str:
    number = 1
    while (name if number == 1 else f"{name} {number}") in taken:
        number += 1
    return name if number == 1 else f"{name} {number}"
