"""Anonymizing with libra, from counting to the finished log, beside reading the same log; and the whole command beside r4pm.

CPU seconds are those of the whole process, all threads together, and the tools take turns. What is anonymized is a log of which
nothing is computed yet, with the operating system's randomness, at the defaults. The peak memory is that of the process with the
log.
"""

from __future__ import annotations

from rich.table import Table

from benchmarks.measured import best, logs, verdict

LOGS = ("bpic12", "bpic14f", "roadtraffic")
MOST_READS, MOST_WITHOUT = 3.0, 2.0


def sound_table() -> Table:
    """A row for each log."""
    table = Table(title="anonymize with libra (epsilon 1, delta 1e-5), best of three; reading in the same run")
    for heading in ("log", "CPU", "seconds", "peak memory", "reading: CPU", "seconds", "CPU ratio", "ratio", "target", ""):
        table.add_column(heading, justify="left" if heading in ("log", "target") else "right", no_wrap=True)
    for log in logs(*LOGS):
        ours, reading = best((("anonymize libra", "libra"), ("read", "libra")), log)
        ratio = ours["seconds"] / reading["seconds"]
        table.add_row(
            *(log.name.partition(".")[0], f"{ours['cpu']:.2f} s", f"{ours['seconds']:.2f} s"),
            *(f"{ours['peak_megabytes']:.0f} MB", f"{reading['cpu']:.2f} s", f"{reading['seconds']:.2f} s"),
            *(f"{ours['cpu'] / reading['cpu']:.2f}", f"{ratio:.2f}", "below 1", verdict(ratio < 1)),
        )
    return table


def attributes_table() -> Table:
    """With the attributes of cases that `make bench-attributes` releases, beside none."""
    table = Table(title="anonymize with libra and attributes of cases, best of three; without attributes in the same run")
    for heading in ("log", "with", "without", "ratio", "target", ""):
        table.add_column(heading, justify="left" if heading in ("log", "target") else "right", no_wrap=True)
    for log in logs("bpic13", "roadtraffic"):
        ours, without = best((("anonymize attributes", "libra"), ("anonymize libra", "libra")), log)
        ratio = ours["seconds"] / without["seconds"]
        times = (f"{ours['seconds']:.2f} s", f"{without['seconds']:.2f} s", f"{ratio:.2f}")
        table.add_row(log.name.partition(".")[0], *times, f"at most {MOST_WITHOUT:g}", verdict(ratio <= MOST_WITHOUT))
    return table


def command_table() -> Table:
    """The command from start to finish, with Python and all that it loads, beside a bare read of the file by r4pm."""
    table = Table(title="libra anonymize LOG -o out.xes.gz, the whole process; r4pm's read alone, best of three in the same run")
    for heading in ("log", "libra anonymize", "r4pm read", "ratio", "target", ""):
        table.add_column(heading, justify="left" if heading in ("log", "target") else "right", no_wrap=True)
    for log in logs("bpic12"):
        ours, theirs = best((("anonymize a file", "libra"), ("read", "r4pm")), log)
        ratio = ours["seconds"] / theirs["seconds"]
        times = (f"{ours['seconds']:.2f} s", f"{theirs['seconds']:.2f} s", f"{ratio:.2f}")
        table.add_row(log.name.partition(".")[0], *times, f"at most {MOST_READS:g}", verdict(ratio <= MOST_READS))
    return table
