"""Without PySpark or Java there is one line that says what to do; and what Spark says becomes one line."""

from __future__ import annotations

import sys

import pytest

pytest.importorskip("pyspark", reason="PySpark is not installed: pip install libra-pm[spark]")

from pyspark.errors import PySparkException

from libra.engines.spark import session
from libra.errors import InputError, LibraError, MissingExtraError

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
        session._new_session("local[1]")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            FROM_A_WORKER.format(line='libra.errors.InputError: a.csv: timestamp "x" does not fit. Give the format.'),
            'a.csv: timestamp "x" does not fit. Give the format.',
        ),
        (
            FROM_A_WORKER.format(line="ZeroDivisionError: division by zero"),
            "log: Spark gave up (ZeroDivisionError: division by zero). Its own log tells more.",
        ),
        (
            FROM_A_WORKER.format(line="ModuleNotFoundError: No module named 'libra'"),
            "Libra is not installed where Spark computes. Install it on every worker: pip install libra-pm.",
        ),
        ("x" * 999 + "\n\tat org.apache.spark", f"log: Spark gave up ({'x' * session.LONGEST}…). Its own log tells more."),
        ("", "log: Spark gave up (no reason given). Its own log tells more."),
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
