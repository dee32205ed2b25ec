"""Small steps of the mechanisms, each on numbers that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.eventlog.cases import Cases, traces_of
from libra.mechanisms.fresh_log import FIRST, placeholder_times
from libra.mechanisms.libra.algorithm import left_out, noise_on_edges, notes_on_zone
from libra.mechanisms.libra.generate import first_cases
from libra.mechanisms.libra.plan import checked_labels, checked_rate_of
from libra.mechanisms.libra.tail.release import TailFigures
from libra.mechanisms.libra.times import calendar, durations
from libra.mechanisms.libra.times.generate import finest_grain
from libra.mechanisms.libra.times.histogram import tree
from libra.mechanisms.libra.times.release import TimeFigures, counted_twice
from libra.mechanisms.peers import at_relative_times
from libra.mechanisms.prefix_tree import enough_to_prune
from libra.mechanisms.pripel.values import bounded_laplace
from libra.mechanisms.variant_queries import Counted, largest_mu
from libra.privacy.accounting import delta_of_ledger
from libra.privacy.gate import geometric_entry
from libra.privacy.gaussian import upper_tail
from libra.privacy.guarantee import certainty, doubt_left
from libra.privacy.ledger import ROUNDED_GAUSSIAN, TRUNCATED_GEOMETRIC, Entry, Ledger
from libra.privacy.noise import NoisyTable, bound_of_geometric, truncated_geometric
from libra.privacy.selection import BoundedRule


def test_steps_know_their_edge_and_cases_their_norm() -> None:
    assert durations.steps_of(traces_of([[0, 1, 1, 1], [2]]), 3).edge.tolist() == [1, 4, 4]
    some = durations.steps_of(traces_of([[0, 1, 1, 1, 1], [0, 1], [0, 2], [2]]), 3)
    norms = durations.norms_of(some, np.array([9, 1, 0, 7]), np.ones(9))
    assert norms.norms.tolist() == pytest.approx([10**0.5, 1.0])
    assert norms.quantile(0.9) == pytest.approx(10**0.5)
    assert norms.quantile(0.05) == 1.0
    assert norms.lost(1.0) == pytest.approx(36 * (1 - 10**-0.5) / 37)


def test_two_looks_at_the_same_counts_are_one_better_look() -> None:
    once, again = NoisyTable(np.array([9, 1]), 1, 2.0), NoisyTable(np.array([5, 1, 2]), 1, 2.0)
    both = counted_twice(once, again, (0, 1))
    assert both.values.round(2).tolist() == [[7.0, 1.67]]
    assert both.variances.round(2).tolist() == [[2.0, 2.67]]


def test_groups_of_durations_have_about_the_same_mass_hours_and_width() -> None:
    ends = durations.groups_of(np.full(tables.DURATION_BINS, 1 / tables.DURATION_BINS))
    assert (ends[:2], len(ends), ends[-1]) == ((1, 2), 10, tables.FINE_BINS)
    assert durations.groups_of(np.eye(1, tables.DURATION_BINS)[0]) == (1, 2, 10)


def test_groups_are_cut_as_far_as_the_first_look_fills_them() -> None:
    cells = tables.EdgeCells(1, (0,), (), (64, 32), (1, 2, 10, 690), (0,) * 8)
    first = NoisyTable(np.array([9e3, 9e3, 9e3, 90.0, 0, 0, 20.0, 15.0]).astype(np.int64), 1, 10.0)
    assert durations.parts_of_groups(first, cells).tolist() == [[0, 0, 3, 2], [0, 0, 0, 0]]


def test_a_tree_adds_up_pairs_to_its_root() -> None:
    levels = tree(np.array([[1.0, 2.0, 3.0, 4.0]]), 1.0)
    assert [level.values.tolist() for level in levels] == [[[10.0]], [[3.0, 7.0]], [[1.0, 2.0, 3.0, 4.0]]]


def test_hours_and_durations_follow_their_shares() -> None:
    counts = np.zeros(48, np.int64)
    counts[9:17] = 5000
    assert calendar.hour_shares(NoisyTable(counts, 1, 3.0))[0, 8:11].round(1).tolist() == [0.0, 0.1, 0.1]
    assert finest_grain(TimeFigures({}, (), (), ())) == 1_000_000


def test_the_size_of_the_tail_comes_from_all_its_tables() -> None:
    size, lengths, norms = (NoisyTable(np.array(counts), scale=1, sd=2.0) for counts in ([40], [30, 11], [0, 39]))
    figures = TailFigures(size, lengths, norms)
    assert figures.cases[0] == pytest.approx(40)
    assert TailFigures.from_dict(figures.to_dict()).cases == figures.cases


def test_options_are_brought_into_one_form() -> None:
    assert checked_labels("private") == "private"
    assert checked_labels(["triage", "admit", "triage"]) == ("admit", "triage")
    assert [checked_rate_of(*said) for said in ((None, None), (None, 20), (0.1, None))] == [1.0, 0.05, 0.1]


def test_notes_say_how_far_steps_can_be_believed_and_whether_the_zone_counted() -> None:
    assert "noise of about 12:" in noise_on_edges(12.2, certain=False)
    assert "with a count below about 36" in noise_on_edges(12.2, certain=False)
    assert "noise of about 12." in noise_on_edges(12.2, certain=True)
    assert "about 1 in 50 of those in this log may occur in no original case" in noise_on_edges(12.2, certain=True)
    assert "noise: about 7.5 % of the steps" in left_out(0.075, 0.02)
    assert "noise: less than about 7.0 % of the steps" in left_out(0.03, 0.02)
    assert "noise: less than about 4.0 % of the steps" in left_out(-0.01, 0.02)
    assert left_out(0.4, 0.9).startswith("Hardly any step of the rare cases stood out from the noise")
    assert not list(notes_on_zone("Asia/Tokyo", has_zone=True))
    assert len(list(notes_on_zone("Asia/Tokyo", has_zone=False))) == 1


def test_parts_of_a_log_are_about_equal() -> None:
    assert first_cases(7, 2_500_000).tolist() == [0, 3, 5]
    assert first_cases(7, 70).tolist() == [0]


def test_times_are_whole_milliseconds_in_order_or_placeholders() -> None:
    codes, times, offsets, variant = map(np.array, ([0, 1, 2], [0, 0, 0], [0, 2, 3], [0, 1]))
    cases = Cases(codes, times, offsets, variant, n_activities=3)
    assert at_relative_times(cases, np.array([5000.0, -7.0, 0.0]), origin=10_000).micros.tolist() == [15000, 16000, 10000]
    assert (placeholder_times(np.array([0, 2, 3])) - FIRST).tolist() == [0, 60_000_000, 0]


def test_few_cases_are_pruned_where_their_tree_does_not_run_away() -> None:
    many, few = (Counted(traces_of([[0], [1]]), np.array([half, half])) for half in (900, 9))
    assert (enough_to_prune(many, 1.0, n_labels=16), enough_to_prune(few, 1.0, n_labels=16)) == (18, 3)


def test_cut_laplace_noise_stays_within_its_bounds() -> None:
    same = np.full(20_000, 3.0)
    noisy = bounded_laplace(same, 0 * same, 10 + 0 * same, 10 + 0 * same, 1.0, Randomness(seed=1))
    assert (noisy >= 0).all()
    assert (noisy <= 10).all()
    assert 4.2 < float(noisy.mean()) < 4.6


def test_times_may_spend_all_that_a_query_leaves() -> None:
    query = Entry("variants", TRUNCATED_GEOMETRIC, 1.0, 2.0, bound=20)
    together = Ledger((query, Entry("times", ROUNDED_GAUSSIAN, largest_mu([query], 1.0, 1e-4), 1.0)))
    assert 0.9e-4 < delta_of_ledger(together, 1.0) <= 1e-4


def test_bounded_noise_never_shows_what_nobody_follows() -> None:
    assert geometric_entry(1.0, bound_of_geometric(1.0, 1e-4)).bound == 9
    rows, noisy = BoundedRule(truncated_geometric(1.0, 1e-9)).passing(np.array([900, 1]), Randomness())
    assert rows.tolist() == [0]
    assert abs(noisy[0] - 900) < 30


def test_doubt_is_rounded_down() -> None:
    assert upper_tail(1.959964) == pytest.approx(0.025, abs=1e-6)
    assert doubt_left(1.0, 1e-5) == pytest.approx(0.269, abs=1e-3)
    assert [certainty(doubt) for doubt in (0.25, 0.0004, 1e-9)] == ["75.0 %", "99.960 %", "100 %"]
