"""The lines of CSV files, looked at once before they are read as tables: what Spark would take for events and is none.

In: text files that Spark can read, and what their first lines show. Out: what encloses fields in them, as all lines show.
Spark cuts a text file at its line ends, also within quotes, and goes by the header of one file of a folder: a line break in a
field could pass for an event of another case, and columns in another order for each other. The promise: such files are refused.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from libra.errors import InputError
from libra.eventlog.tables.csv_text import Dialect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HEAD = 200  # lines that show how a text file is written


def first_lines(path: str, encoding: str, session: SparkSession, source: str) -> bytes:
    """Some lines of a file, or of some file of a folder, from the first on; as UTF-8.

    Raises:
        InputError: There are none, or there is no such encoding.
    """
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    lines = session.read.text(path).select(F.col("value").cast("binary")).limit(HEAD).collect()
    if not lines:
        raise InputError("the file is empty", place=source, remedy="Export the log again")
    try:
        return "".join(f"{bytes(row[0]).decode(encoding, 'replace')}\n" for row in lines).encode()
    except LookupError:
        remedy = "Try --encoding utf-8 or iso-8859-1"
        raise InputError(f'there is no encoding "{encoding}"', place=source, remedy=remedy) from None


def checked_quote(
    path: str, encoding: str, dialect: Dialect, session: SparkSession, source: str, *, said: str | None = None
) -> str | None:
    """What encloses fields: what was said, or else, if any line has one that begins with it, what it is; one scan of all lines.

    Raises:
        InputError: A line ends within quotes, or a file has another header than the rest.
    """
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    quote, line = dialect.quote or '"', F.col("value")
    n_quotes = F.octet_length(line) - F.octet_length(F.replace(line, F.lit(quote)))
    lines = session.read.text(path).filter(F.trim(line) != "")
    headers = (
        lines.select(
            F.col("_metadata.file_path").alias("file"),
            F.struct(F.col("_metadata.file_block_start"), F.monotonically_increasing_id()).alias("at"),
            line.cast("binary").alias("line"),
            (n_quotes % 2 == 1).alias("open"),
            (line.startswith(quote) | line.contains(dialect.delimiter + quote)).alias("quoting"),
        )
        .groupBy("file")
        .agg(F.min_by("line", "at").alias("header"), F.max("open").alias("open"), F.max("quoting").alias("quoting"))
        .groupBy("header")
        .agg(F.max("open"), F.max("quoting"))
        .collect()
    )
    quoting = (quote if any(row[2] for row in headers) else None) if said is None else said or None
    if quoting and any(row[1] for row in headers):
        remedy = "Convert it to Parquet first, or leave line breaks out"
        raise InputError("some line ends within quotes, which Spark would cut in two", place=source, remedy=remedy)
    texts = (bytes(row[0]).decode(encoding, "replace").removeprefix("\ufeff") for row in headers)
    if any(_fields(text, dialect.delimiter, quoting) != _fields_of(dialect) for text in texts):
        remedy = "Give all of them the same columns in the same order, or convert each to Parquet first"
        raise InputError("the files of this folder have different headers", place=source, remedy=remedy)
    return quoting


def _fields(line: str, delimiter: str, quote: str | None) -> list[str]:
    if quote is None:
        return line.split(delimiter)
    return next(csv.reader([line], delimiter=delimiter, quotechar=quote))


def _fields_of(dialect: Dialect) -> list[str]:
    first, *others = dialect.header
    return [first.removeprefix("\ufeff"), *others]
