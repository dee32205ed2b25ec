"""A log on Spark, from a path, a table or a data frame to engines: the way in.

In: where the log is and what the user says about it. Out: a `SparkLog`, which knows what is to be known before anything is
counted, and makes engines: of all cases, of a Poisson subsample, of a few cases of each individual.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from libra.engines.spark.engine import SparkEngine
from libra.engines.spark.individuals import drawn_cases
from libra.engines.spark.session import Spark, session_of
from libra.engines.spark.source import Found, events_of
from libra.engines.spark.tables import open_table
from libra.errors import InputError
from libra.eventlog.options import ReadOptions
from libra.privacy.randomness import Randomness
from libra.privacy.unit import CASE, Unit

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class SparkLog:
    """A log on Spark: what is known of it before it is read, and engines of it."""

    def __init__(self, found: Found, spark: Spark, *, allow_empty: bool = False) -> None:
        """Take a log by its events; nothing is read yet."""
        self.spark = spark
        self._found, self._allow_empty = found, allow_empty

    @property
    def has_zone(self) -> bool:
        """Whether its times are in a zone."""
        return self._found.has_zone

    @property
    def individual(self) -> str | None:
        """The attribute of cases that says whose they are."""
        return self._found.individual

    @property
    def has_individual(self) -> bool:
        """Whether the log says whose case is whose."""
        return self.individual is not None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed about the log."""
        return self._found.notes

    def engine(self, unit: Unit, random: Randomness, rate: float = 1.0) -> SparkEngine:
        """The engine of all cases, or of a Poisson subsample; where individuals are protected, of as many cases as count."""
        events = self._found.events
        if not events.labels and not self._allow_empty:
            remedy = "Check the columns and transitions that were named"
            raise InputError("no event is left that can be used", place=events.place, remedy=remedy)
        if unit.most_cases is not None and self.has_individual:
            place, column = events.place, self._found.individual_column
            drawn = drawn_cases(events.read, unit.most_cases, random, self.spark, place, column)
            events = events.of_cases(drawn)
        engine = SparkEngine(events, self.spark)
        return engine if rate == 1 else engine.subsampled(rate, random)

    def close(self) -> None:
        """Free what Spark keeps of the log, and stop a session that was opened for it."""
        self.spark.close()


def open_log(source: str | DataFrame, options: ReadOptions, master: str | None = None) -> SparkLog:
    """A log on Spark: a data frame in its own session, or a path or table in the session that is open or in a new one.

    Args:
        source: A data frame of Spark, a path of a file or folder of Parquet or CSV, or the name of a table.
        options: What the user says about it.
        master: Where a new session computes, such as "local[2]".
    """
    spark = session_of(master) if isinstance(source, str) else Spark(source.sparkSession, ours=False)
    try:
        return SparkLog(events_of(open_table(source, options, spark), options), spark, allow_empty=options.allow_empty)
    except BaseException:
        spark.close()
        raise


def engine_of(
    source: str | DataFrame,
    options: ReadOptions,
    unit: Unit = CASE,
    random: Randomness | None = None,
    master: str | None = None,
) -> SparkEngine:
    """The engine of a log on Spark, in one step; see `open_log`."""
    return open_log(source, options, master).engine(unit, random or Randomness())
