"""Combining: fresh ids, random order, three columns, and cases that stay whole."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats
from some_cases import as_lists, cases_from

from libra.eventlog.cases import Cases, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import Attribute, LogMetadata
from libra.mechanisms.libra2022.steps import combine
from libra.privacy.randomness import SEEDED, Randomness

LABELS = ["admit", "bill", "cure", "discharge"]


def parts() -> list[Cases]:
    """Three subsamples of the same log, one of them empty."""
    cases = cases_from([[0, 1], [2], [0, 1, 3], [2, 2], [0, 1], [3]])
    return [cases.take(np.array(rows, np.int64)) for rows in ([0, 2, 5], [], [1, 1, 3, 4])]


def test_all_cases_of_all_parts_are_there_whole() -> None:
    log = combine(parts(), LABELS, Randomness(seed=1))
    assert set(log.activities) == set(LABELS)
    found = Counter((tuple(log.activities[code] for code in codes), times) for codes, times in as_lists(cases_of(log)))
    expected = Counter((tuple(LABELS[code] for code in codes), times) for part in parts() for codes, times in as_lists(part))
    assert found == expected


def test_codes_mean_the_labels_of_the_log_even_where_some_are_not_left() -> None:
    log = combine([cases_from([[3], [1]])], LABELS, Randomness(seed=1))
    assert log.activities == ["bill", "discharge"]


@pytest.mark.parametrize(("seed", "prefix"), [(None, "case"), (1, "seeded")])
def test_ids_are_fresh_numbers_that_say_whether_there_was_a_seed(seed: int | None, prefix: str) -> None:
    log = combine(parts(), LABELS, Randomness(seed))
    assert log.cases.columns == ["concept:name"]
    assert log.cases["concept:name"].to_list() == [f"{prefix}-{number}" for number in range(1, 8)]


def test_nothing_but_case_activity_and_time_is_left() -> None:
    log = combine(parts(), LABELS, Randomness())
    assert log.events.columns == ["@case", "concept:name", "time:timestamp"]
    assert log.metadata == LogMetadata()
    assert log.metadata.extensions == ()
    assert (log.roles, log.notes, log.individual) == ((), (), None)


def test_a_seeded_log_says_so_in_its_header() -> None:
    log = combine(parts(), LABELS, Randomness(seed=1))
    assert log.metadata.attributes == (Attribute("privacy", "string", SEEDED),)


def test_the_order_tells_nothing_about_the_parts_or_the_order_in_them() -> None:
    cases = cases_from([[i] for i in range(6)])
    halves = [cases.take(np.arange(3)), cases.take(np.arange(3, 6))]
    labels = [str(i) for i in range(6)]
    random = Randomness(seed=2)
    places = np.zeros((6, 6))
    for _ in range(1500):
        order = combine(halves, labels, random).events["concept:name"].cast(int).to_numpy()
        places[np.arange(6), order] += 1
    for row in places:
        assert stats.chisquare(row).pvalue > 1e-4


@pytest.mark.parametrize("labels", [LABELS, []])
def test_nothing_combines_to_an_empty_log(labels: list[str]) -> None:
    nothing = cases_from([[0]]).take(np.zeros(0, np.int64))
    log = combine([nothing, nothing], labels, Randomness())
    assert isinstance(log, EventLog)
    assert (log.n_cases, log.n_events) == (0, 0)
