"""What ties a case together, and where time goes: equal logs, logs made by hand, and what an independent computation gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations, pairwise
from math import log10, sqrt
from random import Random
from statistics import fmean

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libra.eventlog.log import EventLog, empty_log
from libra.measures import Utility, measure
from libra.measures.utility import IN_BOTH, WITHIN_CASES
from libra.measures.within_cases import InBoth

START = datetime(2024, 5, 6, tzinfo=UTC)
LEAST = 1e-9  # decades
Case = tuple[str, Sequence[float]]  # a letter for each event, and the seconds between events (too many are left out)
words = st.sampled_from(["a", "ab", "abc", "acb", "abcd", "aa", "cab", "é"])
seconds = st.one_of(
    st.sampled_from([0.0, 60.0]), st.integers(-100, 100_000).map(float), st.integers(0, 3_000_000).map(lambda n: n / 1e6)
)
few_cases = st.lists(st.tuples(words, st.lists(seconds, min_size=3, max_size=3)), max_size=20)


def some_cases(seed: int) -> list[Case]:
    """Enough cases for every figure to be defined, or nearly so."""
    rng = Random(seed)
    variants = rng.sample(["a", "ab", "abc", "acb", "abcd", "aa", "cab", "é"], rng.randint(1, 6))
    return [
        (rng.choice(variants), [rng.choice((0, 60, round(rng.expovariate(1e-4), 6))) for _ in "abc"])
        for _ in range(rng.randint(5, 90))
    ]


case_lists = st.one_of(few_cases, st.integers(0, 10**6).map(some_cases))
unhurried = settings(deadline=None, max_examples=150)


def log_of(cases: Sequence[Case]) -> EventLog:
    rows = []
    for i, (word, gaps) in enumerate(cases):
        now = START
        for letter, gap in zip(word, (0, *gaps), strict=False):
            now += timedelta(microseconds=round(gap * 1e6))
            rows.append((i, letter, now))
    schema = {"@case": pl.UInt32(), "concept:name": pl.String(), "time:timestamp": pl.Datetime("us", "UTC")}
    return EventLog(
        pl.DataFrame(rows, schema=schema, orient="row"),
        pl.DataFrame({"concept:name": [str(i) for i in range(len(cases))]}, schema={"concept:name": pl.String}),
    )


def decades(value: float) -> float:
    return log10(1 + max(value, 0))


def by_edge(cases: Sequence[Case]) -> dict[tuple[str, str], list[float]]:
    """Edge to the seconds that its steps take."""
    found = defaultdict[tuple[str, str], list[float]](list)
    for word, gaps in cases:
        for edge, gap in zip(pairwise(word), gaps, strict=False):
            found[edge].append(gap)
    return found


def slow_shares(one: Sequence[Case], other: Sequence[Case]) -> float:
    times = [{edge: sum(max(gap, 0) for gap in gaps) for edge, gaps in by_edge(cases).items()} for cases in (one, other)]
    totals = [sum(of_edges.values()) for of_edges in times]
    if 0 in totals:
        return 0 if totals == [0, 0] else 2
    return sum(abs(times[0].get(edge, 0) / totals[0] - times[1].get(edge, 0) / totals[1]) for edge in {*times[0], *times[1]})


def slow_p90(one: Sequence[Case], other: Sequence[Case]) -> float | None:
    ours, theirs = by_edge(one), by_edge(other)
    if not ours:
        return None if theirs else 0
    apart = 0.0
    for edge, gaps in ours.items():
        both = (sorted(gaps), sorted(theirs.get(edge, [0])))
        high, other_high = (next(gap for i, gap in enumerate(some, 1) if 10 * i >= 9 * len(some)) for some in both)
        apart += len(gaps) * abs(decades(high) - decades(other_high))
    return apart / sum(map(len, ours.values()))


def slow_eta2(cases: Sequence[Case]) -> float | None:
    groups = defaultdict[str, list[float]](list)
    for word, gaps in cases:
        times = [0.0]
        for gap in gaps[: len(word) - 1]:
            times.append(times[-1] + gap)
        groups[word].append(decades(max(times) - min(times)))
    groups = defaultdict(list, {word: values for word, values in groups.items() if len(values) >= 5})
    pooled = [value for values in groups.values() for value in values]
    if len(groups) < 2 or max(pooled) - min(pooled) < LEAST:
        return None
    within = sum((value - fmean(values)) ** 2 for values in groups.values() for value in values)
    total = sum((value - fmean(pooled)) ** 2 for value in pooled)
    return 1 - (within / (len(pooled) - len(groups))) / (total / (len(pooled) - 1))


def slow_slope(one: Sequence[Case], other: Sequence[Case]) -> float | None:
    def phi(cases: Sequence[Case], letter: str, another: str) -> float:
        n, both = len(cases), sum(letter in word and another in word for word, _ in cases)
        ours, theirs = (sum(name in word for word, _ in cases) for name in (letter, another))
        covariance, spread = n * both - ours * theirs, sqrt(ours * (n - ours) * theirs * (n - theirs))
        return covariance / spread if spread else 0.0

    of_word = {letter: sum(letter in word for word, _ in one) for word, _ in one for letter in word}
    chosen = [letter for letter, cases in of_word.items() if 0.02 * len(one) <= cases <= 0.98 * len(one)]
    phis = [(phi(one, *pair), phi(other, *pair)) for pair in combinations(chosen, 2)]
    strength = sum(ours**2 for ours, _ in phis)
    return sum(ours * theirs for ours, theirs in phis) / strength if strength else None


def slow_correlation(cases: Sequence[Case]) -> float | None:
    mean = {edge: fmean(map(decades, gaps)) for edge, gaps in by_edge(cases).items()}
    pairs: list[tuple[float, float]] = []
    for word, gaps in cases:
        off = [decades(gap) - mean[edge] for edge, gap in zip(pairwise(word), gaps, strict=False)]
        pairs += pairwise(off)
    if not pairs or min(max(side) - min(side) for side in zip(*pairs, strict=True)) < LEAST:
        return None
    ours, theirs = (fmean(side) for side in zip(*pairs, strict=True))
    product = sum((x - ours) * (y - theirs) for x, y in pairs)
    return product / sqrt(sum((x - ours) ** 2 for x, _ in pairs) * sum((y - theirs) ** 2 for _, y in pairs))


@unhurried
@given(case_lists, case_lists)
def test_figures_are_those_of_a_loop(one: list[Case], other: list[Case]) -> None:
    found = measure(log_of(one), log_of(other))
    assert found.edge_time_share_l1 == pytest.approx(slow_shares(one, other), abs=1e-9)
    assert found.edge_duration_p90_log == pytest.approx(slow_p90(one, other), abs=1e-9)
    assert found.cooccurrence_slope == pytest.approx(slow_slope(one, other), abs=1e-9)
    for both, slow, difference in (
        (found.path_duration_eta2, slow_eta2, found.path_eta2_difference),
        (found.pair_duration_correlation, slow_correlation, found.pair_correlation_difference),
    ):
        assert both.original == pytest.approx(slow(one), abs=1e-6)
        assert both.anonymized == pytest.approx(slow(other), abs=1e-6)
        known = both.original is not None and both.anonymized is not None
        assert difference == (abs((both.original or 0) - (both.anonymized or 0)) if known else None)


@unhurried
@given(case_lists, st.randoms())
def test_a_log_and_the_same_log_in_another_order_are_equal(cases: list[Case], rng: Random) -> None:
    same, shuffled = measure(log_of(cases), log_of(cases)), measure(log_of(cases), log_of(rng.sample(cases, len(cases))))
    assert (same.edge_time_share_l1, same.edge_duration_p90_log) == (0, 0)
    assert {same.path_eta2_difference, same.pair_correlation_difference} <= {0, None}
    assert same.cooccurrence_slope in (1, None)
    for name in ("edge_time_share_l1", "edge_duration_p90_log", *WITHIN_CASES):
        again, value = getattr(shuffled, name), getattr(same, name)
        assert (vars(again) if name in IN_BOTH else again) == pytest.approx(vars(value) if name in IN_BOTH else value, abs=1e-9)


def test_shares_of_time_by_hand() -> None:
    original = [("abc", (60, 180)), ("ab", (60,))]  # ab 120 of 300 seconds
    assert measure(log_of(original), log_of([("abc", (30, 30))])).edge_time_share_l1 == pytest.approx(0.2)
    assert measure(log_of(original), log_of([("cb", (30,))])).edge_time_share_l1 == 2
    slower = [(word, [7 * gap for gap in gaps]) for word, gaps in original]
    assert measure(log_of(original), log_of(slower)).edge_time_share_l1 == pytest.approx(0)


def test_a_log_without_any_time_shares_none_of_it() -> None:
    timed, timeless, single = log_of([("ab", (60,))]), log_of([("ab", (0,)), ("ab", (-60,))]), log_of([("a", ())])
    for none in (timeless, single, empty_log(timed)):
        assert measure(timed, none).edge_time_share_l1 == measure(none, timed).edge_time_share_l1 == 2
        assert measure(none, single).edge_time_share_l1 == 0


def test_the_90th_percentile_is_a_step_that_nine_in_ten_do_not_exceed() -> None:
    ten = log_of([("ab", (10.0**i - 1,)) for i in range(10)])
    assert measure(ten, log_of([("ab", (999,))])).edge_duration_p90_log == pytest.approx(8 - 3)
    with_one_more = log_of([("ab", (10.0**i - 1,)) for i in range(11)])
    assert measure(with_one_more, log_of([("cd", (999,))])).edge_duration_p90_log == pytest.approx(9)  # it takes no time there
    assert measure(log_of([("a", ())]), ten).edge_duration_p90_log is None


def eta2_of(cases: Sequence[Case]) -> float | None:
    return measure(log_of(cases), log_of(cases)).path_duration_eta2.anonymized


def test_a_variant_that_decides_the_duration_explains_all_of_it_and_none_if_durations_are_dealt_at_random() -> None:
    cases = [(word, [gap] * 2) for word, gap in (("abc", 60.0), ("acb", 3600.0), ("cab", 86400.0)) for _ in range(100)]
    assert eta2_of(cases) == pytest.approx(1)
    gaps = Random(1).sample([gap for _, gap in cases], len(cases))
    assert eta2_of([(word, gap) for (word, _), gap in zip(cases, gaps, strict=True)]) == pytest.approx(0, abs=0.02)


def test_variants_of_few_cases_do_not_explain_themselves() -> None:
    rng = Random(1)
    cases = [(word, [rng.expovariate(1e-3) for _ in word]) for word in ["".join(rng.choices("abcdef", k=6)) for _ in range(400)]]
    assert eta2_of(cases) is None  # all of them differ
    by_chance = [eta2_of([(word, [rng.expovariate(1e-3)]) for word in ("ab", "ac", "ad") for _ in range(5)]) for _ in range(200)]
    assert fmean(value or 0 for value in by_chance) == pytest.approx(0, abs=0.03)
    assert min(value or 0 for value in by_chance) < 0


def test_no_variance_and_a_single_variant_leave_nothing_to_explain() -> None:
    assert eta2_of([(word, [60.0]) for word in ("ab", "ac") for _ in range(5)]) is None
    assert eta2_of([("ab", [float(i)]) for i in range(9)]) is None
    assert eta2_of([(word, [float(i)]) for word, n in (("ab", 5), ("ac", 4)) for i in range(n)]) is None
    assert eta2_of([(word, [float(i)]) for word, n in (("ab", 5), ("ac", 5)) for i in range(n)]) is not None


def slope_of(original: Sequence[str], anonymized: Sequence[str]) -> float | None:
    one, other = (log_of([(word, [0.0] * len(word)) for word in some]) for some in (original, anonymized))
    return measure(one, other).cooccurrence_slope


def test_activities_that_always_occur_together_and_then_independently_or_never() -> None:
    together, independent = ["abc", "bca", "c", "c"], ["cab", "cb", "ca", "c"]
    assert slope_of(together, together) == 1
    assert slope_of(together, independent) == 0
    assert slope_of(together, ["ca", "bc"]) == pytest.approx(-1)
    assert slope_of(together, ["ca", "c"]) == slope_of(together, ["x"]) == slope_of(together, []) == 0
    assert slope_of(together, [*together, *independent]) == pytest.approx(0.5)


def test_activities_that_nearly_all_cases_have_or_nearly_none_do_not_count() -> None:
    assert slope_of(["ab", *["c"] * 49], ["ab", "c"]) == pytest.approx(1)
    assert slope_of(["ab", *["c"] * 50], ["ab", "c"]) is None  # none of the three is between 2 and 98 %
    assert slope_of(["abd", *["cd"] * 9], ["abc", "abd"]) == 0
    assert slope_of(["a", "b"], ["a"]) == 0
    assert slope_of(["a", "a"], ["a"]) is slope_of([], ["ab", "a"]) is slope_of(["cab", "cb", "ca", "c"], ["ab", "c"]) is None


def correlation_of(cases: Sequence[Case]) -> float | None:
    return measure(log_of(cases), log_of(cases)).pair_duration_correlation.anonymized


def test_cases_that_are_slow_throughout_are_seen_and_slow_edges_are_not() -> None:
    rng = Random(1)
    slow = [1 + rng.expovariate(1) for _ in range(300)]
    assert correlation_of([("abc", (10**gap - 1, 1000 * 10**gap - 1)) for gap in slow]) == pytest.approx(1)
    assert correlation_of([("abc", (10**gap - 1, 10 ** (9 - gap) - 1)) for gap in slow if gap < 8]) == pytest.approx(-1)
    edges = [("abc", (rng.expovariate(1), rng.expovariate(1))) for _ in range(1000)]
    edges += [("cba", (rng.expovariate(1e-6), rng.expovariate(1e-6))) for _ in range(1000)]
    assert correlation_of(edges) == pytest.approx(0, abs=0.06)


def test_no_pair_of_steps_or_no_variance_has_no_correlation() -> None:
    assert correlation_of([]) is correlation_of([("a", ())]) is correlation_of([("ab", (5,)), ("ab", (7,))]) is None
    assert correlation_of([("abc", (5, 7))]) is None
    assert correlation_of([("abc", (0.1, float(i))) for i in range(9)]) is None
    assert correlation_of([("abc", (5, 7)), ("bab", (9, 9)), ("abc", (4, 6))]) is not None


def test_everything_is_said_of_empty_logs() -> None:
    log = log_of(
        [("abc", (float(i), 2.0 * i)) for i in range(5)] + [("acb", (float(i), 5.0 * i)) for i in range(6)] + [("c", ())]
    )
    alone = measure(log, log).path_duration_eta2.original, measure(log, log).pair_duration_correlation.original
    assert None not in alone
    nothing = empty_log(log)
    assert figures_of(measure(log, nothing))[:3] == (2, pytest.approx(figures_of(measure(log, nothing))[1]), 0)
    assert figures_of(measure(log, nothing))[3:] == (InBoth(alone[0], None), InBoth(alone[1], None))
    assert figures_of(measure(nothing, log)) == (2, None, None, InBoth(None, alone[0]), InBoth(None, alone[1]))
    assert figures_of(measure(nothing, nothing)) == (0, 0, None, InBoth(), InBoth())
    assert measure(log, nothing).path_eta2_difference is measure(log, nothing).pair_correlation_difference is None


def figures_of(found: Utility) -> tuple[object, ...]:
    singles = found.edge_time_share_l1, found.edge_duration_p90_log, found.cooccurrence_slope
    return (*singles, found.path_duration_eta2, found.pair_duration_correlation)


def test_instances_take_part_by_their_completions_and_cases_begin_with_their_first_start() -> None:
    cases = [(word, (float(i**2), float(i))) for word in ("abc", "acb") for i in range(9)]
    log = log_of(cases)
    began = pl.col("time:timestamp") - pl.duration(hours=pl.col("@case"))
    started = EventLog(log.events.with_columns(start_timestamp=began), log.cases, instances="pair")
    plain, found = measure(log, log), measure(started, log)
    assert found.edge_time_share_l1 == found.edge_duration_p90_log == found.pair_correlation_difference == 0
    assert found.path_duration_eta2.anonymized == plain.path_duration_eta2.anonymized != found.path_duration_eta2.original
