"""Fewer labels: cases and distinct traces without the events of all labels but some.

What is left of a case depends on that case and on the labels that stay. A case with nothing left is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from libra.engines.contract import Integers
from libra.engines.counting.blocks import VariantBlock
from libra.engines.counting.distinct import distinct
from libra.eventlog.cases import Cases, Traces


def codes_among(labels: Sequence[str], staying: Sequence[str]) -> Integers:
    """For the code of every label its code among those that stay, -1 for one that does not.

    Example:
        >>> codes_among(("a", "b", "c"), ("b", "c", "d")).tolist()
        [-1, 0, 1]
    """
    code = {label: i for i, label in enumerate(staying)}
    return np.array([code.get(label, -1) for label in labels], np.int64)


def relabelled(cases: Cases, new_codes: Integers, n_labels: int) -> Cases:
    """The same cases in new codes, without the events whose new code is -1; a case with none left is left out.

    Example:
        >>> cases = Cases(*map(np.array, ([1, 0, 1, 0], [1, 2, 3, 4], [0, 3, 4], [0, 1])), n_activities=2)
        >>> fewer = relabelled(cases, np.array([-1, 0]), 1)
        >>> fewer.codes.tolist(), fewer.micros.tolist(), fewer.offsets.tolist()
        ([0, 0], [1, 3], [0, 2])
    """
    new, stays, left = _left(cases.codes, cases.offsets, new_codes)
    return Cases(new[stays], cases.micros[stays], left, np.zeros(len(left) - 1, np.int64), n_labels)


def relabelled_block(block: VariantBlock, new_codes: Integers, n_labels: int) -> VariantBlock:
    """The same traces in new codes, likewise; those that have become equal are one.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> block = VariantBlock(traces_of([[0, 1], [1], [0]]), np.array([5, 2, 1]), n_labels=2)
        >>> fewer = relabelled_block(block, np.array([-1, 0]), 1)
        >>> fewer.traces.to_lists(), fewer.counts.tolist()
        ([[0]], [7])
    """
    traces = block.traces
    new, stays, left = _left(traces.codes, traces.offsets, new_codes)
    some = np.bincount(traces.rows[stays], minlength=len(traces)) > 0
    return distinct(Traces(new[stays], left), block.counts[some], n_labels)


def _left(codes: Integers, offsets: Integers, new_codes: Integers) -> tuple[Integers, npt.NDArray[np.bool_], Integers]:
    """The new code of every event, which events stay, and where the rows that have any left begin and end."""
    new = new_codes[codes] if len(codes) else codes
    stays = new >= 0
    return new, stays, np.unique(np.concatenate(([0], np.cumsum(stays)))[offsets])
