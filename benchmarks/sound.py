"""Anonymizing with libra, from counting to the finished log, beside reading the same log: CPU seconds, measured in one run.

CPU seconds are those of the whole process, all threads together, and the tools take turns. What is anonymized is a log of which
nothing is computed yet, with the operating system's randomness, at the defaults. The peak memory is that of the process with the
log.
"""

from __future__ import annotations

from rich.table import Table

from benchmarks.measured import best, logs, verdict

LOGS = ("bpic12", "bpic14f", "roadtraffic")


def sound_table() -> Table:
    """A row for each log."""
    table = Table(title="anonymize with libra (epsilon 1, delta 1e-5), best of three; reading in the same run")
    for heading in ("log", "CPU", "seconds", "peak memory", "CPU of reading", "of reading", "target", ""):
        table.add_column(heading, justify="left" if heading in ("log", "target") else "right", no_wrap=True)
    for log in logs(*LOGS):
        ours, reading = best((("anonymize libra", "libra"), ("read", "libra")), log)
        ratio = ours["cpu"] / reading["cpu"]
        table.add_row(
            *(log.name.partition(".")[0], f"{ours['cpu']:.2f} s", f"{ours['seconds']:.2f} s"),
            *(f"{ours['peak_megabytes']:.0f} MB", f"{reading['cpu']:.2f} s"),
            *(f"{ratio:.2f}", "below 1", verdict(ratio < 1)),
        )
    return table
