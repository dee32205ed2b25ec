"""Without PySpark or Java there is one line that says what to do; and what Spark says becomes one line."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install libra-pm[spark]")

from pyspark.errors import PySparkException

from libra.engines.spark import session
from libra.errors import InputError, LibraError, MissingExtraError

from .conftest import FAST

FROM_A_WORKER = """An exception was thrown from the Python worker:
Traceback (most recent call last):
  File "/opt/pyspark/worker.py", line 1, in main
    process()
{line}

	at org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:572)
"""


@pytest.mark.parametrize("missing", ["pyspark", "pyarrow", "pandas"])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(MissingExtraError, match=rf'{missing} is not installed.*"libra-pm\[spark\]"'):
        session.session_of()


def test_an_old_pyspark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.__version__", "3.5.1")
    with pytest.raises(LibraError, match=r"PySpark 3.5.1 is too old, 4 is needed"):
        session.session_of()


def test_without_java_no_session_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "find_java", lambda: (False, "not found"))
    with pytest.raises(LibraError, match=r"Spark needs Java, and Java is not found. To get it, install a Java 17 runtime"):
        session.new_session("local[1]")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            FROM_A_WORKER.format(line='libra.errors.InputError: a.csv: timestamp "x" does not fit. Give the format.'),
            'a.csv: timestamp "x" does not fit. Give the format.',
        ),
        (
            FROM_A_WORKER.format(line="ZeroDivisionError: division by zero"),
            "log: Spark failed (ZeroDivisionError: division by zero). See Spark's own log.",
        ),
        (
            FROM_A_WORKER.format(line="ModuleNotFoundError: No module named 'libra'"),
            "Libra is not installed where Spark computes (libra is missing there). Install it on every worker "
            "(pip install libra-pm), or name the Python that has it in the environment variable PYSPARK_PYTHON before Spark "
            "starts.",
        ),
        ("x" * 999 + "\n\tat org.apache.spark", f"log: Spark failed ({'x' * session.LONGEST}…). See Spark's own log."),
        ("", "log: Spark failed (no reason given). See Spark's own log."),
    ],
)
def test_what_spark_says_becomes_one_line(said: str, told: str) -> None:
    with pytest.raises(LibraError) as caught, session.in_one_line("log"):
        raise PySparkException(said)
    assert str(caught.value) == told
    assert caught.value.__suppress_context__


def test_other_errors_pass() -> None:
    with pytest.raises(InputError, match="as it is"), session.in_one_line("log"):
        raise InputError("as it is")


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143)])
def test_whoever_ends_the_process_ends_it_whatever_spark_says_of_its_jobs(end: BaseException) -> None:
    said = PySparkException("the job was cancelled")
    said.__context__ = end
    with pytest.raises(type(end)) as caught, session.in_one_line("log"):
        raise said
    assert caught.value is end


def test_closing_hides_no_error_that_came_before() -> None:
    class Gone:
        def stop(self) -> None:
            raise ConnectionRefusedError

        def unpersist(self) -> None:
            raise PySparkException("Java is gone")

    cleaned: list[bool] = []
    gone: Any = Gone()
    session.Spark(gone, clean=lambda: cleaned.append(True), kept=[gone], lasting=[gone]).close()
    assert cleaned == [True]


ENDED = """
import os, signal, sys, threading, time
from pathlib import Path
from libra.cli import _ended_in_order
from libra.engines.spark.session import private_folder
from libra.engines.spark.session import in_one_line, session_of, without_warnings

moment, number, mark = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])

def slow(batches):
    mark.touch()
    time.sleep(600)
    yield from batches

def end():
    while not mark.exists():
        time.sleep(0.01)
    os.kill(os.getpid(), number)

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started us, and however
try:
    with _ended_in_order():
        spark = session_of("local[1]")
        threading.Thread(target=end, daemon=True).start()
        try:
            with in_one_line("log"), without_warnings():
                if moment == "a job runs":
                    spark.session.range(1).mapInArrow(slow, "id long").toArrow()
                mark.touch()
                while moment == "many short answers":
                    spark.session._jvm.java.lang.System.nanoTime()
                spark.session._jvm.java.lang.Thread.sleep(600_000)
        finally:
            spark.close()
            print(list(private_folder().iterdir()))
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(
    ("moment", "number", "code"),
    [
        ("a job runs", signal.SIGTERM, 143),
        ("one long answer", signal.SIGINT, 130),
        ("many short answers", signal.SIGTERM, 143),
    ],
)
def test_a_signal_ends_spark_at_once_and_leaves_nothing(
    moment: str, number: signal.Signals, code: int, tmp_path: Path, spark: session.Spark
) -> None:
    """Nothing on the terminal, and nothing where Spark writes aside, also where that was named by the environment."""
    (aside := tmp_path / "aside").mkdir()
    environment = {**os.environ, "SPARK_LOCAL_DIRS": str(aside), "JDK_JAVA_OPTIONS": FAST}
    environment.pop("PYSPARK_GATEWAY_PORT", None)
    command = [sys.executable, "-c", ENDED, moment, str(int(number)), str(tmp_path / "mark")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)  # a job would take ten minutes
    assert (ended.returncode, ended.stdout, ended.stderr) == (code, "[]\n", "")
    assert not list(aside.iterdir())


def test_nobody_else_can_read_what_spark_writes_aside(spark: session.Spark) -> None:
    folder = session.private_folder()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert spark.session.range(9).repartition(3).count() == 9
    assert [entry.name for entry in folder.iterdir() if entry.name.startswith("blockmgr-")]


def test_an_error_of_spark_is_not_logged(spark: session.Spark, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LibraError), session.in_one_line("log"):
        spark.session.range(3).selectExpr("id").select("no_such_column").collect()
    assert capfd.readouterr() == ("", "")
