"""What the logs of a comparison are called: a file by its name up to the first dot, others by their own name or by a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from libra.errors import UsageError

if TYPE_CHECKING:
    from libra.api import Source


def named(sources: Source | Sequence[Source] | Mapping[str, Source]) -> dict[str, Source]:
    """The logs by name, no name twice.

    Example:
        >>> named(["logs/sepsis.xes.gz", "old/sepsis.csv"])
        {'sepsis': 'logs/sepsis.xes.gz', 'sepsis 2': 'old/sepsis.csv'}
    """
    if isinstance(sources, Mapping):
        found = {str(name): source for name, source in sources.items()}
    else:
        several: Sequence[Source] = sources if isinstance(sources, list | tuple) else [sources]
        found = {}
        for source in several:
            found[_free(_name(source), found)] = source
    if not found:
        raise UsageError("There is no log to compare on. Name one or more.")
    return found


def _name(source: Source) -> str:
    if isinstance(source, str | Path):
        return Path(source).name.partition(".")[0] or Path(source).name or "log"
    own = getattr(getattr(source, "metadata", None), "name", None)
    return own if isinstance(own, str) and own else "log"


def _free(name: str, taken: Mapping[str, Source]) -> str:
    number = 1
    while (name if number == 1 else f"{name} {number}") in taken:
        number += 1
    return name if number == 1 else f"{name} {number}"
