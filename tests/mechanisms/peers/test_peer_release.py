"""From control flow to a release: placeholders that say nothing, times that are paid for, nothing of other labels."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import libra
from libra import example
from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.cases import Traces, traces_of
from libra.measures import measure
from libra.mechanisms import variant_queries
from libra.mechanisms.libra.times.release import TimeFigures, release_times
from libra.mechanisms.travas import Travas
from libra.mechanisms.variant_queries import Counted, in_names
from libra.privacy.gate import Gate

LOG = libra.read(example.path())


def test_placeholders_are_a_minute_apart_and_begin_with_the_year_2000() -> None:
    released = Travas().anonymize(LOG, Randomness()).log
    times = released.events.group_by("@case", maintain_order=True).agg(pl.col("time:timestamp"))["time:timestamp"].to_list()
    for of_case in times:
        assert of_case == [datetime(2000, 1, 1, tzinfo=UTC) + timedelta(minutes=i) for i in range(len(of_case))]


def test_a_release_without_times_says_so_and_one_with_times_does_not() -> None:
    without, with_times = (Travas(times=times).anonymize(LOG, Randomness()) for times in ("none", "model"))
    assert (without.has_times, with_times.has_times) == (False, True)
    assert "timestamps are placeholders" in without.certificate()["contents"]
    assert "placeholders" not in with_times.certificate()["contents"]
    assert any("releases no times" in note for note in without.notes)
    assert not any("releases no times" in note for note in with_times.notes)


def test_modelled_times_are_like_those_of_the_log() -> None:
    modelled = Travas(epsilon=4.0, delta=1e-3, times="model").anonymize(LOG, Randomness(seed=1))
    found, placeholders = (measure(LOG, one.log) for one in (modelled, Travas(epsilon=4.0).anonymize(LOG, Randomness(seed=1))))
    assert found.edge_duration_w1_log is not None
    assert found.arrival_w1_days is not None
    assert placeholders.edge_duration_w1_log is not None
    assert placeholders.arrival_w1_days is not None
    assert found.edge_duration_w1_log < 0.4 * placeholders.edge_duration_w1_log
    assert found.arrival_w1_days < 30 < placeholders.arrival_w1_days
    starts = modelled.log.timestamps[modelled.log.case_offsets[:-1]]
    assert bool((np.diff(starts) >= 0).all())


def test_times_are_asked_for_released_labels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a label that a single case has would change the shape of what is released about times."""
    asked: list[tuple[tuple[str, ...], int]] = []

    def recorded(gate: Gate, traces: Traces, n_labels: int, mu: float, zone: str) -> TimeFigures:
        asked.append((gate._engine.labels, n_labels))
        return release_times(gate, traces, n_labels, mu, zone)

    monkeypatch.setattr(variant_queries, "release_times", recorded)
    released = Travas(epsilon=0.5, delta=1e-4, times="model").anonymize(LOG, Randomness()).log
    assert asked == [(tuple(released.activities), len(released.activities))]
    assert 0 < len(released.activities) < len(LOG.activities)


def test_codes_are_those_of_released_labels_in_the_order_of_their_names() -> None:
    counted = Counted(traces_of([[5, 1], [5], [1, 1]]), np.array([4, 7, 4]))
    found, names = in_names(counted, ["a", "z", "b", "c", "d", "m"])
    assert names == ("m", "z")
    assert found.traces.to_lists() == [[0], [0, 1], [1, 1]]
    assert found.counts.tolist() == [7, 4, 4]


@pytest.mark.parametrize("times", ["none", "model"])
def test_the_same_seed_gives_the_same_release_and_says_that_it_is_seeded(times: str) -> None:
    first, second = (libra.anonymize(LOG, mechanism="travas", times=times, seed=7) for _ in range(2))
    assert first.log.events.equals(second.log.events)
    assert first.seeded
    assert first.log.cases["concept:name"][0].startswith("seeded-")


def test_nothing_is_given_out_where_more_was_released_than_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Travas, "mu_times", 3.0)
    with pytest.raises(AssertionError, match="more was released than the guarantee allows"):
        Travas(times="model").anonymize(LOG, Randomness())


def test_without_any_variant_there_is_an_empty_log_and_a_note() -> None:
    few = replace(LOG, notes=())
    nothing = Travas(epsilon=0.01, delta=1e-9).anonymize(few, Randomness())
    assert nothing.log.n_cases == 0
    assert any("empty" in note for note in nothing.notes)


def test_what_protects_cases_alone_says_so_where_persons_are_named_and_what_protects_persons_does_not() -> None:
    persons = replace(LOG, individual="concept:name")
    told = {name: libra.anonymize(persons, mechanism=name, epsilon=2.0).notes for name in ("prefix-laplace", "sacofa", "travas")}
    said = {name: any("protects cases, not persons" in note for note in notes) for name, notes in told.items()}
    assert said == {"prefix-laplace": True, "sacofa": True, "travas": False}


def test_a_release_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variant_queries, "MOST_EVENTS", 100)
    with pytest.raises(UsageError, match="would release more than 100 events"):
        Travas(epsilon=2.0).anonymize(LOG, Randomness())


def test_a_zone_that_does_not_count_is_noted() -> None:
    zoneless = libra.read(LOG.to_polars().with_columns(pl.col("time:timestamp").dt.replace_time_zone(None)))
    notes = libra.anonymize(zoneless, mechanism="travas", times="model", time_zone="Asia/Tokyo").notes
    assert any("--time-zone did not count" in note for note in notes)
