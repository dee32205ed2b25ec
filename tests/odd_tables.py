"""Tables that are easily misread, each with what the user says about it."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import polars as pl

from libra.eventlog.options import ReadOptions, RoleNames

NOON = datetime(2024, 5, 6, 12, tzinfo=UTC)
N = 12


def table(**columns: Any) -> pl.DataFrame:
    case = ["x", "y", "x", "z", "y", "x", "x", "y", "z", "x", "y", "x"]
    standard = {"case": case, "activity": [f"a{i % 3}" for i in range(N)], "time": [NOON + timedelta(hours=i) for i in range(N)]}
    return pl.DataFrame(standard | columns, strict=False)


def spelled(pattern: str, step: timedelta = timedelta(days=5, minutes=7)) -> list[str]:
    return [(NOON + i * step).strftime(pattern) for i in range(N)]


GONE: list[Any] = [None] * N
TABLES: dict[str, tuple[pl.DataFrame, ReadOptions]] = {
    "plain": (table(), ReadOptions()),
    "equal times": (table(time=[NOON] * N), ReadOptions()),
    "times in no zone": (table(time=[NOON.replace(tzinfo=None)] * N), ReadOptions()),
    "days": (table(time=[date(2024, 5, 1 + i) for i in range(N)]), ReadOptions()),
    "milliseconds": (table(time=pl.Series([NOON] * N).cast(pl.Datetime("ms", "Europe/Berlin"))), ReadOptions()),
    "nanoseconds": (
        table(time=pl.Series([1_700_000_000_123_456_789 + i for i in range(N)]).cast(pl.Datetime("ns"))),
        ReadOptions(),
    ),
    "years of no clock": (table(time=[NOON] * 7 + [datetime(1, 1, 1, tzinfo=UTC)] + [NOON] * 4), ReadOptions()),
    "years of no clock dropped": (
        table(time=[NOON] * 7 + [datetime(9999, 1, 1, tzinfo=UTC)] + [NOON] * 4),
        ReadOptions(drop_invalid=True),
    ),
    "whole case ids": (table(case=[i % 4 for i in range(N)]), ReadOptions()),
    "case ids of few bits": (table(case=pl.Series([i % 4 for i in range(N)], dtype=pl.UInt8)), ReadOptions()),
    "huge case ids": (table(case=pl.Series([2**64 - 1 - i % 4 for i in range(N)], dtype=pl.UInt64)), ReadOptions()),
    "float case ids": (table(case=[float(i % 4) for i in range(N)]), ReadOptions()),
    "fractions as case ids": (table(case=[0.0, -0.0, 1.0, 2.5, 0.0, -0.0, 1.0, 2.5, 0.0, 1e300, 1.0, 0.1]), ReadOptions()),
    "zeros": (table(case=[0.0, -0.0] * 6), ReadOptions()),
    "case ids that are not numbers": (table(case=[float("nan"), *([1.0] * 11)]), ReadOptions(drop_invalid=True)),
    "dates as case ids": (
        table(case=[date(2024, 5, 1 + i % 3) for i in range(N)], when=[NOON] * N),
        ReadOptions(roles=RoleNames(case_id=("case",), timestamp="when")),
    ),
    "truth as case id": (table(case=[True, False] * 6), ReadOptions(roles=RoleNames(case_id=("case",)))),
    "decimals as case ids": (table(case=[Decimal("1.50"), Decimal("1.5"), Decimal("2.0")] * 4), ReadOptions()),
    "categories": (
        table(
            case=pl.Series(["x", "y", "x"] * 4, dtype=pl.Categorical), activity=pl.Series(["p", "q"] * 6, dtype=pl.Categorical)
        ),
        ReadOptions(),
    ),
    "bytes": (table(case=[b"x", b"y"] * 6), ReadOptions()),
    "bytes that are no text": (table(case=[b"x", b"\xff"] * 6), ReadOptions()),
    "lists": (table(case=[["x"]] * N), ReadOptions()),
    "unicode": (
        table(case=["Größe", "日本語", "🚑", "e\u0301", "\u00e9", "\u00a0x"] * 2, activity=["\u2028a", "a\u2028"] * 6),
        ReadOptions(),
    ),
    "text around white space": (table(case=[" x", "x", "x ", "x\n"] * 3), ReadOptions()),
    "a blank case id": (table(case=["x"] * 8 + [" \u00a0\u2003"] + ["y"] * 3), ReadOptions()),
    "blank case ids dropped": (table(case=["x", "", None, "\t\u3000"] * 3), ReadOptions(drop_invalid=True)),
    "a missing activity": (table(activity=["a"] * 11 + [None]), ReadOptions()),
    "missing ones dropped": (table(activity=["a", None, "b"] * 4, time=[NOON, NOON, None] * 4), ReadOptions(drop_invalid=True)),
    "nothing usable": (table(case=GONE), ReadOptions(drop_invalid=True, roles=RoleNames(case_id=("case",)))),
    "nothing usable allowed": (
        table(case=GONE),
        ReadOptions(drop_invalid=True, allow_empty=True, roles=RoleNames(case_id=("case",))),
    ),
    "no rows": (table().clear(), ReadOptions()),
    "no rows allowed": (table().clear(), ReadOptions(allow_empty=True)),
    "several case ids": (
        table(case=["a", "a+b", "a", "1:a"] * 3, part=["b+c", "c", "b", "a"] * 3),
        ReadOptions(roles=RoleNames(case_id=("case", "part"))),
    ),
    "several case ids of any type": (
        table(part=[i % 2 for i in range(N)], half=[0.5, 1.0] * 6),
        ReadOptions(roles=RoleNames(case_id=("case", "part", "half"))),
    ),
    "several activities": (
        table(step=[1, 2, None] * 4),
        ReadOptions(roles=RoleNames(activity=("activity", "step")), drop_invalid=True),
    ),
    "whole activities": (table(activity=[1.0, 2.0] * 6), ReadOptions(roles=RoleNames(activity=("activity",)))),
    "fractions as activities": (
        table(activity=[1.0, 2.0] * 5 + [2.5, 3.0]),
        ReadOptions(roles=RoleNames(activity=("activity",))),
    ),
    "transitions": (table(lifecycle=["START", "complete", None] * 4), ReadOptions(lifecycle_keep=("complete", "start"))),
    "no such transition": (table(lifecycle=["START", "complete", None] * 4), ReadOptions(lifecycle_keep=("abort",))),
    "no transitions": (table(), ReadOptions(lifecycle_keep=("complete",))),
    "instances": (table(lifecycle=["START", "complete", "start", None] * 3), ReadOptions()),
    "instances told": (table(lifecycle=["START", "complete", "skip", None] * 3), ReadOptions(instances="pair")),
    "completions": (table(lifecycle=["START", "complete", "skip", None] * 3), ReadOptions(instances="complete")),
    "individuals": (
        table(patient=["p", "q", "p", "p", "q", "p", "p", "q", "p", "p", "q", "p"]),
        ReadOptions(roles=RoleNames(individual="patient")),
    ),
    "whole individuals": (
        table(patient=[7, 8, 7, 7, 8, 7, 7, 8, 7, 7, 8, 7]),
        ReadOptions(roles=RoleNames(individual="patient")),
    ),
    "blank individuals": (
        table(patient=["", " ", "", "z", " ", "", "", " ", "z", "", " ", ""]),
        ReadOptions(roles=RoleNames(individual="patient")),
    ),
    "float individuals": (
        table(patient=[0.0, 1.5, 0.0, -0.0, 1.5, 0.0, 0.0, 1.5, -0.0, 0.0, 1.5, 0.0]),
        ReadOptions(roles=RoleNames(individual="patient")),
    ),
    "individuals that are not numbers": (
        table(case=["x"] * 6 + ["y"] * 6, patient=[float("nan")] * N),
        ReadOptions(roles=RoleNames(individual="patient")),
    ),
    "a missing individual": (table(patient=["p"] * 8 + [None] + ["p"] * 3), ReadOptions(roles=RoleNames(individual="patient"))),
    "the case as individual": (table(), ReadOptions(roles=RoleNames(individual="case"))),
    "lists as individuals": (table(patient=[[1]] * N), ReadOptions(roles=RoleNames(individual="patient"))),
    "columns named like patterns": (
        table().rename({"case": "*", "activity": "^.*$"}),
        ReadOptions(roles=RoleNames(case_id=("*",), activity=("^.*$",))),
    ),
    "iso text": (table(time=spelled("%Y-%m-%dT%H:%M:%SZ")), ReadOptions()),
    "iso text in zones": (
        table(
            time=[text + zone for text, zone in zip(spelled("%Y-%m-%dT%H:%M:%S.250"), ["Z", "+02:00", "-0500"] * 4, strict=True)]
        ),
        ReadOptions(),
    ),
    "iso text partly in zones": (
        table(time=[text + zone for text, zone in zip(spelled("%Y-%m-%d %H:%M:%S"), ["Z", ""] * 6, strict=True)]),
        ReadOptions(),
    ),
    "iso text then days": (table(time=spelled("%Y-%m-%dT%H:%M:%S")[:9] + spelled("%Y-%m-%d")[9:]), ReadOptions()),
    "day first": (table(time=spelled("%d/%m/%Y %H:%M")), ReadOptions()),
    "month first": (table(time=spelled("%m/%d/%Y %H:%M")), ReadOptions()),
    "an open order": (table(time=[f"0{1 + i % 9}/05/2024" for i in range(N)]), ReadOptions()),
    "an order shown late": (table(time=["01/02/2024"] * 10 + ["01/13/2024", "02/01/2024"]), ReadOptions()),
    "a day shown late": (table(time=["01/02/2024"] * 10 + ["13/01/2024", "02/01/2024"]), ReadOptions()),
    "orders that contradict": (table(time=["01/02/2024", "13/02/2024"] * 5 + ["01/13/2024", "02/01/2024"]), ReadOptions()),
    "the other order first": (table(time=["01/13/2024"] * 5 + ["13/02/2024"] * 7), ReadOptions()),
    "an order told": (table(time=["01/02/2024"] * 10 + ["01/13/2024", "02/01/2024"]), ReadOptions(day_first=False)),
    "an order told wrongly": (table(time=["01/02/2024"] * 10 + ["01/13/2024", "02/01/2024"]), ReadOptions(day_first=True)),
    "an order told wrongly and dropped": (
        table(time=["01/02/2024"] * 10 + ["01/13/2024"] * 2),
        ReadOptions(day_first=True, drop_invalid=True),
    ),
    "an order from the start": (
        table(time=["01/02/2024"] * N, start=["01/02/2024"] * 9 + ["01/13/2024"] * 3),
        ReadOptions(roles=RoleNames(timestamp="time", start_timestamp="start")),
    ),
    "an order from the start at once": (
        table(time=["01/02/2024"] * N, start=["01/13/2024"] + ["01/02/2024"] * 11),
        ReadOptions(roles=RoleNames(timestamp="time", start_timestamp="start")),
    ),
    "starts that contradict": (
        table(time=["01/02/2024"] * N, start=["01/13/2024"] * 6 + ["13/02/2024"] * 6),
        ReadOptions(roles=RoleNames(timestamp="time", start_timestamp="start"), drop_invalid=True),
    ),
    "short years first": (table(time=[f"24-05-{1 + i:02}" for i in range(N)]), ReadOptions()),
    "short years last": (table(time=[f"{1 + i:02}-05-24" for i in range(N)]), ReadOptions()),
    "short years that turn": (table(time=["24-05-06"] * 4 + [f"{11 + i}-05-06" for i in range(8)]), ReadOptions()),
    "a long year among short ones": (table(time=["24-05-06", "24-05-07"] * 5 + ["06-05-2024"] * 2), ReadOptions()),
    "words": (table(time=spelled("%d %b %Y, %I:%M %p")), ReadOptions()),
    "seconds": (table(time=[1_700_000_000 + i for i in range(N)]), ReadOptions(roles=RoleNames(timestamp="time"))),
    "milliseconds since 1970": (
        table(time=[1_700_000_000_123 + i for i in range(N)]),
        ReadOptions(roles=RoleNames(timestamp="time")),
    ),
    "seconds as text": (table(time=[str(1_700_000_000 + i) for i in range(N)]), ReadOptions(roles=RoleNames(timestamp="time"))),
    "float seconds": (table(time=[1_700_000_000.25 + i for i in range(N)]), ReadOptions(roles=RoleNames(timestamp="time"))),
    "a larger unit late": (
        table(time=[1_700_000_000] * 9 + [1_700_000_000_000] * 3),
        ReadOptions(roles=RoleNames(timestamp="time"), drop_invalid=True),
    ),
    "small numbers first": (
        table(time=[5, 7] * 4 + [1_700_000_000] * 4),
        ReadOptions(roles=RoleNames(timestamp="time"), drop_invalid=True),
    ),
    "numbers then dates": (
        table(time=["1700000000"] * 8 + ["2024-05-06"] * 4),
        ReadOptions(roles=RoleNames(timestamp="time"), drop_invalid=True),
    ),
    "days as numbers": (table(time=[20240501 + i for i in range(N)]), ReadOptions(roles=RoleNames(timestamp="time"))),
    "days as numbers among seconds": (
        table(time=[1_700_000_000] * 8 + [20240501] * 4),
        ReadOptions(roles=RoleNames(timestamp="time"), drop_invalid=True),
    ),
    "a format": (table(time=spelled("%d|%m|%Y %H.%M")), ReadOptions(timestamp_format="%d|%m|%Y %H.%M")),
    "a format with zones": (
        table(time=[text + " CEST" for text in spelled("%Y-%m-%d %H:%M:%S")]),
        ReadOptions(timestamp_format="%Y-%m-%d %H:%M:%S %Z"),
    ),
    "a format that does not fit": (table(time=spelled("%d.%m.%Y")[:9] + ["soon"] * 3), ReadOptions(timestamp_format="%d.%m.%Y")),
    "a format that does not fit and dropped": (
        table(time=["soon"] * 3 + spelled("%d.%m.%Y")[3:]),
        ReadOptions(timestamp_format="%d.%m.%Y", drop_invalid=True, roles=RoleNames(timestamp="time")),
    ),
    "unreadable": (table(time=spelled("%Y-%m-%dT%H:%M:%SZ")[:9] + ["n/a"] * 3), ReadOptions()),
    "unreadable and dropped": (
        table(time=["n/a", None, " ", *spelled("%Y-%m-%dT%H:%M:%S")[3:]]),
        ReadOptions(drop_invalid=True, roles=RoleNames(timestamp="time")),
    ),
    "no time at all first": (
        table(time=[None] * 6 + spelled("%Y-%m-%dT%H:%M:%S")[6:]),
        ReadOptions(drop_invalid=True, roles=RoleNames(timestamp="time")),
    ),
    "days and clocks": (
        pl.DataFrame({"case": ["x"] * N, "activity": ["a"] * N, "date": spelled("%d.%m.%Y"), "time": spelled("%H:%M")}),
        ReadOptions(),
    ),
    "days and typed clocks": (
        pl.DataFrame(
            {"case": ["x"] * N, "activity": ["a"] * N, "date": [date(2024, 5, 6)] * N, "time": [time(8, i) for i in range(N)]}
        ),
        ReadOptions(),
    ),
    "a clock that cannot be read": (
        pl.DataFrame({"case": ["x"] * N, "activity": ["a"] * N, "date": ["2024-05-06"] * N, "time": ["08:00"] * 11 + ["25:99"]}),
        ReadOptions(),
    ),
    "a day that tells its time": (
        pl.DataFrame(
            {"case": ["x"] * N, "activity": ["a"] * N, "date": ["2024-05-06"] * 11 + ["2024-05-06 10:00"], "time": ["08:00"] * N}
        ),
        ReadOptions(),
    ),
    "truth as time": (table(time=[True] * N), ReadOptions(roles=RoleNames(timestamp="time"))),
}
