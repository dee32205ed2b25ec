"""Audits of mechanisms whose privacy is known by hand: true claims stand, false ones fall, and the rules are kept."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from typing import Any

import pytest
from toys import (
    NO,
    Answering,
    Copying,
    Counting,
    Identity,
    Leaking,
    Odds,
    Showing,
    claimed,
    randomized_response,
    released,
    some_log,
)

from libra._system.randomness import Randomness
from libra.engines.contract import Unit
from libra.errors import InputError, LibraError, UsageError
from libra.eventlog.attributes import Attribute
from libra.eventlog.log import EventLog, empty_log
from libra.measures.audit import NAMES, Audit, Claim, Effort, Finding, audit, implied_claim
from libra.measures.audit.audit import MISTAKEN, PROBES, stated_claim
from libra.measures.audit.canaries import FREQUENT, LONG, PERSON, RARE_PERSON, SLOW, THRESHOLD, UNIQUE, VALUE
from libra.measures.audit.events import Event, bound_of, telling_event
from libra.measures.audit.sight import Sight
from libra.measures.distances import Floats
from libra.mechanisms.mechanism import Mechanism
from libra.mechanisms.release import Release
from libra.privacy.guarantee import Guarantee

LOG = some_log()
PEOPLE = some_log(individuals=True)
audit_module = sys.modules["libra.measures.audit.audit"]  # by its name it is the function


@pytest.fixture(autouse=True)
def _a_log_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most toys release one of two logs, thousands of times; what is seen of a log does not change."""
    look, known = Sight.of, dict[tuple[int, int], tuple[Sight, EventLog, Floats]]()

    def look_once(self: Sight, log: EventLog) -> Floats:
        place = id(self), id(log)
        if place not in known:
            known[place] = self, log, look(self, log)  # kept, so that no other gets its place
        return known[place][2]

    monkeypatch.setattr(Sight, "of", look_once)


def audited(
    mechanism: Mechanism, claim: tuple[float, float], runs: int, *canaries: str, seed: int = 1, log: EventLog = LOG
) -> Audit:
    return audit(log, mechanism, claimed(*claim), Effort(runs=runs, seconds=3600, seed=seed), canaries or None)


def only(found: Audit) -> Finding:
    (finding,) = found.findings
    return finding


def test_a_release_of_everything_is_refuted_by_every_canary() -> None:
    found = audited(Identity(), (1.0, 0.01), 800, log=PEOPLE)
    assert found.refuted
    assert {finding.canary for finding in found.findings} == set(NAMES)
    assert all(finding.epsilon_low > 2 for finding in found.findings)
    assert [finding.canary for finding in found.findings if not finding.refutes] == [
        PERSON,
        RARE_PERSON,
    ]  # three cases: epsilon 3
    assert found.notes == ()


def test_attributes_that_are_asked_for_are_those_of_the_small_logs() -> None:
    """Whatever they are called in the log: a mechanism that copies them is refuted by the canary with a rare value."""
    asked = (Attribute("case:diagnosis", "category"),)
    assert audited(Copying(asked), (1.0, 1e-3), 400, VALUE).refuted
    assert not audited(Copying(), (1.0, 1e-3), 400, VALUE).refuted


def test_a_release_of_nothing_is_not_refuted_and_proves_nothing() -> None:
    found = audited(Answering(0.0, 0.0), (1e-6, 1e-9), 400)
    assert not found.refuted
    assert found.epsilon_low == 0
    assert {finding.epsilon_low for finding in found.findings} == {0.0}


@pytest.mark.parametrize("inverted", [False, True])
def test_a_claim_that_is_just_true_is_not_refuted(inverted: bool) -> None:
    mechanism = randomized_response(1.0, inverted=inverted)
    assert [seed for seed in range(30) if audited(mechanism, (1.0, 1e-6), 200, VALUE, seed=seed).refuted] == []


@pytest.mark.parametrize("inverted", [False, True])
def test_half_of_the_true_epsilon_is_refuted(inverted: bool) -> None:
    found = audited(randomized_response(1.0, inverted=inverted), (0.5, 1e-6), 2400, VALUE)
    assert found.refuted
    assert 0.5 < found.epsilon_low < 1.0
    finding = only(found)
    assert 0.5 < finding.bound.p_low < 0.75
    assert 0.25 < finding.bound.q_high < 0.5


