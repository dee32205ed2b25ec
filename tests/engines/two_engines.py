"""A log with attributes in two engines, in memory and in batches, and a rule that shows what they count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Integers, Unit
from libra.engines.polars import LogInMemory, PolarsEngine
from libra.engines.polars_streaming import StreamedLog, StreamingEngine, spill
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import batches_of, read


def in_small_pieces(patch: pytest.MonkeyPatch) -> None:
    """So little in memory that everything is dealt out, spilled and merged many times."""
    patch.setattr(spill, "DEALT", 7_000)
    patch.setattr(spill, "BUCKET_EVENTS", 2_000)
    patch.setattr(spill, "HELD", 300_000)


def both(
    source: Any, options: ReadOptions, unit: Unit = CASE, labels: tuple[str, ...] | None = None
) -> tuple[StreamingEngine, PolarsEngine]:
    """A log in both engines, with all attributes that are described."""
    asked: tuple[Any, ...] = (unit, Randomness(seed=1), 1.0, labels, options.attributes)
    streamed = StreamedLog(batches_of(source, options), sort_by_time=options.sort_by_time)
    return streamed.engine(*asked), LogInMemory(read(source, options)).engine(*asked)


class Everything:
    """A rule by which every value passes, with its true count."""

    def passing(self, counts: Integers, _random: Randomness) -> tuple[Integers, Integers]:
        return np.arange(len(counts)), counts


def weights_of(engine: Any, number: int, texts: tuple[str, ...] = ()) -> dict[Any, int]:
    """What cases say for each value of an attribute of events; of a category by its texts, if these are given."""
    values, weights = engine.select_event_values(number, Everything(), Randomness(seed=1))
    named = [texts[value] for value in values.tolist()] if texts else values.tolist()
    assert len(set(named)) == len(named)
    return dict(zip(named, weights.tolist(), strict=True))
