"""What a trace says about control flow, as whole numbers: the edges and the contexts it uses, and how often.

In: traces. Out: one row for every pair of a trace and an edge (or a context's continuation) that it uses. The same functions
describe raw traces behind the gate and candidates after it, so that the model is fitted to what was counted. Node `n_labels`
stands for the start where an edge comes from and for the end where it goes to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from libra.eventlog.cases import Integers, Traces

CAP = 2  # base edges count a case's first two uses of an edge, excess edges all others


@dataclass(frozen=True, eq=False, repr=False)
class Uses:
    """How often (`times`) the trace in row `row` uses cell `cell`; ordered by row, then cell, each pair once."""

    row: Integers
    cell: Integers
    times: Integers

    def base(self) -> Uses:
        """The first two uses."""
        return Uses(self.row, self.cell, np.minimum(self.times, CAP))

    def excess(self) -> Uses:
        """All uses beyond the first two."""
        more = self.times > CAP
        return Uses(self.row[more], self.cell[more], self.times[more] - CAP)

    def of(self, cells: Integers, n_cells: int) -> Uses:
        """The uses of these cells alone."""
        wanted = np.zeros(n_cells, bool)
        wanted[cells] = True
        chosen = wanted[self.cell]
        return Uses(self.row[chosen], self.cell[chosen], self.times[chosen])

    def square_norms(self, n_rows: int) -> Integers:
        """For every row, the squared L2 norm of its uses."""
        return np.bincount(self.row, self.times * self.times, minlength=n_rows).astype(np.int64)


def padded(traces: Traces, n_labels: int) -> Traces:
    """The traces with the artificial start before and the artificial end after them.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> padded(traces_of([[0, 1], []]), n_labels=2).to_lists()
        [[2, 0, 1, 2], [2, 2]]
    """
    offsets = traces.offsets + 2 * np.arange(len(traces) + 1)
    codes = np.full(offsets[-1], n_labels, np.int64)
    inside = np.ones(len(codes), bool)
    inside[offsets[:-1]] = False
    inside[offsets[1:] - 1] = False
    codes[inside] = traces.codes
    return Traces(codes, offsets)


def edge_uses(traces: Traces, n_labels: int) -> Uses:
    """How often each trace uses each edge; edge (a, b) is cell a * (n_labels + 1) + b.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> uses = edge_uses(traces_of([[0, 0, 0, 0]]), n_labels=1)
        >>> uses.cell.tolist(), uses.times.tolist()
        ([0, 1, 2], [3, 1, 1])
    """
    row, edge = edges_of(traces, n_labels)
    return _counted(row, edge, (n_labels + 1) ** 2)


def edges_of(traces: Traces, n_labels: int) -> tuple[Integers, Integers]:
    """Row and edge of every single step, start and end included, in the order of the traces.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> row, edge = edges_of(traces_of([[0, 1], [1]]), n_labels=2)
        >>> row.tolist(), edge.tolist()
        ([0, 0, 0, 1, 1], [6, 1, 5, 7, 5])
    """
    whole = padded(traces, n_labels)
    row = whole.rows
    edge = whole.codes[:-1] * (n_labels + 1) + whole.codes[1:]
    within = row[:-1] == row[1:]
    return row[:-1][within], edge[within]


def context_uses(traces: Traces, contexts: Integers, n_labels: int) -> Uses:
    """How often each trace goes on from each of these edges, and where to.

    `contexts` are edges in ascending order; cell i * (n_labels + 1) + c says that c follows on `contexts[i]`.

    Example:
        >>> from libra.eventlog.cases import traces_of
        >>> context_uses(traces_of([[0, 0, 0, 0]]), np.array([0]), n_labels=1).cell.tolist()
        [0, 1]
    """
    row, edge = edges_of(traces, n_labels)
    place = np.full((n_labels + 1) ** 2, -1, np.int64)
    place[contexts] = np.arange(len(contexts))
    goes_on = (row[:-1] == row[1:]) & (place[edge[:-1]] >= 0)
    cell = place[edge[:-1][goes_on]] * (n_labels + 1) + edge[1:][goes_on] % (n_labels + 1)
    return _counted(row[:-1][goes_on], cell, len(contexts) * (n_labels + 1))


def _counted(row: Integers, cell: Integers, cells: int) -> Uses:
    pairs, times = np.unique(row * max(cells, 1) + cell, return_counts=True)
    row, cell = np.divmod(pairs, max(cells, 1))
    return Uses(row, cell, times)
