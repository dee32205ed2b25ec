"""What is kept of a log: every figure is that of `libra measure`, and every sentence says what the figures say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from logs_by_hand import HANDLING, RELEASED, all_finite, log_of, traces

import libra
from attributed_events import OF_EVENTS
from libra.eventlog.attributes import Attribute
from libra.eventlog.cases import cases_of
from libra.eventlog.log import EventLog, empty_log
from libra.example.simulate import simulate
from libra.measures import measure
from libra.measures.utility import IN_BOTH, OF_ATTRIBUTES, OF_INSTANCES
from libra.measures.within_cases import InBoth, has_starts
from libra.mechanisms.fresh_log import log_of as log_of_cases
from libra.reporting.facts import facts_of
from libra.reporting.facts.aspects import ASPECTS, NEXT_VALUES, Aspect, aspects_of
from libra.reporting.facts.pair import Pair
from libra.reporting.facts.tables import absent_of
from libra.reporting.facts.verdicts import Loss, Verdict, lost_of
from libra.reporting.facts.yardsticks import compared, sample_of, yardsticks_of
from libra.reporting.numbers import share

KEYS = ["cases", "activities", "edges", "variants", "lengths", "step_durations", "case_durations", "arrivals"]


def judged(original: EventLog, anonymized: EventLog, *, has_times: bool = True) -> dict[str, Aspect]:
    by = yardsticks_of(original, anonymized)
    return {aspect.key: aspect for aspect in aspects_of(original, anonymized, by, has_times=has_times)}


def flat(document: dict[str, Any]) -> dict[str, Any]:
    nested = ("empty", *IN_BOTH)
    return {name: value for name, value in document.items() if name not in nested} | {
        f"{outer}.{name}": value for outer in nested for name, value in document[outer].items()
    }


def check_figures(original: EventLog, anonymized: EventLog) -> None:
    shown = [figure for aspect in judged(original, anonymized).values() for figure in aspect.figures]
    expected = flat(measure(original, anonymized).to_dict())
    expected.pop("overlaps")  # in a sentence
    expected.pop("attributes")
    expected.pop("associations")
    expected = {name: value for name, value in expected.items() if name not in OF_ATTRIBUTES or value is not None}
    if not has_starts(original):
        assert [expected.pop(name) for name in OF_INSTANCES] == [None, None, None]
    assert {figure.name for figure in shown} >= set(expected)
    assert len({figure.name for figure in shown}) == len(shown)
    for figure in shown:
        if figure.name in expected:
            assert figure.value == expected[figure.name]
            assert bool(figure.of_sample) == (not figure.name.startswith("empty.") and not figure.name.endswith(".original"))
        assert figure.text
        assert figure.meaning


@pytest.mark.parametrize("anonymized", [HANDLING, RELEASED, RELEASED[:1], []], ids=["equal", "other", "one case", "empty"])
def test_every_figure_of_measure_is_there_once_and_equal(anonymized: list[Any]) -> None:
    check_figures(log_of(HANDLING), log_of(anonymized))


def test_every_figure_of_measure_is_there_for_a_public_log(shared_logs: Path) -> None:
    original = libra.read(shared_logs / "urineweginfectie.xes.gz")
    check_figures(original, sample_of(original, 500))


def test_the_aspects_are_always_the_same_in_the_same_order() -> None:
    assert (
        list(judged(log_of(HANDLING), log_of(RELEASED)))
        == KEYS
        == [key for key in ASPECTS if key not in ("service_times", "attributes", "associations")]
    )
    assert list(judged(log_of(HANDLING), log_of([]))) == KEYS
    assert list(judged(log_of([]), log_of(RELEASED))) == KEYS


def test_service_times_are_judged_if_the_original_has_starts() -> None:
    original = simulate(cases=300, starts=True)
    check_figures(original, simulate(cases=300, seed=2, starts=True))
    again = judged(original, simulate(cases=300, seed=2, starts=True))["service_times"]
    assert again.verdict in ("kept", "close")
    assert "starts before the last one is completed" in again.sentence
    stretched = pl.col("start_timestamp") - 9 * (pl.col("time:timestamp") - pl.col("start_timestamp"))
    slow = judged(original, replace(original, events=original.events.with_columns(start_timestamp=stretched)))["service_times"]
    assert slow.verdict == "lost"
    assert slow.analyses == (("service and waiting times", "lost"),)
    without = judged(original, replace(original, events=original.events.drop("start_timestamp"), instances=None))
    assert without["service_times"].verdict == "lost"


def test_equal_logs_are_kept_in_all_aspects() -> None:
    aspects = judged(simulate(cases=80), simulate(cases=80))
    assert {aspect.verdict for aspect in aspects.values()} == {"kept"}
    assert {aspect.loss.share for aspect in aspects.values()} == {0.0}
    of_events = {"associations": (NEXT_VALUES,)}
    for key, aspect in aspects.items():
        assert aspect.analyses == tuple((name, "kept") for name in (ASPECTS[key][1], *of_events.get(key, ())))


def test_of_an_empty_log_everything_is_lost() -> None:
    aspects = judged(simulate(cases=80), empty_log(simulate(cases=80)))
    assert {aspect.verdict for aspect in aspects.values()} == {"lost"}
    assert {aspect.loss for aspect in aspects.values()} == {Loss(1.0)}


def test_a_fresh_sample_is_as_good_as_a_fresh_sample() -> None:
    """Nearly always: what a sample is judged by is a sample too. A few long cases decide on durations, so these vary more."""
    log = simulate(cases=300)
    judgements = [judged(log, sample_of(log, 300, seed=seed)) for seed in range(77, 87)]
    for key in judgements[0]:
        good = sum(aspects[key].verdict in ("kept", "close") for aspects in judgements)
        assert good >= (6 if key == "case_durations" else 8), key
        assert all(aspects[key].verdict != "lost" for aspects in judgements), key
    assert all(0 < (aspects["variants"].loss.sample or 0) < 1 for aspects in judgements)


def test_placeholders_leave_times_unjudged_and_control_flow_judged() -> None:
    aspects = judged(log_of(HANDLING), log_of(HANDLING), has_times=False)
    unknown = [key for key, aspect in aspects.items() if aspect.verdict == "unknown"]
    assert unknown == ["step_durations", "case_durations", "arrivals"]
    assert all("placeholders" in aspects[key].sentence and aspects[key].loss == Loss(None) for key in unknown)
    assert aspects["edges"].verdict == "kept"
    assert all(verdict == "unknown" for key in unknown for _, verdict in aspects[key].analyses)


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
    assert compared(original, anonymized).activity_tv == pytest.approx(apart / 2)
    assert judged(original, anonymized)["activities"].loss.share == compared(original, anonymized).activity_tv


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
    assert next(one for one in aspects["edges"].figures if one.name == "dfg_l1").text in aspects["edges"].sentence
    assert aspects["variants"].figures[0].text in aspects["variants"].sentence
    assert all("{}" not in "".join(aspect.around) for aspect in aspects.values())


def test_figures_of_both_logs_come_with_those_of_the_sample_in_the_middle() -> None:
    log = simulate(cases=300)
    by = yardsticks_of(log, simulate(cases=200))
    found = [measure(log, sample_of(log, 200, seed)) for seed in range(1, 6)]
    assert by.sample.cooccurrence_slope == sorted(one.cooccurrence_slope or 0 for one in found)[2]
    for name in IN_BOTH:
        values = [getattr(one, name) for one in found]
        assert getattr(by.sample, name) == InBoth(values[0].original, sorted(one.anonymized for one in values)[2])
    (figure,) = [one for one in judged(log, simulate(cases=200))["case_durations"].figures if one.name.endswith(".anonymized")]
    assert figure.of_sample == share(by.sample.path_duration_eta2.anonymized)


def test_attributes_that_both_logs_have_are_judged_by_a_fresh_sample() -> None:
    log = simulate(cases=300)
    aspect = judged(log, sample_of(log, 300, seed=77, like=log))["attributes"]
    assert aspect.verdict == "kept"
    assert aspect.loss.sample is not None
    names = [name for name in log.events.columns if name not in ("@case", "concept:name", "time:timestamp")]
    assert names
    mixed = log.events.with_columns(pl.col(name).shuffle(seed=1) for name in names)
    found = judged(log, replace(log, events=mixed))["attributes"]
    assert found.verdict in ("rough", "lost")
    assert "fresh sample of 300 cases" in found.sentence
    assert "attributes" not in judged(log, sample_of(log, 300))
    assert judged(log, replace(log, cases=log.cases[["concept:name"]]))["attributes"].loss.share == 0


def test_right_shares_are_told_apart_from_lost_associations() -> None:
    log = simulate(cases=1000)
    log = replace(log, events=log.events[["@case", "concept:name", "time:timestamp"]])
    names = [name for name in log.cases.columns if name != "concept:name"]
    alone = replace(log, cases=log.cases.with_columns(pl.col(name).shuffle(seed=i) for i, name in enumerate(names)))
    found = judged(log, alone)
    assert found["attributes"].analyses == (("shares of attribute values", "kept"),)
    assert found["associations"].analyses == (("associations of case attributes", "lost"),)
    said = facts_of(Pair(log, alone), with_risk=False).summary
    assert "shares of attribute values" in said.partition("Misleading:")[0]
    assert said.endswith("Misleading: associations of case attributes.")
    assert " change most: 0.9" in found["associations"].sentence
    assert "a fresh sample of 1,000 cases would be off by" in found["associations"].sentence
    assert found["associations"].figures[0].name == "association_l1"
    for kept in (log, sample_of(log, 1000, seed=77, like=log)):
        again = judged(log, kept)["associations"]
        assert again.analyses == (("associations of case attributes", "kept"),)
        assert ("change most" in again.sentence) == (kept is not log)


def test_only_associations_that_were_measured_are_called_good() -> None:
    log = simulate(cases=300)
    log = replace(log, cases=log.cases[["concept:name"]])
    assert judged(log, log)["associations"].analyses == ((NEXT_VALUES, "kept"),)
    said = facts_of(Pair(log, log), with_risk=False).summary
    assert said.endswith("Not measured: associations of event attributes.")
    asked = (*OF_EVENTS, Attribute("case:age", "number"))
    document = {"mechanism": "libra", "parameters": {"attributes": [one.to_dict() for one in asked]}}
    with_certificate = facts_of(Pair(log, log), certificate=document, with_risk=False).summary
    assert with_certificate == said.replace(
        "Not measured: associations of event attributes.",
        "Cannot be studied: associations of event attributes with each other or case attributes "
        "and final values of counters against other columns.",
    )


def test_what_attributes_of_events_lose_follows_from_what_is_asked_for() -> None:
    of_case, text, counter = Attribute("case:age", "number"), OF_EVENTS[1], next(one for one in OF_EVENTS if one.counter)
    assert lost_of([]) == lost_of([of_case, of_case]) == lost_of([counter]) == ()
    assert lost_of([text, of_case]) == ("associations of event attributes with case attributes",)
    assert len(lost_of([counter, text])) == 2


def test_the_figure_that_decides_on_attributes_is_the_one_of_the_tile() -> None:
    log = simulate(cases=300)
    alone = log.events["org:resource"].shuffle(seed=1)
    found = judged(log, replace(log, events=log.events.with_columns(alone)))
    decided = {"attributes": "event_attribute_tv", "associations": "handover_tv"}
    for key, name in decided.items():
        aspect = found[key]
        assert aspect.verdict in ("rough", "lost")
        assert (aspect.figures[0].name, aspect.figures[0].value) == (name, aspect.loss.share)


def test_what_one_attribute_has_no_association_with_is_not_said_to_be_lost() -> None:
    log = log_of([[("a", 0.0)]] * 40)
    log = replace(log, cases=log.cases.with_columns(sex=pl.Series(["f", "m"] * 20)))
    assert "associations" not in judged(log, log)  # with nothing else to go with
    both = replace(log, cases=log.cases.with_columns(ward=pl.Series(["A", "A", "B", "B"] * 10)))
    found = judged(both, both)["associations"]
    assert (found.verdict, found.figures[0].name) == ("kept", "attribute_pair_tv")
    assert found.sentence.startswith("On average over pairs of attributes")


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
    [(4, "kept", "all 4 there"), (3, "rough", "1 of 4 missing"), (2, "rough", "2 of 4 missing"), (1, "lost", "3 of 4 missing")],
)
def test_activities_that_vanished_are_missed_however_rare(left: int, verdict: Verdict, said: str) -> None:
    rare = [[(label, 0)] for label in "abcd"]
    original = log_of([*([[("a", 0)]] * 1000), *rare])
    aspect = judged(original, log_of([*([[("a", 0)]] * 1000), *rare[:left]]))["activities"]
    assert (aspect.verdict, aspect.figures[0].text) == (verdict, said)


def test_where_shares_are_lost_it_does_not_help_that_no_activity_vanished() -> None:
    original = log_of([*([[("a", 0)]] * 1000), [("b", 0)]])
    aspect = judged(original, log_of([[("a", 0)], *([[("b", 0)]] * 1000)]))["activities"]
    assert (aspect.verdict, aspect.figures[0].text) == ("lost", "all 2 there")


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


def test_one_missing_activity_is_close_at_best() -> None:
    labels = [f"activity {n}" for n in range(60)]
    original, other = (log_of([[(label, float(at)) for at, label in enumerate(labels[:n])]] * 20) for n in (60, 59))
    aspect = judged(original, other)["activities"]
    assert (aspect.verdict, aspect.figures[0].text) == ("close", "1 of 60 missing")


def test_distinct_steps_are_judged_by_what_is_missing_and_by_what_is_false() -> None:
    often = [[("a", 0), ("b", 60)]] * 1000
    rare = [[("a", 0), (label, 60)] for label in "cdefghij" for _ in range(5)]
    missing = judged(log_of([*often, *rare]), log_of([*often, *often[:40]]))["edges"]
    assert (missing.verdict, missing.loss.share) == ("rough", 0.5)
    assert missing.sentence.endswith(" and miss 0 of 9 distinct steps.")
    false = judged(log_of(often), log_of([*often, [("a", 0), ("a", 60), ("b", 120)]]))["edges"]
    assert (false.verdict, false.loss.share) == ("rough", 0.5)


def test_medians_are_told_apart_from_means_where_only_these_are_wrong() -> None:
    original = log_of([[("a", 0), ("b", 3600 + case)] for case in range(1000)])
    other = log_of([[("a", 0), ("b", (3600 + case) * (1 if case % 20 else 2000))] for case in range(1000)])
    aspects = judged(original, other)
    assert aspects["step_durations"].analyses == (("median step durations", "kept"), ("mean step durations", "lost"))
    assert aspects["case_durations"].analyses == (("median case durations", "kept"), ("mean case durations", "lost"))
    assert "Their medians are off by factor 1" in aspects["step_durations"].sentence


@pytest.mark.parametrize("name", ["urineweginfectie", "sepsis", "bpic13"])
def test_a_public_log_without_its_rare_variants_is_called_by_what_is_lost(shared_logs: Path, name: str) -> None:
    original = libra.read(shared_logs / f"{name}.xes.gz")
    frequent = original.variants.counts[original.variants.of_case] >= 10
    other = log_of_cases(cases_of(original).take(frequent.nonzero()[0]), original.activities, seeded=True)
    missing, aspects = yardsticks_of(original, other).found.missing, judged(original, other)
    assert (aspects["activities"].verdict == "kept") <= (missing.activities_gone == 0)
    for what, key in (("activities", "activities"), ("edges", "edges")):
        if missing.share_of(what) > 0.1:  # type: ignore[arg-type]
            assert aspects[key].verdict in ("rough", "lost")
    assert missing.edges_false == 0


def test_missing_activities_are_named_with_the_share_of_cases_that_have_one() -> None:
    whole = log_of([[("a", 0), ("b", 60)], [("a", 0), ("c", 60), ("c", 90)], [("a", 0)], [("b", 0)]])
    found = compared(whole, log_of([[("a", 0)]])).missing
    assert (found.names, found.cases_gone) == (("b", "c"), 0.75)


def test_columns_that_make_up_a_case_id_are_no_attributes_that_are_missed() -> None:
    table = pl.DataFrame({"patient": ["p", "p"], "visit": ["1", "2"], "step": ["a", "a"], "ward": ["A", "B"]}).with_columns(
        pl.lit("2024-05-06T08:00:00Z").alias("when")
    )
    log = libra.read(table, case_id=["patient", "visit"], activity="step", timestamp="when")
    (absent,) = absent_of(Pair(log, empty_log(log_of([[("a", 0)]]))))
    assert absent.names == ("ward",)
