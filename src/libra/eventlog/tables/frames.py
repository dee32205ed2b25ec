"""Tables with types, in and out: data frames (Polars and pandas), and Parquet in a file, a folder or a cloud.

What Libra wrote comes back equal, with its header and the individual's column. A folder, as Spark and data lakes write it, is one
table: its files in the order of their names, folders called `date=2024-05-06` as columns. pandas is never imported unless the
caller already uses it. In batches, for any size, only the columns that play a role are read.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from queue import Empty, Full, Queue
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from libra.errors import InputError, MissingExtraError
from libra.eventlog.attributes import ROLES_THEY_PLAY
from libra.eventlog.files import input_format, parquet_files
from libra.eventlog.in_parts import EventBatches, LogInParts
from libra.eventlog.log import EventLog, FoundRole
from libra.eventlog.metadata import VALUE_TYPES, Attribute, LogMetadata
from libra.eventlog.names import CASE_PREFIX, column
from libra.eventlog.notes import listed
from libra.eventlog.options import ANY, ISO, Place, Progress, ReadOptions, no_progress
from libra.eventlog.tables.flat import from_flat
from libra.eventlog.tables.in_batches import TableBatches
from libra.eventlog.tables.roles import find_roles
from libra.eventlog.tables.values import as_attribute, as_text

if TYPE_CHECKING:
    import pandas as pd

KEY = "libra"
FRAME = "the data frame"
THE_FILE_SAYS = "the file says so"
BATCH = 1 << 18  # rows at a time
SAMPLE = 1 << 16  # rows to decide on
_ELSEWHERE = 4  # places behind the first rows that more rows to decide on come from, an eighth of the sample each
ROW_GROUP = 500_000  # rows that are packed together, and the unit in which others read
WAITING = 2  # frames that may wait to be packed
PATIENCE = 0.2  # seconds after which whoever waits for the other side looks whether it is still there


@dataclass(frozen=True)
class Remembered:
    """A log's header and the column of its cases that names the individual."""

    metadata: LogMetadata = field(default_factory=LogMetadata)
    individual: str | None = None

    def with_individual(self, log: EventLog, reason: str, source: str) -> EventLog:
        """The log with its individual, unless the user named another one."""
        if self.individual is None or log.individual is not None:
            return log
        if self.individual not in log.cases.columns:
            if self.individual in log.events.columns:  # to forget it would take the protection from everybody else
                what = f'"{self.individual}", which says whose case it is, changes within a case'
                raise InputError(what, place=source, remedy="Name the right column with --individual, or drop this one")
            return log
        role = FoundRole("individual", (self.individual,), reason)
        return replace(log, individual=self.individual, roles=(*log.roles, role))


