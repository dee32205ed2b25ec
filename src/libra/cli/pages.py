"""The pages for people: what the API returned, as tables and plain sentences on stdout.

Figures come in ready; here they are only rounded, given units and put into words, and every sentence has to be true of every log.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from libra.cli.output import people_console, printable
from libra.keywords import ReadKeywords
from libra.shell import libra_command

if TYPE_CHECKING:
    from libra.doctor import Check
    from libra.eventlog.log import EventLog
    from libra.eventlog.summary import Summary, TraceLength
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


def columns_taken(log: EventLog, options: ReadKeywords) -> list[str]:
    """A line on the columns that play a role, where any of them was found rather than named or called as the standard has it."""
    from libra.eventlog.names import ROLE_COLUMN

    if all(found.role in options or found.columns == (ROLE_COLUMN.get(found.role),) for found in log.roles):
        return []
    roles = ((found.role.replace("_", " "), " + ".join(f'"{name}"' for name in found.columns)) for found in log.roles)
    return [f"Columns taken: {', '.join(f'{role} {columns}' for role, columns in roles)}."]


def show_summary(path: Path, log: EventLog, summary: Summary) -> None:
    """Figures, columns, attributes, frequent variants, and what stands out."""
    console = people_console()
    console.print(printable(str(path)), style="bold")
    counts = ((summary.cases, "case"), (summary.events, "event"), (summary.activities, "activity"), (summary.variants, "variant"))
    console.print(", ".join(f"{count:,} {word if count == 1 else PLURALS[word]}" for count, word in counts))
    console.print(f"from {summary.start} to {summary.end}")
    if summary.trace_length is not None and summary.median_case_duration_hours is not None:
        console.print(f"{_lengths(summary.trace_length)}; median case duration {_duration(summary.median_case_duration_hours)}")
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
        "can pick that case out and read the rest." + (" Times and attributes may tell more cases apart." if share < 1 else "")
    )


def _lengths(length: TraceLength) -> str:
    """How many events a case has.

    Example:
        >>> from libra.cli.pages import _lengths
        >>> from libra.eventlog.summary import TraceLength
        >>> _lengths(TraceLength(1, 1.0, 1)), _lengths(TraceLength(2, 3.5, 1200))
        ('1 event in every case', '2 to 1,200 events a case, median 3.5')
    """
    if length.min == length.max:
        return f"{length.min:,} {'event' if length.min == 1 else 'events'} in every case"
    return f"{length.min:,} to {length.max:,} events a case, median {length.median:g}"


def _trace(trace: Sequence[str]) -> str:
    return " > ".join(trace if len(trace) <= LONG_TRACE else (*trace[:LONG_TRACE], f"… ({len(trace) - LONG_TRACE} more)"))


def _percent(share: float) -> str:
    """A share to a tenth of a percent; all and nothing are said only where they are meant.

    Example:
        >>> from libra.cli.pages import _percent
        >>> _percent(1 / 3), _percent(1), _percent(0.9999), _percent(0.0001), _percent(0)
        ('33.3 %', '100.0 %', 'over 99.9 %', 'under 0.1 %', '0.0 %')
    """
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return "under 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def _duration(hours: float) -> str:
    """A duration in the unit people would choose.

    Example:
        >>> from libra.cli.pages import _duration
        >>> _duration(0), _duration(1 / 60), _duration(0.25), _duration(30), _duration(400), _duration(100_000)
        ('0 minutes', '1 minute', '15 minutes', '30 hours', '16.7 days', '4,167 days')
    """
    amount, unit = (hours * 60, "minutes") if hours < 2 else (hours, "hours") if hours < 72 else (hours / 24, "days")
    number = f"{amount:,.0f}" if amount >= 1000 else f"{amount:.3g}"
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


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
    libra = libra_command()
    log, csv, parquet = (shlex.quote(str(path)) for path in (packed, table, table.with_suffix(".parquet")))
    return [
        f"Wrote {packed} and {table}",
        "",
        "Try next:",
        f"  {libra} inspect {csv}",
        f"  {libra} convert {csv} {parquet}",
        f"  {libra} measure {log} {csv}",
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
