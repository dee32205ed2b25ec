"""How little is read at a time in these tests, so that every border is crossed."""

from __future__ import annotations

import pytest
from agreement import ENOUGH, read_little


@pytest.fixture(params=[(1, 7), (3, 61)], ids=["one row", "some rows"])
def tiny_pieces(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decide on everything, read next to nothing at a time."""
    rows, piece = request.param
    read_little(monkeypatch, rows, ENOUGH, piece, ENOUGH)


@pytest.fixture(params=[1, 5], ids=str)
def tiny_sample(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Decide on the first rows."""
    rows: int = request.param
    read_little(monkeypatch, 2, rows, 40, 40 * rows + 40)
    return rows
