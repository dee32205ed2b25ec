"""Spark itself: the session somebody has open already, or one of our own; and its errors in one line.

In: what `--master` says. Out: a `Spark`, which knows the session, whether it is ours to stop, and what we keep in its storage.
The promise: where PySpark or Java is missing or too old there is one line with the remedy, and no stack trace of Java reaches
anybody.
"""

from __future__ import annotations

import contextlib
import os
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from libra._system.doctor import OLDEST_PYSPARK
from libra._system.shell import pip_install
from libra.engines.spark.own_session import new_session
from libra.errors import InputError, LibraError, MissingExtraError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXTRA = "spark"
INSTALL = "pip install libra-pm"
LONGEST = 240  # characters of what Spark says that are repeated
LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
NOT_FOUND = ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND")
NOT_INTACT = ("MALFORMED_RECORD_IN_PARSING", "FAILED_READ_FILE", "CANNOT_READ_FILE", "UNABLE_TO_INFER_SCHEMA")


def nothing() -> None:
    """What is to be cleaned up after a session that is not ours."""


@dataclass(frozen=True, eq=False, repr=False)
class Spark:
    """A session, what cleans up after one of ours, and the frames that we keep in its storage."""

    session: SparkSession
    ours: bool
    clean: Callable[[], None] = nothing
    kept: list[DataFrame] = field(default_factory=list)
    lasting: list[DataFrame] = field(default_factory=list)

    @property
    def local(self) -> bool:
        """Whether Spark computes on this machine alone, so that paths mean its own files."""
        return (self.session.conf.get("spark.master", "") or "").startswith("local")

    def keep(self, frame: DataFrame, *, lasting: bool = False) -> DataFrame:
        """Compute a frame once, when it is first looked at, and keep it: in memory, and on disk where there is too little."""
        from pyspark import StorageLevel

        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        (self.lasting if lasting else self.kept).append(kept)
        return kept

    def forget(self) -> None:
        """Free what is kept and not lasting; whoever looks at it again computes it again."""
        while self.kept:
            with _whatever_spark_says():
                self.kept.pop().unpersist()

    def close(self) -> None:
        """Free all that is kept, and stop the session if it is ours; where Spark is gone already, so much the better."""
        self.kept.extend(self.lasting)
        self.lasting.clear()
        self.forget()
        if self.ours:
            with _whatever_spark_says():
                self.session.stop()
            self.clean()


def session_of(master: str | None = None) -> Spark:
    """The session that is open, or else a new one.

    Args:
        master: Where a new session computes, such as "local[2]" or "yarn"; all cores of this machine by default.

    Raises:
        LibraError: PySpark or Java is missing or too old, or no session can be had.
    """
    checked_pyspark()
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with in_one_line(master or "Spark"), without_warnings():
        running = SparkSession.getActiveSession()
        if running is None and (SparkContext._active_spark_context is not None or "PYSPARK_GATEWAY_PORT" in os.environ):
            running = SparkSession.builder.getOrCreate()
        if running is not None:
            return Spark(running, ours=False)
        session, clean = new_session(master or "local[*]")
        return Spark(session, ours=True, clean=clean)


def checked_pyspark() -> None:
    """Refuse to go on without PySpark and all it needs, or with one that is too old."""
    try:
        import pandas as pd
        import pyarrow as pa
        import pyspark
    except ImportError as error:
        raise MissingExtraError(error.name or "pyspark", EXTRA) from None
    del pa, pd
    if int(pyspark.__version__.partition(".")[0]) < OLDEST_PYSPARK:
        remedy = pip_install(f"libra-pm[{EXTRA}]")
        raise LibraError(f"PySpark {pyspark.__version__} is too old, {OLDEST_PYSPARK} is needed. Install it with: {remedy}")


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Without PySpark's advice on versions of other packages: what is used here works with them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def in_one_line(place: str) -> Iterator[None]:
    """Whatever goes wrong in Spark comes out as one line; `place` is what was being read or written.

    Whoever ends the process, by Ctrl-C or a signal, ends it: what Spark says of its jobs being cut short is not told.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it has no types
    from pyspark.errors import PySparkException

    try:
        with _without_logging():
            yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        told = _ended_by(error) or _told(error, place)
    else:
        return
    raise told from None


@contextlib.contextmanager
def _without_logging() -> Iterator[None]:
    """Without what PySpark writes to stderr of an error before it raises it: stack traces, and values of the raw log."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


@contextlib.contextmanager
def _whatever_spark_says() -> Iterator[None]:
    """Cleaning up goes on, and hides no error that came before, whatever Spark says of it."""
    with contextlib.suppress(LibraError), in_one_line("Spark"), without_warnings():
        yield


def _ended_by(error: BaseException) -> BaseException | None:
    """What ended the process, where Spark's error is about a job that this cut short."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt | SystemExit):
        seen = seen.__context__
    return seen


def _told(error: Any, place: str) -> LibraError:
    text = str(error)
    own = re.search(r"^(?:\S+: )*libra\.errors\.\w+: (.+)$", text, re.MULTILINE)
    if own:
        return InputError(own[1].strip().rstrip("."))
    if lacking := re.search(r"No module named '(\w+)", text):
        return LibraError(
            f"Libra is not installed where Spark computes ({lacking[1]} is missing there). Install it on every worker "
            f"({INSTALL}), or name the Python that has it in the environment variable PYSPARK_PYTHON before Spark starts."
        )
    if "://" in place and re.search(r"No FileSystem for scheme|S3AFileSystem|UnsupportedFileSystem|Credentials", text):
        remedy = "Give Spark the connector and the credentials for this address, such as the package hadoop-aws for s3a://"
        return InputError("Spark cannot reach this address", place=place, remedy=remedy)
    if any(name in text for name in NOT_FOUND):
        return InputError("there is no such file or table", place=place, remedy="Check the path, and that Spark may read it")
    if "PATH_ALREADY_EXISTS" in text:
        return InputError("there is something already", place=place, remedy="Name a folder that does not exist yet")
    if "is not a Parquet file" in text or (place.endswith((".parquet", ".pq")) and any(name in text for name in NOT_INTACT)):
        return InputError("this is not an intact Parquet file", place=place, remedy="Export it again")
    if any(name in text for name in NOT_INTACT):
        remedy = "Check that it is intact, and name what separates fields with --delimiter; a table with line breaks in fields "
        return InputError("Spark cannot read this as a table", place=place, remedy=f"{remedy}has to become Parquet first")
    return InputError(f"Spark gave up ({_gist(text)})", place=place, remedy="Its own log tells more")


def _gist(text: str) -> str:
    """What Spark says, without where in its code it says it."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("at ", "File ", "..."))]
    python = [line for line in lines if re.match(r"(?:\w+\.)*\w*(?:Error|Exception): ", line)]
    line = (python or lines or ["no reason given"])[-1 if python else 0]
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"
