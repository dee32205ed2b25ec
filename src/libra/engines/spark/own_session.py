"""A session of our own: where it computes, what it leaves on disk, and how it ends.

In: what `--master` says. Out: a session, and what to do when it is closed. The promise: on this machine nobody else can read what
Spark writes aside of the raw log, and none of it is left; Java says nothing on the terminal; and whoever ends the process ends
what Spark computes for it, at once.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from libra._system.doctor import JAVA_REMEDY, find_java
from libra.errors import LibraError

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

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


def new_session(master: str) -> tuple[SparkSession, Callable[[], None]]:
    """A session of our own, and what cleans up once it is stopped.

    Raises:
        LibraError: There is no Java, or too old a one.
    """
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
        ours.enter_context(_py4j_says_nothing())
        with _written_aside(local):
            gateway = SparkContext._gateway or launch_gateway(conf, silent)  # type: ignore[no-untyped-call]  # it has no types
        before = {end: signal.getsignal(end) for end in (getattr(signal, name, None) for name in ENDS) if end is not None}
        context = SparkContext(conf=conf, gateway=gateway)
        context.setLogLevel("OFF")
        context._accumulatorServer.handle_error = _say_nothing  # type: ignore[method-assign,assignment]  # Java may be ended before we are
        ours.callback(_stopped_by_signals(context, before))
        return SparkSession(context), ours.pop_all().close


def _say_nothing(*_connection: object) -> None:
    """What to tell about a connection to Java that broke off: whoever waits for an answer finds out."""


@contextlib.contextmanager
def _py4j_says_nothing() -> Iterator[None]:
    """Without the stack traces that py4j logs, some of them as nobody's, where a call of Java is cut short."""

    def of_others(record: logging.LogRecord) -> bool:
        return Path(record.pathname).parent.name != PY4J

    loggers = [logging.getLogger(), *(logging.getLogger(f"{PY4J}.{part}") for part in ("java_gateway", "clientserver"))]
    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


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
    if not local or before is None:
        yield
        return
    os.environ[ASIDE] = str(private_folder())
    try:
        yield
    finally:
        os.environ[ASIDE] = before


def _stopped_by_signals(context: SparkContext, before: Mapping[signal.Signals, Any]) -> Callable[[], None]:
    """Let a signal that ends the process stop Spark first, for whose results it would wait; and how to undo that.

    Cancelling jobs, as PySpark does on Ctrl-C, is not enough: one that is just about to begin would go on to its end. Java is
    told by another thread: each has a connection of its own to it, and that of the thread that is interrupted may be in the
    midst of an answer. It is closed, so that nobody takes the rest of this answer for another one; the next call opens a new one.

    Args:
        context: What is to be stopped.
        before: What handled the signals before PySpark did.
    """
    handled = {end: handler for end, handler in before.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread():
        handled = {}

    def stop(number: int, frame: FrameType | None) -> None:
        stopping = threading.Thread(target=_stopped, args=(context,), daemon=True)
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


def _stopped(context: SparkContext) -> None:
    with contextlib.suppress(Exception):  # it may be gone already
        context._jsc.stop()
