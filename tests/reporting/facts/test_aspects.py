"""What is kept of a log: every figure is that of `libra measure`, and every sentence says what the figures say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from logs_by_hand import HANDLING, RELEASED, all_finite, log_of, traces

import libra
from libra.eventlog.log import EventLog, empty_log
from libra.example.simulate import simulate
from libra.measures import measure
from libra.reporting.facts.aspects import (
    ASPECTS,
    Aspect,
    Verdict,
    activity_tv,
    aspects_of,
    overall,
    sample_of,
    summary_of,
    yardsticks_of,
)
from libra.reporting.facts.pair import Pair

KEYS = ["cases", "activities", "edges", "variants", "lengths", "step_durations", "case_durations", "arrivals"]


def judged(original: EventLog, anonymized: EventLog, *, has_times: bool = True) -> dict[str, Aspect]:
    return {aspect.key: aspect for aspect in aspects_of(Pair(original, anonymized), has_times=has_times)}


def flat(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "empty"} | {
        f"empty.{name}": value for name, value in document["empty"].items()
    }


def check_figures(original: EventLog, anonymized: EventLog) -> None:
    shown = [figure for aspect in judged(original, anonymized).values() for figure in aspect.figures]
    expected = flat(measure(original, anonymized).to_dict())
    assert {figure.name for figure in shown} >= set(expected)
    assert len({figure.name for figure in shown}) == len(shown)
    for figure in shown:
        if "." not in figure.name or figure.name.startswith("empty."):
            assert figure.value == expected[figure.name]
        assert figure.text
        assert figure.meaning


@pytest.mark.parametrize("anonymized", [HANDLING, RELEASED, RELEASED[:1], []], ids=["equal", "other", "one case", "empty"])
def test_every_figure_of_measure_is_there_once_and_equal(anonymized: list[Any]) -> None:
    check_figures(log_of(HANDLING), log_of(anonymized))


def test_every_figure_of_measure_is_there_for_a_public_log(shared_logs: Path) -> None:
    original = libra.read(shared_logs / "urineweginfectie.xes.gz")
    check_figures(original, sample_of(original, 500))


def test_the_aspects_are_always_the_same_in_the_same_order() -> None:
    assert list(judged(log_of(HANDLING), log_of(RELEASED))) == KEYS == list(ASPECTS)
    assert list(judged(log_of(HANDLING), log_of([]))) == KEYS
    assert list(judged(log_of([]), log_of(RELEASED))) == KEYS


def test_equal_logs_are_kept_in_all_aspects() -> None:
    aspects = judged(simulate(cases=80), simulate(cases=80))
    assert {aspect.verdict for aspect in aspects.values()} == {"kept"}
    assert {aspect.value for aspect in aspects.values()} == {0.0}
    assert overall(list(aspects.values())) == "kept"
    assert summary_of(list(aspects.values())).startswith("Good for numbers of cases, activities, process maps")


def test_of_an_empty_log_everything_is_lost() -> None:
    aspects = judged(simulate(cases=80), empty_log(simulate(cases=80)))
    assert {aspect.verdict for aspect in aspects.values()} == {"lost"}
    assert all(aspect.value == aspect.empty for aspect in aspects.values())
    assert summary_of(list(aspects.values())).startswith("Lost: numbers of cases")


def test_a_fresh_sample_is_as_good_as_a_fresh_sample() -> None:
    log = simulate(cases=300)
    aspects = judged(log, sample_of(log, 300, seed=77))
    assert {aspect.verdict for aspect in aspects.values()} <= {"kept", "close"}
    assert 0 < (aspects["edges"].sample or 0) < 1


def test_placeholders_leave_times_unjudged_and_control_flow_judged() -> None:
    aspects = judged(log_of(HANDLING), log_of(HANDLING), has_times=False)
    unknown = [key for key, aspect in aspects.items() if aspect.verdict == "unknown"]
    assert unknown == ["step_durations", "case_durations", "arrivals"]
    assert all("placeholders" in aspects[key].sentence and aspects[key].value is None for key in unknown)
    assert aspects["edges"].verdict == "kept"
    assert "Not measured: step durations, case durations and arrivals." in summary_of(list(aspects.values()))


def test_activities_are_judged_by_the_events_that_would_have_to_change() -> None:
    original, anonymized = log_of(HANDLING), log_of(RELEASED)
    counts, others = ({}, {})  # type: dict[str, int], dict[str, int]
    for cases, tally in ((HANDLING, counts), (RELEASED, others)):
        for trace, times in traces(cases).items():
            for activity in trace:
                tally[activity] = tally.get(activity, 0) + times
    apart = sum(
        abs(counts.get(label, 0) / sum(counts.values()) - others.get(label, 0) / sum(others.values()))
        for label in {*counts, *others}
    )
    assert activity_tv(original, anonymized) == pytest.approx(apart / 2)
    assert judged(original, anonymized)["activities"].value == activity_tv(original, anonymized)


def test_vanished_and_foreign_activities_are_told() -> None:
    aspect = judged(log_of(HANDLING), log_of([[("register", 0), ("operate", 5)]]))["activities"]
    assert "1 of 3 activities come out; they carry 36 % of the original's events" in aspect.sentence
    assert "1 activity is not in the original at all" in aspect.sentence


def test_that_all_activities_come_out_is_said_so() -> None:
    assert judged(log_of(HANDLING), log_of(RELEASED))["activities"].sentence.startswith("All 3 activities come out. ")


def test_sentences_say_the_figures_and_those_of_a_sample() -> None:
    log = simulate(cases=300)
    aspects = judged(log, simulate(cases=200))
    assert aspects["cases"].sentence == "There are 200 cases where the original has 300: 33 % fewer."
    assert aspects["cases"].verdict == "rough"
    for key in KEYS[1:]:
        assert "fresh sample of 200 cases" in aspects[key].sentence, key
    assert aspects["edges"].figures[0].text in aspects["edges"].sentence
    assert aspects["variants"].figures[1].text in aspects["variants"].sentence


def test_a_single_case_is_no_fresh_sample_to_go_by() -> None:
    log = simulate(cases=300)
    assert judged(log, sample_of(log, 1))["edges"].verdict == "lost"


def test_the_sample_is_drawn_from_the_cases_of_the_original_and_is_always_the_same() -> None:
    sample = sample_of(log_of(HANDLING), 40)
    assert sample.n_cases == 40
    drawn = [tuple(labels) for labels in sample.events.group_by("@case", maintain_order=True).agg("concept:name")["concept:name"]]
    assert set(drawn) <= set(traces(HANDLING))
    assert len(set(drawn)) > 1
    assert sample.equals(sample_of(log_of(HANDLING), 40))


def test_the_sample_is_as_large_as_the_anonymized_log_or_the_original() -> None:
    def size(anonymized: EventLog) -> int:
        return yardsticks_of(log_of(HANDLING), anonymized).sample_cases

    assert size(log_of(RELEASED)) == len(RELEASED)
    assert size(log_of([])) == len(HANDLING)


def test_arrivals_of_nothing_are_all_at_the_median() -> None:
    yardsticks = yardsticks_of(log_of(HANDLING), log_of([]))
    starts = sorted(min(at for _, at in case) for case in HANDLING)
    assert yardsticks.empty_arrival_days == pytest.approx(sum(abs(one - starts[2]) for one in starts) / 5 / 86400)


def test_in_public_mode_nothing_is_judged() -> None:
    assert aspects_of(Pair(None, log_of(RELEASED))) == ()
    assert summary_of(()) == ""
    assert overall(()) == "unknown"


def test_a_log_is_called_no_better_than_its_steps() -> None:
    named = [Aspect(key, key, "kept", "", (), 0.0, 0.0, 1.0) for key in ASPECTS]
    assert overall(named) == "kept"
    worse: tuple[Verdict, ...] = ("close", "rough", "lost")
    for verdict in worse:
        assert overall([replace(one, verdict=verdict) if one.key == "edges" else one for one in named]) == verdict
    assert overall([replace(one, verdict="lost") if one.key == "variants" else one for one in named]) == "kept"
    assert overall([replace(one, verdict="rough") if one.key != "edges" else one for one in named]) == "rough"


@pytest.mark.parametrize("original", [HANDLING, HANDLING[:1], [[("a", 0)], [("b", 1)]], []])
@pytest.mark.parametrize("anonymized", [RELEASED, [[("a", 0)]], []])
def test_whatever_the_logs_figures_are_finite_and_sentences_are_there(original: list[Any], anonymized: list[Any]) -> None:
    aspects = judged(log_of(original), log_of(anonymized))
    assert all_finite(tuple(aspects.values()))
    assert all(aspect.sentence and "nan" not in aspect.sentence.split() for aspect in aspects.values())


def test_a_yardstick_is_the_median_of_five_samples() -> None:
    log = simulate(cases=200)
    found = yardsticks_of(log, log)
    drawn = sorted(measure(log, sample_of(log, 200, seed)).length_w1 for seed in range(1, 6))
    assert found.sample.length_w1 == drawn[2]
    assert drawn[0] < drawn[2] < drawn[4]


@pytest.mark.parametrize(
    ("left", "verdict", "said"),
    [(4, "kept", "none"), (3, "close", "1 of 4"), (2, "close", "2 of 4"), (1, "lost", "3 of 4")],
)
def test_activities_that_vanished_are_missed_however_rare(left: int, verdict: Verdict, said: str) -> None:
    rare = [[(label, 0)] for label in "abcd"]
    original = log_of([*([[("a", 0)]] * 1000), *rare])
    aspect = judged(original, log_of([*([[("a", 0)]] * 1000), *rare[:left]]))["activities"]
    assert (aspect.verdict, aspect.figures[0].text) == (verdict, f"{said} vanished")


def test_where_shares_are_lost_it_does_not_help_that_no_activity_vanished() -> None:
    original = log_of([*([[("a", 0)]] * 1000), [("b", 0)]])
    aspect = judged(original, log_of([[("a", 0)], *([[("b", 0)]] * 1000)]))["activities"]
    assert (aspect.verdict, aspect.figures[0].text) == ("lost", "none vanished")


def test_times_are_written_in_the_unit_that_suits_them_and_kept_in_that_of_measure() -> None:
    original = log_of([[("a", 0), ("b", 0)], *([[("a", 0)]] * 999)])
    other = log_of([[("a", 90 * 86400), ("b", 2090 * 86400)], *([[("a", 90 * 86400)]] * 999)])
    shown = {figure.name: figure for aspect in judged(original, other).values() for figure in aspect.figures}
    assert shown["case_duration_w1_hours"].value == pytest.approx(48.0)
    assert shown["case_duration_w1_hours"].text == "2 days"
    assert shown["arrival_w1_days"].value == pytest.approx(90.0)
    assert shown["arrival_w1_days"].text == "90 days"
    longer = log_of([*([[("a", 0)]] * 999), [("a", 0), ("b", 0), ("b", 0)]])
    length = judged(original, longer)["lengths"]
    assert length.figures[0].value == pytest.approx(0.001)
    assert length.figures[0].text == "< 0.01 events"
    assert "traces differ by < 0.01 events" in length.sentence


def test_of_two_empty_logs_nothing_is_said() -> None:
    assert {aspect.verdict for aspect in judged(log_of([]), log_of([])).values()} == {"unknown"}
