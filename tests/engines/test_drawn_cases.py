"""Of each individual at most so many cases count, drawn at random and without regard to anybody else."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Unit
from libra.engines.polars import drawn_cases, engine_of
from libra.eventlog.log import EventLog
from libra.measures.audit.canaries import Case, log_of_cases

WHOSE = st.lists(st.one_of(st.none(), st.integers(0, 5)), max_size=30)


@given(WHOSE, st.integers(1, 4), st.integers(0, 1000))
def test_as_many_cases_as_count_are_drawn_of_everybody(whose: list[int | None], most: int, seed: int) -> None:
    drawn = drawn_cases(pl.Series(whose, dtype=pl.Int64), most, Randomness(seed)).tolist()
    assert drawn == sorted(set(drawn))
    for person in set(whose) - {None}:
        assert sum(whose[case] == person for case in drawn) == min(most, whose.count(person))
    assert sum(whose[case] is None for case in drawn) == whose.count(None)


def test_every_case_of_somebody_is_drawn_equally_often() -> None:
    random, whose = Randomness(seed=1), pl.Series(["ann", "bert", "ann", "ann", "bert"])
    times = np.bincount(np.concatenate([drawn_cases(whose, 1, random) for _ in range(6000)]), minlength=5)
    assert times[[0, 2, 3]].sum() == times[[1, 4]].sum() == 6000
    assert np.abs(times[[0, 2, 3]] - 2000).max() < 200
    assert np.abs(times[[1, 4]] - 3000).max() < 200


class _Counted:
    """Words in the order they are asked for, so that each case keeps its word when others join behind it."""

    def words(self, n: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        return np.random.Generator(np.random.PCG64(7)).integers(2**63, size=n).astype(np.uint64)


@given(WHOSE, st.integers(1, 3), st.integers(1, 6))
def test_what_is_drawn_of_somebody_depends_on_nobody_else(whose: list[int | None], most: int, more: int) -> None:
    before = drawn_cases(pl.Series(whose, dtype=pl.Int64), most, _Counted())  # type: ignore[arg-type]  # words are all it needs
    joined = drawn_cases(pl.Series([*whose, *[99] * more], dtype=pl.Int64), most, _Counted())  # type: ignore[arg-type]
    assert joined[joined < len(whose)].tolist() == before.tolist()


def _log(persons: list[str | None]) -> EventLog:
    return log_of_cases(
        [Case(("a", "b") if n % 2 else ("a",), (n, n + 1)[: 1 + n % 2], person=p) for n, p in enumerate(persons)],
        individuals=True,
    )


@pytest.mark.parametrize(("most", "cases"), [(1, 3), (2, 5), (3, 6)])
def test_the_engine_holds_what_counts(most: int, cases: int) -> None:
    log = _log(["ann", "ann", "ann", "bert", "bert", None])
    traces, counts = engine_of(log, Unit(most), Randomness(seed=1)).variants()
    assert counts.sum() == cases
    assert (counts > 0).all()
    assert len(traces) == len(counts)
    assert engine_of(log, CASE).variants()[1].sum() == 6