def test_a_leak_with_probability_delta_is_allowed_by_that_delta() -> None:
    assert [seed for seed in range(30) if audited(Answering(0.3, 0.0), (0.1, 0.3), 200, VALUE, seed=seed).refuted] == []


def test_a_leak_with_three_times_delta_is_refuted() -> None:
    found = audited(Answering(0.3, 0.0), (0.1, 0.1), 1200, VALUE)
    assert found.refuted
    finding = only(found)
    assert (finding.bound.other_hits, finding.likelier_with) == (0, True)
    assert 0.1 < finding.delta_low < 0.3


def test_what_happens_without_the_canary_alone_is_a_leak_too() -> None:
    found = audited(Answering(0.0, 0.3), (0.1, 0.1), 1200, VALUE)
    assert found.refuted
    assert not only(found).likelier_with


def test_a_person_with_several_cases_gets_what_is_left_of_the_claim_for_one() -> None:
    """Each case multiplies the odds with e: more than epsilon 1 is proved for three of them, which is no news."""
    found = audited(Odds(1.0), (1.0, 1e-3), 1600, PERSON, log=PEOPLE)
    finding = only(found)
    assert (finding.cases, finding.claim.epsilon) == (3, 3.0)
    assert finding.claim.delta == pytest.approx(1e-3 * (1 + math.e + math.e**2))
    assert 1.0 < finding.epsilon_low < 3.0
    assert not found.refuted
    assert found.epsilon_low == 0  # of single cases nothing was proved


def test_several_cases_that_leak_one_by_one_are_within_the_delta_of_a_group() -> None:
    assert not audited(Leaking(0.1), (0.05, 0.1), 1200, PERSON, log=PEOPLE).refuted  # together with probability 0.27
    assert audited(Leaking(0.3), (0.05, 0.1), 1200, PERSON, log=PEOPLE).refuted  # 0.66, and 0.32 are claimed


def test_where_individuals_are_protected_several_cases_are_one() -> None:
    claim = Claim(1.0, 1e-3, "by hand", of_individuals=True)
    effort = Effort(runs=1600, seconds=3600, seed=1)
    found = audit(PEOPLE, Odds(1.0), lambda _: claim, effort, [PERSON])
    assert only(found).claim == claim
    assert found.refuted


@pytest.mark.parametrize("least", [1, 23, 256])
def test_the_threshold_at_which_a_variant_shows_is_found(least: int) -> None:
    found = audited(Showing(least), (1.0, 0.01), 200, THRESHOLD)
    finding = only(found)
    assert (finding.bound.hits, finding.bound.other_hits) == (finding.bound.runs, 0)
    assert found.refuted
    assert found.notes == ()


def test_where_no_variant_shows_none_is_put_at_a_threshold() -> None:
    note = "No variant of up to 256 cases shows in the release: none was put at a threshold."
    with pytest.raises(UsageError) as caught:
        audited(Showing(1000), (1.0, 0.01), 200, THRESHOLD)
    assert str(caught.value) == f"Nothing was tried. {note} Choose other canaries, or a larger epsilon or delta."
    with_others = audited(Showing(1000), (1.0, 0.01), 200, THRESHOLD, FREQUENT, UNIQUE)
    assert {finding.canary for finding in with_others.findings} == {FREQUENT, UNIQUE}
    assert with_others.notes == (note,)
    assert sum(finding.mistaken for finding in with_others.findings) == pytest.approx(MISTAKEN)


@pytest.mark.parametrize("canaries", [(VALUE,), (VALUE, FREQUENT), (LONG, SLOW, VALUE), ()])
def test_the_mistakes_of_all_findings_add_up_to_what_is_allowed(canaries: tuple[str, ...]) -> None:
    found = audited(randomized_response(2.0), (1.0, 0.01), 400, *canaries)
    assert sum(finding.mistaken for finding in found.findings) == pytest.approx(MISTAKEN)
    assert found.mistaken == MISTAKEN
    for finding in found.findings:
        bound = finding.bound
        assert finding.bound.p_low <= bound.hits / bound.runs
        assert bound.other_hits / bound.other_runs <= bound.q_high


def test_most_runs_go_to_the_canary_that_promises_most_and_to_the_log_without() -> None:
    found = audited(randomized_response(3.0), (1.0, 0.01), 2000, FREQUENT, SLOW, VALUE)
    first, *others = found.findings
    assert first.canary == VALUE
    assert (first.bound.runs, first.bound.other_runs) == (450, 450)
    assert first.mistaken == pytest.approx(0.006)
    for finding in others:
        sizes = finding.bound.runs, finding.bound.other_runs
        assert sizes == ((300, 450) if finding.likelier_with else (450, 300))
        assert finding.mistaken == pytest.approx(0.002)


