"""Files of every format with and without somebody in them, of values that a reader may be tempted to read by their neighbours."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import polars as pl
from hypothesis import strategies as st

from libra.eventlog.options import ReadOptions, RoleNames

TEXTS = (
    *("7", "7.0", "07", "7e0", " 7", "7 ", "+7", "-7", "7,0", "1,5", "1.5", "0.5", "1.000", "-0.0", "0", "0x7", "7_0"),
    *("nan", "NaN", "inf", "-inf", "NA", "NULL", "null", "None", "N/A", "true", "True", "TRUE", "false", "1", "yes"),
    *("2024-05-06", "06.05.2024", "2024-05-06T08:00:00Z", "2024-05-06 08:00", "08:30", "=1", "'=1", "a+b", "a", "b+c", "c"),
    *("9223372036854775807", "9223372036854775808", "9007199254740993", "9" * 40, "Müller", "Mu\u0308ller", "日本", "anon"),
)  # fmt: skip
BLANKS = ("", " ", "\u2003")
RAW = ("", 'x"', '5" pipe', '"q"', "'x'", 'a""b', '""', "'", "x")  # as they stand in a file, in no quotes of the writer's
OBJECTS: tuple[Any, ...] = (
    *(7, 7.0, 0.5, -0.0, 0, 1, True, False, 2**53, 2**53 + 1, 2**63, 2**70, 2**130, 1e16, 1e20, 1e300, 1e-7, 0.1),
    *(Decimal("7.00"), Decimal("0.50"), Decimal("1e30"), Decimal("1e-20"), date(2024, 5, 6), datetime(2024, 5, 6)),
    *(datetime(2024, 5, 6, 2, tzinfo=UTC), "7", "7.0", "true", "anon", "nan", "2024-05-06"),
)  # fmt: skip
COLUMNS: dict[Any, tuple[Any, ...]] = {  # of typed tables
    pl.String(): TEXTS,
    pl.Categorical(): TEXTS,
    pl.Int64(): (7, 0, -1, 2**53, 2**53 + 1, 2**63 - 1),
    pl.UInt64(): (7, 0, 2**53 + 1, 2**64 - 1),
    pl.Float64(): (7.0, 0.5, -0.0, 0.0, 1e16, 1e20, 1e300, 0.1, float("inf"), 2.0**53, 1.5),
    pl.Float32(): (7.0, 0.5, -0.0, 0.0, 0.1, 16777216.0),
    pl.Decimal(20, 3): (Decimal("7.000"), Decimal("0.500"), Decimal(100), Decimal("-0.001")),
    pl.Boolean(): (True, False),
    pl.Date(): (date(2024, 5, 6), date(1, 1, 1)),
    pl.Datetime("ns"): (datetime(2024, 5, 6), datetime(2024, 5, 6, 8, 30, 0, 5)),
    pl.Datetime("us", "Europe/Berlin"): (datetime(2024, 10, 27, 0, 30, tzinfo=UTC), datetime(2024, 10, 27, 1, 30, tzinfo=UTC)),
}
START = datetime(2024, 5, 6, 8, tzinfo=UTC)
FORMAT = "%Y-%m-%d %H:%M:%S"
HEADER = ("case", "activity", "when", "whose", "note")
READ = ReadOptions(
    RoleNames(("case",), ("activity",), "when", individual="whose"),
    timestamp_format=FORMAT,
    encoding="utf-8",
    delimiter=",",
    drop_invalid=True,
    allow_empty=True,
)


TRANSITIONS = ("start", "complete", None, "START", "schedule", "Complete ", "7", "true")
WORKING = ("transition", "who", "concept:instance", "started")
TYPES = ("string", "int", "float", "boolean", "date", "id")  # of XES


@dataclass(frozen=True)
class Values:
    """All that may stand in a column, and values of it that look alike: a reader may take them for a type."""

    all: Sequence[Any]
    alike: Sequence[Sequence[Any]]


NUMBERS = ("7", "7.0", "7.00", "07", "8", "0.5", "-0.0", "0", "1")
TRUTHS, COMMAS, MOMENTS = ("true", "True", "TRUE"), ("1,5", "1,50", "2", "2,0"), ("2024-05-06T08:00:00Z", "2024-05-06 08:00:00Z")
ANY_TEXT = Values((*TEXTS, *TEXTS, *BLANKS), (NUMBERS, NUMBERS, ("7", "8", "70"), TRUTHS, COMMAS, MOMENTS, TEXTS))
NO_BLANKS = Values(TEXTS, ANY_TEXT.alike)
DECLARED = Values(
    [(kind, text) for kind in TYPES for text in (*TEXTS, *BLANKS)],
    (
        [("int", "7"), ("int", "07"), ("int", "8"), ("int", "9007199254740993"), ("int", "9007199254740992")],
        [("float", "7.0"), ("float", "7"), ("float", "0.5"), ("float", "-0.0"), ("float", "0")],
        [("int", "7"), ("float", "7.0"), ("float", "0.5")],
        [("boolean", "true"), ("boolean", "1"), ("boolean", "false")],
        [("date", "2024-05-06T08:00:00Z"), ("date", "2024-05-06T10:00:00+02:00"), ("date", "2024-05-06")],
        [("string", text) for text in NUMBERS],
    ),
)
MIXED = Values(OBJECTS, ((7, 8, 70), (7, 7.0, 8.0, 0.5), (7.0, 8.0), (True, False), ("7", "7.0"), OBJECTS[18:24], OBJECTS))

SAFE_IN_PANDAS = Values(  # without what pandas itself changes beside a float
    [value for value in OBJECTS if value not in (2**53 + 1, 2**130)], (*MIXED.alike[:-1], ("7", 7, 8.0, "anon"))
)


@dataclass(frozen=True)
class Row:
    """An event: its time is its own, so that it is known again; None where nothing readable stands there."""

    case: Any
    activity: Any
    when: datetime | None
    whose: Any
    note: str = "x"
    transition: str | None = None
    who: str | None = None
    instance: str | None = None
    started: datetime | None = None


@dataclass(frozen=True)
class Neighbours:
    """Rows, and which of them are of the one that may be there or not."""

    rows: list[Row]
    theirs: list[bool]

    @property
    def others(self) -> list[Row]:
        """The rows of everybody else."""
        return [row for row, own in zip(self.rows, self.theirs, strict=True) if not own]


@st.composite
def neighbours(draw: st.DrawFn, cases: Values, activities: Values, individuals: Values) -> Neighbours:
    """A few individuals with a few cases each, their rows mixed; the values of one are any, those of everybody else are alike.

    The one and at least two others are there, each with a case that has events.
    """
    case_pool, activity_pool, people_pool = (draw(st.sampled_from(of.alike)) for of in (cases, activities, individuals))
    people = [draw(st.sampled_from(individuals.all)), *draw(st.lists(st.sampled_from(people_pool), min_size=2, max_size=4))]
    names: dict[str, tuple[Any, int]] = {}
    for owner in (0, 1, 2, *draw(st.lists(st.integers(0, len(people) - 1), min_size=1, max_size=4))):
        name = draw(st.sampled_from(case_pool if owner else cases.all))
        names.setdefault(repr(name), (name, owner))
    rows, theirs = [], []
    more = draw(st.lists(st.sampled_from(sorted(names)), max_size=6))
    for i, case in enumerate(draw(st.permutations([*names, *more]))):
        name, owner = names[case]
        activity = draw(st.sampled_from(activity_pool if owner else activities.all))
        when = None if draw(st.integers(0, 9)) == 0 else START + timedelta(minutes=i)
        note = draw(st.sampled_from(RAW if not owner else ("x", "")))
        rows.append(Row(name, activity, when, people[owner], note))
        theirs.append(not owner)
    return Neighbours(rows, theirs)


@st.composite
def working_neighbours(draw: st.DrawFn) -> Neighbours:
    """Neighbours whose events are starts, completions and others, by somebody, perhaps with a number or a start of their own."""
    them = draw(neighbours(NO_BLANKS, NO_BLANKS, NO_BLANKS))
    rows = [
        replace(
            row,
            activity=draw(st.sampled_from(("a", "b"))),
            transition=draw(st.sampled_from(TRANSITIONS if own else TRANSITIONS[:4])),
            who=draw(st.sampled_from(("ann", "bob", None, "7") if own else ("ann", None))),
            instance=draw(st.sampled_from((None, None, "7", "07", "x") if own else (None, None, "7", "07"))),
            started=None if row.when is None else row.when - timedelta(minutes=draw(st.integers(-2, 5))),
        )
        for row, own in zip(them.rows, them.theirs, strict=True)
    ]
    return Neighbours(rows, them.theirs)


def as_csv(rows: Sequence[Row], delimiter: str = ",", *, raw_notes: bool = False) -> bytes:
    """Rows as CSV; notes perhaps as they are, without the writer's care for quotation marks."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(HEADER)
    for row in rows:
        when = "noon" if row.when is None else row.when.strftime(FORMAT)
        if raw_notes:
            writer.writerow([row.case, row.activity, when, row.whose, ""])
            text.seek(text.tell() - 1)
            text.write(f"{row.note}\n")
        else:
            writer.writerow([row.case, row.activity, when, row.whose, row.note])
    return text.getvalue().encode()


