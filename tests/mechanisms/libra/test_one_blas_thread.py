"""Small matrices are multiplied on one core, so that threads of BLAS do not wait for each other; afterwards all is as before."""

from __future__ import annotations

from collections.abc import Iterator
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
def three_before() -> Iterator[None]:
    """As many threads as no test is started with."""
    with threadpool_limits(3, user_api="blas"):
        if threads() != {3}:
            pytest.skip("the number of BLAS threads cannot be set here")
        yield


def test_within_there_is_one_and_afterwards_as_many_as_before() -> None:
    with one_blas_thread():
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {3}


def test_an_error_within_changes_nothing() -> None:
    def fail() -> None:
        with one_blas_thread():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert threads() == {3}


@pytest.mark.parametrize("name", ["fitted_events", "deal_events"])
def test_attributes_are_fitted_and_dealt_on_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen, original = list[set[int]](), getattr(generate, name)

    def watched(*arguments: Any) -> Any:
        seen.append(threads())
        return original(*arguments)

    monkeypatch.setattr(generate, name, watched)
    role = Attribute("org:role", "category", level="event")
    assert libra.anonymize(with_values(), epsilon=2, delta=1e-3, attributes=[role], seed=1).log.n_cases
    assert seen
    assert seen[0] == {1}
