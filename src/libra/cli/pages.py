"""The pages for people: tables of what the API returned, on stdout. Figures come in ready, nothing is computed here."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from libra.cli.output import people_console, printable

if TYPE_CHECKING:
    from libra.doctor import Check
    from libra.eventlog.log import EventLog
    from libra.eventlog.summary import Summary
    from libra.measures import Utility

LONG_TRACE = 12
MANY_ATTRIBUTES = 30
PLURALS = {"case": "cases", "event": "events", "activity": "activities", "variant": "variants"}

MEANINGS = {
    "emd_freq": "directly-follows frequencies, blind to labels (EMD Freq)",
    "emd_time": "hours spent per directly-follows edge, blind to labels (EMD Time)",
    "dfg_l1": "difference of directly-follows counts, relative to the original",
    "dfg_tv": "difference of directly-follows shares (0 equal, 1 disjoint)",
    "variant_tv": "difference of variant shares (0 equal, 1 disjoint)",
    "unseen_variant_share": "share of cases whose variant the original never had",
    "length_w1": "trace length, mean shift in events",
    "case_duration_w1_hours": "case duration, mean shift in hours",
    "edge_duration_w1_hours": "time between two events, mean shift in hours per edge",
    "edge_duration_w1_relative": "the same, relative to the original's mean",
    "edge_duration_w1_log": "the same on log10(1 + seconds): 1 is a factor of ten",
    "arrival_w1_days": "when cases start, mean shift in days",
}


def roles_of(log: EventLog) -> list[dict[str, Any]]:
    """The roles as scripts read them: columns, reason, and the flag that overrides the choice."""
    from libra.eventlog.tables.roles import FLAGS

    return [
        {"role": found.role, "columns": list(found.columns), "reason": found.reason, "flag": FLAGS[found.role]}
        for found in log.roles
    ]


def show_summary(path: Path, log: EventLog, summary: Summary) -> None:
    """Figures, columns, attributes, frequent variants, and what stands out."""
    console = people_console()
    console.print(printable(str(path)), style="bold")
    counts = ((summary.cases, "case"), (summary.events, "event"), (summary.activities, "activity"), (summary.variants, "variant"))
    console.print(", ".join(f"{count:,} {word if count == 1 else PLURALS[word]}" for count, word in counts))
    console.print(f"from {summary.start} to {summary.end}")
    if summary.trace_length is not None and summary.median_case_duration_hours is not None:
        length = summary.trace_length
        console.print(
            f"{length.min:,} to {length.max:,} events a case, median {length.median:g}; "
            f"half of the cases last longer than {_duration(summary.median_case_duration_hours)}"
        )
    roles = (
        (role["role"].replace("_", " "), " + ".join(role["columns"]), role["reason"], role["flag"]) for role in roles_of(log)
    )
    _table("Columns", ("role", "column", "why", "override with"), roles)
    attributes = ((a.name, a.level, a.type, _percent(a.filled_share)) for a in summary.attributes[:MANY_ATTRIBUTES])
    _table("Attributes", ("name", "of the", "type", "filled"), attributes, right=(3,))
    if len(summary.attributes) > MANY_ATTRIBUTES:
        console.print(f"… and {len(summary.attributes) - MANY_ATTRIBUTES} more attributes; --json lists them all\n")
    variants = ((f"{v.cases:,}", _percent(v.cases / summary.cases), _trace(v.trace)) for v in summary.top_variants)
    _table("Most frequent variants", ("cases", "share", "trace"), variants, right=(0, 1))
    console.print(_hint(summary))


def _hint(summary: Summary) -> str:
    """The risk of being recognised, in words that need no course in privacy."""
    share = summary.cases_unique_share
    if share == 0:
        return "No case has a trace of its own. Times and attributes may still tell cases apart."
    return (
        f"{_percent(share)} of the cases have a trace that no other case shares: whoever knows which steps a person went through "
        "can pick that case out and read the rest. Times and attributes tell even more cases apart."
    )


def _trace(trace: Sequence[str]) -> str:
    return " > ".join(trace if len(trace) <= LONG_TRACE else (*trace[:LONG_TRACE], f"… ({len(trace) - LONG_TRACE} more)"))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _duration(hours: float) -> str:
    """A duration in the unit people would choose.

    Example:
        >>> _duration(0.25), _duration(30), _duration(400)
        ('15 minutes', '30 hours', '16.7 days')
    """
    amount, unit = (hours * 60, "minutes") if hours < 2 else (hours, "hours") if hours < 72 else (hours / 24, "days")
    return f"{amount:.3g} {unit}"


def show_utility(original: Path, anonymized: Path, utility: Utility) -> None:
    """One line a figure: what it is, its value, and what an empty log would score."""
    figures = utility.to_dict()
    empty = figures["empty"]
    rows = [
        (name, _figure(figures[name]), _figure(empty[name]) if name in empty else "", text) for name, text in MEANINGS.items()
    ]
    title = f"{anonymized.name} against {original.name}: 0 is equal, lower is closer"
    _table(title, ("figure", "value", "empty log", "meaning"), rows, right=(1, 2))


def show_checks(checks: Sequence[Check]) -> None:
    """One line a check, then the commands that install what is missing."""
    rows = [
        ("ok" if check.ok else "missing", check.name, check.found, check.purpose, "" if check.ok else check.remedy)
        for check in checks
    ]
    _table("What Libra found", ("", "part", "found", "for", "get it with"), rows)
    lacking = [check.name for check in checks if check.required and not check.ok]
    people_console().print(f"Missing: {', '.join(lacking)}." if lacking else "Everything that is required is there.")


def next_steps(packed: Path, table: Path) -> list[str]:
    """What to try after the tour, spelled so that it can be copied into this shell."""
    libra = "libra" if shutil.which("libra") else sys.argv[0]
    return [
        f"Wrote {packed} and {table}",
        "",
        "Try next:",
        f"  {libra} inspect {table}",
        f"  {libra} convert {table} {table.with_suffix('.parquet')}",
        f"  {libra} measure {packed} {table}",
        f"  {libra} inspect YOUR-LOG.csv",
    ]


def _table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    from rich import box
    from rich.table import Table

    table = Table(title=printable(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    people_console().print(table)


def _figure(value: float | None) -> str:
    """Four digits that count; a figure that is not defined is a dash."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == 0 else f"{value:.4g}"
