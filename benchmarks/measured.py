"""What all benchmarks share: where the logs are, and the best of some runs, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from libra import example

ROUNDS = 3
Result = dict[str, float]


def logs(*names: str) -> list[Path]:
    """The public logs of these names; where none is there, the bundled example."""
    folder = Path(os.environ.get("LIBRA_LOGS") or Path(__file__).resolve().parents[2] / "shared" / "logs")
    found = [folder / f"{name}.xes.gz" for name in names]
    return [log for log in found if log.exists()] or [example.path()]


def best(runs: tuple[tuple[str, str], ...], log: Path) -> list[Result]:
    """The fastest of some rounds for each of these pairs of a task and a tool, which take turns."""
    results: dict[tuple[str, str], Result] = {}
    for _ in range(ROUNDS):
        for run in runs:
            command = [sys.executable, "-m", "benchmarks.one", *run, str(log)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            result = json.loads(done.stdout)
            if run not in results or result["seconds"] < results[run]["seconds"]:
                results[run] = result
    tell(log.name, **{" ".join(run): result["seconds"] for run, result in results.items()})
    return list(results.values())


def tell(what: str, **seconds: float) -> None:
    """A line on something finished, on stderr."""
    print(f"{what}: {', '.join(f'{name} {taken:.2f} s' for name, taken in seconds.items())}", file=sys.stderr, flush=True)


def cells(result: Result) -> tuple[str, str]:
    """Seconds and megabytes as a table shows them."""
    return f"{result['seconds']:.2f} s", f"{result['megabytes']:.0f} MB"


def verdict(met: bool) -> str:
    """Whether a target was met."""
    return "met" if met else "missed"