def remembered(plain: object) -> Remembered:
    """Read what our writer left; nothing where it is not ours."""
    try:
        if not isinstance(plain, dict) or not isinstance(plain["metadata"], dict):
            return Remembered()
        metadata = LogMetadata.from_dict(plain["metadata"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return Remembered()
    individual = plain.get("individual") if isinstance(plain.get("individual"), str) else None
    sound = map(_is_sound, (*metadata.attributes, *metadata.case_globals, *metadata.event_globals))
    return Remembered(metadata, individual) if all(sound) else Remembered()


def _is_sound(attribute: Attribute) -> bool:
    fits = attribute.value is None or isinstance(attribute.value, VALUE_TYPES.get(attribute.type, ()))
    return isinstance(attribute.key, str) and attribute.type in VALUE_TYPES and fits and all(map(_is_sound, attribute.children))


def read_parquet(path: Path, options: ReadOptions) -> EventLog:
    """Read a Parquet file, or a folder of them, as a log."""
    frame, memory = load(path)
    size = sum(file.stat().st_size for file in parquet_files(path))
    options.progress(size, size)
    log = from_flat(frame, options, place=lambda row: f"{path}, row {row + 1}", source=str(path), metadata=memory.metadata)
    return log if options.described else memory.with_individual(log, THE_FILE_SAYS, str(path))


def load(path: Path) -> tuple[pl.DataFrame, Remembered]:
    """The table at a path in memory, and what our writer left in its first file."""
    files = parquet_files(path)
    with intact(str(path)):
        return scan(files, path).collect(), memory_of(files[0])


def scan(files: list[Path], path: Path) -> pl.LazyFrame:
    """The table in the files that a path stands for; where that is a folder, folders in it may be columns, of text."""
    folders = {part for file in files for part in file.relative_to(path).parts[:-1]} if path.is_dir() else set()
    keys = {part.partition("=")[0]: pl.String() for part in sorted(folders) if "=" in part}
    return pl.scan_parquet(files, glob=False, hive_partitioning=bool(keys), hive_schema=keys or None)


def scan_cloud(address: str) -> pl.LazyFrame:
    """The table at an address of a cloud's store; folders in it may be columns, of text."""
    own = pl.scan_parquet(address, hive_partitioning=False).collect_schema()
    keys = {name: pl.String() for name in pl.scan_parquet(address).collect_schema() if name not in own}
    return pl.scan_parquet(address, hive_partitioning=True, hive_schema=keys) if keys else pl.scan_parquet(address)


def memory_of(file: Path) -> Remembered:
    """What our writer left in a file; nothing where it is not ours."""
    with file.open("rb") as opened:
        own = pl.read_parquet_metadata(opened).get(KEY)
    try:
        return remembered(json.loads(own or "null"))
    except (ValueError, RecursionError):
        return Remembered()


@contextmanager
def intact(source: str) -> Iterator[None]:
    """What Polars and the system say of a file that cannot be read, as an error in one line."""
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"this is not an intact Parquet file ({reason})", place=source, remedy="Export it again") from error


def from_frame(frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, options: ReadOptions) -> EventLog:
    """Make a log of a data frame, one row an event; the index of a pandas frame does not count."""
    notes: list[str] = []
    rows, memory = as_polars(frame, notes, {one.name for one in options.attributes} - {*ROLES_THEY_PLAY.values()})
    roles = find_roles(rows, options, FRAME)
    by_format = options.epoch_unit is not None or options.timestamp_format not in (None, ISO, ANY)
    if by_format and not isinstance(frame, pl.DataFrame | pl.LazyFrame):
        _refuse_mixed_times(frame, roles)
    place = f"{FRAME}, row {{}}".format
    log = from_flat(rows, options, place=place, source=FRAME, roles=roles, metadata=memory.metadata, notes=notes)
    return log if options.described else memory.with_individual(log, "the frame says so", FRAME)


def _refuse_mixed_times(frame: pd.DataFrame, roles: Sequence[FoundRole]) -> None:
    """An `InputError` where one value makes all datetimes text, which then has to be in the format that was given."""
    names = [str(name) for name in frame.columns]
    for name in (role.columns[0] for role in roles if role.role in ("timestamp", "start_timestamp")):
        values = frame.iloc[:, names.index(name)]
        present = values.dropna().tolist() if values.dtype == object else []
        kinds = {_kind_of(type(value)) for value in present}
        zones = {value.tzinfo is not None for value in present if isinstance(value, datetime)}
        if kinds & {"datetime", "date"} and (len(kinds) > 1 or len(zones) > 1):
            remedy = "Convert it with pandas.to_datetime, or leave --timestamp-format and --epoch-unit out"
            raise InputError(f'"{name}" holds datetimes and values of other kinds', place=FRAME, remedy=remedy)


def as_polars(
    frame: pl.DataFrame | pl.LazyFrame | pd.DataFrame, notes: list[str], declared: Collection[str] = ()
) -> tuple[pl.DataFrame, Remembered]:
    """The rows of a data frame in Polars, and what it remembers of the log; what was left out goes to `notes`.

    Objects in the `declared` columns are read as attributes, those in all others as labels or ids.
    """
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame, Remembered()
    if type(frame).__module__.partition(".")[0] != "pandas" or not hasattr(frame, "columns"):
        raise InputError(f"a {type(frame).__name__} is not a data frame", remedy="Give a pandas or Polars frame")
    return _from_pandas(frame, notes, declared), remembered(frame.attrs.get(KEY))


def to_pandas(log: EventLog) -> pd.DataFrame:
    """The flat frame of a log for pandas and pm4py, timestamps in UTC; missing numbers stay missing (nullable types)."""
    try:
        import pandas as pd
        import pyarrow as pa  # noqa: F401  # Polars goes through it
    except ImportError as error:
        raise MissingExtraError(error.name or "pandas", "pandas") from error
    flat = log.to_polars()
    frame = flat.to_pandas()
    for name, dtype in flat.schema.items():
        if dtype in (pl.Int64, pl.Boolean) and flat[name].null_count():
            frame[name] = pd.array(flat[name].to_list(), dtype="Int64" if dtype == pl.Int64 else "boolean")
    frame.attrs[KEY] = {"metadata": log.metadata.to_dict(), "individual": log.individual}
    return frame


def _from_pandas(frame: pd.DataFrame, notes: list[str], declared: Collection[str]) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"several columns are called {listed(twice)}", place=FRAME, remedy="Give each column its own name")
    columns = {}
    for position, name in enumerate(names):
        values = frame.iloc[:, position]
        try:
            typed = None if values.dtype == object else pl.from_pandas(values.rename(None), nan_to_null=True)
        except (TypeError, ValueError, NotImplementedError, pl.exceptions.PolarsError):  # pyarrow's words for a type it lacks
            typed = None
        series = _from_objects(values.astype(object), name, notes, declared=name in declared) if typed is None else typed
        if isinstance(series, pl.Series):
            columns[name] = series
    return pl.DataFrame(columns)


