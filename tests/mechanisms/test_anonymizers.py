"""Other mechanisms as anonymizers of the subsamples: their control flow, and times of the subsample under the paper's noise."""

from __future__ import annotations

import numpy as np
import pytest

import libra
from libra import example
from libra.errors import UsageError
from libra.eventlog.cases import Cases, Traces, cases_of, traces_of
from libra.example.simulate import simulate
from libra.mechanisms.libra2022 import Libra2022
from libra.mechanisms.libra2022.algorithm import named_anonymizer, with_times_of
from libra.mechanisms.variant_queries import Counted, counted_of
from libra.privacy.randomness import Randomness

PEERS = ("amun", "pripel", "prefix-laplace", "sacofa", "travas")


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_anonymizes_subsamples(name: str) -> None:
    options = {"mechanism": "libra2022", "anonymizer": name, "gamma": 0.5, "b": 0.4, "subsamples": 3, "seed": 1}
    release = libra.anonymize(example.path(), **options)  # type: ignore[arg-type]  # of different types, as on a command line
    assert release.log.n_cases > 100
    assert set(release.log.activities) <= set(libra.read(example.path()).activities)
    assert release.parameters["anonymizer"] == name
    assert "Another one was used, for which nothing is claimed" in release.guarantee.statement
    again = libra.anonymize(example.path(), **options)  # type: ignore[arg-type]  # likewise
    assert again.log.events.equals(release.log.events)


def test_times_that_are_taken_over_carry_the_noise_of_the_paper() -> None:
    cases = cases_of(simulate(cases=400))
    released = named_anonymizer("travas", 1e-2)(cases, 2.0, Randomness(seed=1))
    assert len(released) > 50
    gaps = set(np.diff(cases.micros).tolist())
    same = [gap in gaps for gap in np.diff(released.micros).tolist()]
    assert np.mean(same) < 0.05


def test_what_is_known_of_a_named_anonymizer_is_said() -> None:
    told = {
        name: " ".join(libra.anonymize(example.path(), mechanism="libra2022", anonymizer=name, gamma=0.5).guarantee.caveats)
        for name in ("travas", "pripel", "amun")
    }
    assert ["moved by some days" in told[name] for name in told] == [True, False, False]
    assert ["are pruned follows" in told[name] for name in told] == [False, True, False]
    assert all(f"went through {name}" in told[name] for name in told)


def test_a_trace_that_cases_follow_takes_over_the_times_of_one_of_them() -> None:
    cases = cases_of(simulate(cases=300))
    timed = with_times_of(counted_of(cases), cases, Randomness(seed=1))
    originals = {_key(cases, row) for row in range(len(cases))}
    assert {_key(timed, row) for row in range(len(timed))} <= originals
    assert len({_key(timed, row) for row in range(len(timed))}) > 100  # not always the same one


def test_a_trace_that_no_case_follows_has_gaps_of_its_activities() -> None:
    codes, micros = [0, 1, 0, 1, 2], [0, 7, 100, 113, 150]
    cases = Cases(np.array(codes), np.array(micros), np.array([0, 2, 5]), np.array([0, 1]), n_activities=4)
    new = Counted(traces_of([[0, 2, 1], [3, 3]]), np.array([40, 2]))
    timed = with_times_of(new, cases, Randomness(seed=1))
    first = timed.micros.reshape(-1)[: 40 * 3].reshape(40, 3)
    assert set(first[:, 0].tolist()) == {0, 100}
    assert set(np.diff(first, axis=1)[:, 0].tolist()) == {37}  # the only gap before a 2
    assert set(np.diff(first, axis=1)[:, 1].tolist()) == {7, 13}
    assert set(np.diff(timed.micros[120:].reshape(2, 2), axis=1).ravel().tolist()) <= {7, 13, 37}  # 3 has none of its own


@pytest.mark.parametrize("traces", [[], [[]], [[0]]])
def test_no_cases_or_no_traces_are_no_error(traces: list[list[int]]) -> None:
    cases = cases_of(simulate(cases=20))
    counted = Counted(traces_of(traces), np.ones(len(traces), np.int64))
    nobody = cases.take(np.zeros(0, np.int64))
    assert len(with_times_of(counted, cases, Randomness())) == (1 if traces == [[0]] else 0)
    assert (
        len(with_times_of(Counted(Traces(cases.codes[:0], np.zeros(1, np.int64)), np.zeros(0, np.int64)), nobody, Randomness()))
        == 0
    )


@pytest.mark.parametrize("name", ["libra", "libra2022", "lapras"])
def test_what_cannot_anonymize_a_subsample_is_refused_before_anything_is_read(name: str) -> None:
    with pytest.raises(UsageError, match=f'"{name}" cannot anonymize a subsample. There is: amun, pripel'):
        Libra2022(anonymizer=name)


def _key(cases: Cases, row: int) -> tuple[tuple[int, ...], ...]:
    events = slice(cases.offsets[row], cases.offsets[row + 1])
    return tuple(cases.codes[events].tolist()), tuple(cases.micros[events].tolist())
