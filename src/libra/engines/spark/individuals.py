"""Individuals: of each, a few cases at most, drawn at random, where cases are on many machines.

In: events with their case and whose it is. Out: the ids of the cases that count. The promise that guarantees for individuals
rest on: which cases of somebody are drawn depends on chance and on that somebody alone, never on anybody else; there are never
more than so many of them; and they are the same however often Spark computes them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from libra.engines.spark.draws import drawn_key, takes, words_of
from libra.engines.spark.session import Spark, in_one_line
from libra.engines.spark.source import Events
from libra.errors import InputError
from libra.privacy.randomness import Randomness

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

BLANK = r"(?U)^\s*$"


def drawn_cases(events: Events, most: int, random: Randomness, spark: Spark, column: str, rate: float = 1.0) -> DataFrame:
    """The ids (`case`) of at most so many cases of each individual; one without a name is an individual of its own.

    Args:
        events: All of them, with `individual`.
        most: How many cases of an individual count.
        random: Gives the key of the draws.
        spark: Where to keep whose case is whose.
        column: What the individual's column is called there.
        rate: Of a Poisson subsample: only individuals count that are in it.

    Raises:
        InputError: Some event cannot be used or does not say whose case it is, or events of one case do not agree on it.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    whose = F.col("individual")
    cases = spark.keep(
        events.read.groupBy("case").agg(
            F.min(whose).alias("whose"),
            F.max(whose.isNull()).alias("lacking"),
            (F.min(whose) != F.max(whose)).alias("changing"),
            F.max("problem").alias("problem"),
        ),
        lasting=True,
    )
    place = events.place
    with in_one_line(place):
        lacking, changing, problem = cases.agg(F.max("lacking"), F.max("changing"), F.max("problem")).collect()[0]
    if problem is not None:
        raise events.refused(problem)
    remedy = "Choose a column with one value for all events of a case for --individual"
    if lacking:
        raise InputError(f'no value in "{column}"', place=place, remedy=remedy)
    if changing:
        raise InputError(f'"{column}" changes within a case', place=place, remedy=remedy)
    nameless = F.col("whose").rlike(BLANK)
    name = F.when(nameless, F.concat(F.lit("case "), F.col("case"))).otherwise(F.concat(F.lit("individual "), F.col("whose")))
    if rate < 1:
        cases = cases.filter(takes(name, rate, drawn_key(random)))
    order = Window.partitionBy(name).orderBy(words_of(F.col("case"), drawn_key(random)), "case")
    return cases.withColumn("place", F.row_number().over(order)).filter(F.col("place") <= most).select("case")