def _from_objects(values: pd.Series, name: str, notes: list[str], *, declared: bool = False) -> pl.Series | None:
    """A column of Python objects: by the kind they share, as text where they differ, not at all where they are containers.

    `as_text` of the column says the same of a value either way; of one that is declared, `as_text` of what `as_attribute` makes
    of it.
    """
    missing = values.isna()
    present = [_plain(value, declared) for value in values[~missing].tolist()]
    if any(isinstance(value, list | tuple | dict | set | bytes) for value in present):
        notes.append(f'The column "{name}" holds objects no event log can hold and was left out.')
        return None
    kind_of = {of: _kind_of(of) for of in {type(value) for value in present}}
    kinds = [kind_of[type(value)] for value in present]
    zoned = "datetime with a zone"
    kinds = [zoned if kind == "datetime" and value.tzinfo else kind for kind, value in zip(kinds, present, strict=True)]
    if len(set(kinds)) <= 1:
        try:
            following = iter(present)
            series = pl.Series([None if gone else next(following) for gone in missing.tolist()], strict=True)
            if series.dtype != pl.Object and series.null_count() == missing.sum():  # decimals that do not fit are null
                return series
        except (TypeError, pl.exceptions.PolarsError, OverflowError):
            pass  # numbers that do not fit: text says it
    elif {kind.partition(" ")[0] for kind in kinds} != {"datetime"}:
        notes.append(f'The column "{name}" holds values of different kinds, which are kept as text.')
    text = np.full(len(values), None, object)
    rows, held = np.flatnonzero(~missing), np.array(kinds)
    for kind in set(kinds):
        of_kind = np.flatnonzero(held == kind)
        text[rows[of_kind]] = _texts([present[i] for i in of_kind], kind, declared)
    return pl.Series(text.tolist(), dtype=pl.String)


def _plain(value: Any, declared: bool) -> Any:
    """A value as Python itself has it; a declared attribute also as a log has it, where its neighbours might change that."""
    if isinstance(value, np.bool_):
        return bool(value)
    if declared and isinstance(value, Decimal | np.floating):
        return float(value)
    if declared and isinstance(value, np.timedelta64):
        return int(value.astype("m8[us]").astype(np.int64)) / 1e6
    return value // timedelta(microseconds=1) / 1e6 if declared and isinstance(value, timedelta) else value


def _kind_of(of: type) -> str:
    """What values of a type have in common with others that Polars can hold in one column as they are."""
    kinds: dict[tuple[type, ...], str] = {
        (str,): "text", (bool,): "boolean", (int, np.integer): "integer", (float,): "float",
        (np.floating,): f"float, {of.__name__}", (datetime,): "datetime", (date, time, Decimal): of.__name__,
    }  # fmt: skip
    return next((kind for types, kind in kinds.items() if issubclass(of, types)), f"a {of.__name__}")


def _texts(values: list[object], kind: str, declared: bool) -> list[str | None]:
    """Values of one kind as text, each as `as_text` would have it in a column of its own, or first `as_attribute`."""
    of_numpy = declared and kind == "a datetime64"
    if kind in ("text", "integer") or (kind.startswith("a ") and not of_numpy):
        return [str(value) for value in values]
    if kind == "Decimal":
        fixed = (f"{value:f}" for value in values)
        short = (text.rstrip("0").rstrip(".") if "." in text else text for text in fixed)
        return ["0" if text == "-0" else text for text in short]
    series = pl.Series(np.array(values).astype("M8[us]") if of_numpy else values, strict=True)
    typed = as_attribute(series, "")[0] if declared else series
    return [None] * len(values) if typed is None else as_text(typed).to_list()


def parquet_batches(source: str | Path, options: ReadOptions) -> EventBatches:
    """The events of a Parquet file, of a folder, of all files that a pattern such as `lake/*.parquet` names, or in a cloud."""
    name, individual = str(source), None
    with intact(name):
        if "://" in name:
            rows = scan_cloud(name)
        else:
            path = Path(source)
            files = list(_matching(path)) if is_pattern(path) else parquet_files(path)
            rows, memory = scan(files, path), memory_of(files[0])
            if memory.individual is not None and CASE_PREFIX + memory.individual in rows.collect_schema():
                individual = FoundRole("individual", (CASE_PREFIX + memory.individual,), THE_FILE_SAYS)
        return frame_batches(rows, options, name, first_row=1, individual=individual, guard=lambda: intact(name))


def is_pattern(path: Path) -> bool:
    """Whether a path stands for all the files that it matches."""
    return any(letter in str(path) for letter in "*?[") and not path.exists()


