"""One Spark for all its tests: a real one, on two cores, whose tasks may fail once."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from libra._system.doctor import find_java

if TYPE_CHECKING:
    from libra.engines.spark.session import Spark

FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # options for Java that starts fast


@pytest.fixture(scope="session")
def spark() -> Iterator[Spark]:
    """A session of our own; tests that need it are skipped where PySpark or Java is absent."""
    if find_spec("pyspark") is None:
        pytest.skip("PySpark is not installed: pip install libra-pm[spark]")
    java, found = find_java()
    if not java:
        pytest.skip(f"Spark needs Java 17, and Java is {found}")
    from libra.engines.spark.session import session_of

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", FAST)
        made = session_of("local[2,2]")
    made.session.conf.set("spark.sql.shuffle.partitions", "4")
    yield made
    made.close()
