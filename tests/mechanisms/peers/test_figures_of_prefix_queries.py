"""prefix-laplace and sacofa on public logs: the directly-follows error that others measured, at the same settings."""

from __future__ import annotations

import numpy as np
import pytest

from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.measures import measure
from libra.mechanisms.prefix_laplace import PrefixLaplace
from libra.mechanisms.sacofa import Sacofa

FIGURES = {  # dfg_l1 at epsilon 1, pruned at 1 % of the cases, up to the average length
    "urineweginfectie": (0.295, 0.159),
    "bpic13": (0.746, 0.588),
    "sepsis": (0.971, 0.919),
    "bpic12": (0.913, 0.746),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_the_directly_follows_error_is_the_one_known(read_public: ReadPublic, name: str) -> None:
    log = read_public(name, instances="events")  # as the figures were measured
    queries: tuple[PrefixLaplace | Sacofa, ...] = (PrefixLaplace(), Sacofa())
    for query, known, within in zip(queries, FIGURES[name], (0.1, 0.2), strict=True):
        found = [measure(log, query.anonymize(log, Randomness(seed=seed)).log).dfg_l1 for seed in range(5)]
        assert np.mean(np.array(found, float)) == pytest.approx(known, rel=within), query.name
