"""Counting prefixes: every table from the distinct traces and how many cases follow each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from libra.engines.contract import Integers
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.continuations import continuations
from libra.engines.prefix_tables import CASE_LENGTH_BINS, CaseLengths, CaseNumber, PrefixLevel


def _number(block: VariantBlock, table: CaseNumber) -> Integers:
    return np.array([block.counts.sum()])


def _lengths(block: VariantBlock, table: CaseLengths) -> Integers:
    cells = np.searchsorted(CASE_LENGTH_BINS, block.traces.lengths, side="right") - 1
    return np.bincount(cells, block.counts, minlength=len(CASE_LENGTH_BINS)).astype(np.int64)


def _level(block: VariantBlock, table: PrefixLevel) -> Integers:
    return continuations(block.traces, block.counts, table.prefixes, table.n_labels)


COUNTERS: dict[type, Callable[[Any, Any], Integers]] = {CaseNumber: _number, CaseLengths: _lengths, PrefixLevel: _level}
