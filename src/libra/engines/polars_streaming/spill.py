"""Spilling: pieces of raw data on numbered shelves, in memory while they are few and in a private folder once they are many.

In: pieces (arrays or frames) for a shelf. Out: the pieces of a shelf, in the order in which they came. The folder lies where
temporary files lie, only its owner may look into it, and it is gone when the spill is closed, forgotten or the program ends.
Who loses power meanwhile finds it there: docs/performance.md says how to choose the place.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import finalize

import numpy as np
import numpy.typing as npt
import polars as pl

from libra.errors import InputError

HELD = 800_000_000  # bytes of pieces in memory, of one spill
Arrays = tuple[npt.NDArray[Any], ...]
Piece = TypeVar("Piece", Arrays, pl.DataFrame)


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
    """Shelves of frames.

    Example:
        >>> shelves = FrameSpill(1, held=1)
        >>> for numbers in ([1, 2], [3]):
        ...     shelves.put(0, pl.DataFrame({"x": numbers}))
        >>> pl.concat(shelves.take(0))["x"].to_list()
        [1, 2, 3]
    """

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
    """Shelves of tuples of arrays.

    Example:
        >>> shelves = ArraySpill(1, held=1)
        >>> for numbers in ([1, 2], [3]):
        ...     shelves.put(0, (np.array(numbers), np.array(numbers) * 0.5))
        >>> [[part.tolist() for part in piece] for piece in shelves.take(0)]
        [[[1, 2], [0.5, 1.0]], [[3], [1.5]]]
    """

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
