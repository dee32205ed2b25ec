"""Traces for the tail: distinct, none of them kept, of edges that were released, and as many cases as the figures say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from some_logs import all_different, log_from, structured

from libra._system.randomness import Randomness
from libra.engines.contract import FINE
from libra.engines.control_flow_tables import (
    LENGTH_BINS,
    NORM_BINS,
    BaseEdges,
    BaseNorms,
    Contexts,
    DoubtfulEdges,
    ExcessEdges,
    ExcessNorms,
    Lengths,
    Occurring,
    Size,
    Together,
    edge_uses,
)
from libra.engines.polars import engine_of
from libra.eventlog.cases import traces_of
from libra.eventlog.log import EventLog
from libra.measures.edges import pair_edges
from libra.measures.utility import dfg_l1
from libra.measures.within_cases import cooccurrence_slope
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.figures import ControlFigures
from libra.mechanisms.libra.plan import Edges
from libra.mechanisms.libra.tail import generate
from libra.mechanisms.libra.tail.edges import Figures, Products, weak_edges
from libra.mechanisms.libra.tail.generate import candidates, weighted_traces
from libra.mechanisms.libra.tail.release import TailFigures
from libra.privacy.noise import NoisyTable

WITHIN = 3.0  # said here once more: a change has to be meant
Floats = NDArray[np.float64]


def released(log: EventLog, epsilon: float, seed: int = 1, edges: Edges = "certain") -> ControlFigures:
    return Libra(epsilon=epsilon, delta=1e-4, edges=edges).anonymize(log, Randomness(seed=seed)).figures[0].control


@pytest.mark.parametrize("edges", ["certain", "all"])
@pytest.mark.parametrize("kind", ["structured", "different"])
@pytest.mark.parametrize("epsilon", [1.0, 8.0])
def test_candidates_are_distinct_new_and_as_many_as_was_released(kind: str, epsilon: float, edges: Edges) -> None:
    control = released(structured() if kind == "structured" else log_from(all_different(600)), epsilon, edges=edges)
    tail = control.tail
    assert tail is not None
    assert tail.base is not None
    traces, weights = weighted_traces(tail, control.kept, control.n_labels, Randomness(seed=1))
    found = [tuple(trace) for trace in traces.to_lists()]
    assert len(set(found)) == len(found) == len(weights) > 2
    assert not set(found) & {tuple(trace) for trace in control.kept.to_lists()}
    assert traces.lengths.min() >= 1
    assert traces.lengths.max() <= tail.longest
    assert (weights >= 0).all()
    cases, sd = tail.cases
    assert 0.8 * cases <= weights.sum() <= (cases + WITHIN * sd) * (1 + 1e-9)
    allowed = np.array(tail.edges)
    if edges == "all":
        allowed = np.union1d(allowed, weak_edges(tail.base, allowed))
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


def test_candidates_are_described_exactly_as_cases_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Capped and clipped the same way: a log of the candidates counts in every table what balancing takes them to count."""
    words = ["abcd" * (i % 7 * (i % 2)) + "a" * (i % 11) + word for i, word in enumerate(all_different(2000, "abcd"))]
    control = released(log_from(words), epsilon=20.0)
    tail, heard = control.tail, []
    assert tail is not None
    assert tail.together is not None

    def balance(tables: list[Figures | Products], prior: Floats, patience: tuple[int, float]) -> Floats:
        heard.extend(tables)
        return prior

    monkeypatch.setattr(generate, "balance", balance)
    traces, _ = weighted_traces(tail, control.kept, control.n_labels, Randomness(seed=1))
    engine = engine_of(log_from([["abcd"[code] for code in trace] for trace in traces.to_lists()]))
    edges, contexts = np.array(tail.edges), np.array(tail.contexts)
    asked: list[Any] = [
        *(Size(), Lengths(), BaseNorms(), BaseEdges(4, tail.clip)),
        *(() if tail.second is None else (DoubtfulEdges(4, np.array(tail.doubtful)),)),
        ExcessNorms(edges, 4),
        *(ExcessEdges(4, tail.excess_clip, edges), Contexts(4, contexts, tail.clip)),
        Occurring(4, np.arange(4), tail.occurring_clip),
        Together(4, np.arange(4), np.array(tail.usual), tail.together_clip),
    ]
    assert engine.labels == ("a", "b", "c", "d")
    assert len(heard) == len(asked)
    for table, figures in zip(asked, heard, strict=True):
        counted = engine.count(table).ravel() / table.scale
        lost = len(traces) / FINE if table.scale == FINE else 0.0  # contributions are rounded toward zero
        if isinstance(figures, Products):
            columns = (figures.sets - figures.usual)[figures.kind]
            sums = columns.T @ (columns * figures.factor[figures.kind][:, None])
            assert sums[np.triu_indices(4, 1)] == pytest.approx(counted, abs=lost + 1e-6), table.purpose
            continue
        described = np.bincount(figures.cell, figures.amount)
        assert described == pytest.approx(counted[counted > 0], abs=lost + 1e-6), table.purpose
    for table, figures in ((asked[3], heard[3]), (asked[-4], heard[-4])):
        assert isinstance(figures, Figures)
        norms = np.sqrt(np.bincount(figures.candidate, figures.amount**2))
        assert norms.max() == pytest.approx(table.clip)
        uncapped = np.sqrt(edge_uses(traces, 4).base().square_norms(len(traces)))
        assert uncapped.max() > tail.clip, "the case under test did not happen"


