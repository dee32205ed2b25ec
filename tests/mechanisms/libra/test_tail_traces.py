"""Traces for the tail: distinct, none of them kept, of edges that were released, and as many cases as the figures say."""

from __future__ import annotations

import numpy as np
import pytest
from some_logs import all_different, log_from, structured

from libra.engines.features import edge_uses
from libra.eventlog.log import EventLog
from libra.eventlog.traces import traces_of
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.figures import ControlFigures
from libra.mechanisms.libra.tail import weighted_traces
from libra.mechanisms.libra.tail.edges import weak_edges
from libra.mechanisms.libra.tail.generate import WITHIN
from libra.privacy.randomness import Randomness


def released(log: EventLog, epsilon: float, seed: int = 1) -> ControlFigures:
    return Libra(epsilon=epsilon, delta=1e-4).anonymize(log, Randomness(seed=seed)).figures[0].control


@pytest.mark.parametrize("kind", ["structured", "different"])
@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_candidates_are_distinct_new_and_as_many_as_was_released(kind: str, epsilon: float) -> None:
    control = released(structured() if kind == "structured" else log_from(all_different(600)), epsilon)
    tail = control.tail
    assert tail is not None
    assert tail.base is not None
    traces, weights = weighted_traces(tail, control.kept, control.n_labels, Randomness(seed=1))
    found = [tuple(trace) for trace in traces.to_lists()]
    assert len(set(found)) == len(found) == len(weights) > 5
    assert not set(found) & {tuple(trace) for trace in control.kept.to_lists()}
    assert traces.lengths.min() >= 1
    assert traces.lengths.max() <= tail.longest
    assert (weights >= 0).all()
    cases, sd = tail.cases
    assert abs(weights.sum() - cases) <= WITHIN * sd * (1 + 1e-9)
    edges = np.array(tail.edges)
    allowed = np.union1d(edges, weak_edges(tail.base, edges))
    assert np.isin(edge_uses(traces, control.n_labels).cell, allowed).all()


def test_with_little_noise_lengths_and_edges_come_back() -> None:
    words = all_different(1500, "abcd")
    log = log_from(words)
    control = released(log, epsilon=20.0)
    assert control.tail is not None
    traces, weights = weighted_traces(control.tail, control.kept, control.n_labels, Randomness(seed=1))
    original = traces_of([["abcd".index(letter) for letter in word] for word in words])
    for of in ("lengths", "edges"):
        if of == "lengths":
            truth, made = np.bincount(original.lengths, minlength=30), np.bincount(traces.lengths, weights, minlength=30)
        else:
            uses, theirs = edge_uses(original, 4), edge_uses(traces, 4)
            truth = np.bincount(uses.cell, uses.times, minlength=25)
            made = np.bincount(theirs.cell, theirs.times * weights[theirs.row], minlength=25)
        assert np.abs(truth - made).sum() / truth.sum() < 0.12, of


def test_a_tail_that_is_lost_in_noise_seldom_gives_anything_and_never_much() -> None:
    given = []
    for seed in range(12):
        control = released(log_from(["ab"] * 3000 + ["ba", "aab"]), epsilon=0.5, seed=seed)
        assert control.tail is not None
        traces, weights = weighted_traces(control.tail, control.kept, control.n_labels, Randomness(seed=1))
        cases, sd = control.tail.cases
        assert len(traces) == 0 or control.tail.base is not None
        assert weights.sum() <= cases + WITHIN * sd
        given.append(len(traces) > 0)
    assert sum(given) <= 2
