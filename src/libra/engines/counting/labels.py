"""Cases and their labels: which case has which, and cases with fewer of them."""

from __future__ import annotations

import numpy as np

from libra.engines.contract import Integers
from libra.eventlog.cases import Cases


def label_pairs(cases: Cases) -> tuple[Integers, Integers]:
    """Case and label (each pair once) of everything that happens, ordered by case.

    Example:
        >>> cases = Cases(*map(np.array, ([1, 0, 1, 2], [1, 2, 3, 4], [0, 3, 4], [0, 1])), n_activities=3)
        >>> [part.tolist() for part in label_pairs(cases)]
        [[0, 0, 1], [0, 1, 2]]
    """
    n_labels = max(cases.n_activities, 1)
    case = np.repeat(np.arange(len(cases)), cases.lengths)
    case, label = np.divmod(np.unique(case * n_labels + cases.codes), n_labels)
    return case, label


def relabelled(cases: Cases, labels: tuple[str, ...], chosen: tuple[str, ...]) -> Cases:
    """The same cases without the events of all but the chosen labels, in their codes; a case with none left is left out.

    Example:
        >>> cases = Cases(*map(np.array, ([1, 0, 1, 0], [1, 2, 3, 4], [0, 3, 4], [0, 1])), n_activities=2)
        >>> fewer = relabelled(cases, ("a", "b"), ("b",))
        >>> fewer.codes.tolist(), fewer.micros.tolist(), fewer.offsets.tolist()
        ([0, 0], [1, 3], [0, 2])
    """
    code = {label: i for i, label in enumerate(chosen)}
    new = np.array([code.get(label, -1) for label in labels], np.int64)[cases.codes]
    stays = new >= 0
    left = np.unique(np.concatenate(([0], np.cumsum(stays)))[cases.offsets])
    return Cases(new[stays], cases.micros[stays], left, np.zeros(len(left) - 1, np.int64), len(chosen))
