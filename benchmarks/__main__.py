"""`make bench`: reading and writing against r4pm, and all measures against reading, in one run.

The public logs are looked for in ../shared/logs or in the folder that LIBRA_LOGS names; without them the bundled example serves.
Every figure is the best of three processes, the tools taking turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from libra import example

ROUNDS = 3
TARGETS = {"read": 1.3, "write .xes": 1.0, "write .xes.gz": 1.0}  # of r4pm's time


def logs() -> list[Path]:
    """The logs to run on."""
    folder = Path(os.environ.get("LIBRA_LOGS", Path(__file__).resolve().parents[2] / "shared" / "logs"))
    found = [folder / f"{name}.xes.gz" for name in ("bpic12", "roadtraffic")]
    return [log for log in found if log.exists()] or [example.path()]


def best(task: str, tools: tuple[str, ...], log: Path) -> dict[str, dict[str, float]]:
    """The fastest of some runs, by tool."""
    results: dict[str, dict[str, float]] = {}
    for _ in range(ROUNDS):
        for tool in tools:
            command = [sys.executable, "-m", "benchmarks.one", task, tool, str(log)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            result = json.loads(done.stdout)
            if tool not in results or result["seconds"] < results[tool]["seconds"]:
                results[tool] = result
    return results


def main() -> None:
    """Print the table."""
    table = Table(title="Seconds and added peak memory, best of three; ratio to r4pm in the same run")
    for heading in ("log", "task", "libra", "", "r4pm", "", "ratio", "target", ""):
        table.add_column(heading, justify="right" if heading in ("libra", "r4pm", "ratio", "") else "left", no_wrap=True)
    for log in logs():
        name = log.name.partition(".")[0]
        reading = 0.0
        for task, target in TARGETS.items():
            ours, theirs = best(task, ("libra", "r4pm"), log).values()
            reading = ours["seconds"] if task == "read" else reading
            ratio = ours["seconds"] / theirs["seconds"]
            verdict = "met" if ratio <= target else "missed"
            table.add_row(name, task, *_cells(ours), *_cells(theirs), f"{ratio:.2f}", f"at most {target}", verdict)
        ours = best("measure", ("libra",), log)["libra"]
        ratio = ours["seconds"] / reading
        table.add_row(
            name, "measure", *_cells(ours), "", "", f"{ratio:.2f}", "below 1 of reading", "met" if ratio < 1 else "missed"
        )
    Console(width=max(100, Console().width)).print(table)


def _cells(result: dict[str, float]) -> tuple[str, str]:
    return f"{result['seconds']:.2f} s", f"{result['megabytes']:.0f} MB"


if __name__ == "__main__":
    main()
