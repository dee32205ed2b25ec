"""What runs on the executors, without Spark: blocks of bounded size lose nothing and cut no case."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from libra.engines.contract import Integers
from libra.engines.control_flow_tables import BaseEdges, Lengths, Size
from libra.engines.counting.count import count
from libra.engines.polars import engine_of
from libra.engines.spark import kernels
from libra.engines.time_tables import StartHours, StepDurations
from libra.eventlog.cases import Traces
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


def _lists(traces: Traces) -> Any:
    return pa.ListArray.from_arrays(pa.array(traces.offsets, pa.int32()), pa.array(traces.codes, pa.int32()))
