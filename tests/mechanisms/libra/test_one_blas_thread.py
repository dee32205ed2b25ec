"""Small matrices are multiplied on one core, so that threads of BLAS do not wait for each other; afterwards all is as before."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread
from time import sleep
from typing import Any

import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

import libra
from attributed_events import with_values
from libra._system.parallel import one_blas_thread
from libra.eventlog.attributes import Attribute
from libra.mechanisms.libra import generate


def threads() -> set[int]:
    """How many threads the libraries behind NumPy and SciPy may use."""
    return {library["num_threads"] for library in ThreadpoolController().info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def before() -> Iterator[set[int]]:
    """More threads than one, as far as there can be."""
    with threadpool_limits(2, user_api="blas"):
        if max(threads(), default=1) == 1:
            pytest.skip("the number of BLAS threads cannot be set here")
        yield threads()


def test_within_there_is_one_and_afterwards_as_many_as_before(before: set[int]) -> None:
    with one_blas_thread():
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == before


def test_threads_take_turns_and_leave_all_as_it_was(before: set[int]) -> None:
    within, seen = list[int](), list[int]()

    def enter(number: int) -> None:
        with one_blas_thread():
            within.append(number)
            sleep(0.02)
            seen.append(len(within))
            within.remove(number)

    running = [Thread(target=enter, args=(number,)) for number in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert seen == [1, 1, 1, 1]
    assert threads() == before


def test_an_error_within_changes_nothing(before: set[int]) -> None:
    def fail() -> None:
        with one_blas_thread():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert threads() == before


@pytest.mark.parametrize("name", ["fitted", "fitted_events"])
def test_attributes_are_fitted_on_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, original = list[set[int]](), getattr(generate, name)

    def watched(*arguments: Any) -> Any:
        seen.append(threads())
        return original(*arguments)

    monkeypatch.setattr(generate, name, watched)
    asked = [Attribute("org:role", "category", level="event"), Attribute("case:complaint", "category")]
    assert libra.anonymize(with_values(), epsilon=2, delta=1e-3, attributes=asked, seed=1).log.n_cases
    assert seen
    assert seen[0] == {1}
