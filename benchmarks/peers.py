"""The mechanisms of other authors beside pm4py's, on the same log in the same run: epsilon 1, pruned at 1 % of the cases.

Ours is the whole release, from a log of which nothing is computed yet; pm4py's the query alone, from its event log. Queries are
the best of three. pripel is run once, pm4py's until a limit: it is stopped there, with the memory it had taken.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

from rich.table import Table

from benchmarks.measured import Result, best, cells, logs, tell, verdict
from benchmarks.one import peak_of

TIMES_LESS = 5
LIMIT_SECONDS = 300.0
PRIPEL_SECONDS = 60.0


def peers_table() -> Table:
    """A row for each mechanism that pm4py has as well."""
    table = Table(title="Mechanisms of other authors, beside pm4py's")
    for heading in ("log", "mechanism", "libra", "", "pm4py", "", "times less", "target", ""):
        table.add_column(heading, justify="left" if heading in ("log", "mechanism", "target") else "right", no_wrap=True)
    for log in logs("bpic12"):
        for name in ("prefix-laplace", "sacofa"):
            ours, theirs = best(((name, "libra"), (name, "pm4py")), log)
            ratio = theirs["seconds"] / ours["seconds"]
            target = (f"at least {TIMES_LESS} times", verdict(ratio >= TIMES_LESS))
            table.add_row(_name(log), name, *cells(ours), *cells(theirs), f"{ratio:.0f}", *target)
    for log in logs("bpic13"):
        ours, _ = limited(("pripel", "libra"), log)
        theirs, ended = limited(("pripel", "pm4py"), log)
        of_theirs = cells(theirs) if ended else tuple(f"over {cell}" for cell in cells(theirs))
        target = (f"below {PRIPEL_SECONDS:.0f} s", verdict(ours["seconds"] < PRIPEL_SECONDS))
        ratio = theirs["seconds"] / ours["seconds"]
        table.add_row(_name(log), "pripel", *cells(ours), *of_theirs, f"{'' if ended else 'over '}{ratio:.0f}", *target)
    return table


def limited(run: tuple[str, str], log: Path, limit: float = LIMIT_SECONDS) -> tuple[Result, bool]:
    """One run of a task and a tool, stopped at the limit; with whether it came to its end."""
    command = [sys.executable, "-m", "benchmarks.one", *run, str(log)]
    begin, peak = time.perf_counter(), 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and time.perf_counter() - begin < limit:
            peak = max(peak, peak_of(process.pid))
            time.sleep(0.1)
        if process.poll() is None:
            process.kill()
            tell(f"{log.name}, stopped", **{" ".join(run): limit})
            return {"seconds": limit, "megabytes": peak}, False
        result: Result = json.loads(process.communicate()[0])
    tell(log.name, **{" ".join(run): result["seconds"]})
    return result, True


def _name(log: Path) -> str:
    return log.name.partition(".")[0]
