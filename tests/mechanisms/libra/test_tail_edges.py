"""Edges of the tail: those that stand out, by the rule of Benjamini and Hochberg, all on some path from start to end."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, norm

from libra.mechanisms.libra.tail.edges import FALSE_SHARE, LIKELY, joined, significant_edges
from libra.privacy.noise import rounded_gaussian
from libra.privacy.noisy import NoisyTable
from libra.privacy.randomness import Randomness

Edge = tuple[int, int]


@st.composite
def tables(draw: st.DrawFn) -> NoisyTable:
    nodes = draw(st.integers(2, 6))
    cells = draw(st.lists(st.integers(-15, 40), min_size=nodes**2, max_size=nodes**2))
    return NoisyTable(np.array(cells).reshape(nodes, nodes), 1, 5.0)


def standing_out_plainly(table: NoisyTable) -> set[int]:
    """Starts, ends and all other edges, each family by itself; never from the start to the end."""
    nodes = len(table.counts)
    outside = nodes - 1
    families: dict[str, list[int]] = {"start": [], "end": [], "inner": []}
    for cell in range(nodes * nodes - 1):
        source, target = divmod(cell, nodes)
        families["start" if source == outside else "end" if target == outside else "inner"].append(cell)
    found = set()
    for cells in families.values():
        scores = table.values.ravel()[cells] / table.sd
        adjusted = false_discovery_control(norm.sf(scores))
        found |= {cell for cell, tail, score in zip(cells, adjusted, scores, strict=True) if tail <= FALSE_SHARE and score > 1}
    return found


def paths(edges: set[Edge], outside: int) -> tuple[set[int], set[int]]:
    """The labels that can be reached from the start, and those from which the end can be reached."""

    def grown(known: set[int], steps: set[Edge]) -> set[int]:
        more = known | {target for source, target in steps if source in known and target != outside}
        return known if more == known else grown(more, steps)

    forwards = grown({target for source, target in edges if source == outside} - {outside}, edges)
    backwards = grown({source for source, target in edges if target == outside} - {outside}, {(b, a) for a, b in edges})
    return forwards, backwards


def all_on_a_path(cells: list[int], nodes: int) -> bool:
    outside = nodes - 1
    edges = {(cell // nodes, cell % nodes) for cell in cells}
    reached, leaving = paths(edges, outside)
    return all((a == outside or a in reached) and (b == outside or b in leaving) for a, b in edges)


@given(tables(), st.data())
@settings(max_examples=200)
def test_edges_are_those_that_stand_out_or_are_likely_and_what_joins_them(table: NoisyTable, data: st.DataObject) -> None:
    nodes = len(table.counts)
    known = sorted(data.draw(st.sets(st.integers(0, nodes * nodes - 2))))
    found = significant_edges(table, np.array(known, np.int64)).tolist()
    wanted = standing_out_plainly(table) | {cell for cell in known if table.values.ravel()[cell] > LIKELY * table.sd}
    assert found == sorted(set(found))
    assert wanted <= set(found)
    for cell in set(found) - wanted:
        assert (cell // nodes == nodes - 1) != (cell % nodes == nodes - 1), "only starts and ends are added"
    assert bool(found) == bool(wanted)
    assert all_on_a_path(found, nodes)


@given(st.data())
@settings(max_examples=200)
def test_joining_keeps_all_edges_and_puts_each_on_a_path(data: st.DataObject) -> None:
    nodes = data.draw(st.integers(2, 6))
    edges = np.array(sorted(data.draw(st.sets(st.integers(0, nodes * nodes - 2), min_size=1))), np.int64)
    values = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=nodes**2, max_size=nodes**2))).reshape(nodes, nodes)
    found = joined(edges, values).tolist()
    assert set(edges.tolist()) <= set(found)
    assert all_on_a_path(found, nodes)
    assert all_on_a_path(joined(np.array(found, np.int64), values).tolist(), nodes)
    assert joined(np.array(found, np.int64), values).tolist() == found, "nothing is added to what is joined already"


def test_of_what_is_taken_few_are_false() -> None:
    truth = np.zeros((21, 21), np.int64)
    truth[np.arange(20), np.arange(1, 21)] = 60
    truth[20, 0] = 60
    taken = false = 0
    for seed in range(30):
        noise = rounded_gaussian(10.0, truth.size, Randomness(seed=seed)).reshape(truth.shape)
        found = significant_edges(NoisyTable(truth + noise, 1, 10.0), np.zeros(0, np.int64))
        taken += len(found)
        false += int((truth.ravel()[found] == 0).sum())
    assert taken > 30 * 18
    assert false / taken < 1.5 * FALSE_SHARE
