"""Where noise is large, no case of a release starts in a year in which none of the log does."""

from __future__ import annotations

import numpy as np
import pytest
from some_logs import DAY, STRUCTURED, log_from

from libra._system.randomness import Randomness
from libra.engines import time_tables as tables
from libra.eventlog.log import EventLog
from libra.mechanisms.libra import Libra

NEW_YEAR = 16_436 * DAY  # 2015
NO_YEAR = "No year stood out from the noise"


def years_of(starts: np.typing.NDArray[np.int64]) -> np.typing.NDArray[np.int64]:
    """Of 52 weeks, as they are counted."""
    return (starts - tables.FIRST_MONDAY) // (tables.WEEKS_A_YEAR * tables.WEEK)


def calendar_years_of(starts: np.typing.NDArray[np.int64]) -> np.typing.NDArray[np.int64]:
    return 1970 + starts.astype("datetime64[us]").astype("datetime64[Y]").astype(np.int64)


def second_half_of_2015(times: int) -> EventLog:
    """A log that two years of 52 weeks have a part of."""
    return log_from(STRUCTURED * times, start=NEW_YEAR + 181 * DAY, every=180 * DAY // (times * len(STRUCTURED)))


@pytest.mark.parametrize(("epsilon", "times"), [(0.1, 1), (0.1, 4), (0.05, 3), (0.02, 8), (0.01, 12)])
def test_cases_start_in_years_of_the_log_or_in_one_that_the_release_disowns(epsilon: float, times: int) -> None:
    log, mechanism = second_half_of_2015(times), Libra(epsilon=epsilon, delta=1e-4)
    known, starts = np.unique(years_of(log.case_spans[0])), []
    for seed in range(40):
        release = mechanism.anonymize(log, Randomness(seed))
        if release.log.n_cases:
            found = release.log.case_spans[0]
            disowned = any(NO_YEAR in note for note in release.notes)
            assert np.isin(years_of(found), [30] if disowned else known).all(), seed
            starts += [] if disowned else [found]
    assert len(starts) > 10
    nearly = np.concatenate(starts) + tables.WEEK * np.arange(-1, 2)[:, None]  # a week may begin in the year before
    assert np.mean((calendar_years_of(nearly) == 2015).any(0)) > 0.9
