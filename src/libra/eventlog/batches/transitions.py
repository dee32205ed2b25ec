"""Which events are in the transitions that the user wants kept: what `select.keep_lifecycle` does, for some events at a time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from libra.errors import InputError

_SHOWN = 20


class Transitions:
    """The user's choice of transitions.

    Example:
        >>> Transitions(["complete"], True, "a.csv").keep(pl.Series(["START", "COMPLETE", None]), None).to_list()
        [False, True, False]
    """

    def __init__(self, kept: Sequence[str], known: bool, source: str) -> None:
        """`known` is whether the source says in which transition an event is; `source` names it in errors."""
        self._asked, self._source = kept, source
        self._kept = [name.strip().lower() for name in kept]
        self._found = False
        self._there: set[str] = set()
        if kept and not known:
            raise InputError(
                "there is no lifecycle column to choose transitions by",
                place=source,
                remedy="Name it with --lifecycle, or leave --lifecycle-keep out",
            )

    def keep(self, transitions: pl.Series, usable: pl.Series | None) -> pl.Series:
        """For every event whether it is usable and in one of the transitions to be kept."""
        kept = transitions.str.to_lowercase().is_in(self._kept).fill_null(False)
        kept = kept if usable is None else kept & usable
        self._found = self._found or bool(kept.any())
        if not self._found and len(self._there) < _SHOWN:
            self._there.update(transitions.drop_nulls().unique().to_list())
        return kept

    def finish(self) -> None:
        """All events have come: some must be kept, if any are to be."""
        if self._kept and not self._found:
            asked = ", ".join(f'"{name}"' for name in self._asked)
            there = ", ".join(f'"{name}"' for name in sorted(self._there)[:_SHOWN])
            raise InputError(f"no event is in the transition {asked}", place=self._source, remedy=f"The log has {there}")