def test_what_a_canary_promises_is_held_against_what_is_claimed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """An epsilon of 2.5 for three cases, of which 3 is claimed, promises less than one of 1.5 for a single case."""
    promises, deltas = iter((1.5, 2.5)), list[float]()

    def choosing(with_canary: Floats, without: Floats, delta: float) -> Event:
        deltas.append(delta)
        return replace(telling_event(with_canary, without, delta), promised=next(promises))

    monkeypatch.setattr(audit_module, "telling_event", choosing)
    found = audited(Identity(), (1.0, 0.01), 200, VALUE, PERSON)
    assert {finding.canary: finding.mistaken for finding in found.findings} == pytest.approx({VALUE: 0.006, PERSON: 0.004})
    assert deltas == pytest.approx([0.01, 0.01 * (1 + math.e + math.e**2)])


@pytest.mark.parametrize("canaries", [(VALUE,), ()])
@pytest.mark.parametrize("runs", [200, 999])
def test_no_more_runs_than_asked_for_and_hardly_fewer(runs: int, canaries: tuple[str, ...]) -> None:
    done, total = [0], set()

    def progress(now: int, of: int) -> None:
        done.append(now)
        total.add(of)

    effort = Effort(runs=runs, seconds=3600, seed=1)
    found = audit(LOG, randomized_response(1.0), claimed(1.0, 0.01), effort, canaries or None, progress)
    probed = 0 if canaries else 9 * PROBES  # with 1, 2, 4, ... 256 cases: nothing shows
    assert runs - 20 <= found.runs - probed <= runs
    assert done == sorted(set(done))
    assert done[-1] == found.runs - probed
    assert total == {runs}


