"""Writing Parquet: the flat table in pm4py's column convention, with the log's header as key-value metadata.

In: a log, whole or in parts, and a stream. Out: a file that any Parquet reader opens, and in which ours finds everything, the
header and the individual included. A log in parts is written in bounded memory: a thread packs a part while the next one is made.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from queue import Empty, Full, Queue
from typing import BinaryIO, cast

import polars as pl
from polars.io.plugins import register_io_source

from libra.eventlog.in_parts import PART_SCHEMA, LogInParts
from libra.eventlog.log import EventLog
from libra.eventlog.metadata import LogMetadata
from libra.eventlog.options import Progress, no_progress
from libra.eventlog.tables.remembered import KEY

ROW_GROUP = 500_000  # rows that are packed together, and the unit in which others read
WAITING = 2  # frames that may wait to be packed
PATIENCE = 0.2  # seconds after which whoever waits for the other side looks whether it is still there


def write_parquet(log: EventLog, stream: BinaryIO, progress: Progress = no_progress) -> None:
    """Write a log as Parquet. Progress counts events.

    Example:
        >>> from datetime import datetime
        >>> log = EventLog(
        ...     pl.DataFrame({"@case": [0], "concept:name": ["triage"], "time:timestamp": [datetime(2024, 5, 6)]}),
        ...     pl.DataFrame({"concept:name": ["anna"]}),
        ... )
        >>> write_parquet(log, stream := BytesIO())
        >>> pl.read_parquet(stream.getvalue()).columns
        ['case:concept:name', 'concept:name', 'time:timestamp']
    """
    header = remembering(log.metadata, log.individual)
    if not isinstance(log, LogInParts):
        whole = BytesIO()  # Polars would turn a full disk into an error of its own
        log.to_polars().write_parquet(whole, compression="zstd", metadata=header)
        stream.write(whole.getvalue())
        progress(log.n_events, log.n_events)
        return
    done = 0
    with parquet_table(stream, PART_SCHEMA, header) as write_rows:
        for part in log.parts():
            write_rows(part.to_polars())
            done += part.n_events
            progress(done, log.n_events)


def remembering(metadata: LogMetadata, individual: str | None = None) -> dict[str, str]:
    """What stands in the file besides the rows, for our reader to find.

    Example:
        >>> list(remembering(LogMetadata()))
        ['libra']
    """
    return {KEY: json.dumps({"metadata": metadata.to_dict(), "individual": individual})}


@contextlib.contextmanager
def parquet_table(
    stream: BinaryIO, schema: Mapping[str, pl.DataType], header: Mapping[str, str]
) -> Iterator[Callable[[pl.DataFrame], None]]:
    """A Parquet file on its way out: what is called with frames of this schema, one after the other, and writes their rows.

    Whatever goes wrong with the stream is raised here, as it was; and when the block is left early, packing stops first.

    Example:
        >>> with parquet_table(stream := BytesIO(), {"cost": pl.Int64()}, {"libra": "{}"}) as write_rows:
        ...     for cost in range(3):
        ...         write_rows(pl.DataFrame({"cost": [cost]}))
        >>> pl.read_parquet(stream.getvalue())["cost"].to_list()
        [0, 1, 2]
    """
    packing = _Packing(stream, schema, header)
    try:
        yield packing.put
        packing.put(None)
        packing.end()
    except BaseException:
        packing.stop()
        raise


class _Packing(threading.Thread):
    """Takes frames from whoever makes them. The maker stays on its thread: there it can be interrupted, which Polars cannot."""

    def __init__(self, stream: BinaryIO, schema: Mapping[str, pl.DataType], header: Mapping[str, str]) -> None:
        super().__init__(daemon=True)
        self._stream, self._schema, self._header = stream, schema, header
        self._frames = Queue[pl.DataFrame | None](WAITING)
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._failed_write: OSError | None = None
        self.start()

    def run(self) -> None:
        rows = register_io_source(lambda *_asked: self._rows(), schema=self._schema)
        stream = cast("BinaryIO", self)  # all that Polars asks of it is `write` and `flush`
        try:
            rows.sink_parquet(stream, compression="zstd", metadata=dict(self._header), row_group_size=ROW_GROUP)
        except BaseException as error:  # raised again where frames are made; panics of Polars are no `Exception`s
            self._failure = error

    def _rows(self) -> Iterator[pl.DataFrame]:
        while not self._stopped.is_set():
            with contextlib.suppress(Empty):
                frame = self._frames.get(timeout=PATIENCE)
                if frame is None:
                    return
                yield frame
        raise InterruptedError

    def write(self, data: bytes) -> int:
        """What Polars calls with the bytes of the file. It turns a full disk into an error of its own: the real one is kept."""
        try:
            return self._stream.write(data)
        except OSError as error:
            self._failed_write = error
            raise

    def flush(self) -> None:
        """What Polars calls as well; the stream belongs to others."""

    def put(self, frame: pl.DataFrame | None) -> None:
        """Hand over a frame, or None after the last; waits while too many are waiting."""
        while self.is_alive():
            with contextlib.suppress(Full):
                self._frames.put(frame, timeout=PATIENCE)
                return
        self.end()

    def end(self) -> None:
        """Wait until all is written."""
        self.join()
        failure = self._failed_write or self._failure
        if failure is not None:
            raise failure

    def stop(self) -> None:
        """Let nothing more be written."""
        self._stopped.set()
        self.join()
