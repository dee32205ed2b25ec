"""Spark sessions: one given by the user, or one of our own.

The promise of our own: on this machine nobody else can read what Spark writes aside of the raw log, and none of it is left; Java
says nothing on the terminal; and whoever ends the process ends what Spark computes for it, at once.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from libra._system.doctor import JAVA_REMEDY, OLDEST_PYSPARK, find_java
from libra._system.shell import pip_install
from libra.errors import InputError, LibraError, MissingExtraError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import DataFrame, SparkSession, functions

    F = functions
else:

    class _Functions:
        """What expressions of Spark are made of; imported when it is first used, as PySpark may be missing."""

        def __getattr__(self, name: str) -> Any:
            return getattr(import_module("pyspark.sql.functions"), name)

    F = _Functions()

SETTINGS = {
    "spark.app.name": "libra",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "128",  # at most: of a small log Spark makes fewer, by the next four
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
}
LOCAL_SETTINGS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "2g"}
ASIDE = "SPARK_LOCAL_DIRS"  # where Spark writes aside; what it says goes before the setting
ENDS = ("SIGINT", "SIGTERM", "SIGHUP")
PATIENCE = 20  # seconds for Spark to stop before the process ends anyway
PY4J = "py4j"  # through which PySpark talks to Java
EXTRA = "spark"
LONGEST = 240  # characters of what Spark says that are repeated
LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
NOT_FOUND = ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND")
NOT_INTACT = ("MALFORMED_RECORD_IN_PARSING", "FAILED_READ_FILE", "CANNOT_READ_FILE", "UNABLE_TO_INFER_SCHEMA")


def new_session(master: str) -> tuple[SparkSession, Callable[[], None]]:
    """A session of our own, and what cleans up once it is stopped; an error where there is no Java, or too old a one."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java, found = find_java()
    if not java:
        raise LibraError(f"Spark needs Java, and Java is {found}. To get it, {JAVA_REMEDY}.")
    local = master.startswith("local")
    settings = SETTINGS | {"spark.master": master}
    if local:
        settings |= LOCAL_SETTINGS | {"spark.local.dir": str(private_folder())}
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # with which Spark starts its workers
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with contextlib.ExitStack() as ours:
        if local:
            ours.callback(_empty, private_folder())
        # py4j logs stack traces, some of them as nobody's, where a call of Java is cut short.
        loggers = [logging.getLogger(name) for name in (None, f"{PY4J}.java_gateway", f"{PY4J}.clientserver")]
        ours.enter_context(_heard(loggers, lambda record: Path(record.pathname).parent.name != PY4J))
        with _written_aside(local):
            gateway = SparkContext._gateway or launch_gateway(conf, silent)  # type: ignore[no-untyped-call]  # it has no types
        before = {end: signal.getsignal(end) for end in (getattr(signal, name, None) for name in ENDS) if end is not None}
        context = SparkContext(conf=conf, gateway=gateway)
        context.setLogLevel("OFF")
        # Java may be ended before we are: whoever waits for an answer finds out that the connection broke off.
        context._accumulatorServer.handle_error = lambda *_: None  # type: ignore[method-assign]  # it has no types
        ours.callback(_stopped_by_signals(context, before))
        return SparkSession(context), ours.pop_all().close


@contextlib.contextmanager
def _heard(loggers: Sequence[logging.Logger], heard: Callable[[logging.LogRecord], bool]) -> Iterator[None]:
    """With only some of what these loggers say."""
    for logger in loggers:
        logger.addFilter(heard)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(heard)


