"""Raw data that does not fit into memory: pieces on numbered shelves, and cases grouped by a hash of their ids.

Shelves are in memory while they are few, then in a private folder where temporary files lie: only its owner may look into it, and
it is gone when the spill is closed, forgotten or the program ends. After a power cut it is still there: docs/performance.md says
how to choose the place.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import finalize

import numpy as np
import numpy.typing as npt
import polars as pl

from libra._system.parallel import in_order
from libra.engines.contract import Integers
from libra.errors import InputError

HELD = 800_000_000  # bytes of pieces in memory, of one spill
Arrays = tuple[npt.NDArray[Any], ...]
Piece = TypeVar("Piece", Arrays, pl.DataFrame)
DEALT = 500_000  # events that are dealt out at once
BUCKET_EVENTS = 1_500_000  # of an ordinary bucket: a few dozen MB for each array that is computed from it
LEAST_BUCKETS, MOST_BUCKETS = 16, 4096
HASH_SEED = 0x11B2A
CHANGES = "the individual changes within a case"
FRAME, ARRAYS = ".arrow", ".npy"  # what files of frames and of arrays end in


class Spill(Generic[Piece]):
    """Shelves of pieces: frames, or tuples of arrays.

    Example:
        >>> shelves = Spill[Arrays](2)
        >>> shelves.put(1, (np.array([3, 4]),))
        >>> [[part.tolist() for part in piece] for piece in shelves.take(1)], list(shelves.take(0))
        ([[[3, 4]]], [])
    """

    def __init__(self, shelves: int, held: int | None = None) -> None:
        """Empty shelves; `held` is how many bytes stay in memory, all shelves together."""
        self._most = HELD if held is None else held
        self._held: list[list[Piece]] = [[] for _ in range(shelves)]
        self._bytes = 0
        self._files: list[list[Path]] = [[] for _ in range(shelves)]
        self._folder: Path | None = None
        self._lock = Lock()

    def __len__(self) -> int:
        """How many shelves there are."""
        return len(self._held)

    def put(self, shelf: int, piece: Piece) -> None:
        """Add a piece to a shelf."""
        with self._lock:
            self._held[shelf].append(piece)
            self._bytes += _size(piece)
            if self._bytes > self._most:
                self._spill()

    def take(self, shelf: int) -> Iterator[Piece]:
        """The pieces of a shelf, in the order in which they came."""
        yield from map(_load, self._files[shelf])
        yield from self._held[shelf]

    def empty(self, shelf: int) -> None:
        """Forget the pieces of a shelf."""
        with self._lock:
            self._bytes -= sum(map(_size, self._held[shelf]))
            for file in self._files[shelf]:
                file.unlink()
            self._held[shelf], self._files[shelf] = [], []

    def close(self) -> None:
        """Forget everything."""
        self._held, self._files = [[] for _ in self._held], [[] for _ in self._files]
        if self._folder is not None:
            self._remove()
            self._folder = None

    def _spill(self) -> None:
        try:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="libra-spill-"))
                self._remove: Callable[[], object] = finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            for shelf, pieces in enumerate(self._held):
                if pieces:
                    self._files[shelf].append(_save(self._folder / f"{shelf}-{len(self._files[shelf])}", pieces))
        except (OSError, pl.exceptions.PolarsError) as error:
            remedy = "Free some space, or set the environment variable TMPDIR to a larger folder"
            what = "the disk is too full to hold parts of a log that is larger than memory"
            raise InputError(what, place=str(Path(tempfile.gettempdir())), remedy=remedy) from error
        self._held, self._bytes = [[] for _ in self._held], 0


def _size(piece: Arrays | pl.DataFrame) -> int:
    return int(piece.estimated_size()) if isinstance(piece, pl.DataFrame) else sum(part.nbytes for part in piece)


def _save(file: Path, pieces: list[Piece]) -> Path:
    """Write pieces as one, as they lie in memory; arrays one after the other."""
    if isinstance(pieces[0], pl.DataFrame):
        file = file.with_suffix(FRAME)
        pl.concat(pieces).write_ipc(file, compression="uncompressed")
        return file
    file = file.with_suffix(ARRAYS)
    with file.open("wb") as stream:
        for part in (np.array(len(pieces[0])), *(np.concatenate(parts) for parts in zip(*pieces, strict=True))):
            np.save(stream, part)
    return file


def _load(file: Path) -> Any:
    if file.suffix == FRAME:
        return pl.read_ipc(file)
    with file.open("rb") as stream:
        return tuple(np.load(stream) for _ in range(int(np.load(stream))))


def buckets_for(events: int) -> int:
    """How many buckets so many events are dealt out to: a power of two.

    Example:
        >>> buckets_for(1000), buckets_for(100_000_000)
        (16, 128)
    """
    wanted = max(events // BUCKET_EVENTS, 1)
    return min(max(1 << (wanted - 1).bit_length(), LEAST_BUCKETS), MOST_BUCKETS)


def deal_out(
    batches: Iterable[pl.DataFrame], prepared: Callable[[pl.DataFrame], pl.DataFrame], dealt: Spill[pl.DataFrame]
) -> None:
    """Put events on shelves, a power of two of them; all of a case on one, in the order in which they came.

    `prepared` is what is done to each batch before, on any core.
    """
    beside = np.uint64(64 - len(dealt).bit_length() + 1)  # bits of a hash that do not say which shelf

    def by_shelf(batch: pl.DataFrame) -> tuple[pl.DataFrame, list[int]]:
        batch = prepared(batch)
        shelf = (_hashes(batch["case"]) >> beside).astype(np.uint16)
        order = pl.Series(np.argsort(shelf, kind="stable").astype(np.uint32))
        return batch.select(pl.all().gather(order)), np.cumsum(np.bincount(shelf, minlength=len(dealt))).tolist()

    for batch, ends in in_order(by_shelf, _large(batches)):
        for shelf, (begin, end) in enumerate(pairwise((0, *ends))):
            if end > begin:
                dealt.put(shelf, batch[begin:end])


def _large(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """The same events in batches that are worth dealing out."""
    held: list[pl.DataFrame] = []
    for batch in batches:
        held.append(batch)
        if sum(one.height for one in held) >= DEALT:
            yield pl.concat(held, rechunk=True)
            held = []
    if held:
        yield pl.concat(held, rechunk=True)


class Grouped(NamedTuple):
    """Whole cases: codes and times of events, where cases begin, whose they are, and what else is said of events."""

    codes: Integers
    micros: Integers
    offsets: Integers
    individual: pl.Series | None = None
    others: Mapping[str, npt.NDArray[Any]] = {}


NOBODY = Grouped(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(1, np.int64))


def grouped(pieces: Iterable[pl.DataFrame], *, sort_by_time: bool) -> Grouped:
    """The whole cases of one shelf, in no order that means anything."""
    held = list(pieces)
    if not held:
        return NOBODY
    events = pl.concat(held, rechunk=True)
    order, first = _by_case(events["case"])
    offsets = np.append(first, len(order))
    case = np.repeat(np.arange(len(first)), np.diff(offsets))
    individual = None
    if "individual" in events.columns:
        whose = events["individual"].gather(pl.Series(order))
        individual = whose.gather(pl.Series(first))
        if whose.ne(individual.gather(pl.Series(case))).any():
            raise InputError(CHANGES, remedy="Choose a column with one value for all events of a case for --individual")
    if sort_by_time:
        order = order[np.lexsort((events["micros"].to_numpy()[order], case))]
    arrays = {name: events[name].to_numpy()[order] for name in events.columns if name not in ("case", "individual")}
    return Grouped(arrays.pop("code"), arrays.pop("micros"), offsets, individual, arrays)


def _by_case(ids: pl.Series) -> tuple[Integers, Integers]:
    """The rows in an order in which those of a case are together and as they came, and where each case begins.

    A word holds as much of the case's hash as there is room for beside the number of the row: one sort of whole numbers.
    """
    bits = np.uint64(max(len(ids) - 1, 1).bit_length())
    words = (_hashes(ids) << bits) | np.arange(len(ids), dtype=np.uint64)
    words.sort()
    order = (words & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)
    parts = words >> bits
    new = np.concatenate(([True], parts[1:] != parts[:-1]))
    there = ids.gather(pl.Series(order))
    differs = (there != there.shift(1)).fill_null(True).to_numpy()
    if np.array_equal(differs, new):
        return order, np.flatnonzero(new)
    groups = ids.alias("case").to_frame().with_row_index("row").group_by("case", maintain_order=True).agg("row")
    lengths = groups["row"].list.len().to_numpy()
    return groups["row"].explode().to_numpy().astype(np.int64), np.cumsum(lengths, dtype=np.int64) - lengths


def _hashes(ids: pl.Series) -> npt.NDArray[np.uint64]:
    return ids.hash(HASH_SEED).to_numpy()
