"""Anonymizing with libra2022 beside its authors' code, and beside reading the same log.

The authors' CPU seconds were recorded in an earlier run of their public prototype, on a machine that was not noted: the factor is
an order of magnitude, not a ratio measured in one run. Ours are those of the whole process while it anonymizes, without reading
or writing files, at alpha 10 with the paper's parameters and trace noise. The peak memory is that of the process with the log.
"""

from __future__ import annotations

from rich.table import Table

from benchmarks.measured import best, logs, verdict

AUTHORS_CPU_SECONDS = {"urineweginfectie": 7, "bpic13": 33, "bpic12": 48}
TIMES_LESS = 20
MOST_SECONDS = {"bpic14f": 10, "roadtraffic": 10}


def published_table() -> Table:
    """A row for each log."""
    table = Table(title="anonymize with libra2022 (bpic12: COMPLETE only), best of three; reading in the same run")
    headings = (
        "log",
        "CPU",
        "peak memory",
        "authors' CPU (recorded earlier)",
        "times less",
        "target",
        "",
        "of reading",
        "target",
        "",
    )
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("log", "target") else "right", no_wrap=True)
    for log in logs(*AUTHORS_CPU_SECONDS, *MOST_SECONDS):
        name = log.name.partition(".")[0]
        ours, reading = best((("anonymize libra2022", "libra"), ("read", "libra")), log)
        ratio = ours["seconds"] / reading["seconds"]
        table.add_row(
            *(name, f"{ours['cpu']:.2f} s", f"{ours['peak_megabytes']:.0f} MB"),
            *_beside_authors(name, ours["cpu"]),
            *(f"{ratio:.2f}", "below 1", verdict(ratio < 1)),
        )
    return table


def _beside_authors(name: str, cpu: float) -> tuple[str, str, str, str]:
    if name in AUTHORS_CPU_SECONDS:
        theirs = AUTHORS_CPU_SECONDS[name]
        return f"{theirs} s", f"{theirs / cpu:.0f}", f"at least {TIMES_LESS} times", verdict(theirs / cpu >= TIMES_LESS)
    if name in MOST_SECONDS:
        return "", "", f"below {MOST_SECONDS[name]} s", verdict(cpu < MOST_SECONDS[name])
    return "", "", "", ""
