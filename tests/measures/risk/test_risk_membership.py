"""The game of membership: certain against a copy, guessing against a log made up, and what our mechanisms give away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import libra
from libra import example
from libra._system.randomness import Randomness
from libra.eventlog.log import EventLog, empty_log
from libra.example.simulate import simulate
from libra.measures.risk import certified, risk_of_release
from libra.measures.risk.assess import NO_CERTIFICATE, TOO_FEW
from libra.measures.risk.membership import guesses, membership, play, scores
from libra.mechanisms.mechanism import mechanism


@dataclass
class Copies:
    """The mechanism that does nothing, and remembers what it saw."""

    seen: list[EventLog]

    def __call__(self, log: EventLog, random: Randomness) -> EventLog:
        self.seen.append(log)
        return log


LOG = simulate(cases=400)


def test_against_a_copy_the_attack_is_certain() -> None:
    advantage, groups = play(LOG, Copies([]), Randomness(seed=1), rounds=3)
    assert advantage.value > 0.99
    assert advantage.lowest > 0.95
    assert all(group.advantage.value > 0.99 for group in groups)


def test_against_a_log_that_has_nothing_to_do_with_it_the_attack_guesses() -> None:
    other = simulate(cases=200, seed=99)
    assert not other.equals(simulate(cases=200))
    advantage, _ = play(LOG, lambda log, random: other, Randomness(seed=1), rounds=20)
    assert abs(advantage.value) < 0.05
    assert advantage.lowest < 0 < advantage.highest


def test_against_an_empty_log_the_attack_says_nobody_was_there() -> None:
    advantage, _ = play(LOG, lambda log, random: empty_log(LOG), Randomness(seed=1), rounds=3)
    assert advantage.value == 0


def test_members_alone_are_anonymized_each_by_the_toss_of_a_coin() -> None:
    copies = Copies([])
    play(LOG, copies, Randomness(seed=1), rounds=8)
    names = set(LOG.cases["concept:name"])
    sizes = [part.n_cases for part in copies.seen]
    assert len(set(sizes)) > 3  # no fixed size
    assert all(abs(size - 200) < 60 for size in sizes)
    assert all(set(part.cases["concept:name"]) < names for part in copies.seen)
    ends = LOG.case_spans[1][np.isin(LOG.cases["concept:name"].to_list(), copies.seen[0].cases["concept:name"].to_list())]
    assert ends.tolist() == copies.seen[0].case_spans[1].tolist()


def test_the_bounds_hold_the_truth_of_a_mechanism_whose_advantage_is_known() -> None:
    def half(log: EventLog, random: Randomness) -> EventLog:
        """Releases everything or nothing: an advantage of one half, and all cases of a round stand and fall together."""
        return log if random.uniform(1)[0] < 0.5 else empty_log(log)

    found = [play(LOG, half, Randomness(seed=seed), rounds=10)[0] for seed in range(10)]
    assert sum(one.lowest <= 0.5 <= one.highest for one in found) >= 9
    assert all(one.highest - one.lowest > 0.4 for one in found)  # ten tosses tell no more, however many cases there are


def test_the_threshold_is_not_chosen_on_the_cases_it_is_judged_by() -> None:
    random = np.random.default_rng(1)
    advantages = []
    for _ in range(300):
        found, member = random.random((4, 40)), random.random(40) < 0.5
        said = guesses(found, member, np.zeros(40, np.int64))
        if 0 < member.sum() < 40:
            advantages.append(said[member].mean() - said[~member].mean())
    assert abs(float(np.mean(advantages))) < 0.03


def test_a_case_whose_trace_was_not_released_looks_least_like_a_member() -> None:
    some = np.arange(LOG.n_cases)
    found = scores(some, LOG, simulate(cases=3))
    assert np.isinf(found).any()
    assert not np.isinf(found).all()
    assert (scores(some, LOG, LOG)[:3] == 0).all()


def test_the_advantage_over_libra_is_none_and_within_its_guarantee() -> None:
    log = libra.read(example.path())
    named = certified(libra.anonymize(log, epsilon=1.0).certificate())
    found = membership(log, named, Randomness(seed=1))
    assert found.mechanism == "libra"
    assert found.bound is not None
    assert found.bound.kind == "proved"
    assert abs(found.advantage.value) < 0.05
    assert found.advantage.highest < found.bound.advantage
    assert not found.exceeded


def test_the_advantage_over_libra2022_is_more_than_its_claim_allows() -> None:
    log = libra.read(example.path())
    named = certified(libra.anonymize(log, mechanism="libra2022").certificate())
    found = membership(log, named, Randomness(seed=1))
    assert found.bound is not None
    assert (found.bound.kind, found.exceeded) == ("claimed", True)
    assert found.advantage.lowest > found.bound.advantage
    worst = max(found.groups, key=lambda group: group.advantage.value)
    assert worst.cases_of_variant == "100 and more"
    assert worst.advantage.lowest > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["urineweginfectie", "bpic13"])
def test_the_same_holds_on_public_logs(shared_logs: object, name: str) -> None:
    log = libra.read(f"{shared_logs}/{name}.xes.gz")
    for made, exceeded in (("libra", False), ("libra2022", True)):
        named = certified(libra.anonymize(log, mechanism=made).certificate())
        found = membership(log, named, Randomness(seed=1))
        assert found.exceeded == exceeded
        assert (found.advantage.value > 0.1) == exceeded


def test_the_game_can_be_repeated() -> None:
    made = mechanism("libra", {})

    def anonymize(log: EventLog, random: Randomness) -> EventLog:
        return made.anonymize(log, random, lambda done, total: None).log

    assert play(LOG, anonymize, Randomness(seed=5), rounds=2) == play(LOG, anonymize, Randomness(seed=5), rounds=2)


def test_rounds_are_told_as_progress() -> None:
    told: list[tuple[int, int]] = []
    play(LOG, Copies([]), Randomness(seed=1), rounds=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_without_a_certificate_or_with_too_few_cases_there_is_no_game_and_a_note_says_why() -> None:
    small = simulate(cases=30)
    assert risk_of_release(small, small).notes == (NO_CERTIFICATE,)
    named = certified(libra.anonymize(small).certificate())
    risk = risk_of_release(small, small, certified=named)
    assert (risk.membership, risk.notes) == (None, (TOO_FEW,))


def test_equal_scores_get_the_same_answer_and_no_advantage_from_their_order() -> None:
    member = np.arange(40) % 2 == 0
    assert not guesses(np.full((4, 40), 0.5), member, np.zeros(40, np.int64)).any()
