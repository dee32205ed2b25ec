"""Logs with attributes made to hurt, and what is declared of them: the same for every engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from libra.eventlog.attributes import Attribute
from libra.eventlog.log import UTC_MICROSECONDS
from libra.eventlog.options import ReadOptions, RoleNames

START = 1_714_982_400_000_000  # a Monday of May 2024, in microseconds
MINUTE = 60_000_000
ROLES = RoleNames(("case:concept:name",), ("concept:name",), "time:timestamp")
AT_B = Attribute("grade", "category", at="b", missing=("n/a",))
DECLARED = (
    AT_B,
    Attribute("case:ward", "category"),
    Attribute("case:sex", "category", values=("f", "m")),
    Attribute("amount", "number", decimals=2, lowest=-50, highest=1_000, missing=("-1.0",)),
    Attribute("case:urgent", "boolean"),
    Attribute("due", "date", unit="days", lowest=-1, highest=300),
    Attribute("never", "category"),
)
OF_EVENTS = (  # those of cases among them: engines list these first
    Attribute("role", "category", level="event"),
    Attribute("case:ward", "category"),
    Attribute("sign", "category", level="event", values=("high", "low")),
    Attribute("paid", "number", level="event", decimals=1, counter=True),
    AT_B,
    Attribute("amount", "number", level="event", decimals=2, lowest=-50, highest=1_000, missing=("-1.0",)),
    Attribute("due", "date", level="event", unit="days", highest=2.5),
    Attribute("ok", "boolean", level="event"),
    Attribute("never", "category", level="event"),
)


def described(attributes: tuple[Attribute, ...] = DECLARED, roles: RoleNames = ROLES, **more: object) -> ReadOptions:
    """How such a log is read."""
    written = ReadOptions(roles=roles, described="log.toml", attributes=attributes, timestamp_format="iso", decimal=".")
    return replace(written, **more)  # type: ignore[arg-type]


def hurtful(cases: int = 300, giant: int = 30_000, wards: int = 2_000) -> pl.DataFrame:
    """Values that change within a case, come late, are blank or not there at all; many of them, few, and a giant case."""
    rng = np.random.default_rng(7)
    lengths = np.append(rng.integers(1, 9, cases), giant)
    case = np.repeat(np.arange(cases + 1), lengths)
    n = len(case)
    label = np.array(["a", "b", "c", "é\u0301"])[rng.integers(0, 4, n)]
    grade = np.array(["A", "B", " B ", "", "n/a", "Ω", "b"], object)[rng.integers(0, 7, n)]
    amount = np.array(["1", "1.0", "-1.0", "-1", "", "3.145", "1e3", "99999", "-77", "NaN"], object)[rng.integers(0, 10, n)]
    ward, sex = (rng.integers(0, many, cases + 1) for many in (wards, 4))
    due = START + rng.integers(-(10**13), 10**13, n)
    frame = pl.DataFrame(
        {
            "case:concept:name": [f"case {i}" for i in case],
            "concept:name": label,
            "time:timestamp": pl.Series(START + rng.integers(0, 500, n) * MINUTE, dtype=pl.Int64).cast(UTC_MICROSECONDS),
            "grade": pl.Series(grade.tolist(), dtype=pl.String),
            "amount": pl.Series(amount.tolist(), dtype=pl.String),
            "due": pl.Series(due, dtype=pl.Int64).cast(UTC_MICROSECONDS).dt.to_string("iso"),
            "never": pl.Series([""] * n, dtype=pl.String),
            "case:ward": [f"ward {ward[i]}" for i in case],
            "case:sex": pl.Series([["f", "m", "x", None][sex[i]] for i in case], dtype=pl.String),
            "case:urgent": pl.Series([["yes", "false", "", "T"][i % 4] for i in case], dtype=pl.String),
        }
    )
    some = pl.Series(rng.random(n) < 0.5)
    blank = [pl.when(some).then(pl.col(name)).alias(name) for name in ("amount", "due")]
    return frame.with_columns(blank)[rng.permutation(n)]


def with_events(frame: pl.DataFrame) -> pl.DataFrame:
    """Such a log with more columns of events: hundreds of roles, a counter that may fall, truths and signs; some are blank."""
    rng, n = np.random.default_rng(8), frame.height
    role = [["", "n/a", f"role {i}", f" role {i % 9} "][i % 4] for i in rng.integers(0, 900, n)]
    paid = pl.Series(rng.integers(0, 4_000, n)).cast(pl.String) + ".25"
    columns = {
        "role": pl.Series(role, dtype=pl.String),
        "sign": pl.Series([["high", "low", "none", None][i] for i in rng.integers(0, 4, n)], dtype=pl.String),
        "paid": paid.set(pl.Series(rng.random(n) < 0.3), None),
        "ok": pl.Series([["yes", "no", None][i] for i in rng.integers(0, 3, n)], dtype=pl.String),
    }
    return frame.with_columns(**columns)


def with_types(frame: pl.DataFrame) -> pl.DataFrame:
    """The same in the types of columns that know theirs."""
    number = pl.col("amount").str.strip_chars().replace({"": None, "-1.0": None}).cast(pl.Float64)
    urgent = pl.col("case:urgent").replace_strict({"yes": True, "T": True, "false": False, "": None}, return_dtype=pl.Boolean)
    return frame.with_columns(number, pl.col("due").str.to_datetime(time_unit="us", time_zone="UTC"), urgent)


def in_instances(frame: pl.DataFrame) -> pl.DataFrame:
    """The same with starts and completions, of which either may have the value."""
    transitions = pl.Series(["start", "COMPLETE", "schedule", None] * frame.height)[: frame.height]
    return frame.with_columns(transitions.alias("lifecycle:transition"))


texts = st.sampled_from(("a", "B", " B", "", None, "é", "z" * 300, "\U0010ffff"))
amounts = st.sampled_from((None, "", "0", "-0.0", "7.25", "1e300", "-3", "100"))
dates = st.sampled_from((None, "2024-05-06", "1678-01-01", "2261-12-31T23:59:59Z", "2024-05-06T08:00:00.999999"))
EVENT = st.tuples(
    *(st.integers(0, 3), st.sampled_from(("x", "y", "z")), st.integers(0, 5)),
    *(st.sampled_from(("start", "complete", "COMPLETE", "schedule", None)), texts, texts, amounts, amounts, dates, texts),
)
SMALL = (
    Attribute("role", "category", level="event"),
    Attribute("sign", "category", level="event", values=("B", "a")),
    Attribute("paid", "number", level="event", decimals=1, counter=True),
    Attribute("case:who", "category"),
    Attribute("amount", "number", level="event", lowest=-1, highest=10),
    Attribute("due", "date", level="event", missing=("2024-05-06",)),
    Attribute("unused", "category", level="event"),
)


def flat(rows: list[Any]) -> pl.DataFrame:
    """A flat table of such events; who has a case follows from the case."""
    case, label, minute, transition, role, sign, paid, amount, due, unused = map(list, zip(*rows, strict=True))
    of_text = {"lifecycle:transition": transition, "role": role, "sign": sign, "paid": paid, "amount": amount, "due": due}
    return pl.DataFrame(
        {
            "case:concept:name": [f"case {i}" for i in case],
            "concept:name": label,
            "time:timestamp": (pl.Series(minute) * MINUTE + START).cast(UTC_MICROSECONDS),
            "case:who": [f"p{i % 3}" for i in case],
            **{name: pl.Series(values, dtype=pl.String) for name, values in (of_text | {"unused": unused}).items()},
        }
    )


RENAMED = described(
    tuple(Attribute(name, "category", "event") for name in ("org:resource", "lifecycle:transition")),
    RoleNames(("Case",), ("Step",), "When", lifecycle="State", resource="Clerk"),
)


def with_renamed_roles(file: Path) -> Path:
    """A log whose columns have none of the standard's names, written to a file."""
    said = [("ab"[i % 2], ("ann", "bert", None)[i % 3], ("assign", "schedule")[i % 2]) for i in range(30)]
    rows = [(f"{i // 3}", step, "2024-05-06T12:00:00Z", *others) for i, (step, *others) in enumerate(said)]
    frame = pl.DataFrame(rows, schema=["Case", "Step", "When", "Clerk", "State"], orient="row")
    frame.write_csv(file) if file.suffix == ".csv" else frame.write_parquet(file)
    return file
