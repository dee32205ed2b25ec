"""PRIPEL: the control flow is that of its query, values are those of the log, randomized, and nothing is promised."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from cases_for_peers import DAY, cases_from, events_of, log_from

import libra
from agreement import ReadPublic
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Cases, cases_of, traces_of
from libra.eventlog.log import EventLog
from libra.mechanisms.mechanism import mechanism
from libra.mechanisms.pripel import Pripel
from libra.mechanisms.variant_queries import Counted

COUNTS = {"abc": 120, "acb": 60, "ab": 45, "xyz": 3}
WARDS = [f"ward {number}" for number in range(5)]


def log_with_attributes() -> EventLog:
    """Cases with an attribute of each type, a resource and an id; every case has an attribute of its own."""
    n = sum(len(word) * count for word, count in COUNTS.items())
    log = log_from(
        COUNTS,
        group=[WARDS[event % 5] for event in range(n)],
        cost=[float(event % 11) for event in range(n)],
        age=[20 + event % 7 for event in range(n)],
        urgent=[None if event % 3 else event % 2 == 0 for event in range(n)],
        EventID=[f"event {event}" for event in range(n)],
    )
    return EventLog(log.events, log.cases.with_columns(pl.Series("diagnosis", ["A41"] * log.n_cases)))


@pytest.mark.parametrize("query", ["prefix-laplace", "sacofa"])
def test_control_flow_is_that_of_the_query(query: str) -> None:
    cases = cases_from([[0, 1, 2]] * 200 + [[0, 2, 1]] * 60 + [[0, 1]] * 20)
    asked: Any = mechanism(query, {"epsilon": 0.5, "prune": 3, "max_length": 3})
    answer = asked.variants(cases, Randomness(seed=5))
    released = mechanism("pripel", {"epsilon": 0.5, "query": query, "prune": 3, "max_length": 3})
    assert isinstance(released, Pripel)
    found = released.anonymized(cases, Randomness(seed=5))
    assert sorted(events_of(found)) == sorted(answer.repeated().to_lists())
    for trace, variant in zip(events_of(found), found.variant.tolist(), strict=True):
        assert trace == answer.traces.to_lists()[variant]


def test_event_attributes_are_released_within_their_domains_and_ids_and_case_attributes_are_not() -> None:
    log = log_with_attributes()
    released = Pripel(epsilon=1.0).anonymize(log, Randomness(seed=1)).log
    assert set(released.events.columns[3:]) == {"group", "cost", "age", "urgent"}
    assert released.cases.columns == ["concept:name"]
    assert {name: released.events.schema[name] for name in released.events.columns} == {
        name: log.events.schema[name] for name in released.events.columns
    }
    assert set(released.events["group"].drop_nulls()) == set(WARDS)
    assert released.events["cost"].is_between(0, 10).all()
    assert released.events["age"].is_between(20, 26).all()
    assert 0.5 < released.events["urgent"].null_count() / released.n_events < 0.8
    assert not set(released.cases["concept:name"]) & set(log.cases["concept:name"])


def test_a_note_names_the_attributes_that_are_released() -> None:
    log = log_with_attributes()
    (note,) = Pripel().anonymize(log, Randomness()).notes
    assert "values are those of the original" in note
    assert set(note.removesuffix(".").partition(": ")[2].split(", ")) == {"group", "cost", "age", "urgent"}
    assert Pripel().anonymize(log_from(COUNTS), Randomness()).notes == ()
    assert Pripel(prune=10_000).anonymize(log, Randomness()).notes == ()


def test_persons_of_two_cases_each_are_not_released_by_name() -> None:
    persons = [f"PAT{event // 6}" for event in range(3 * 400)]
    log = log_from({"abc": 400}, patient=persons, ward=["w1", "w2", "w3"] * 400)
    released = Pripel(epsilon=10.0).anonymize(log, Randomness(seed=1)).log
    assert released.events.columns[3:] == ["ward"]


def test_attributes_stay_with_their_events_when_cases_are_shuffled() -> None:
    n = sum(len(word) * count for word, count in COUNTS.items())
    letters = [letter for word, count in COUNTS.items() for _ in range(count) for letter in word]
    log = log_from(COUNTS, twin=[f"is {letter}" for letter in letters], number=[ord(letter) for letter in letters])
    assert len(letters) == n
    released = Pripel(epsilon=100.0).anonymize(log, Randomness(seed=1)).log
    assert released.n_cases > 200
    assert ("is " + released.events["concept:name"]).equals(released.events["twin"], check_names=False)


def test_times_are_in_order_and_hardly_any_case_repeats_the_gaps_of_an_original() -> None:
    log = log_from({"abcd": 300, "acbd": 100})
    shaken = log.events.with_columns(
        (pl.col("time:timestamp").cast(pl.Int64) + pl.Series(np.random.default_rng(1).integers(0, DAY // 30, log.n_events))).cast(
            pl.Datetime("us", "UTC")
        )
    )
    log = EventLog(shaken, log.cases)
    released = Pripel(epsilon=1.0).anonymize(log, Randomness(seed=1)).log
    assert released.in_time_order
    assert len(gap_vectors(released) & gap_vectors(log)) == 0
    assert len(gap_vectors(log)) > 390


def gap_vectors(log: EventLog) -> set[tuple[int, ...]]:
    """The gaps of each case, in milliseconds."""
    cases = cases_of(log)
    return {
        tuple((np.diff(cases.micros[begin:end]) // 1000).tolist())
        for begin, end in zip(cases.offsets[:-1], cases.offsets[1:], strict=True)
    }


def test_a_seed_gives_the_same_release_and_says_so() -> None:
    log = log_with_attributes()
    one, same, other = (Pripel(query="sacofa").anonymize(log, Randomness(seed)) for seed in (1, 1, 2))
    assert one.log.equals(same.log)
    assert not one.log.equals(other.log)
    assert "not private: seeded" in one.notes[0]


def test_a_query_without_an_answer_gives_an_empty_log_and_says_what_would_help() -> None:
    release = Pripel(prune=10_000).anonymize(log_with_attributes(), Randomness(seed=1))
    assert release.log.n_cases == 0
    assert release.shortfall is not None
    assert "prune" in release.shortfall


def test_nothing_comes_of_nothing() -> None:
    none = np.zeros(0, np.int64)
    assert len(Pripel().anonymized(Cases(none, none, np.zeros(1, np.int64), none, n_activities=0), Randomness())) == 0


class MadeUp:
    """A query that makes up traces, fewer where more is pruned, and none from 100 on."""

    def __init__(self, prune: float) -> None:
        """Take the threshold."""
        self.n_traces = int(100 / prune) if prune < 100 else 0

    def variants(self, cases: Cases, random: Randomness) -> Counted:
        """Traces of one more event each."""
        return Counted(traces_of([[0] * length for length in range(5, 5 + self.n_traces)]), np.ones(self.n_traces, np.int64))


@pytest.mark.parametrize(("most", "said"), [(200, "--set prune=4 would work"), (3, "Ask for a larger --epsilon")])
def test_what_does_not_fit_is_refused_with_a_setting_that_works(monkeypatch: pytest.MonkeyPatch, most: int, said: str) -> None:
    cases = cases_from([[0, 1], [1, 0], [1], [1, 1]])
    monkeypatch.setattr(Pripel, "_query", lambda _, prune: MadeUp(prune))
    monkeypatch.setattr("libra.mechanisms.pripel.matching.MOST_DISTANCES", most)
    with pytest.raises(UsageError, match=said):
        Pripel(prune=1).anonymized(cases, Randomness(seed=1))
    if most == 200:
        assert len(Pripel(prune=4).anonymized(cases, Randomness(seed=1))) == 25


def test_shares_of_the_cases_are_doubled_up_to_a_half(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[float] = []

    def query(_: Pripel, prune: float) -> MadeUp:
        tried.append(prune)
        return MadeUp(1)

    monkeypatch.setattr(Pripel, "_query", query)
    monkeypatch.setattr("libra.mechanisms.pripel.matching.MOST_DISTANCES", 3)
    with pytest.raises(UsageError, match="Ask for a larger --epsilon or a smaller max_length"):
        Pripel(prune=0.1).anonymized(cases_from([[0, 1]]), Randomness(seed=1))
    assert tried == [0.1, 0.2, 0.4, 0.8]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("epsilon", value) for value in (0, -1, math.nan, "x", True)),
        *(("query", value) for value in ("laplace", None, 1)),
        *(("prune", value) for value in (-0.1, 2.5, "x")),
        *(("max_length", value) for value in (0, 2.5, "x")),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=name):
        Pripel(**{name: value})


def test_the_claim_follows_from_the_parameters_alone_and_is_no_guarantee() -> None:
    made = Pripel(epsilon=0.7, query="sacofa", prune=5, max_length=4)
    for log in (log_from({"abc": 50}), log_with_attributes()):
        release = made.anonymize(log, Randomness())
        assert release.claimed is not None
        assert release.claimed.published() == {"epsilon": 0.7, "delta": 0.0}
        assert release.guarantee == Pripel(**release.parameters).guarantee(seeded=False, individuals=False)
        assert release.guarantee.kind == "claimed"
        assert release.guarantee.epsilon is None
        assert "This is no guarantee" in release.guarantee.statement
        assert release.contents == made.contents
        assert json.loads(json.dumps(release.to_dict(), allow_nan=False))
    query: Any = mechanism("sacofa", {"epsilon": 0.7, "prune": 5, "max_length": 4})
    of_query = query.guarantee(seeded=False, individuals=False).caveats
    assert set(of_query) < set(release.guarantee.caveats)
    assert len(made.guarantee(seeded=False, individuals=True).caveats) == len(release.guarantee.caveats) + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sepsis", "bpic13"])
def test_public_logs_come_out_with_randomized_attributes(read_public: ReadPublic, name: str) -> None:
    log = read_public(name)
    released = Pripel().anonymize(log, Randomness(seed=1)).log
    assert 0 < released.n_cases < log.n_cases
    assert released.in_time_order
    assert "org:group" in released.events.columns
    assert set(released.events["org:group"].drop_nulls()) <= set(log.events["org:group"].drop_nulls())


def test_no_part_of_a_case_id_is_released_and_no_numbers_of_persons() -> None:
    rows = {
        "Patient": [f"Smith-{case % 20}" for case in range(400) for _ in range(2)],
        "Visit": [str(case // 20) for case in range(400) for _ in range(2)],
        "Step": ["in", "out"] * 400,
        "Time": [f"2024-01-{1 + case % 28:02}T{8 + step:02}:00:00Z" for case in range(400) for step in range(2)],
        "Insurance": [100_000.0 + case for case in range(400) for _ in range(2)],
        "Ward": [f"ward {case % 3}" for case in range(400) for _ in range(2)],
    }
    log = libra.read(pl.DataFrame(rows), case_id=["Patient", "Visit"], activity="Step", timestamp="Time")
    released = libra.anonymize(log, mechanism="pripel", epsilon=3.0, seed=1).log
    assert [name for name in rows if name in released.events.columns] == ["Ward"]