def test_runs_that_an_event_is_chosen_from_never_confirm_it(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen_from, confirmed_by = list[float](), list[float]()

    def choosing(with_canary: Floats, without: Floats, delta: float) -> Event:
        chosen_from.extend([*with_canary[:, 0].tolist(), *without[:, 0].tolist()])
        return telling_event(with_canary, without, delta)

    def confirming(event: Event, with_canary: Floats, without: Floats, mistaken: float) -> Any:
        confirmed_by.extend([*with_canary[:, 0].tolist(), *without[:, 0].tolist()])
        return bound_of(event, with_canary, without, mistaken)

    monkeypatch.setattr(audit_module, "telling_event", choosing)
    monkeypatch.setattr(audit_module, "bound_of", confirming)
    found = audited(Counting(), (1.0, 0.01), 240, VALUE)
    assert len(set(chosen_from)) == len(chosen_from) == 60
    assert len(set(confirmed_by)) == len(confirmed_by) == 180
    assert not set(chosen_from) & set(confirmed_by)
    assert found.runs == 240


def test_a_seed_gives_the_same_audit_again_and_another_gives_another() -> None:
    mechanism = randomized_response(1.0)
    first, second, other = (audited(mechanism, (1.0, 0.01), 400, VALUE, FREQUENT, seed=seed) for seed in (3, 3, 4))
    assert first.findings == second.findings
    assert first.findings != other.findings


def test_when_time_is_up_it_says_so_and_what_was_done_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    effort = Effort(runs=1_000_000, seconds=1.0, seed=1)
    found = audit(LOG, Identity(), claimed(1.0, 0.01), effort, [VALUE])
    assert found.notes == ("Time was up before all runs were done: --time-limit allows more.",)
    assert 80 <= found.runs < 1_000_000
    assert sum((only(found).bound.runs, only(found).bound.other_runs)) < found.runs
    assert found.refuted


def test_with_private_labels_the_new_activity_is_new() -> None:
    labels: dict[bool, set[str]] = {}

    class Listening(Identity):
        private_labels = False

        def anonymize(self, log: EventLog, random: Randomness, progress: Any) -> Release:
            labels.setdefault(self.private_labels, set(log.activities))  # of the first run, which is without a canary
            return released(NO, self.name, random)

    class Private(Listening):
        private_labels = True

    for mechanism in (Listening(), Private()):
        audited(mechanism, (1.0, 0.01), 200, VALUE)
    assert "something new" in labels[False]
    assert "something new" not in labels[True]


@pytest.mark.parametrize("log", [LOG, PEOPLE])
def test_who_somebody_is_is_in_the_small_logs_where_the_log_has_it(log: EventLog) -> None:
    individuals = set()

    class Listening(Identity):
        def anonymize(self, log: EventLog, random: Randomness, progress: Any) -> Release:
            individuals.add(log.individual)
            return released(NO, self.name, random)

    audited(Listening(), (1.0, 0.01), 200, VALUE, THRESHOLD, log=log)
    assert individuals == {log.individual}


def release_with(guarantee: Guarantee, implied: float | None = None) -> Release:
    class Implying:
        def implied_epsilon(self, delta: float) -> float | None:
            return implied

    claim: Any = Implying()
    return Release(NO, "toy", {}, guarantee, seeded=False, claimed=claim)


def test_a_guarantee_that_is_stated_is_what_is_tested() -> None:
    release = release_with(Guarantee.proved(0.7, 0.02))
    assert stated_claim(release) == implied_claim(release, 5.0, 0.5) == Claim(0.7, 0.02, "proved by Libra")
    found = audit(LOG, Identity(), lambda _: stated_claim(release), Effort(runs=200, seed=1), [VALUE])
    assert found.claim == Claim(0.7, 0.02, "proved by Libra")


def test_a_guarantee_for_individuals_is_a_claim_for_individuals() -> None:
    assert stated_claim(release_with(Guarantee.proved(0.7, 0.02, Unit(most_cases=5)))).of_individuals


def test_where_nothing_is_stated_what_is_implied_or_asked_for_is_tested() -> None:
    release = release_with(Guarantee("claimed", "something", "its authors"), implied=0.66)
    assert implied_claim(release, None, 0.01) == Claim(0.66, 0.01, "implied by what its authors claim")
    assert implied_claim(release, 2.0, 0.01) == Claim(2.0, 0.01, "asked for; what its authors claim implies 0.66")
    nothing = release_with(Guarantee("claimed", "something", "its authors"))
    assert implied_claim(nothing, 2.0, 0.01) == Claim(2.0, 0.01, "asked for; its authors state no epsilon")
    told = r"^toy states no epsilon\. Choose the one to test with --epsilon\.$"
    with pytest.raises(UsageError, match=told):
        stated_claim(release)
    with pytest.raises(UsageError, match=told):
        implied_claim(nothing, None, 0.01)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"runs": 199}, "runs has to be a whole number from 200 to 10,000,000, not 199."),
        ({"runs": 10_000_001}, "runs has to be a whole number from 200 to 10,000,000, not 10000001."),
        ({"runs": 500.0}, "runs has to be a whole number from 200 to 10,000,000, not 500.0."),
        ({"processes": 0}, "processes has to be a whole number from 1 to 256, not 0."),
        ({"processes": 257}, "processes has to be a whole number from 1 to 256, not 257."),
        ({"seconds": 0.5}, "the time limit has to be a number of seconds from 1 to 604,800, not 0.5."),
        ({"seconds": math.inf}, "the time limit has to be a number of seconds from 1 to 604,800, not inf."),
        ({"seed": -1}, "seed has to be a whole number from 0 to 9,223,372,036,854,775,807, not -1."),
    ],
)
def test_an_effort_that_cannot_be_meant_is_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as caught:
        Effort(**wrong)
    assert str(caught.value) == told


def test_a_canary_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        audited(Identity(), (1.0, 0.01), 200, VALUE, "sings")
    assert str(caught.value) == f'Unknown canary "sings". Choose from: {", ".join(NAMES)}.'
    assert caught.value.exit_code == 2


def test_an_audit_without_canaries_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^An audit needs at least one canary\. Omit the list to try all of them\.$"):
        audit(LOG, Identity(), claimed(1.0, 0.01), canaries=[])


def test_a_single_canary_may_be_given_by_its_name() -> None:
    assert only(audit(LOG, Identity(), claimed(1.0, 0.01), Effort(runs=200), VALUE)).canary == VALUE


def test_a_canary_named_twice_is_tried_once() -> None:
    assert len(audited(Identity(), (1.0, 0.01), 200, VALUE, VALUE).findings) == 1


def test_a_log_without_cases_is_bad_input() -> None:
    with pytest.raises(InputError, match="this log is empty") as caught:
        audit(empty_log(LOG), Identity(), claimed(1.0, 0.01))
    assert caught.value.exit_code == LibraError.exit_code == 3
