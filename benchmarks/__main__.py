"""`make bench`: reading, writing, measuring, anonymizing and reporting, and the start-up, in one run.

The public logs are looked for in ../shared/logs or in the folder that LIBRA_LOGS names; without them the bundled example serves.
Every figure is the best of three processes, the tools taking turns. A line on each finished task goes to stderr, the tables go to
stdout at the end.
"""

from __future__ import annotations

import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

from benchmarks.measured import ROUNDS, best, cells, logs, tell, verdict
from benchmarks.peers import peers_table
from benchmarks.published import published_table
from benchmarks.reports import reports_table
from benchmarks.sound import attributes_table, command_table, sound_table

TARGETS = {"read": 1.3, "write .xes": 1.0, "write .xes.gz": 1.0}  # of r4pm's time
START_UPS = {"libra --help": ("-m", "libra", "--help"), "import libra": ("-c", "import libra")}
START_UP_SECONDS = 0.5


def start_up(name: str) -> float:
    """The fastest of some starts of a fresh Python, in seconds."""
    command = [sys.executable, *START_UPS[name]]
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - begin)
    tell(name, libra=min(seconds))
    return min(seconds)


def files_table() -> Table:
    """Starting, reading, writing and measuring, the files beside r4pm."""
    table = Table(title="Seconds and added peak memory, best of three; ratio to r4pm in the same run")
    for heading in ("log", "task", "libra", "", "r4pm", "", "ratio", "target", ""):
        table.add_column(heading, justify="right" if heading in ("libra", "r4pm", "ratio", "") else "left", no_wrap=True)
    for name in START_UPS:
        seconds = start_up(name)
        target = (f"at most {START_UP_SECONDS} s", verdict(seconds <= START_UP_SECONDS))
        table.add_row("", name, f"{seconds:.2f} s", "", "", "", "", *target)
    for log in logs("bpic12", "roadtraffic"):
        name = log.name.partition(".")[0]
        reading = 0.0
        for task, most in TARGETS.items():
            ours, theirs = best(((task, "libra"), (task, "r4pm")), log)
            reading = ours["seconds"] if task == "read" else reading
            ratio = ours["seconds"] / theirs["seconds"]
            table.add_row(name, task, *cells(ours), *cells(theirs), f"{ratio:.2f}", f"at most {most}", verdict(ratio <= most))
        (ours,) = best((("measure", "libra"),), log)
        ratio = ours["seconds"] / reading
        table.add_row(name, "measure", *cells(ours), "", "", f"{ratio:.2f}", "below 1 of reading", verdict(ratio < 1))
    return table


def main() -> None:
    """Print the tables."""
    console = Console(width=max(150, Console().width))
    for table in (
        files_table(),
        sound_table(),
        attributes_table(),
        command_table(),
        published_table(),
        peers_table(),
        reports_table(),
    ):
        console.print(table)


if __name__ == "__main__":
    main()
