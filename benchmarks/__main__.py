"""`make bench`: reading and writing against r4pm, all measures against reading, and the start-up, in one run.

The public logs are looked for in ../shared/logs or in the folder that LIBRA_LOGS names; without them the bundled example serves.
Every figure is the best of three processes, the tools taking turns. A line on each finished task goes to stderr, the table at the
end to stdout.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from libra import example

ROUNDS = 3
TARGETS = {"read": 1.3, "write .xes": 1.0, "write .xes.gz": 1.0}  # of r4pm's time
START_UPS = {"libra --help": ("-m", "libra.cli", "--help"), "import libra": ("-c", "import libra")}
START_UP_SECONDS = 0.5


def logs() -> list[Path]:
    """The logs to run on."""
    folder = Path(os.environ.get("LIBRA_LOGS") or Path(__file__).resolve().parents[2] / "shared" / "logs")
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
    _tell(f"{log.name}: {task}", **{tool: result["seconds"] for tool, result in results.items()})
    return results


def start_up(name: str) -> float:
    """The fastest of some starts of a fresh Python, in seconds."""
    command = [sys.executable, *START_UPS[name]]
    seconds = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - begin)
    _tell(name, libra=min(seconds))
    return min(seconds)


def _tell(task: str, **seconds: float) -> None:
    print(f"{task}: {', '.join(f'{tool} {taken:.2f} s' for tool, taken in seconds.items())}", file=sys.stderr, flush=True)


def main() -> None:
    """Print the table."""
    table = Table(title="Seconds and added peak memory, best of three; ratio to r4pm in the same run")
    for heading in ("log", "task", "libra", "", "r4pm", "", "ratio", "target", ""):
        table.add_column(heading, justify="right" if heading in ("libra", "r4pm", "ratio", "") else "left", no_wrap=True)
    for name in START_UPS:
        seconds = start_up(name)
        verdict = "met" if seconds <= START_UP_SECONDS else "missed"
        table.add_row("", name, f"{seconds:.2f} s", "", "", "", "", f"at most {START_UP_SECONDS} s", verdict)
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
    Console(width=max(120, Console().width)).print(table)


def _cells(result: dict[str, float]) -> tuple[str, str]:
    return f"{result['seconds']:.2f} s", f"{result['megabytes']:.0f} MB"


if __name__ == "__main__":
    main()
