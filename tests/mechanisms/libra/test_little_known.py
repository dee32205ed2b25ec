"""Where little but the number of rare cases is known, nothing is made up of it."""

from __future__ import annotations

import pytest
from some_logs import all_different, log_from

from libra._system.randomness import Randomness
from libra.mechanisms.libra import Libra, figures

UNLIKE = log_from([word for word in all_different(40, "abcdefghijklmnop") for _ in range(100)])


@pytest.mark.parametrize("epsilon", [0.08, 0.12])
def test_a_log_of_which_only_the_number_of_cases_is_known_comes_out_empty_and_says_so(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism, made_up = Libra(epsilon=epsilon, delta=1e-4), 0
    for seed in range(15):
        release = mechanism.anonymize(UNLIKE, Randomness(seed))
        steps = (release.log.n_events - release.log.n_cases) / max(release.log.n_cases, 1)
        assert not release.log.n_cases or steps >= 1, seed
        assert any("log is empty" in note for note in release.notes) == (not release.log.n_cases)
        with monkeypatch.context() as before:
            before.setattr(figures, "LEAST_ALONE", 0.0)
            former = mechanism.anonymize(UNLIKE, Randomness(seed)).log
        made_up += former.n_cases > 0 and former.n_events < 2 * former.n_cases
    assert made_up > 3  # logs of little more than one event a case, before


def test_a_kept_variant_does_not_stand_for_thousands_of_cases_that_are_unlike_it() -> None:
    mechanism, alone = Libra(epsilon=0.12, delta=1e-4), 0
    for seed in range(15):
        release = mechanism.anonymize(UNLIKE, Randomness(seed))
        if len(release.figures[0].control.kept) and len(release.log.variants) == len(release.figures[0].control.kept):
            alone += 1
            assert release.log.n_cases <= 4.5 * release.figures[0].control.first.values.sum()
            assert release.log.n_cases < UNLIKE.n_cases
    assert alone > 0


def test_a_log_with_frequent_edges_is_not_taken_for_one_of_which_nothing_is_known() -> None:
    log, mechanism = log_from(all_different(1500, "abcd")), Libra(epsilon=0.3, delta=1e-4)
    assert all(mechanism.anonymize(log, Randomness(seed)).log.n_cases > 1000 for seed in range(10))
