"""Logs made of a few traces, and what a map of them holds, read back from its SVG."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import polars as pl

from libra.eventlog.log import EventLog

START = datetime(2024, 5, 6, 8, tzinfo=UTC)
SVG = "{http://www.w3.org/2000/svg}"


def log_of(traces: Sequence[Sequence[str]], minutes: int = 10) -> EventLog:
    """A log of these traces, with so many minutes from event to event."""
    events = [
        (case, label, START + timedelta(minutes=minutes * i))
        for case, trace in enumerate(traces)
        for i, label in enumerate(trace)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "@case": pl.UInt32,
        "concept:name": pl.String,
        "time:timestamp": pl.Datetime("us", "UTC"),
    }
    cases = pl.DataFrame({"concept:name": [f"c{case}" for case in range(len(traces))]}, schema={"concept:name": pl.String})
    return EventLog(pl.DataFrame(events, schema=schema, orient="row"), cases)


def groups(svg: str, kind: str) -> dict[str, ElementTree.Element]:
    """The groups of a kind that have a title, by its first line."""
    found = [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if kind in group.get("class", "").split()]
    titled = [(group.findtext(f"{SVG}title"), group) for group in found]
    return {title.split("\n")[0]: group for title, group in titled if title}


def figure(group: ElementTree.Element, kind: str) -> str:
    """The text of a kind in a group, or nothing."""
    return next(("".join(text.itertext()) for text in group.iter(f"{SVG}text") if kind in text.get("class", "").split()), "")
