"""What runs on the executors: from Arrow batches of cases or distinct traces to integers and to what passed.

In: the batches of one share (a partition) of the cases or of the distinct traces. Out: what the share adds to each table, as
whole numbers in pieces of bounded size; or the traces of the share whose noisy counts pass. Every function here is given to
Spark with its parameters, as plain data, and draws from the operating system's randomness of the machine it runs on.

With a seed, which is for tests, the draws of a share follow from the seed and the number of the share, and its rows are brought
into an order first: a share that is computed again gives the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from libra._system.randomness import Randomness
from libra.engines.contract import Integers, Table, VariantRule
from libra.engines.counting.blocks import VariantBlock, offsets_of, relabelled
from libra.engines.counting.count import count, needs_cases
from libra.engines.counting.events import value_weights
from libra.engines.polars import places_among
from libra.engines.sequences import as_counted, in_sequence, instances_of, rows_with_values, since
from libra.eventlog.attributes import Attribute, by_level, changes_within, from_text, no_column, plain_values
from libra.eventlog.cases import MISSING, Cases, Traces
from libra.eventlog.tables.values import as_attribute

if TYPE_CHECKING:
    import pyarrow as pa

    Batches = Iterator[pa.RecordBatch]

BLOCK = 1_000_000  # events that are counted at once, or a single case of more
PIECE = 1 << 17  # cells that travel together
SUMS = "piece int, counts binary"
PASSED = "codes array<int>, noisy bigint"
CASES = "case string, problem int, codes array<int>, micros array<bigint>"
CASES_NAMES = ["case", "problem", "codes", "micros"]
PASSED_VALUES = "value bigint, noisy bigint"
WEIGHTS = "value bigint, count bigint"
VALUE, HERE = "value", "here"


@dataclass(frozen=True, repr=False)
class Columns:
    """In which columns values of cases, and lists of values of their events, are; and texts that some of them are numbered by."""

    of_cases: tuple[str, ...] = ()
    of_events: tuple[str, ...] = ()
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def numbers(self, name: str, parts: Sequence[pa.Array]) -> Integers:
        """The values in a column, one part after the other, as whole numbers; `MISSING` for none."""
        if name not in self.texts:
            return _joined([part.fill_null(MISSING) for part in parts])
        known = pl.Enum(self.texts[name])
        codes = [pl.Series(part, dtype=pl.String).cast(known).to_physical().cast(pl.Int64) for part in parts]
        return np.concatenate([part.fill_null(MISSING).to_numpy() for part in codes])


@dataclass(frozen=True, repr=False)
class Count:
    """What whole cases, or distinct traces but the kept ones, add to tables: all of them are counted from the same."""

    tables: tuple[Table, ...]
    n_labels: int
    first_piece: int = 0
    kept: Traces | None = None
    new_codes: Integers | None = None
    columns: Columns = field(default_factory=Columns)

    def __call__(self, batches: Batches) -> Batches:
        """The sums of a share, in pieces; those in which nothing was counted stay behind."""
        total = np.zeros(sum(int(np.prod(table.shape)) for table in self.tables), np.int64)
        for block in self._blocks(batches):
            total += np.concatenate([count(table, block).ravel() for table in self.tables])
        pieces = range(0, len(total), PIECE)
        yield from _as_batches((self.first_piece + begin // PIECE, total[begin : begin + PIECE]) for begin in pieces)

    def _blocks(self, batches: Batches) -> Iterator[Any]:
        blocks: Iterator[Any] = (
            case_blocks(batches, self.n_labels, self.columns)
            if needs_cases(self.tables[0])
            else variant_blocks(batches, self.n_labels, self.kept)
        )
        for block in blocks:
            yield block if self.new_codes is None else relabelled(block, self.new_codes, self.n_labels)


def value_column(number: int) -> str:
    """What the values of the attribute of this number are called."""
    return f"{VALUE}{number}"


def here_column(number: int) -> str:
    """What the column is called that says whether an event is of the activity that an attribute stands on."""
    return f"{HERE}{number}"


def is_private(attribute: Attribute) -> bool:
    """Whether the values of an attribute are texts that are not declared: they are numbered when all cases are there."""
    return attribute.kind == "category" and attribute.values is None


@dataclass(frozen=True, repr=False)
class ReadValues:
    """What events say of attributes, as `plain_values` has it, in place of their columns as they stand in a table."""

    attributes: tuple[Attribute, ...]
    place: str
    is_text: bool  # whether all columns are text as it stands in a file
    decimal: str | None

    def __call__(self, batches: Batches) -> Batches:
        """Those of a share."""
        import pyarrow as pa

        def place(_row: int) -> str:
            return self.place

        for batch in batches:
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            for number, attribute in enumerate(self.attributes):
                said, here = pl.Series(columns.pop(value_column(number))), columns.pop(here_column(number), None)
                typed = from_text(said, attribute, self.decimal, place) if self.is_text else as_attribute(said, attribute.name)[0]
                if typed is None:
                    raise no_column(attribute.name, (), self.place)
                values = plain_values(typed, attribute, place)
                values = values if here is None else values.set(~pl.Series(here), None)
                kind = pa.string() if attribute.kind == "category" else pa.int64()
                columns[value_column(number)] = values.to_arrow().cast(kind)
            yield pa.RecordBatch.from_arrays(list(columns.values()), list(columns))


@dataclass(frozen=True, repr=False)
class Sequences:
    """Cases from lists of what is said of their events, the order being that of the lists, with a value for each attribute.

    With `forms`, events or instances become sequences of starts and completions, in the codes that these have for each activity.
    Events of the code -1 are there for the values of their cases alone. An attribute of events has a list of values, one for each
    code. Texts stay texts unless they are declared.
    """

    n_labels: int
    forms: Integers | None = None
    attributes: tuple[Attribute, ...] = ()  # those of cases first
    place: str = ""

    @property
    def schema(self) -> str:
        """The columns that come out."""
        kinds = [("string" if is_private(one) else "bigint", one.level) for one in self.attributes]
        lists_or_not = [kind if level == "case" else f"array<{kind}>" for kind, level in kinds]
        return ", ".join([CASES, *(f"{value_column(number)} {kind}" for number, kind in enumerate(lists_or_not))])

    def __call__(self, batches: Batches) -> Batches:
        """Those of a share."""
        import pyarrow as pa

        names = [value_column(number) for number in range(len(self.attributes))]
        attributes, of_events = by_level(self.attributes)
        for batch in batches:
            said = {name: lists([batch.column(name)]) for name in batch.schema.names if name not in ("case", "problem", *names)}
            lengths, codes = said.pop("codes")
            columns = [pl.Series(batch.column(name).flatten()) for name in names]
            values, each = columns[: len(attributes)], columns[len(attributes) :]
            numbers = tuple(_in_numbers(attribute, column) for attribute, column in zip(of_events, each, strict=True))
            of_log = np.zeros(len(lengths), np.int64)
            events = Cases(codes, said.pop("micros")[1], offsets_of(lengths), of_log, self.n_labels, of_events=numbers)
            cases, instances = events, None
            if self.forms is not None:
                paired, start, instances = instances_of(events, {name: values for name, (_, values) in said.items()})
                forms = np.append(self.forms, np.full((2, 1), -1), axis=1)  # so that -1 stays -1
                cases = in_sequence(paired, start, forms, self.n_labels)
            rows = [rows_with_values(events.offsets, column.is_not_null().to_numpy(), instances) for column in values]
            for attribute, column in zip(attributes, values, strict=True):
                first = pl.Series(np.repeat(events.offsets[:-1], events.lengths), dtype=pl.UInt32)
                if attribute.in_cases and column.ne_missing(column.gather(first)).any():
                    raise changes_within(attribute, self.place)
            cases, rest = replace(cases, attributes=tuple(rows)), [batch.column("case"), batch.column("problem")]
            if (cases.codes < 0).any():
                stays = pa.array(np.logical_or.reduceat(cases.codes >= 0, cases.offsets[:-1]))
                rest = [column.filter(stays) for column in rest]
                cases = relabelled(cases, np.append(np.arange(self.n_labels), -1), self.n_labels)
            cases = as_counted(cases, of_events)
            of_cases = zip(attributes, values, cases.attributes, strict=True)
            found = [_of_cases(attribute, column, of_case, cases) for attribute, column, of_case in of_cases]
            in_lists = [pa.array(cases.codes, pa.int32()), pa.array(cases.micros, pa.int64())]
            for attribute, column, of_each in zip(of_events, each, cases.of_events, strict=True):
                in_lists.append(_texts(column, of_each) if is_private(attribute) else pa.array(of_each, pa.int64()))
            offsets = pa.array(cases.offsets, pa.int32())
            made = [pa.ListArray.from_arrays(offsets, column) for column in in_lists]
            yield pa.RecordBatch.from_arrays([*rest, *made[:2], *found, *made[2:]], [*CASES_NAMES, *names])


def _in_numbers(attribute: Attribute, values: pl.Series) -> Integers:
    """The values of events as whole numbers, `MISSING` for none; of texts that are not declared, the rows that they stand in."""
    if is_private(attribute):
        return np.where(values.is_not_null().to_numpy(), np.arange(len(values)), MISSING)
    found = places_among(values, attribute.values or ()) if attribute.kind == "category" else values
    return found.cast(pl.Int64).fill_null(MISSING).to_numpy()


def _texts(values: pl.Series, rows: Integers) -> pa.Array:
    """The texts in these rows; none where a row is negative."""
    import pyarrow as pa

    places = pl.Series(rows)
    return values.gather(places.set(places < 0, None)).to_arrow().cast(pa.string())


def _of_cases(attribute: Attribute, values: pl.Series, rows: Integers, cases: Cases) -> pa.Array:
    """The values of cases, which are those of events in these rows; -1 for none."""
    import pyarrow as pa

    if is_private(attribute):
        return _texts(values, rows)
    numbers = np.append(_in_numbers(attribute, values), MISSING)[rows]
    if attribute.kind == "date":
        numbers = since(cases.spans[0], numbers, attribute)
    return pa.array(numbers, pa.int64(), mask=numbers == MISSING)


@dataclass(frozen=True, repr=False)
class SelectVariants:
    """The distinct traces whose noisy counts pass."""

    rule: VariantRule
    n_labels: int
    kept: Traces | None
    draw: int | None  # a number that the driver drew from its seed; without one, shares draw from the operating system

    def __call__(self, batches: Batches) -> Batches:
        """Those of a share."""
        import pyarrow as pa

        random = _randomness(self.draw)
        limit = BLOCK if self.draw is None else np.inf
        for block in variant_blocks(batches, self.n_labels, self.kept, limit):
            if self.draw is not None:
                order = sorted(enumerate(block.traces.as_bytes()), key=lambda row: row[1])
                block = block.take(np.array([row for row, _ in order], np.int64))
            rows, noisy = self.rule.passing(block.counts, random)
            passed = block.traces.take(rows)
            codes = pa.ListArray.from_arrays(pa.array(passed.offsets, pa.int32()), pa.array(passed.codes, pa.int32()))
            yield pa.RecordBatch.from_arrays([codes, pa.array(noisy, pa.int64())], ["codes", "noisy"])


@dataclass(frozen=True, repr=False)
class WeighValues:
    """How much cases say for each value of an attribute of events, which is the only one that they come with."""

    n_labels: int
    columns: Columns
    new_codes: Integers | None = None

    def __call__(self, batches: Batches) -> Batches:
        """What those of a share say, some cases at a time."""
        import pyarrow as pa

        for block in case_blocks(batches, self.n_labels, self.columns):
            block = block if self.new_codes is None else relabelled(block, self.new_codes, self.n_labels)
            columns = [pa.array(found, pa.int64()) for found in value_weights(block, 0)]
            yield pa.RecordBatch.from_arrays(columns, ["value", "count"])


@dataclass(frozen=True, repr=False)
class SelectValues:
    """The distinct values whose noisy counts pass."""

    rule: VariantRule
    draw: int | None  # as that of `SelectVariants`

    def __call__(self, batches: Batches) -> Batches:
        """Those of a share: from the columns `value` and `count`."""
        import pyarrow as pa

        random, seeded = _randomness(self.draw), self.draw is not None
        for parts in [list(batches)] if seeded else ([batch] for batch in batches):
            if not parts:
                continue
            values, counts = (_joined([part.column(name) for part in parts]) for name in ("value", "count"))
            order = np.argsort(values)
            rows, noisy = self.rule.passing(counts[order], random)
            columns = [pa.array(values[order][rows], pa.int64()), pa.array(noisy, pa.int64())]
            yield pa.RecordBatch.from_arrays(columns, ["value", "noisy"])


def _randomness(draw: int | None) -> Randomness:
    """Where the share draws from that this is called for."""
    if draw is None:
        return Randomness()
    from pyspark import TaskContext

    context = TaskContext.get()
    share = 0 if context is None else context.partitionId()
    return Randomness(int.from_bytes(sha256(f"{draw} {share}".encode()).digest()[:8]) >> 1)


def add_pieces(batches: Batches) -> Batches:
    """Pieces of the same number added up, where all of them are in one share."""
    totals: dict[int, Integers] = {}
    for batch in batches:
        add_to(totals, batch)
    yield from _as_batches(totals.items())


def add_to(totals: dict[int, Integers], table: pa.RecordBatch | pa.Table) -> None:
    """Add the pieces of some shares to those that are there."""
    for number, counts in zip(table.column("piece").to_pylist(), table.column("counts").to_pylist(), strict=True):
        piece = np.frombuffer(counts, np.int64)
        totals[number] = totals[number] + piece if number in totals else piece


def pieces_of(tables: Iterable[Table]) -> int:
    """How many pieces these tables come in."""
    return -(-sum(int(np.prod(table.shape)) for table in tables) // PIECE)


def from_pieces(totals: dict[int, Integers], tables: Sequence[Table], first: int = 0) -> list[Integers]:
    """The counts of these tables from the sums of all shares, of which the first piece has this number."""
    ends = np.cumsum([0, *(int(np.prod(table.shape)) for table in tables)])
    cells = np.zeros(ends[-1], np.int64)
    for number, begin in enumerate(range(0, len(cells), PIECE), first):
        if number in totals:
            cells[begin : begin + PIECE] = totals[number]
    return [cells[ends[i] : ends[i + 1]].reshape(table.shape) for i, table in enumerate(tables)]


def _as_batches(pieces: Iterable[tuple[int, Integers]]) -> Batches:
    import pyarrow as pa

    for number, piece in pieces:
        if piece.any():
            columns = [pa.array([number], pa.int32()), pa.array([piece.tobytes()], pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, ["piece", "counts"])


def case_blocks(batches: Batches, n_labels: int, columns: Columns) -> Iterator[Cases]:
    """Whole cases, some at a time: from the columns `codes` and `micros`, which are lists, and those of values."""
    for parts in _in_blocks(batches, BLOCK):
        (lengths, codes), (_, micros) = (lists([part.column(name) for part in parts]) for name in ("codes", "micros"))
        values = tuple(columns.numbers(name, [part.column(name) for part in parts]) for name in columns.of_cases)
        of_events = tuple(columns.numbers(name, [part.column(name).flatten() for part in parts]) for name in columns.of_events)
        yield Cases(codes, micros, offsets_of(lengths), np.zeros(len(lengths), np.int64), n_labels, values, of_events)


def variant_blocks(batches: Batches, n_labels: int, kept: Traces | None, limit: float = BLOCK) -> Iterator[VariantBlock]:
    """Distinct traces but the kept ones, some at a time: from the columns `codes`, which are lists, and `count`."""
    for parts in _in_blocks(batches, limit):
        lengths, codes = lists([part.column("codes") for part in parts])
        counts = _joined([part.column("count") for part in parts])
        block = VariantBlock(Traces(codes, offsets_of(lengths)), counts, n_labels)
        yield block if kept is None else block.take(block.without(kept))


def _in_blocks(batches: Batches, limit: float) -> Iterator[list[pa.RecordBatch]]:
    """Batches together, or parts of them, up to so many events at a time; a row of more is by itself."""
    waiting: list[pa.RecordBatch] = []
    events = 0
    for batch in batches:
        ends = np.cumsum(batch.column("codes").value_lengths().to_numpy(zero_copy_only=False))
        begin, before = 0, 0
        while begin < len(ends):
            end = max(int(np.searchsorted(ends, before + limit - events, side="right")), begin if waiting else begin + 1)
            if end > begin:
                waiting.append(batch.slice(begin, end - begin))
                events += int(ends[end - 1]) - before
                begin, before = end, int(ends[end - 1])
            if begin < len(ends):
                yield waiting
                waiting, events = [], 0
    if waiting:
        yield waiting


def lists(columns: Sequence[pa.ListArray]) -> tuple[Integers, Integers]:
    """The lengths and the values of lists, one column after the other."""
    lengths, values = [column.value_lengths() for column in columns], [column.flatten() for column in columns]
    return _joined(lengths), _joined(values)


def _joined(parts: Sequence[pa.Array]) -> Integers:
    return np.concatenate([part.to_numpy(zero_copy_only=False) for part in parts]).astype(np.int64, copy=False)
