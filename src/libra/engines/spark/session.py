"""Spark itself: the session somebody has open already, or one of our own; and its errors in one line.

In: what `--master` says. Out: a `Spark`, which knows the session, whether it is ours to stop, and what we keep in its storage.
The promise: where PySpark or Java is missing or too old there is one line with the remedy, and no stack trace of Java reaches
anybody.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from libra.doctor import JAVA_REMEDY, OLDEST_PYSPARK, find_java
from libra.errors import InputError, LibraError, MissingExtraError
from libra.shell import pip_install

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EXTRA = "spark"
INSTALL = "pip install libra-pm"
LONGEST = 240  # characters of what Spark says that are repeated
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
NOT_FOUND = ("PATH_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND")
NOT_INTACT = ("MALFORMED_RECORD_IN_PARSING", "FAILED_READ_FILE", "CANNOT_READ_FILE", "UNABLE_TO_INFER_SCHEMA")


@dataclass(frozen=True, eq=False, repr=False)
class Spark:
    """A session, and the frames that we keep in its storage."""

    session: SparkSession
    ours: bool
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
            self.kept.pop().unpersist()

    def close(self) -> None:
        """Free all that is kept, and stop the session if it is ours."""
        self.kept.extend(self.lasting)
        self.lasting.clear()
        self.forget()
        if self.ours:
            self.session.stop()


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
        return Spark(running, ours=False) if running is not None else Spark(_new_session(master or "local[*]"), ours=True)


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


def _new_session(master: str) -> SparkSession:
    """A session of our own, whose Java process says nothing on the terminal."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    java, found = find_java()
    if not java:
        raise LibraError(f"Spark needs Java, and Java is {found}. To get it, {JAVA_REMEDY}.")
    settings = SETTINGS | {"spark.master": master}
    if master.startswith("local"):
        settings |= LOCAL_SETTINGS
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # with which Spark starts its workers
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    gateway = SparkContext._gateway or launch_gateway(conf, silent)  # type: ignore[no-untyped-call]  # PySpark has no types for it
    context = SparkContext(conf=conf, gateway=gateway)
    context.setLogLevel("OFF")
    return SparkSession(context)


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Without PySpark's advice on versions of other packages: what is used here works with them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def in_one_line(place: str) -> Iterator[None]:
    """Whatever goes wrong in Spark comes out as one line; `place` is what was being read or written."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it has no types
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        told = _told(error, place)
    else:
        return
    raise told from None


def _told(error: Any, place: str) -> LibraError:
    text = str(error)
    own = re.search(r"^(?:\S+: )*libra\.errors\.\w+: (.+)$", text, re.MULTILINE)
    if own:
        return InputError(own[1].strip().rstrip("."))
    if "No module named 'libra'" in text:
        return LibraError(f"Libra is not installed where Spark computes. Install it on every worker: {INSTALL}.")
    if any(name in text for name in NOT_FOUND):
        return InputError("there is no such file or table", place=place, remedy="Check the path, and that Spark may read it")
    if "PATH_ALREADY_EXISTS" in text:
        return InputError("there is something already", place=place, remedy="Name a folder that does not exist yet")
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