def as_working_csv(rows: Sequence[Row]) -> bytes:
    """Rows with their transitions, who did it, the number of the instance and its start, as CSV."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*HEADER, *WORKING))
    for row in rows:
        when, started = (None if time is None else time.strftime(FORMAT) for time in (row.when, row.started))
        said = (row.transition, row.who, row.instance, started)
        writer.writerow([row.case, row.activity, when or "noon", row.whose, row.note, *said])
    return text.getvalue().encode()


def as_working_xes(rows: Sequence[Row]) -> bytes:
    """The same as XES, without starts."""
    traces: dict[str, list[Row]] = {}
    for row in rows:
        traces.setdefault(row.case, []).append(row)

    def event(row: Row) -> str:
        texts = (("concept:name", row.activity), ("lifecycle:transition", row.transition), ("org:resource", row.who))
        said = "".join(_attribute(key, ("string", text)) for key, text in (*texts, ("concept:instance", row.instance)) if text)
        when = "noon" if row.when is None else row.when.isoformat()
        return f"<event>{said}{_attribute('time:timestamp', ('date', when))}</event>"

    body = "".join(
        f"<trace>{_attribute('concept:name', ('string', case))}{''.join(map(event, of_case))}</trace>\n"
        for case, of_case in traces.items()
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<log>\n{body}</log>\n'.encode()


def as_xes(rows: Sequence[Row]) -> bytes:
    """Rows as XES, every case a trace; values are pairs of a declared type and what is written."""
    traces: dict[str, list[Row]] = {}
    for row in rows:
        traces.setdefault(repr(row.case), []).append(row)
    body = "".join(
        f"<trace>{_attribute('concept:name', of_case[0].case)}{_attribute('whose', of_case[0].whose)}"
        + "".join(
            f"<event>{_attribute('concept:name', row.activity)}"
            f"{_attribute('time:timestamp', ('date', 'noon' if row.when is None else row.when.isoformat()))}</event>"
            for row in of_case
        )
        + "</trace>\n"
        for of_case in traces.values()
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<log>\n{body}</log>\n'.encode()


def _attribute(key: str, value: tuple[str, str]) -> str:
    return f"<{value[0]} key={quoteattr(key)} value={quoteattr(value[1])}/>"


def as_frame(rows: Sequence[Row], types: Sequence[Any]) -> pl.DataFrame:
    """Rows as a frame, its columns of these types: they are the table's, whoever is in it."""
    kinds = (*types[:2], pl.Datetime("us", "UTC"), types[2], pl.String())
    return pl.DataFrame(
        [
            pl.Series(name, [getattr(row, name) for row in rows], dtype=kind, strict=False)
            for name, kind in zip(HEADER, kinds, strict=True)
        ]
    )


def as_pandas(rows: Sequence[Row], *, as_objects: bool) -> Any:
    """Rows as a pandas frame, which finds the types of its columns by itself, from all their values, or leaves them alone."""
    import pandas as pd

    plain = {name: [getattr(row, name) for row in rows] for name in HEADER}
    frame = pd.DataFrame(plain, dtype=object if as_objects else None)
    return frame.assign(when=pd.to_datetime(pd.Series(plain["when"]), utc=True))


def put(path: Path, data: bytes) -> Path:
    """A file with this content."""
    path.write_bytes(data)
    return path
