"""How traces go on after a prefix: level by level, all prefixes at once.

In: distinct traces with counts, and prefixes of one length. Out: for each prefix and each label or the end, how many cases begin
and go on like that. Exact: prefixes are compared code by code, so a case counts in one cell at most.
"""

from __future__ import annotations

import numpy as np

from libra.eventlog.cases import Integers, Traces


def continuations(traces: Traces, counts: Integers, prefixes: Integers, n_labels: int) -> Integers:
    """How many cases go on from each prefix (a row) to each label, or to the end (the last column).

    Args:
        traces: The traces.
        counts: How many cases follow each.
        prefixes: A row of codes each, all different and equally long.
        n_labels: How many labels there are.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> continuations(traces_of([[0, 1], [0], [1, 0]]), np.array([5, 3, 2]), np.array([[0], [1]]), n_labels=2).tolist()
        [[0, 5, 3], [2, 0, 0]]
    """
    n_prefixes, depth = prefixes.shape
    lengths = traces.lengths
    rows = np.flatnonzero(lengths >= depth) if n_prefixes else np.zeros(0, np.int64)
    events = traces.offsets[rows]
    of_prefix, of_trace, n_found = np.zeros(n_prefixes, np.int64), np.zeros(len(rows), np.int64), 1
    for position in range(depth):
        known, of_prefix = np.unique(of_prefix * n_labels + prefixes[:, position], return_inverse=True)
        number = np.full(n_found * n_labels, -1)  # of each beginning so far with each label; -1 where no prefix is like that
        number[known], n_found = np.arange(len(known)), len(known)
        of_trace = number[of_trace * n_labels + traces.codes[events + position]]
        alike = np.flatnonzero(of_trace >= 0)
        rows, events, of_trace = rows[alike], events[alike], of_trace[alike]
    prefix_of = np.zeros(n_prefixes, np.int64)
    prefix_of[of_prefix] = np.arange(n_prefixes)
    ends = lengths[rows] == depth
    symbol = np.where(ends, n_labels, traces.codes[np.where(ends, 0, events + depth)] if len(rows) else 0)
    cells = n_prefixes * (n_labels + 1)
    found = np.bincount(prefix_of[of_trace] * (n_labels + 1) + symbol, counts[rows], minlength=cells)
    return found.astype(np.int64).reshape(n_prefixes, n_labels + 1)
