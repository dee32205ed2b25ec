"""A log whose labels try to break a page: markup, templates, text that runs the other way, letters without end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl

from libra.eventlog.log import EventLog

LABELS = (
    "<script>window.broken = true</script>",
    '"><img src=x onerror="window.broken = true">',
    "</style></title><script>window.broken = true</script>",
    "{{ 7 * 7 }}{% raise %}",
    "javascript:window.broken=true",
    "x" * 10_000,
    "y " * 5_000,
    "قسم الطوارئ في المستشفى",
    "חדר מיון",
    "🚑👩‍⚕️🩺 emergency 🏥",
    "救急外来での受付と診察",
    "a\u202eb\u2066c\u200bd\x07\x00e",
    "line\nbreak\tand\r\nmore",
    "Z̷̢͓̹a̶̡̛l̸̰̒g̵̱͠o̴͉͝" * 10,
    "&amp;&lt;entity&gt;",
    "",
)


def hostile_log(cases: int = 120) -> EventLog:
    """Cases that go through all labels, some in another order, with attributes of the same kind."""
    traces = [LABELS if case % 3 else (LABELS[0], *reversed(LABELS[1:]), LABELS[0]) for case in range(cases)]
    start = datetime(2024, 1, 1, tzinfo=UTC)
    return EventLog(
        events=pl.DataFrame(
            {
                "@case": [case for case, trace in enumerate(traces) for _ in trace],
                "concept:name": [label for trace in traces for label in trace],
                "time:timestamp": [
                    start + timedelta(hours=7 * case, minutes=9 * i) for case, t in enumerate(traces) for i in range(len(t))
                ],
                "<script>window.broken = true</script>": [
                    LABELS[(case + i) % 4] for case, t in enumerate(traces) for i in range(len(t))
                ],
            }
        ),
        cases=pl.DataFrame({"concept:name": [f"<b>{case}</b>" for case in range(cases)]}),
    )
