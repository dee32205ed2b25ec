"""One release, for `libra.anonymize` and the command line: what is asked for, the engine that suits the log, the `Release`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from libra._system.randomness import Randomness
from libra.errors import UsageError
from libra.eventlog.description import in_its_words
from libra.eventlog.log import EventLog
from libra.eventlog.notes import refuse_open
from libra.eventlog.options import ReadOptions, stage
from libra.keywords import ReadKeywords, described_by, described_parameters, read_options
from libra.mechanisms.mechanism import Mechanism, parameters_of
from libra.mechanisms.mechanism import mechanism as make

if TYPE_CHECKING:
    from libra.engines.polars_streaming import StreamedLog
    from libra.engines.spark.engine import SparkLog
    from libra.release import Release

EngineName = Literal["polars", "polars-streaming", "spark"]
ENGINES: tuple[EngineName, ...] = get_args(EngineName)
GROWTH = {"parquet": 10, "csv": 3, "tsv": 3, "xes": 1}  # from a file to the log in memory, about, with what reading it takes
PACKED = 12  # what text is packed by
SOUND = "libra"
SHARE = 0.6  # of the memory that is free


@dataclass(frozen=True)
class Request:
    """What a release is asked for: a source and how to read it, the mechanism with its parameters, the draws, the engine."""

    source: Any
    options: ReadOptions
    mechanism: Mechanism
    random: Randomness
    engine: EngineName
    master: str | None = None
    protects_individuals: bool = False

    def explain(self) -> list[str]:
        """What the mechanism releases and what survives, told before any case is looked at."""
        from libra.mechanisms.libra import Libra

        if not isinstance(self.mechanism, Libra):
            raise UsageError(f"{self.mechanism.name} has no plan to explain. Remove --explain or use libra.")
        return list((self.mechanism.for_individuals() if self.protects_individuals else self.mechanism).plan.explain())


def request_of(
    source: Any,
    reading: Mapping[str, Any],
    mechanism: str,
    parameters: Mapping[str, Any],
    *,
    seed: int | None = None,
    engine: str | None = None,
    master: str | None = None,
) -> Request:
    """The request that keywords of `libra.read` and parameters of a mechanism make; invalid ones are a `UsageError`."""
    described = described_by(reading.get("description"))
    options = read_options(**cast("ReadKeywords", {**reading, "description": described}))
    made = make(mechanism, described_parameters(described, parameters, parameters_of(mechanism)))
    if mechanism == SOUND and not options.attributes:  # a description declares those that are asked for, and others
        options = replace(options, attributes=made.attributes)  # type: ignore[attr-defined]  # of libra
    if isinstance(source, EventLog) and source.declared is not None and seed is None:
        for one in (one for one in options.attributes if one not in source.declared):
            why = "was not declared when the log was read, so that one case may have changed the values of others"
            remedy = "Anonymize the file or frame itself, or read it with libra.read(..., description=...)"
            raise UsageError(f'"{one.name}" {why}. {remedy}.')
    if getattr(made, "accepts_empty", False):
        options = replace(options, allow_empty=True)  # whether there is a release must not depend on a single case
    individuals = reading.get("individual") is not None or (described is not None and described.unit == "individual")
    chosen = engine_for(source, engine, mechanism, master)
    return Request(source, options, made, Randomness(seed), chosen, master, individuals)


@contextmanager
def released(request: Request) -> Iterator[Release]:
    """The release, with what is worth knowing about how the log was read.

    Within the block, a Spark session that was opened for it can still write the log; then all raw cases beyond memory are gone.
    A log whose content leaves open how it is to be read is an `InputError` if the guarantee would depend on that.

    Example:
        >>> import libra.example
        >>> with released(request_of(libra.example.path(), {}, "libra", {}, engine="polars-streaming")) as release:
        ...     release.guarantee.kind
        'proved'
    """
    from libra.eventlog.read import read
    from libra.release import Release

    made, source, progress = request.mechanism, request.source, request.options.progress
    place = str(source) if isinstance(source, str | Path) else "the log, as it was read"
    if request.engine == "polars":
        with stage(progress, "read", source) as told:
            log = read(source, replace(request.options, progress=told))
        if made.name == SOUND:
            refuse_open(log.notes, place)
        with stage(progress, "anonymize", source) as told:
            release = made.anonymize(log, request.random, told)
        yield Release.of(release, original=log, roles=log.roles, reading=log.notes)
        return
    with _opened(request) as beyond_memory:
        with stage(progress, "anonymize", source) as told:
            spark = request.engine == "spark"
            refuse_open((note for note in beyond_memory.notes if spark or not getattr(note, "may_close", False)), place)
            release = made.anonymize(beyond_memory, request.random, told)  # type: ignore[arg-type]  # libra takes any origin
            refuse_open(beyond_memory.notes, place)  # now that all of it has been read
        writer = None
        if spark:
            from libra.engines.spark.writing import SparkWriter

            writer = SparkWriter(request.master)
        yield Release.of(release, reading=beyond_memory.notes, roles=beyond_memory.roles, writer=writer)


def engine_for(source: Any, engine: str | None, mechanism: str = SOUND, master: str | None = None) -> EngineName:
    """The engine that was asked for, or the one that suits the source; all mechanisms but libra work in memory."""
    of_spark = _is_spark_frame(source)
    if mechanism != SOUND:
        if of_spark:
            raise UsageError(f"{mechanism} supports only in-memory logs. Pass a file or a Polars or pandas frame, or use libra.")
        if engine not in (None, "polars"):
            raise UsageError(f"{mechanism} supports only in-memory logs. Remove --engine or use libra.")
        return "polars"
    if engine is not None and engine not in ENGINES:
        raise UsageError(f"engine has to be one of {', '.join(ENGINES)}, not {engine!r}.")
    if of_spark and engine not in (None, "spark"):
        raise UsageError(f"A Spark data frame needs the engine spark, not {engine}.")
    suits: EngineName = "spark" if of_spark else "polars"
    if isinstance(source, str | Path) and engine is None and (_is_address(source) or not _fits(source)):
        suits = "polars-streaming"
    chosen = suits if engine is None else engine
    if master is not None and chosen != "spark":
        raise UsageError("--master is only for Spark. Add --engine spark.")
    return chosen


def _is_spark_frame(source: Any) -> bool:
    """Whether this is a data frame of Spark, told without loading Spark."""
    return type(source).__module__.startswith("pyspark.sql") and type(source).__name__ == "DataFrame"


def _is_address(source: str | Path) -> bool:
    """Whether this names something in a cloud, such as s3://bucket/events.parquet; a path keeps one slash of two."""
    scheme, found, _ = str(source).partition(":/")
    return bool(found) and len(scheme) > 1 and scheme.isalnum()


