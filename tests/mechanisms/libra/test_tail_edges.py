"""Edges of the tail: those that stand out, by the rule of Benjamini and Hochberg, all on some path from start to end."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, norm

from libra._system.randomness import Randomness
from libra.mechanisms.libra.tail.edges import believed, joined, significant_edges, weak_edges
from libra.privacy.noise import NoisyTable, rounded_gaussian

Edge = tuple[int, int]
FALSE_SHARE, LIKELY = 0.1, 0.5  # said here once more: a change has to be meant
NONE = np.zeros(0, np.int64)


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
        found = significant_edges(NoisyTable(truth + noise, 1, 10.0), NONE)
        taken += len(found)
        false += int((truth.ravel()[found] == 0).sum())
    assert taken > 30 * 18
    assert false / taken < 1.5 * FALSE_SHARE


def test_of_noise_alone_hardly_any_table_gives_an_edge() -> None:
    some = 0
    for seed in range(100):
        noise = rounded_gaussian(10.0, 400, Randomness(seed=seed)).reshape(20, 20)
        some += len(significant_edges(NoisyTable(noise, 1, 10.0), NONE)) > 0
    assert some < 45  # three families, each a tenth of the time


def test_an_edge_of_a_kept_variant_is_taken_if_its_count_speaks_for_it_and_no_other_with_so_small_a_one() -> None:
    counts = np.zeros((4, 4), np.int64)
    counts[3, 0] = counts[0, 1] = counts[1, 3] = 100
    counts[0, 2], counts[2, 1], counts[1, 0], counts[1, 2] = 8, 3, 0, -8
    table = NoisyTable(counts, 1, 10.0)
    frequent = [1, 7, 12]
    assert significant_edges(table, NONE).tolist() == frequent
    assert significant_edges(table, np.array([2, 4, 6, 9])).tolist() == sorted([*frequent, 2, 11])  # and an end for it
    assert significant_edges(table, np.array([4, 6, 9])).tolist() == frequent


def test_weak_edges_lie_between_known_nodes_and_are_never_starts_or_ends() -> None:
    nodes = 8
    counts = np.zeros((nodes, nodes), np.int64)
    strong = [(7, 0), (0, 1), (1, 2), (2, 7)]
    weak = [(0, 2), (2, 1), (7, 1), (7, 2), (0, 7), (1, 7), (4, 5), (0, 5), (5, 1)]
    for edges, count in ((strong, 200), (weak, 24)):
        for source, target in edges:
            counts[source, target] = count
    table = NoisyTable(counts, 1, 10.0)
    cells = np.array(sorted(source * nodes + target for source, target in strong), np.int64)
    assert weak_edges(table, cells).tolist() == [2, 2 * nodes + 1]


def test_a_weak_edge_counts_a_fifth_and_all_others_in_full() -> None:
    table = NoisyTable(np.array([[100, 50], [-30, 7]]), 1, 9.0)
    found = believed(table, np.array([1, 2]))
    assert found.counts.tolist() == [[100, 10], [-6, 7]]
    assert (found.scale, found.sd) == (1, 9.0)
    assert table.counts[0, 1] == 50
