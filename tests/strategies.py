"""Hypothesis strategies: event logs with everything in them that is awkward for some file format."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
from hypothesis import strategies as st

from libra.eventlog.log import UTC_MICROSECONDS, EventLog
from libra.eventlog.names import ACTIVITY, CASE_INDEX, CASE_NAME, LIFECYCLE, RESOURCE, START_TIMESTAMP, TIMESTAMP

RESERVED = {ACTIVITY, TIMESTAMP, START_TIMESTAMP, LIFECYCLE, RESOURCE, CASE_INDEX}
CHARACTERS = st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff", include_characters="\t\n\r")
AWKWARD_TEXTS = (
    *("", " ", "  two  ", "\t", "\n", "\r\n", "a\nb", "a,b", "a;b", "a|b", "a\tb", '"', '""', "it's", "'quoted'", "a 'b c' d"),
    *("=1+1", "+1", "-1", "@sum", "'=1", "''-x", "\t=1", "\r=1", "'", "-", "<b>&amp;</b>", "&#10;", "]]>", "\\n", "\\"),
    *("null", "NULL", "None", "NaN", "nan", "inf", "N/A", "true", "False", "007", "1e5", "1.0", "10", "-0", "0x1F", "1,5"),
    *(
        "2024-05-06",
        "2024-05-06T08:00:00.000+00:00",
        "Größe",
        "日本語",
        "🚑",
        "e\u0301",
        "\u00a0",
        "\u2028",
        "\ufeff",
        "\U0010ffff",
    ),
)
AWKWARD_NAMES = (
    "cost",
    "Case ID",
    "a b",
    "a,b",
    'say "x"',
    "=cmd",
    "'-x",
    "a<b&c",
    "org:role",
    "é:ü",
    "7",
    "line\nbreak",
    "tab\tname",
    "*",
    "a.b",
    "`a`",
    "$1",
    "x" * 300,
    *("^$", "^.*$", "^a|b$", "^($", "^case:concept:name$", "^concept:name$"),  # Polars takes these for patterns
)

texts = st.one_of(st.sampled_from(AWKWARD_TEXTS), st.text(CHARACTERS, max_size=8))
labels = texts.filter(lambda text: text.strip() != "")
names = (
    st.one_of(
        st.sampled_from(AWKWARD_NAMES),
        st.text(CHARACTERS, min_size=1, max_size=8),
        st.text(CHARACTERS, max_size=4).map(lambda text: f"^{text}$"),
    )
    .filter(lambda name: name == name.strip() != "" and not name.startswith(("case:", "event:")))
    .filter(lambda name: name not in RESERVED)
)
times = st.datetimes(datetime(1700, 1, 1), datetime(2250, 1, 1), timezones=st.just(UTC))
integers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3), st.sampled_from((-(2**63), 2**63 - 1)))
numbers = st.one_of(st.floats(), st.sampled_from((0.1, -0.0, 10.0, 5e-324, 1.7976931348623157e308, 1e16, 2.5e-7)))
COLUMN_TYPES: tuple[tuple[pl.DataType, st.SearchStrategy[Any]], ...] = (
    (pl.String(), texts),
    (pl.Int64(), integers),
    (pl.Float64(), numbers),
    (pl.Boolean(), st.booleans()),
    (UTC_MICROSECONDS, times),
)


@st.composite
def event_logs(draw: st.DrawFn, max_cases: int = 6, max_length: int = 8) -> EventLog:
    """Any event log: awkward texts and names, extreme numbers, missing values, times out of order, no case at all."""
    lengths = draw(st.lists(st.integers(1, max_length), max_size=max_cases))
    case_of_event = [case for case, length in enumerate(lengths) for _ in range(length)]
    events = [
        pl.Series(CASE_INDEX, case_of_event, pl.UInt32),
        _column(draw, ACTIVITY, pl.String(), labels, len(case_of_event)),
        _column(draw, TIMESTAMP, UTC_MICROSECONDS, times, len(case_of_event)),
    ]
    for name, dtype, values in (
        (START_TIMESTAMP, UTC_MICROSECONDS, times),
        (LIFECYCLE, pl.String(), texts),
        (RESOURCE, pl.String(), texts),
    ):
        if draw(st.booleans()):
            events.append(_column(draw, name, dtype, st.none() | values, len(case_of_event)))
    ids = draw(st.lists(labels, min_size=len(lengths), max_size=len(lengths), unique=True))
    return EventLog(
        pl.DataFrame(events + _attributes(draw, len(case_of_event))),
        pl.DataFrame([pl.Series(CASE_NAME, ids, pl.String), *_attributes(draw, len(lengths))]),
    )


def _attributes(draw: st.DrawFn, height: int) -> list[pl.Series]:
    columns = []
    for name in draw(st.lists(names, max_size=3, unique=True)):
        dtype, values = draw(st.sampled_from(COLUMN_TYPES))
        columns.append(_column(draw, name, dtype, st.none() | values if draw(st.booleans()) else values, height))
    return columns


def _column(draw: st.DrawFn, name: str, dtype: pl.DataType, values: st.SearchStrategy[Any], height: int) -> pl.Series:
    return pl.Series(draw(st.lists(values, min_size=height, max_size=height)), dtype=dtype).alias(name)
