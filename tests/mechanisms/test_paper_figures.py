"""The figures of the paper on its public logs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from some_cases import variants_in

from libra.eventlog.log import EventLog
from libra.eventlog.options import no_progress
from libra.measures.edges import pair_edges
from libra.measures.utility import emd_freq, emd_time
from libra.mechanisms.libra2022 import Libra2022
from libra.privacy.randomness import Randomness
from libra.reproduce import TABLE_1
from libra.reproduce.run import read_logs

PublicLog: TypeAlias = Callable[[Path, str], EventLog]


@pytest.fixture(scope="module")
def public_log() -> PublicLog:
    """The logs of the paper, read as it did and each once."""

    @cache
    def of(folder: Path, name: str) -> EventLog:
        return read_logs([folder / f"{name}.xes.gz"], lambda _: nullcontext(no_progress))[name]

    return of


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [2, 10, 100])
@pytest.mark.parametrize(
    ("name", "freq_within", "time_within"),
    [("bpic13", 0.05, 0.10), ("bpic12", 0.05, 0.02), ("urineweginfectie", 0.15, None)],
)
def test_the_papers_figures_come_out(
    shared_logs: Path, public_log: PublicLog, name: str, freq_within: float, time_within: float | None, alpha: int
) -> None:
    printed = TABLE_1[name][alpha]
    freq, time = mean_emd(public_log(shared_logs, name), alpha)
    assert freq == pytest.approx(printed.emd_freq, rel=freq_within)
    if time_within is not None:
        assert time == pytest.approx(printed.emd_time, rel=time_within)


def test_sepsis_is_as_good_as_empty_in_the_papers_measure(shared_logs: Path, public_log: PublicLog) -> None:
    freq, time = mean_emd(public_log(shared_logs, "sepsis"), 10)
    assert 122 <= freq <= 123.2
    assert time == pytest.approx(6218, abs=1)


def mean_emd(log: EventLog, alpha: float) -> tuple[float, float]:
    """EMD Freq and EMD Time, the mean over five seeds, in the setting that matches the paper's tables."""
    mechanism = Libra2022(alpha=alpha, delta=1e-3, trace_noise=False)
    edges = [pair_edges(log, mechanism.anonymize(log, Randomness(seed)).log) for seed in range(5)]
    return float(np.mean([emd_freq(pair) for pair in edges])), float(np.mean([emd_time(pair) for pair in edges]))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bpic12", "bpic13", "hospital", "sepsis", "urineweginfectie"])
def test_with_trace_noise_releases_are_empty_where_the_papers_are_and_only_there(
    shared_logs: Path, public_log: PublicLog, name: str
) -> None:
    log = public_log(shared_logs, name)
    for alpha, printed in TABLE_1[name].items():
        for seed in range(3):
            release = Libra2022(alpha=alpha, delta=1e-3).anonymize(log, Randomness(seed))
            assert (release.log.n_cases > 0) is (printed.emd_freq is not None)
            assert (release.shortfall is None) is (printed.emd_freq is not None)
            assert variants_in(release.log) <= variants_in(log)
