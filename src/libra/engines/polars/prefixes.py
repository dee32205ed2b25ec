"""Counting prefixes: every table from the distinct traces and how many cases follow each."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from libra.engines.contract import Integers
from libra.engines.prefix_tables import CASE_LENGTH_BINS, CaseLengths, CaseNumber, PrefixLevel
from libra.engines.prefixes import continuations

if TYPE_CHECKING:
    from libra.engines.polars.engine import PolarsEngine


def _number(engine: PolarsEngine, table: CaseNumber) -> Integers:
    return np.array([engine.counts.sum()])


def _lengths(engine: PolarsEngine, table: CaseLengths) -> Integers:
    cells = np.searchsorted(CASE_LENGTH_BINS, engine.traces.lengths, side="right") - 1
    return np.bincount(cells, engine.counts, minlength=len(CASE_LENGTH_BINS)).astype(np.int64)


def _level(engine: PolarsEngine, table: PrefixLevel) -> Integers:
    return continuations(engine.traces, engine.counts, table.prefixes, table.n_labels)


COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {CaseNumber: _number, CaseLengths: _lengths, PrefixLevel: _level}