def believable(edges: dict[tuple[int, int], int], n_labels: int, cases: int, **more: Any) -> TailFigures:
    """Figures that say there are so many cases of two events, and these edges."""
    counts = np.zeros((n_labels + 1, n_labels + 1), np.int64)
    for edge, count in edges.items():
        counts[edge] = count
    lengths, norms = np.zeros(len(LENGTH_BINS), np.int64), np.zeros(len(NORM_BINS), np.int64)
    lengths[2] = norms[4] = cases
    size, length, norm = (NoisyTable(table, 1, 2.0) for table in (np.array([cases]), lengths, norms))
    cells = tuple(np.flatnonzero(counts).tolist())
    return TailFigures(size, length, norm, 12, 4.0, NoisyTable(counts, 1, 1.0), cells, **more)


def test_edges_that_say_otherwise_do_not_make_more_cases_than_were_counted() -> None:
    figures = believable({(2, 0): 9000, (0, 1): 9000, (1, 2): 9000}, n_labels=2, cases=100)
    cases, sd = figures.cases
    assert cases == pytest.approx(100)
    traces, weights = weighted_traces(figures, traces_of([]), 2, Randomness(seed=1))
    assert traces.to_lists() == [[0, 1]]
    assert weights.sum() == pytest.approx(cases + WITHIN * sd)


def test_where_nothing_is_known_of_how_cases_go_on_they_go_on_as_from_anywhere_else() -> None:
    """A context whose noisy continuations are all below zero says nothing; the row of the last label does."""
    edges = {(3, 0): 1000, (0, 1): 1000, (1, 2): 700, (1, 3): 300, (2, 3): 700}
    silent = NoisyTable(np.full((1, 4), -5), 1, 1.0)
    told = NoisyTable(np.array([[0, 0, 0, 900]]), 1, 1.0)
    shares = []
    for continuations in (silent, told):
        figures = believable(edges, n_labels=3, cases=1000, contexts=(1,), continuations=continuations)
        assert figures.base is not None
        traces, share = candidates(figures, figures.base, np.zeros(0, np.int64), traces_of([]), Randomness(seed=1))
        shares.append(sum(part for trace, part in zip(traces.to_lists(), share, strict=True) if trace == [0, 1, 2]))
    assert shares[0] == pytest.approx(0.7, abs=0.03)
    assert shares[1] < 0.02


def test_an_early_choice_still_decides_a_late_step() -> None:
    """What lies between is the same after either choice and longer than two steps, so edges and contexts know nothing of it."""
    random = np.random.Generator(np.random.PCG64(1))
    between = ["".join(random.permutation(list("bcde"))) + "f" * int(random.integers(1, 9)) for _ in range(4000)]
    log = log_from([start + some + end for some, (start, end) in zip(between, (("a", "x"), ("z", "y")) * 2000, strict=False)])
    kept = cooccurrence_slope(log, Libra(epsilon=2.0, delta=1e-4).anonymize(log, Randomness(seed=1)).log)
    assert kept is not None
    assert kept > 0.8


def test_loops_last_as_long_as_they_did() -> None:
    """Contexts count two uses a case; what they say of leaving a loop must not end one that most stay in for long."""
    rounds = np.random.Generator(np.random.PCG64(1)).geometric(1 / 79, 3000)
    log = log_from(["a" + "bc" * int(times) + "d" for times in rounds])
    off = []
    for seed in range(3):
        made = Libra(epsilon=5.0, delta=1e-4).anonymize(log, Randomness(seed=seed)).log
        off.append(dfg_l1(pair_edges(log, made)) or 0.0)
    assert np.mean(off) < 0.1
