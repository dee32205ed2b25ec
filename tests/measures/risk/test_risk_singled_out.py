"""The share of cases that stand alone: what can be computed by hand comes out, within the bounds that are told."""

from __future__ import annotations

import pytest
from tiny_logs import DAY, log_from, log_of, traces

from libra.measures.risk import risk_of_log
from libra.measures.risk.assess import QUICK, SAMPLES, THOROUGH, Effort, risk_of_release
from libra.measures.risk.figures import Estimate, SingledOut


def found(log_cases: tuple[str, ...], **how: bool) -> dict[tuple[str, int | None], SingledOut]:
    log = log_of(*log_cases) if how.get("timed") else traces(*log_cases)
    return {(one.knowledge, one.events): one for one in risk_of_log(log).singled_out}


def within(estimate: Estimate, truth: float) -> bool:
    return estimate.lowest <= truth <= estimate.highest and estimate.highest - estimate.lowest < 0.03


@pytest.mark.parametrize(
    ("kind", "k", "truth"),
    [
        # one event: of abc and abd, only c and d tell; of bb and bba, none does
        ("set", 1, (1 / 3 + 1 / 3 + 0 + 0) / 4),
        ("multiset", 1, (1 / 3 + 1 / 3 + 0 + 0) / 4),
        ("sequence", 1, (1 / 3 + 1 / 3 + 0 + 0) / 4),
        # two events, as sets: abc is told by ac and bc, abd by ad and bd; ab is in three cases, b in all
        ("set", 2, (2 / 3 + 2 / 3 + 0 + 0) / 4),
        # as multisets: bb is in two cases
        ("multiset", 2, (2 / 3 + 2 / 3 + 0 + 0) / 4),
        # in order: bba alone has b before a, which two of its three pairs show
        ("sequence", 2, (2 / 3 + 2 / 3 + 0 + 2 / 3) / 4),
        # three events are all there are: bb as a set is b, as a multiset also in bba
        ("set", 3, (1 + 1 + 0 + 0) / 4),
        ("multiset", 3, (1 + 1 + 0 + 1) / 4),
        ("sequence", 5, (1 + 1 + 0 + 1) / 4),
        ("variant", None, 1.0),
    ],
)
def test_shares_computed_by_hand_come_out(kind: str, k: int | None, truth: float) -> None:
    assert within(found(("abc", "abd", "bb", "bba"))[kind, k].share, truth)


def test_crowds_computed_by_hand_come_out() -> None:
    one = found(("a", "a", "a", "b"))["set", 1]
    assert one.crowd_mean == pytest.approx(0.75 * 3 + 0.25, abs=0.05)
    assert one.crowd_median == 3
    variant = found(("a", "a", "a", "b"))["variant", None]
    assert (variant.share.value, variant.crowd_mean, variant.crowd_median) == (0.25, 2.5, 3)


def test_days_single_out_who_came_when_nobody_else_did() -> None:
    cases = ("a0 b5", "a0 b7", f"a0 b{DAY}")
    figures = found(cases, timed=True)
    assert within(figures["days", 1].share, (0 + 0 + 1 / 2) / 3)
    assert within(figures["days", 2].share, 1 / 3)
    assert figures["sequence", 2].share.value == 0


def test_the_truth_is_within_the_bounds_for_most_seeds() -> None:
    log = traces("abc", "abd", "bb", "bba")
    shares = [risk_of_log(log, seed=seed).singled_out[0].share for seed in range(40)]
    assert sum(share.lowest <= 1 / 6 <= share.highest for share in shares) >= 35
    assert len({share.value for share in shares}) > 10


def test_figures_can_be_repeated() -> None:
    log = traces("abc", "abd", "bb", "bba")
    assert risk_of_log(log) == risk_of_log(log)


def test_an_empty_log_has_no_figures() -> None:
    assert risk_of_log(log_from([])).singled_out == ()


def test_fewer_cases_are_drawn_where_each_is_compared_with_very_many() -> None:
    variants = (1, 10_000, 100_000, 10_000_000)
    assert [THOROUGH.samples(many) for many in variants] == [SAMPLES, SAMPLES, 1000, 300]
    assert [QUICK.samples(many) for many in variants] == [SAMPLES, 4000, 400, 100]


def test_with_less_effort_less_is_known_for_sure() -> None:
    log = traces("abc", "abd", "bb", "bba")
    thorough, quick = (risk_of_release(log, log, effort=one).before for one in (THOROUGH, Effort(work=1, fewest=100)))
    assert (thorough.samples, quick.samples) == (SAMPLES, 100)
    assert risk_of_release(log, log).before == thorough
    wide, narrow = (one.singled_out[0].share for one in (quick, thorough))
    assert wide.highest - wide.lowest > 5 * (narrow.highest - narrow.lowest)
    assert wide.lowest <= 1 / 6 <= wide.highest
