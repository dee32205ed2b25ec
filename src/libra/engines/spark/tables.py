"""Tables that Spark opens: Parquet, CSV, frames; CSV files are checked line by line before they are read.

Spark cuts a text file at its line ends, also within quotes, and goes by the header of one file of a folder: a line break in a
field could pass for an event of another case, and columns in another order for each other. The promise: such files are refused.
"""

from __future__ import annotations

import contextlib
import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from libra.engines.spark.session import Spark, in_one_line, without_warnings
from libra.errors import InputError
from libra.eventlog.description import FORMS, check_form
from libra.eventlog.files import FileFormat, format_of_name, parquet_files
from libra.eventlog.options import ReadOptions
from libra.eventlog.tables.csv_text import Dialect, find_dialect
from libra.eventlog.tables.frames import KEY, remembered

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

HEAD = 200  # lines that show how a text file is written
FRAME = "the data frame"
SAMPLE = 1000  # rows that show what columns hold
GUARDED = r"^'('*[=+\-@\t\r])"  # an apostrophe that keeps spreadsheets from taking text for a formula
FOLDER_TYPES = "spark.sql.sources.partitionColumnTypeInference.enabled"
FILE_NUMBER, BLOCK, ROW = "file_number", "file_block", "file_row"


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


@dataclass(frozen=True, eq=False, repr=False)
class OpenTable:
    """A table that Spark has opened and not read.

    Attributes:
        frame: Its columns, called c0, c1, …, and those of `order`.
        names: What the columns are called.
        order: The columns that say where in a file a row stands; none where rows have no place.
        place: What to call it in errors.
        individual: The column that says whose case it is, where the file itself names one.
        is_text: Whether it is a text file, with all columns as text.
    """

    frame: DataFrame
    names: tuple[str, ...]
    order: tuple[str, ...]
    place: str
    individual: str | None = None
    is_text: bool = False

    def kind_of(self, name: str) -> str:
        """Spark's word for the type of a column."""
        return self.frame.dtypes[self.names.index(name)][1]

    def column(self, name: str) -> Column:
        """A column by its name in the table."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        return F.col(f"c{self.names.index(name)}")

    def sample(self) -> pl.DataFrame:
        """The first rows, under the names of their columns."""
        from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

        shown = [
            F.array(F.lit("")).alias(name) if is_nested(kind) else F.col(name)
            for name, kind in self.frame.dtypes[: len(self.names)]
        ]
        with in_one_line(self.place), without_warnings():
            sample = pl.from_arrow(self.frame.select(*shown).limit(SAMPLE).toArrow())
        if not isinstance(sample, pl.DataFrame):
            raise TypeError("a table of Arrow becomes a frame")
        return sample.rename(dict(zip(sample.columns, self.names, strict=True)))


def open_table(source: str | DataFrame, options: ReadOptions, spark: Spark) -> OpenTable:
    """Open a data frame, a path (of a file or folder of Parquet or CSV, wherever Spark reads), or a table of the catalog.

    Raises:
        InputError: There is no such thing, or Spark cannot read it.
    """
    if not isinstance(source, str):
        check_form("table", options, FRAME)
        return _opened(source, (), FRAME)
    fmt, path = _format_of(source, spark)
    check_form("table" if fmt is None else FORMS[fmt.kind], options, source)
    with in_one_line(source):
        if fmt is None:
            if not spark.session.catalog.tableExists(source):
                remedy = "Name a file or folder of Parquet or CSV files, or a table of the catalog"
                raise InputError("there is no such file or table", place=source, remedy=remedy)
            return _opened(spark.session.table(source), (), source)
        if fmt.kind == "xes":
            raise InputError("Spark does not read XES", place=source, remedy="Make it Parquet first, with libra convert")
        if fmt.kind == "parquet":
            reader = spark.session.read
            if Path(source).is_dir():
                reader = reader.option("pathGlobFilter", "*.{parquet,pq}")  # what else lies there is left alone
            with _folders_as_text(spark.session):
                frame = reader.parquet(path)
            return replace(_opened(frame, (ROW,), source), individual=_remembered(source))
        return _csv(path, source, fmt, options, spark)


@contextlib.contextmanager
def _folders_as_text(session: SparkSession) -> Iterator[None]:
    """Folders that are columns, such as `patient=7`, hold text: one of them does not change how the others are read."""
    before = session.conf.get(FOLDER_TYPES)
    session.conf.set(FOLDER_TYPES, "false")
    try:
        yield
    finally:
        session.conf.set(FOLDER_TYPES, str(before))


def _format_of(source: str, spark: Spark) -> tuple[FileFormat | None, str]:
    """What kind of file this is (of a folder, what kind it holds) and how Spark calls it; None for what is no path."""
    local = Path(source)
    named = format_of_name(Path(source.rstrip("/")))
    if "://" not in source and spark.local and local.exists():
        escaped = "".join(f"\\{char}" if char in "*?[]{}\\" else char for char in str(local.resolve()))
        inside = sorted(file.name for file in local.rglob("*") if file.is_file()) if local.is_dir() else []
        return named or _first_format(inside), f"file://{escaped}"
    if named is not None or ("://" not in source and "/" not in source):
        return named, source
    with in_one_line(source):
        files = spark.session.read.format("binaryFile").option("recursiveFileLookup", "true").load(source)
        found = [str(row[0]) for row in files.select("path").limit(SAMPLE).collect()]
    fmt = _first_format([Path(file).name for file in sorted(found)])
    if fmt is None:
        raise InputError("there is no Parquet or CSV here", place=source, remedy="Name a folder of such files, or a file")
    return fmt, source


def _first_format(names: list[str]) -> FileFormat | None:
    """The kind of files in a folder; where there are several, Parquet goes before all others, as in the other engines."""
    formats = [fmt for name in names if not name.startswith(("_", ".")) and (fmt := format_of_name(Path(name))) is not None]
    return next((fmt for fmt in formats if fmt.kind == "parquet"), formats[0] if formats else None)


def _csv(path: str, source: str, fmt: FileFormat, options: ReadOptions, spark: Spark) -> OpenTable:
    """A text file, every column as text, by the dialect that its first lines show; all lines are looked at once before."""
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it
    from pyspark.sql.types import StringType, StructField, StructType

    encoding = options.encoding or "UTF-8"
    head = first_lines(path, encoding, spark.session, source)
    dialect = find_dialect(head, options, tabs=fmt.kind == "tsv", source=source)
    names = [name.removeprefix("\ufeff") if name.strip() else f"column_{i}" for i, name in enumerate(dialect.header, 1)]
    if head.startswith(b"sep="):
        raise InputError("the first line is a word to Excel", place=source, remedy="Remove it, so that the header is first")
    if len(names) == 1 or len(set(names)) < len(names):
        what = "there is only one column" if len(names) == 1 else "several columns have the same name"
        raise InputError(what, place=source, remedy="Check the header, or name what separates fields with --delimiter")
    schema = StructType([StructField(f"c{i}", StringType()) for i in range(len(names))])
    reader = spark.session.read.schema(schema).options(
        header=True, sep=dialect.delimiter, encoding=encoding, mode="FAILFAST", columnPruning=False, enforceSchema=True
    )
    quote = checked_quote(path, encoding, dialect, spark.session, source, said=options.quote) or "\0"
    quoted = reader.options(quote=quote, escape=quote)
    opened = _opened(quoted.csv(path), (BLOCK, ROW), source, tuple(names))
    bare = [F.regexp_replace(f"c{i}", GUARDED, "$1").alias(f"c{i}") for i in range(len(names))]
    return OpenTable(opened.frame.select(*bare, *opened.order), opened.names, opened.order, source, is_text=True)


def _opened(frame: DataFrame, order: tuple[str, ...], place: str, names: tuple[str, ...] = ()) -> OpenTable:
    """A frame under plain names, with what says where in which file a row stands."""
    from pyspark.sql import functions as F  # noqa: N812  # what everybody calls it

    own = tuple(names or frame.columns)
    columns: dict[str, Any] = {
        BLOCK: F.col("_metadata.file_block_start"),
        ROW: F.monotonically_increasing_id() if BLOCK in order else F.col("_metadata.row_index"),
    }
    files = _file_numbers(frame) if order else {}
    several = [F.col("_metadata.file_path").alias("file_path")] if len(files) > 1 else []
    with_places = frame.select("*", *(columns[name].alias(name) for name in order), *several)
    plain = with_places.toDF(*(f"c{i}" for i in range(len(own))), *order, *("file_path" for _ in several))
    if several:
        numbers = frame.sparkSession.createDataFrame(list(files.items()), f"file_path string, {FILE_NUMBER} int")
        plain = plain.join(F.broadcast(numbers), "file_path", "left").drop("file_path")
        order = (FILE_NUMBER, *order)
    return OpenTable(plain, own, order, place)


def _file_numbers(frame: DataFrame) -> dict[str, int]:
    """Every file with its place in the order of their names, called as Spark calls them row by row."""
    names = sorted(name.replace("file:///", "file:/", 1) for name in frame.inputFiles())
    return {name: number for number, name in enumerate(names)}


def _remembered(source: str) -> str | None:
    """Whose case it is, where a file of this machine says so because Libra wrote it."""
    files = parquet_files(Path(source))
    if not files or not files[0].is_file():
        return None
    with contextlib.suppress(OSError, ValueError, pl.exceptions.PolarsError):
        return remembered(json.loads(pl.read_parquet_metadata(files[0]).get(KEY, "null"))).individual
    return None


def is_nested(kind: str) -> bool:
    """Whether a type, in Spark's word, is none that text can be made of."""
    return kind.startswith(("array", "map", "struct", "variant", "interval"))
