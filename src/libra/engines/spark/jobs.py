"""Jobs: kernels are sent to where rows lie, and what they give comes back, each time by a single action.

In: a frame and a kernel. Out: the rows that the kernel made of all shares, or their sum. A result lives on the driver and is
never computed again, which is what draws rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from libra.engines.contract import Integers
from libra.engines.spark.kernels import SUMS, Shares, add_pieces, add_to
from libra.engines.spark.session import in_one_line, without_warnings
from libra.privacy.randomness import Randomness

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

SHARES = 4  # in which draws with a seed are made, whatever the cluster
FEW_PIECES = 4  # that every share may send to the driver; more are added up on the way


def mapped(frame: DataFrame, kernel: Callable[[Any], Any], schema: str) -> DataFrame:
    """What a kernel makes of every share of a frame; nothing is computed yet."""
    with without_warnings():
        return frame.mapInArrow(lambda batches: kernel(batches), schema)


def in_shares(frame: DataFrame, by: Sequence[str], random: Randomness) -> tuple[DataFrame, Shares]:
    """A frame, and where its shares draw from; with a seed, the same rows are always in the same share."""
    if not random.seeded:
        return frame, Shares(None)
    return frame.repartition(SHARES, *by), Shares(int(random.words(1)[0]))


def added(frames: Sequence[DataFrame], pieces: int, place: str) -> dict[int, Integers]:
    """The sums of all shares of one frame or two, piece by piece, by one job; `place` is what is read, for errors."""
    totals: dict[int, Integers] = {}
    if frames:
        together = frames[0] if len(frames) == 1 else frames[0].unionAll(frames[1])
        if pieces > FEW_PIECES:
            together = mapped(together.repartition(min(pieces, SHARES), "piece"), add_pieces, SUMS)
        add_to(totals, collected(together, place))
    return totals


def collected(frame: DataFrame, place: str) -> pa.Table:
    """All rows of a frame, on the driver."""
    with in_one_line(place), without_warnings():
        return frame.toArrow()
