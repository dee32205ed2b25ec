"""What is spilled is private, comes back in order, and is gone at the end."""

from __future__ import annotations

import gc
import stat
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from libra.engines.polars_streaming.spill import Arrays, Spill
from libra.errors import InputError


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def filled(held: int) -> Spill[Arrays]:
    shelves = Spill[Arrays](3, held=held)
    for number in range(30):
        shelves.put(number % 3, (np.arange(number), np.full(number, 0.5)))
    return shelves


@pytest.mark.parametrize("held", [0, 100, 10**9])
def test_pieces_come_back_as_they_came(held: int) -> None:
    shelves = filled(held)
    for shelf in range(3):
        first = np.concatenate([piece[0] for piece in shelves.take(shelf)])
        assert first.tolist() == [i for number in range(shelf, 30, 3) for i in range(number)]
        assert len(list(shelves.take(shelf))) > 0
    shelves.empty(1)
    assert list(shelves.take(1)) == []


def test_what_is_still_held_comes_after_what_was_spilled() -> None:
    shelves = Spill[Arrays](1, held=100)
    for number in range(31):
        shelves.put(0, (np.array([number]),))
    assert np.concatenate([piece[0] for piece in shelves.take(0)]).tolist() == list(range(31))


def test_spilling_begins_anew_when_memory_is_full_again(scratch: Path) -> None:
    shelves = Spill[Arrays](1, held=10 * 8)
    for number in range(110):
        shelves.put(0, (np.array([number]),))
    (folder,) = scratch.iterdir()
    assert len(list(folder.iterdir())) == 10, "eleven numbers a file"
    shelves.empty(0)
    assert list(folder.iterdir()) == []


def test_many_threads_lose_nothing() -> None:
    shelves = Spill[Arrays](4, held=200)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: shelves.put(number % 4, (np.array([number]),)), range(2000)))
    found = [int(number) for shelf in range(4) for piece in shelves.take(shelf) for number in piece[0]]
    assert sorted(found) == list(range(2000))


def test_little_data_never_touches_the_disk(scratch: Path) -> None:
    filled(10**9)
    assert list(scratch.iterdir()) == []


def test_only_its_owner_may_look_into_the_folder(scratch: Path) -> None:
    shelves = filled(0)
    (folder,) = scratch.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    shelves.close()


def test_the_folder_is_gone_when_it_is_closed(scratch: Path) -> None:
    shelves = filled(0)
    assert list(scratch.iterdir())
    shelves.close()
    assert list(scratch.iterdir()) == []


def test_the_folder_is_gone_when_it_is_forgotten(scratch: Path) -> None:
    shelves = filled(0)
    assert list(scratch.iterdir())
    del shelves
    gc.collect()
    assert list(scratch.iterdir()) == []


def put_a_frame() -> None:
    Spill[pl.DataFrame](1, held=0).put(0, pl.DataFrame({"x": [1]}))


def put_an_array() -> None:
    Spill[Arrays](1, held=0).put(0, (np.arange(3),))


@pytest.mark.parametrize("put", [put_a_frame, put_an_array])
def test_a_disk_without_room_is_told_in_one_line(scratch: Path, put: Callable[[], None]) -> None:
    scratch.rmdir()
    with pytest.raises(InputError, match="the disk is too full to hold parts of a log that is larger than memory") as told:
        put()
    assert "TMPDIR" in str(told.value)
    assert "\n" not in str(told.value)
    scratch.mkdir()
