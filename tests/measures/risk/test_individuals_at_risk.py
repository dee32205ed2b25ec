"""Where a log says whose case is whose, it is individuals who are singled out, linked, and members or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tiny_logs import log_of, owned, traces

import libra
from libra._system.randomness import Randomness
from libra.eventlog.log import EventLog
from libra.measures.audit.canaries import OWNER, Case, log_of_cases
from libra.measures.risk import risk_of_log, risk_of_release
from libra.measures.risk.figures import Linkage, SingledOut
from libra.measures.risk.membership import play

HOUR = 3_600_000_000


def _visits() -> EventLog:
    cases = [Case(("arrive", "leave"), (HOUR * n, HOUR * n + 60_000_000 * (n % 50)), person=f"p{n % 40}") for n in range(200)]
    return log_of_cases(cases, individuals=True)


def test_all_cases_of_somebody_are_members_or_none_is() -> None:
    seen: list[pl.Series] = []

    def anonymize(part: EventLog, random: Randomness) -> EventLog:
        seen.append(part.cases[OWNER])
        return part

    advantage, _ = play(_visits(), anonymize, Randomness(seed=1), rounds=5)
    assert all((persons.value_counts()["count"] == 5).all() for persons in seen)
    assert 60 < sum(map(len, seen)) / 5 < 140
    assert advantage.value == 1.0


def test_the_attack_takes_the_certificate_of_individuals(tmp_path: Path) -> None:
    log, paths = _visits(), (tmp_path / "log.csv", tmp_path / "log.json")
    libra.anonymize(log, epsilon=3.0, delta=1e-3).write(paths[0], certificate=paths[1])
    found = libra.measure(log, paths[0], risk=True, certificate=paths[1]).risk
    assert found is not None
    assert found.membership is not None
    assert not found.membership.exceeded
    without = log_of_cases([Case(("arrive", "leave"), (HOUR * n, HOUR * n + 1)) for n in range(50)])
    unsaid = libra.measure(without, paths[0], risk=True, certificate=paths[1]).risk
    assert unsaid is not None
    assert unsaid.membership is None
    assert any("--individual" in note for note in unsaid.notes)


def _alone(log: EventLog) -> dict[tuple[str, int | None], SingledOut]:
    return {(one.knowledge, one.events): one for one in risk_of_log(log).singled_out}


def _links(original: EventLog, anonymized: EventLog) -> dict[tuple[str, int | None], Linkage]:
    return {(one.knowledge, one.events): one for one in risk_of_release(original, anonymized).linkage}


def test_a_trace_that_one_person_alone_has_singles_out_however_often_it_comes() -> None:
    log = traces("abc", "abc", "abc", "abd", "abd", "ab", "ab")
    persons = ["ann", "ann", "ann", "bert", "bert", "carl", "dora"]
    assert _alone(log)["variant", None].share.value == 0
    found = _alone(owned(log, persons))
    assert found["variant", None].share.value == 5 / 7
    assert (found["variant", None].crowd_mean, found["variant", None].crowd_median) == ((5 + 2 * 2) / 7, 1)
    assert found["set", 5].share.value == pytest.approx(5 / 7, abs=0.03)
    assert found["sequence", 2].crowd_median == 4  # a and b, of everybody
    assert risk_of_log(owned(log, persons)).crowds_of == "individuals"
    assert risk_of_log(log).crowds_of == "cases"


def test_a_column_in_which_everybody_comes_once_changes_no_figure() -> None:
    log = traces("abc", "abd", "bb", "bba", "bb", "bb")
    said = owned(log, ["ann", "bert", None, None, "carl", "dora"])
    assert risk_of_log(said) == replace(risk_of_log(log), crowds_of="individuals")
    before, after = risk_of_release(log, log), risk_of_release(said, log)
    assert (before.linkage, before.copies) == (after.linkage, after.copies)


def test_chance_is_what_cases_of_others_tell() -> None:
    original = log_of("a0 b5", "a9 b14", "a0 b6", "c0 d5", "c9 d14")
    released = log_of("e0")
    by_case = _links(original, released)["sequence", 2].by_chance
    assert by_case.none == 0
    assert by_case.once.value == pytest.approx(2 / 5, abs=0.03)
    said = _links(owned(original, ["ann", "ann", "bert", "carl", "carl"]), released)
    for one in (said["sequence", 2].by_chance, said["days", 2].by_chance, said["variant", None].by_chance):
        # ann finds bert's case, which has other gaps; bert finds both of ann's; carl finds nobody
        assert one.once.value == pytest.approx(2 / 5, abs=0.03)
        assert one.several == pytest.approx(1 / 5, abs=0.03)
        assert one.none == pytest.approx(2 / 5, abs=0.03)
        assert one.same_activities is not None
        assert one.same_activities.value == 1
        assert one.same_gaps is not None
        assert one.same_gaps.value == 0


def test_the_anonymized_log_is_searched_case_by_case_whatever_it_says_of_individuals() -> None:
    log = traces("ab", "ab", "cd")
    said = _links(log, owned(log, ["ann", "ann", "bert"]))
    assert said == _links(log, log)


def test_the_summary_tells_traces_of_one_individual() -> None:
    log = traces("abc", "abc", "ab", "ab", "b")
    assert libra.inspect(log).cases_of_one_individual_share is None
    found = libra.inspect(owned(log, ["ann", "ann", "bert", None, None]))
    assert (found.cases_unique_share, found.cases_of_one_individual_share) == (1 / 5, 3 / 5)
    assert libra.inspect(owned(log, ["ann"] * 5)).cases_of_one_individual_share == 1


@pytest.mark.parametrize("persons", [10, 40, 100])
def test_nobody_is_judged_by_what_was_learned_from_their_other_cases(persons: int) -> None:
    """A release that says nothing at all gives the attack nothing, though the cases of a person are alike."""
    cases = [
        Case(
            ("arrive", "leave"),
            (HOUR * (500 * (n % persons) + n), HOUR * (500 * (n % persons) + n + 1)),
            person=f"p{n % persons}",
        )
        for n in range(400)
    ]
    nothing = log_of_cases(cases[:1])
    advantage, _ = play(log_of_cases(cases, individuals=True), lambda part, random: nothing, Randomness(seed=7))
    assert advantage.lowest < 0 < advantage.highest