@contextmanager
def _opened(request: Request) -> Iterator[StreamedLog | SparkLog]:
    """A log that is too large for memory, for as long as the block lasts."""
    source = request.source
    options = replace(request.options, attributes=getattr(request.mechanism, "attributes", ()))  # no others are read
    log: StreamedLog | SparkLog
    if isinstance(source, Path):
        source = str(source).replace(":/", "://", 1) if _is_address(source) else str(source)  # a path keeps one slash of two
    with in_its_words(options.described):
        if request.engine == "spark":
            from libra.engines.spark.engine import open_log

            if not (isinstance(source, str) or _is_spark_frame(source)):
                raise UsageError("The engine spark reads files, tables and data frames of Spark.")
            log = open_log(source, options, request.master)
        else:
            import polars as pl

            from libra.engines.polars_streaming import StreamedLog
            from libra.eventlog.read import batches_of

            if not isinstance(source, str | pl.DataFrame | pl.LazyFrame):
                raise UsageError("The engine polars-streaming reads files and frames of Polars.")
            log = StreamedLog(batches_of(source, options), sort_by_time=options.sort_by_time)
        try:
            yield log
        finally:
            log.close()


def _fits(source: str | Path) -> bool:
    """Whether a file most likely fits into free memory, within what a container allows; True if that cannot be told."""
    from libra.eventlog.files import format_of_name

    path, free = Path(source), []
    with suppress(OSError, LookupError, ValueError):
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        free.append(int(lines["MemAvailable"].split()[0]) * 1024)
    with suppress(OSError, ValueError):
        used, most = (int(Path(f"/sys/fs/cgroup/memory.{name}").read_text()) for name in ("current", "max"))
        free.append(max(most - used, 1))
    try:
        size = sum(file.stat().st_size for file in path.rglob("*.parquet")) if path.is_dir() else path.stat().st_size
    except OSError:
        return True
    form = format_of_name(path)
    growth = GROWTH["parquet"] if form is None else GROWTH[form.kind] * (1 if form.compression == "none" else PACKED)
    return not free or size * growth < SHARE * min(free)
