"""Raw data that does not fit into memory: pieces on numbered shelves, and cases grouped by a hash of their ids.

Shelves are in memory while they are few, then in a private folder where temporary files lie: only its owner may look into it, and
it is gone when the spill is closed, forgotten or the program ends. After a power cut it is still there: docs/performance.md says
how to choose the place.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
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
Words = npt.NDArray[np.uint64]
Prepare = Callable[[pl.DataFrame], pl.DataFrame]


class _Folder:
    """A private folder that is made when it is first needed."""

    def __init__(self) -> None:
        self._made: tempfile.TemporaryDirectory[str] | None = None

    def path(self) -> Path:
        if self._made is None:
            self._made = tempfile.TemporaryDirectory(prefix="libra-spill-")
        return Path(self._made.name)

    def close(self) -> None:
        if self._made is not None:
            self._made.cleanup()
            self._made = None


class Spill(ABC, Generic[Piece]):
    """Shelves of pieces.

    Example:
        >>> shelves = ArraySpill(2)
        >>> shelves.put(1, (np.array([3, 4]),))
        >>> [[part.tolist() for part in piece] for piece in shelves.take(1)], list(shelves.take(0))
        ([[[3, 4]]], [])
    """

    def __init__(self, shelves: int, held: int | None = None, closed_by: ExitStack | None = None) -> None:
        """Empty shelves; `held` is how many bytes stay in memory, all shelves together; `closed_by` closes them with itself."""
        if closed_by is not None:
            closed_by.callback(self.close)
        self._most = HELD if held is None else held
        self._held: list[list[Piece]] = [[] for _ in range(shelves)]
        self._bytes = 0
        self._files: list[list[Path]] = [[] for _ in range(shelves)]
        self._folder = _Folder()
        self._lock = Lock()
        self._closer: finalize[[], Spill[Piece]] = finalize(self, self._folder.close)

    def __len__(self) -> int:
        """How many shelves there are."""
        return len(self._held)

    def put(self, shelf: int, piece: Piece) -> None:
        """Add a piece to a shelf."""
        with self._lock:
            self._held[shelf].append(piece)
            self._bytes += self.size(piece)
            if self._bytes > self._most:
                self._spill()

    def take(self, shelf: int) -> Iterator[Piece]:
        """The pieces of a shelf, in the order in which they came."""
        for file in self._files[shelf]:
            yield self.load(file)
        yield from self._held[shelf]

    def empty(self, shelf: int) -> None:
        """Forget the pieces of a shelf."""
        with self._lock:
            self._bytes -= sum(self.size(piece) for piece in self._held[shelf])
            self._held[shelf] = []
            for file in self._files[shelf]:
                file.unlink()
            self._files[shelf] = []

    def close(self) -> None:
        """Forget everything."""
        self._held, self._files = [[] for _ in self._held], [[] for _ in self._files]
        self._closer()

    def _spill(self) -> None:
        try:
            folder = self._folder.path()
            for shelf, pieces in enumerate(self._held):
                if pieces:
                    self._files[shelf].append(folder / f"{shelf}-{len(self._files[shelf])}")
                    self.save(self._files[shelf][-1], self.joined(pieces))
        except (OSError, pl.exceptions.PolarsError) as error:
            place = str(Path(tempfile.gettempdir()))
            raise InputError(
                "there is no room for the parts of a log that is larger than memory",
                place=place,
                remedy="Free some space, or name a larger folder in the environment variable TMPDIR",
            ) from error
        self._held, self._bytes = [[] for _ in self._held], 0

    @staticmethod
    @abstractmethod
    def size(piece: Piece) -> int:
        """How many bytes a piece takes."""

    @staticmethod
    @abstractmethod
    def joined(pieces: list[Piece]) -> Piece:
        """Pieces of one shelf as one."""

    @staticmethod
    @abstractmethod
    def save(file: Path, piece: Piece) -> None:
        """Write a piece."""

    @staticmethod
    @abstractmethod
    def load(file: Path) -> Piece:
        """Read a piece."""


class FrameSpill(Spill[pl.DataFrame]):
    """Shelves of frames."""

    @staticmethod
    def size(piece: pl.DataFrame) -> int:
        """How many bytes a frame takes."""
        return int(piece.estimated_size())

    @staticmethod
    def joined(pieces: list[pl.DataFrame]) -> pl.DataFrame:
        """One frame after the other."""
        return pl.concat(pieces)

    @staticmethod
    def save(file: Path, piece: pl.DataFrame) -> None:
        """Write a frame as it lies in memory."""
        piece.write_ipc(file, compression="uncompressed")

    @staticmethod
    def load(file: Path) -> pl.DataFrame:
        """Read a frame."""
        return pl.read_ipc(file)


class ArraySpill(Spill[Arrays]):
    """Shelves of tuples of arrays."""

    @staticmethod
    def size(piece: Arrays) -> int:
        """How many bytes the arrays take."""
        return sum(part.nbytes for part in piece)

    @staticmethod
    def joined(pieces: list[Arrays]) -> Arrays:
        """Each array with those of the pieces after it."""
        return tuple(np.concatenate(parts) for parts in zip(*pieces, strict=True))

    @staticmethod
    def save(file: Path, piece: Arrays) -> None:
        """Write arrays one after the other."""
        with file.open("wb") as stream:
            for part in (np.array(len(piece)), *piece):
                np.save(stream, part)

    @staticmethod
    def load(file: Path) -> Arrays:
        """Read arrays."""
        with file.open("rb") as stream:
            return tuple(np.load(stream) for _ in range(int(np.load(stream))))


class Grouped(NamedTuple):
    """A bucket as whole cases: codes and times of all events, case by case, the length of each case, and whose it is."""

    codes: npt.NDArray[np.uint32]
    micros: Integers
    lengths: Integers
    individual: pl.Series | None


def buckets_for(events: int) -> int:
    """How many buckets so many events are dealt out to: a power of two.

    Example:
        >>> buckets_for(1000), buckets_for(100_000_000)
        (16, 128)
    """
    wanted = max(events // BUCKET_EVENTS, 1)
    return min(max(1 << (wanted - 1).bit_length(), LEAST_BUCKETS), MOST_BUCKETS)


def deal_out(
    batches: Iterable[pl.DataFrame], buckets: int, prepared: Prepare = lambda batch: batch, onto: FrameSpill | None = None
) -> FrameSpill:
    """Events by bucket; all of a case in one, in the order in which they came.

    Args:
        batches: The events, in order.
        buckets: How many; a power of two.
        prepared: What is done to each batch before, on any core.
        onto: The shelves, one a bucket; new ones if left out.

    Example:
        >>> batches = [pl.DataFrame({"case": ["a", "b", "a"], "code": [0, 0, 1], "micros": [1, 2, 3]})]
        >>> dealt = deal_out(batches, 16)
        >>> sorted(len(set(piece["case"])) for bucket in range(16) for piece in dealt.take(bucket))
        [1, 1]
    """
    dealt = FrameSpill(buckets) if onto is None else onto
    for batch, ends in in_order(partial(_by_bucket, buckets=buckets, prepared=prepared), _large(batches)):
        begin = 0
        for number, end in enumerate(ends):
            if end > begin:
                dealt.put(number, batch[begin:end])
            begin = end
    return dealt


def _by_bucket(batch: pl.DataFrame, buckets: int, prepared: Prepare) -> tuple[pl.DataFrame, list[int]]:
    """The events of a batch ordered by bucket, and where each bucket ends."""
    batch = prepared(batch)
    bucket = (_hashes(batch["case"]) >> np.uint64(64 - buckets.bit_length() + 1)).astype(np.uint16)
    order = pl.Series(np.argsort(bucket, kind="stable").astype(np.uint32))
    ends: list[int] = np.cumsum(np.bincount(bucket, minlength=buckets)).tolist()
    return batch.select(pl.all().gather(order)), ends


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


def grouped(pieces: Iterable[pl.DataFrame], *, sort_by_time: bool) -> Grouped:
    """The whole cases of one bucket, in no order that means anything."""
    held = list(pieces)
    if not held:
        nothing = np.zeros(0, np.int64)
        return Grouped(nothing.astype(np.uint32), nothing, nothing, None)
    events = pl.concat(held, rechunk=True)
    order, first = _by_case(events["case"])
    codes = events["code"].to_numpy()[order].astype(np.uint32)
    micros = events["micros"].to_numpy()[order]
    lengths = np.diff(first, append=len(codes))
    if sort_by_time:
        again = np.lexsort((micros, np.repeat(np.arange(len(lengths)), lengths)))
        codes, micros = codes[again], micros[again]
    if "individual" not in events.columns:
        return Grouped(codes, micros, lengths, None)
    individual = events["individual"].gather(pl.Series(order[first]))
    whose = events["individual"].gather(pl.Series(order))
    if whose.ne(individual.gather(pl.Series(np.repeat(np.arange(len(first)), lengths)))).any():
        raise InputError(CHANGES, remedy="Choose a column with one value for all events of a case for --individual")
    return Grouped(codes, micros, lengths, individual)


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


def _hashes(ids: pl.Series) -> Words:
    return ids.hash(HASH_SEED).to_numpy()
