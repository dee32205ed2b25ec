"""Writing a report, beyond the anonymizing itself: seconds, memory and the size of the page.

What is timed begins with both logs in memory, of which nothing is computed yet, and ends with the page on disk: all figures, the
risk, the maps of both logs, the charts. The release is one of libra at its defaults.
"""

from __future__ import annotations

from rich.table import Table

from benchmarks.measured import best, cells, logs, verdict

LOGS = ("bpic12", "bpic13", "bpic14f", "bpic20", "hospital", "roadtraffic", "sepsis", "urineweginfectie")
SECONDS, KILOBYTES = 10.0, 5_000.0


def reports_table() -> Table:
    """A row for each log."""
    table = Table(title="a report on a release of libra, beyond the anonymizing; best of three")
    for heading in ("log", "seconds", "memory", "page", "target", ""):
        table.add_column(heading, justify="left" if heading in ("log", "target") else "right", no_wrap=True)
    for log in logs(*LOGS):
        (ours,) = best((("report", "libra"),), log)
        met = ours["seconds"] < SECONDS and ours["kilobytes"] < KILOBYTES
        said = f"below {SECONDS:.0f} s and {KILOBYTES:,.0f} kB"
        table.add_row(log.name.partition(".")[0], *cells(ours), f"{ours['kilobytes']:,.0f} kB", said, verdict(met))
    return table
