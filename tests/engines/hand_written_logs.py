"""Logs that are as bad as can be, of four labels, with the case by which a neighbour has one more; and every table about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from adversarial_logs import FIRST, LAST, Neighbours
from some_engines import START, control_flow_tables

from libra.engines import time_tables as tables
from libra.engines.contract import Table
from libra.engines.control_flow_tables import CaseLengths, CaseNumber, PrefixLevel, RareCases
from libra.eventlog.cases import traces_of

LABELS = 4
ZONES = ("UTC", "Europe/Amsterdam", "Asia/Kathmandu")
ENDS = (1, 2, 20, 300, 550, tables.FINE_BINS)
CELLS = tables.EdgeCells(
    LABELS, (0, 1, 4, 6), (2, 3), (64, 7, 1, 30, 64, 5, 2), ENDS, tuple((0, 0, 4, 6, 1, 2)[i % 6] for i in range(42))
)
SLOW, SHARES = (2, 20, 300, 1, 550, 20, 2), (32, 1, 60, 0, 64, 20, 5)
PARTS = (0, 0, *(i % 7 for i in range(tables.TOTAL_BINS - 2)))
KEPT = [(0, 1), (0,), (0, 1, 2, 3)]

TIME_TABLES: list[Table] = [
    *(tables.StartYears(zone) for zone in ZONES),
    *(tables.StartWeeks((0, 44, 54, 130), width, zone) for zone in ZONES for width in (1, 4)),
    *(tables.StartHours(zone) for zone in ZONES),
    *(tables.StartDays(zone) for zone in ZONES),
    *(tables.Granularity(zone) for zone in ZONES),
    tables.CaseDurations(),
    tables.CaseDurationParts(PARTS),
    tables.GroupedTotals(
        traces_of(KEPT), (3, 700), PARTS, tuple(i // 9 for i in range(tables.CaseDurationParts(PARTS).shape[0]))
    ),
    *(tables.StepDurations(clip) for clip in (1.0, 3**0.5, 2.7, 50.0)),
    *(tables.EdgeDurations(clip, CELLS) for clip in (1.0, 2**0.5, 3.3)),
    *(tables.SlowPairs(clip, CELLS, SLOW, SHARES, tuple(range(0, LABELS**3, 3))) for clip in (0.1, 1.0, 3.3)),
    *(tables.ActivityHours(1.0, LABELS, tables.HOUR, zone) for zone in ZONES),
]
ALL_TABLES: list[Any] = [  # each of them is a Table
    *TIME_TABLES,
    CaseNumber(),
    CaseLengths(),
    *map(RareCases, (1, 2, 25, 50, 1_000)),
    *(
        PrefixLevel(np.array(prefixes, np.int64).reshape(len(prefixes), -1), LABELS)
        for prefixes in ([()], [(0,), (3,)], [(0, 0), (0, 1)], [(0,) * 20_000], [(0, 1) * 500, (0, 1, 2, 3) * 250])
    ),
    *(
        table
        for clip in (1.0, 3**0.5, 5**0.5, 40.0)
        for table in control_flow_tables(LABELS, KEPT, np.arange((LABELS + 1) ** 2), np.array([0, 1, 6, 20]), clip)
    ),
]

_PAIR = ((0, START), (1, START + tables.HOUR))
_FAR = (FIRST, LAST)
LOGS: dict[str, Neighbours] = {
    name: Neighbours(LABELS, list(cases), added, len(cases) // 2, list(KEPT), [1, 3])
    for name, cases, added in (
        ("a giant that stands still", (_PAIR,) * 30, ((0, START),) * 20_000),
        ("a giant of two labels", (_PAIR,) * 30, tuple((i % 2, START + i) for i in range(10_001))),
        ("a giant of all labels, backwards", (_PAIR,), tuple((i % LABELS, START - i * tables.HOUR) for i in range(3_000))),
        ("a giant among giants", (((0, START),) * 20_000,) * 2, ((0, START), (1, START)) * 10_000),
        ("a case from one end of time to the other", (_PAIR, _PAIR), tuple((i % 3, _FAR[i % 2]) for i in range(500))),
        ("nobody but a single event", (), ((0, -1),)),
        ("all equal", (_PAIR,) * 50, _PAIR),
        (
            "all different",
            tuple(((a, START), (b, START), (c, START)) for a in range(4) for b in range(4) for c in range(4)),
            _PAIR,
        ),
    )
}
