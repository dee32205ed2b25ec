"""How little is read at a time in these tests, so that every border is crossed."""

from __future__ import annotations

import pytest

from .agreement import ENOUGH, read_little


@pytest.fixture
def tiny_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide on everything, read next to nothing at a time."""
    read_little(monkeypatch, 1, ENOUGH, 7, ENOUGH)


@pytest.fixture(params=[1, 5], ids=str)
def tiny_sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Decide on the first rows."""
    rows: int = request.param
    read_little(monkeypatch, 2, rows, 40, 40 * rows + 40)
    return rows
