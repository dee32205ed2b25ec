"""What runs on the executors, without Spark: blocks of bounded size lose nothing and cut no case, and events keep values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import Any

import attribute_logs as logs
import numpy as np
import polars as pl
import pytest
from every_table import attribute_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from two_engines import weights_of

from libra._system.randomness import Randomness
from libra.engines.contract import CASE, Integers
from libra.engines.control_flow_tables import BaseEdges, Lengths, Size
from libra.engines.counting.count import count
from libra.engines.polars import LogInMemory, engine_of
from libra.engines.sequences import forms_among
from libra.engines.spark import kernels
from libra.engines.time_tables import StartHours, StepDurations
from libra.eventlog.attributes import by_level, plain_values
from libra.eventlog.cases import Traces
from libra.eventlog.read import read
from libra.example.simulate import simulate

pa: Any = pytest.importorskip("pyarrow", reason="PyArrow is not installed: pip install libra-pm[spark]")


@pytest.mark.parametrize("limit", [1, 7, 50, 1000, 10**9])
@pytest.mark.parametrize("rows", [1, 3, 64])
def test_blocks_hold_all_cases_and_few_events(limit: int, rows: int) -> None:
    lengths = np.array([3, 1, 40, 0, 2, 2, 90, 1, 1, 5] * 7)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    codes = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(np.arange(offsets[-1]), pa.int32()))
    whole = pa.RecordBatch.from_arrays([codes], ["codes"])
    batches = [whole.slice(begin, rows) for begin in range(0, len(lengths), rows)]
    blocks = list(kernels._in_blocks(iter(batches), limit))
    found = [part.column("codes").flatten().to_pylist() for block in blocks for part in block]
    assert [code for part in found for code in part] == list(range(offsets[-1]))
    for block in blocks:
        sizes = [size for part in block for size in part.column("codes").value_lengths().to_pylist()]
        assert sum(sizes) <= limit or len(sizes) == 1


def test_shares_add_up_to_the_tables_of_all_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "BLOCK", 37)
    monkeypatch.setattr(kernels, "PIECE", 5)
    engine = engine_of(simulate(cases=200))
    n_labels, cases = len(engine.labels), engine.cases
    lists = pa.ListArray.from_arrays(pa.array(cases.offsets, pa.int32()), pa.array(cases.codes, pa.int32()))
    micros = pa.ListArray.from_arrays(pa.array(cases.offsets, pa.int32()), pa.array(cases.micros))
    rows = pa.RecordBatch.from_arrays([lists, micros], ["codes", "micros"])
    about_times, about_flow = (StartHours(), StepDurations(1.5)), (Size(), Lengths(), BaseEdges(n_labels, 2.0))
    first = kernels.pieces_of(about_times)
    variants = pa.RecordBatch.from_arrays([_lists(engine.traces), pa.array(engine.counts)], ["codes", "count"])
    totals: dict[int, Integers] = {}
    for share in range(3):
        part = rows.take(pa.array(range(share, len(cases), 3)))
        for batch in kernels.add_pieces(kernels.Count(about_times, n_labels)(iter([part]))):
            kernels.add_to(totals, batch)
        part = variants.take(pa.array(range(share, len(engine.traces), 3)))
        for batch in kernels.Count(about_flow, n_labels, first)(iter([part])):
            kernels.add_to(totals, batch)
    found = kernels.from_pieces(totals, about_times)
    found += kernels.from_pieces(totals, about_flow, first)
    expected = [*(count(table, cases) for table in about_times), *(count(table, engine.block) for table in about_flow)]
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))


@given(
    st.lists(logs.EVENT, min_size=1, max_size=20),
    st.booleans(),
    st.sampled_from((("x", "y", "z"), ("x", "z"), ("nobody has it", "y"))),
    st.integers(1, 9),
)
@settings(max_examples=40)
def test_values_of_events_are_those_in_memory(rows: list[Any], paired: bool, labels: tuple[str, ...], limit: int) -> None:
    """From lists of what events say to counts and weights, in blocks of few events."""
    frame = logs.flat(rows).with_columns(pl.col("lifecycle:transition").str.to_lowercase())
    attributes = tuple(chain(*by_level(logs.SMALL)))
    roles = replace(logs.ROLES, lifecycle="lifecycle:transition")
    options = logs.described(attributes, roles, instances="pair" if paired else None, allow_empty=True)
    memory = LogInMemory(read(frame, options)).engine(CASE, Randomness(seed=1), 1.0, labels, attributes)
    said = {
        "case": frame["case:concept:name"],
        "codes": frame["concept:name"].replace_strict({label: i for i, label in enumerate(labels)}, default=-1),
        "micros": frame["time:timestamp"].to_physical(),
        **{kernels.value_column(i): plain_values(frame[one.name], one) for i, one in enumerate(attributes)},
    }
    events = pl.DataFrame({name: values.alias(name) for name, values in said.items()})
    if paired:
        is_start = frame["lifecycle:transition"] == "start"
        events = events.with_columns(is_start.fill_null(False).alias("is_start"), key=pl.lit(0))
        events = events.filter(
            frame["lifecycle:transition"].is_in(["start", "complete"]) | frame["lifecycle:transition"].is_null()
        )
    cases = events.group_by("case", maintain_order=True).agg(pl.all()).with_columns(problem=pl.lit(None, pl.Int32))
    forms = forms_among(labels, memory.labels) if paired else None
    sequences = kernels.Sequences(len(memory.labels), forms, attributes)
    made = list(sequences(iter(cases.to_arrow().combine_chunks().to_batches(max_chunksize=2))))
    names = [kernels.value_column(number) for number in range(len(attributes))]
    texts = {name: memory.values[i] for i, name in enumerate(names) if kernels.is_private(attributes[i])}
    columns = kernels.Columns(tuple(names[:1]), tuple(names[1:]), texts)
    asked = attribute_tables(memory)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels, "BLOCK", limit)
        totals: dict[int, Integers] = {}
        for batch in kernels.Count(tuple(asked), len(memory.labels), columns=columns)(iter(made)):
            kernels.add_to(totals, batch)
        found = kernels.from_pieces(totals, asked)
        assert all(np.array_equal(one, other) for one, other in zip(found, memory.count_all(asked), strict=True))
        for number, name in enumerate(columns.of_events):
            weights = Counter[int]()
            only = kernels.Columns((), (name,), texts)
            for batch in kernels.WeighValues(len(memory.labels), only)(iter(made)):
                weights.update(dict(zip(*(batch.column(each).to_pylist() for each in ("value", "count")), strict=True)))
            assert weights == weights_of(memory, number)


def _lists(traces: Traces) -> Any:
    return pa.ListArray.from_arrays(pa.array(traces.offsets, pa.int32()), pa.array(traces.codes, pa.int32()))