@cache
def private_folder() -> Path:
    """A folder that nobody else can look into, for as long as this process runs: Java, which keeps its name, runs as long."""
    chosen = os.environ.get(ASIDE, "").partition(",")[0]
    folder = Path(tempfile.mkdtemp(prefix="libra-spark-", dir=chosen or None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _empty(folder: Path) -> None:
    for entry in folder.iterdir():
        shutil.rmtree(entry, ignore_errors=True)


@contextlib.contextmanager
def _written_aside(local: bool) -> Iterator[None]:
    """While Java is started: its environment names no other folder than ours."""
    before = os.environ.get(ASIDE)
    if local and before is not None:
        os.environ[ASIDE] = str(private_folder())
    try:
        yield
    finally:
        if before is not None:
            os.environ[ASIDE] = before


def _stopped_by_signals(context: SparkContext, before: Mapping[signal.Signals, Any]) -> Callable[[], None]:
    """Let a signal that ends the process stop Spark first, for whose results it would wait; and how to undo that.

    Cancelling jobs, as PySpark does on Ctrl-C, is not enough: one that is just about to begin would go on to its end. Java is
    told by another thread: each has a connection of its own to it, and that of the thread that is interrupted may be in the
    midst of an answer. It is closed, so that nobody takes the rest of this answer for another one; the next call opens a new one.
    `before` has what handled the signals before PySpark did.
    """
    in_main = threading.current_thread() is threading.main_thread()
    handled = {end: handler for end, handler in before.items() if in_main and callable(handler)}

    def stop_context() -> None:
        with contextlib.suppress(Exception):  # it may be gone already
            context._jsc.stop()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping = threading.Thread(target=stop_context, daemon=True)
        stopping.start()
        stopping.join(PATIENCE)
        client: Any = getattr(context._gateway, "_gateway_client", None)
        connection = client.get_thread_connection() if hasattr(client, "get_thread_connection") else None
        if connection is not None:
            connection.close()
        handled[signal.Signals(number)](number, frame)

    for end in handled:
        signal.signal(end, stop)

    def undo() -> None:
        for end, handler in handled.items():
            if signal.getsignal(end) is stop:
                signal.signal(end, handler)

    return undo


@dataclass(frozen=True, eq=False, repr=False)
class Spark:
    """A session, what cleans up after it if it is ours, and the frames that we keep in its storage."""

    session: SparkSession
    clean: Callable[[], None] | None = None
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
        if self.clean is not None:
            with _whatever_spark_says():
                self.session.stop()
            self.clean()


def session_of(master: str | None = None) -> Spark:
    """The session that is open, or else a new one at `master`, such as "local[2]"; by default on all cores of this machine.

    An error where PySpark or Java is missing or too old, or no session can be had.
    """
    try:
        import pandas as pd
        import pyarrow as pa
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise MissingExtraError(error.name or "pyspark", EXTRA) from None
    del pa, pd
    if int(pyspark.__version__.partition(".")[0]) < OLDEST_PYSPARK:
        remedy = pip_install(f"libra-pm[{EXTRA}]")
        raise LibraError(f"PySpark {pyspark.__version__} is too old, {OLDEST_PYSPARK} is needed. Install it with: {remedy}")
    with in_one_line(master or "Spark"), without_warnings():
        running = SparkSession.getActiveSession()
        if running is None and (pyspark.SparkContext._active_spark_context is not None or "PYSPARK_GATEWAY_PORT" in os.environ):
            running = SparkSession.builder.getOrCreate()
        return Spark(*new_session(master or "local[*]")) if running is None else Spark(running)


@contextlib.contextmanager
def setting(session: SparkSession, name: str, value: str) -> Iterator[None]:
    """With another value of a setting."""
    before = session.conf.get(name)
    session.conf.set(name, value)
    try:
        yield
    finally:
        session.conf.set(name, str(before))


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
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]  # they write stack traces to stderr, and values of the raw log
    try:
        with _heard(loggers, lambda _record: False):
            yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        ended: BaseException | None = error  # by what ended the process, where the error is about a job that this cut short
        while ended is not None and not isinstance(ended, KeyboardInterrupt | SystemExit):
            ended = ended.__context__
        told = ended or _told(error, place)
    else:
        return
    raise told from None


@contextlib.contextmanager
def _whatever_spark_says() -> Iterator[None]:
    """Cleaning up goes on, and hides no error that came before, whatever Spark says of it."""
    with contextlib.suppress(LibraError), in_one_line("Spark"), without_warnings():
        yield


def _told(error: Any, place: str) -> LibraError:
    text = str(error)
    if own := re.search(r"^(?:\S+: )*libra\.errors\.\w+: (.+)$", text, re.MULTILINE):
        return InputError(own[1].strip().rstrip("."))
    if lacking := re.search(r"No module named '(\w+)", text):
        return LibraError(
            f"Libra is not installed where Spark computes ({lacking[1]} is missing there). Install it on every worker (pip "
            "install libra-pm), or name the Python that has it in the environment variable PYSPARK_PYTHON before Spark starts."
        )
    if "://" in place and re.search(r"No FileSystem for scheme|S3AFileSystem|UnsupportedFileSystem|Credentials", text):
        remedy = "Give Spark the connector and the credentials for this address, such as the package hadoop-aws for s3a://"
        return InputError("Spark cannot reach this address", place=place, remedy=remedy)
    if any(name in text for name in NOT_FOUND):
        return InputError("there is no such file or table", place=place, remedy="Check the path, and that Spark may read it")
    if "PATH_ALREADY_EXISTS" in text:
        return InputError("it already exists", place=place, remedy="Name a folder that does not exist yet")
    if "is not a Parquet file" in text or (place.endswith((".parquet", ".pq")) and any(name in text for name in NOT_INTACT)):
        return InputError("this is not an intact Parquet file", place=place, remedy="Export it again")
    if any(name in text for name in NOT_INTACT):
        remedy = "Check that it is intact, and name what separates fields with --delimiter; if fields contain line breaks, "
        return InputError("Spark cannot read this as a table", place=place, remedy=f"{remedy}convert it to Parquet first")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith(("at ", "File ", "..."))]
    python = [line for line in lines if re.match(r"(?:\w+\.)*\w*(?:Error|Exception): ", line)]
    gist = (python or lines or ["no reason given"])[-1 if python else 0]  # without where in its code Spark says it
    gist = gist if len(gist) <= LONGEST else gist[:LONGEST] + "…"
    return InputError(f"Spark failed ({gist})", place=place, remedy="See Spark's own log")