def _matching(pattern: Path) -> Iterator[Path]:
    found = sorted(Path(pattern.anchor).glob(str(pattern.relative_to(pattern.anchor))))
    if not found:
        raise InputError("there is no such file", place=str(pattern), remedy="Check the path")
    for file in found:
        if input_format(file).kind != "parquet":
            raise InputError("only Parquet files are read several at a time", place=str(file), remedy="Name one file")
        yield from parquet_files(file)


def frame_batches(
    frame: pl.LazyFrame, options: ReadOptions, source: str = FRAME, *, first_row: int = 0, individual: FoundRole | None = None,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> EventBatches:  # fmt: skip
    """The events of a frame; rows are counted from `first_row` on, and what goes wrong under way is told by `guard`.

    The roles and forms of columns are found in the first rows and some of those behind them.
    """
    with guard():
        height = int(frame.select(pl.len()).collect().item())
        stretches = [(0, SAMPLE)]
        if height > 2 * SAMPLE:
            stretches += [(SAMPLE + (height - SAMPLE) * part // _ELSEWHERE, SAMPLE // 8) for part in range(_ELSEWHERE)]
        sample = pl.concat([frame.slice(start, length).collect() for start, length in stretches])
        positions = [range(start, min(start + length, height)) for start, length in stretches]

    def placer(rows: Sequence[int]) -> Place:
        return lambda row: f"{source}, row {rows[row] + first_row}"

    def rows(names: Sequence[str]) -> Iterator[tuple[pl.DataFrame, Place]]:
        done = 0
        with guard():
            chosen = frame.select(column(name) for name in names)
            batches = iter(chosen.collect_batches(chunk_size=BATCH, maintain_order=True))
        while True:
            with guard():
                batch = next(batches, None)
            if batch is None:
                return
            yield batch, placer(range(done, done + batch.height))
            done += batch.height
            options.progress(done, height)

    place = placer([row for stretch in positions for row in stretch])
    return TableBatches(source, options, sample, place, rows, height, individual=individual)


def write_parquet(log: EventLog, stream: BinaryIO, progress: Progress = no_progress) -> None:
    """Write a log as Parquet. Progress counts events."""
    header = remembering(log.metadata, log.individual)
    done = 0
    if not isinstance(log, LogInParts):
        whole = BytesIO()  # Polars would turn a full disk into an error of its own
        log.to_polars().write_parquet(whole, compression="zstd", metadata=header)
        stream.write(whole.getvalue())
        progress(log.n_events, log.n_events)
        return
    with parquet_table(stream, log.schema, header) as write_rows:
        for part in log.parts():
            write_rows(part.to_polars())
            done += part.n_events
            progress(done, log.n_events)


def remembering(metadata: LogMetadata, individual: str | None = None) -> dict[str, str]:
    """What stands in the file besides the rows, for our reader to find."""
    return {KEY: json.dumps({"metadata": metadata.to_dict(), "individual": individual})}


@contextmanager
def parquet_table(
    stream: BinaryIO, schema: Mapping[str, pl.DataType], header: Mapping[str, str]
) -> Iterator[Callable[[pl.DataFrame], None]]:
    """A Parquet file on its way out: what is called with frames of this schema, one after the other, and writes their rows.

    Frames are packed on another thread: whoever makes them stays on the thread where it can be interrupted, which Polars cannot.
    Whatever goes wrong with the stream is raised here, as it was; and when the block is left early, packing stops first.
    """
    frames, stopped, failed_writes = Queue[pl.DataFrame | None](WAITING), threading.Event(), list[OSError]()

    def write(data: bytes) -> int:
        """Polars turns a full disk into an error of its own: the real one is kept."""
        try:
            return stream.write(data)
        except OSError as error:
            failed_writes.append(error)
            raise

    def rows(*_asked: object) -> Iterator[pl.DataFrame]:
        while not stopped.is_set():
            with suppress(Empty):
                frame = frames.get(timeout=PATIENCE)
                if frame is None:
                    return
                yield frame
        raise InterruptedError

    def pack() -> None:
        packed = cast("BinaryIO", SimpleNamespace(write=write, flush=lambda: None))  # all that Polars asks of it
        source = register_io_source(rows, schema=schema)
        source.sink_parquet(packed, compression="zstd", metadata=dict(header), row_group_size=ROW_GROUP)

    def put(frame: pl.DataFrame | None) -> None:
        """Hand over a frame, or None after the last; waits while too many are waiting."""
        while not packing.done():
            with suppress(Full):
                frames.put(frame, timeout=PATIENCE)
                return
        end()

    def end() -> None:
        wait([packing])
        failure = failed_writes[0] if failed_writes else packing.exception()
        if failure is not None:
            raise failure

    with ThreadPoolExecutor(1) as pool:
        packing = pool.submit(pack)
        try:
            yield put
            put(None)
            end()
        finally:
            stopped.set()
