"""What both XES parsers hand over: some whole traces, their attributes as text, each with its owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl


@dataclass(frozen=True)
class Part:
    """The values of attribute `key`, declared as XES type `type`; `owners` counts traces or events within the piece."""

    key: str
    type: str
    owners: npt.NDArray[np.int64]
    values: pl.Series


@dataclass(frozen=True)
class Piece:
    """Some whole traces of a file: parts of traces and of events, and the trace (within the piece) of every event."""

    n_cases: int
    case_of_event: npt.NDArray[np.int64]
    case_parts: Sequence[Part]
    event_parts: Sequence[Part]
