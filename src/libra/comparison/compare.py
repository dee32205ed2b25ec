"""From a plan to a comparison: what is known already is taken from the cache, the rest is run, several runs at once.

A run that went beyond a limit is not tried again with other seeds: they would take the time and fail alike. Each run has a
process of its own, which is killed beyond a limit. However this ends, by an error or an interrupt too, no process stays behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import os.path
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache as remembered
from itertools import chain, count, islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from libra._system.arguments import checked_whole
from libra._system.workers import KILLED, kill, megabytes_of, start_child
from libra.comparison.cache import Cache
from libra.comparison.child import content_hash, packed
from libra.comparison.comparison import LIMITS, ComparedLog, Comparison, Limits, Missing, Outcome, Result
from libra.comparison.plan import Plan, Run, in_our_words
from libra.errors import UsageError
from libra.eventlog.log import EventLog, empty_log
from libra.measures import measure

if TYPE_CHECKING:
    from libra.api import Source

PAUSE = 0.05  # seconds between looks at the processes
LAST_WORDS = 2_000  # bytes of what a process said before it broke down
Watch = Callable[[Sequence[Run]], None]  # called with the runs that are under way


def found_by_processes(
    runs: Iterator[Run], data_of: Callable[[str], bytes], limits: Limits, processes: int, watch: Watch
) -> Generator[tuple[Run, Result | Missing], None, None]:
    """What the runs find, in the order in which they end; `data_of` gives the bytes of a log by its name.

    A run is taken from `runs` when there is room for it, so that what was found before may decide whether it is still wanted.
    """
    under_way: list[_Process] = []
    try:
        while True:
            for run in islice(runs, processes - len(under_way)):
                under_way.append(_Process(run, data_of(run.log), limits))
                watch([process.run for process in under_way])
            if not under_way:
                return
            time.sleep(PAUSE)
            for process in under_way[:]:
                found = process.found()
                if found is not None:
                    under_way.remove(process)
                    yield process.run, found
                    watch([process.run for process in under_way])
    finally:
        for process in under_way:
            process.end()


class _Process:
    """One run under way."""

    def __init__(self, run: Run, data: bytes, limits: Limits) -> None:
        self.run, self._limits, self._megabytes = run, limits, 1024 * limits.gigabytes
        job = {"mechanism": run.setting.mechanism, "parameters": dict(run.parameters), "seed": run.seed}
        asked = json.dumps(job | {"size": len(data), "parent": os.getpid()}).encode() + b"\n" + data
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  # closed when the process has ended
        self._deadline = time.monotonic() + limits.seconds
        self._process = start_child((sys.executable, "-P", "-m", "libra.comparison.child"), self._said)
        self._answer = b""
        self._talk = Thread(target=self._talk_to, args=(asked,), daemon=True)
        self._talk.start()

    def _talk_to(self, asked: bytes) -> None:
        """Hand over the job and wait for the answer; stdin stays open, since its end would be the end of the process."""
        to, back = self._process.stdin, self._process.stdout
        if to is not None and back is not None:
            with contextlib.suppress(OSError):
                to.write(asked)
                to.flush()
            del asked
            self._answer = back.read()

    def found(self) -> Result | Missing | None:
        """What was found; None while it is under way."""
        if self._process.poll() is None:
            late = time.monotonic() > self._deadline
            if late or (megabytes_of(self._process.pid) or 0) > self._megabytes:
                self.end()
                return self._limits.exceeded("time" if late else "memory")
            return None
        kill(self._process)  # what it started may hold the pipe open
        self._talk.join()
        found = self._parsed()
        self.end()
        return found

    def _parsed(self) -> Result | Missing:
        if self._process.returncode != 0:
            return Missing("failed", self._last_words())
        try:
            found: dict[str, Any] = json.loads(self._answer)
            if "missing" in found:
                return Missing(**found["missing"])
            result = Result.from_dict(found["result"])
        except (ValueError, KeyError, TypeError, RecursionError):
            return Missing("failed", "its process ended without an answer that can be read; perhaps the mechanism ended it")
        return self._limits.exceeded("memory") if (result.peak_megabytes or 0) > self._megabytes else result

    def _last_words(self) -> str:
        code = self._process.returncode
        if code == -KILLED:
            return "its process was killed by somebody else; perhaps the machine ran out of memory"
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - LAST_WORDS))
        lines = self._said.read().decode(errors="replace").split("\n")
        told = next((line.strip() for line in reversed(lines) if line.strip()), "")
        how = f"signal {-code}" if code < 0 else f"code {code}"
        return f"its process broke down with {how}" + (f": {told}" if told else "")

    def end(self) -> None:
        """Kill what is still there, and close what was open to it."""
        kill(self._process)
        self._process.wait()
        self._talk.join()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


MOST_PROCESSES = 1_000
Told = Callable[[int, int, str], None]  # called with the runs done, the runs in all, and what is running


def checked_processes(said: int | None) -> int:
    """How many runs at once: as said, or one for each core that this process may use."""
    if said is not None:
        return checked_whole("processes", said, 1, MOST_PROCESSES)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compare(
    logs: Mapping[str, EventLog], plan: Plan, limits: Limits, processes: int, cache: Cache | None, told: Told
) -> Comparison:
    """Run all that is planned on all logs."""
    runs = list(plan.runs(logs))
    contents = {name: content_hash(log) for name, log in logs.items()} if cache is not None else {}
    outcomes: dict[Run, Outcome] = {}
    beyond: dict[tuple[object, ...], Missing] = {}  # the kinds of runs that went beyond a limit

    def settle(run: Run, found: Result | Missing, *, cached: bool = False) -> None:
        if isinstance(found, Missing) and found.why == "refused":
            found = replace(found, reason=in_our_words(found.reason, run.setting, run.parameters))
        elif isinstance(found, Missing) and found.why in LIMITS:
            beyond.setdefault(_but_for_seed(run), found)
        outcomes[run] = Outcome(run, found, cached)

    def wanted() -> Iterator[Run]:
        """The runs that are still to be made; those that another seed has shown to be hopeless are settled here."""
        for run in runs:
            if run not in outcomes and (hopeless := beyond.get(_but_for_seed(run))) is not None:
                settle(run, hopeless)
            elif run not in outcomes:
                yield run

    @remembered
    def data_of(name: str) -> bytes:
        return packed(logs[name])

    def watch(under_way: Sequence[Run]) -> None:
        others = f" and {len(under_way) - 1} more" if len(under_way) > 1 else ""
        told(len(outcomes), len(runs), f"{under_way[0]}{others}" if under_way else "")

    for run in runs:
        if run.refusal is not None:
            settle(run, Missing("refused", run.refusal))
        elif cache is not None and (kept := cache.found(run, contents[run.log], limits)) is not None:
            settle(run, kept, cached=True)
    with closing(found_by_processes(wanted(), data_of, limits, processes, watch)) as finished:
        for run, found in finished:
            settle(run, found)
            if cache is not None:
                cache.keep(run, contents[run.log], found, limits)
    watch([])
    compared = tuple(
        ComparedLog(name, measure(log, empty_log(log)), log.notes, has_individuals=log.individual is not None)
        for name, log in logs.items()
    )
    notes = (*plan.notes, *((cache.trouble,) if cache is not None and cache.trouble else ()))
    place = {key: i for i, key in enumerate(dict.fromkeys(map(_but_for_seed, runs)))}
    ordered = tuple(outcomes[run] for run in sorted(runs, key=lambda run: place[_but_for_seed(run)]))  # then by seed
    return Comparison(compared, ordered, plan.epsilons, plan.delta, plan.seeds, limits, notes)


def _but_for_seed(run: Run) -> tuple[object, ...]:
    return run.log, run.setting.label, run.epsilon


def named(sources: Source | Sequence[Source] | Mapping[str, Source]) -> dict[str, Source]:
    """The logs by name, no name twice: a file by its name up to the first dot, others by their own name or by a number.

    Files that would be called alike are told apart by the folders above them, or by the rest of their names.
    """
    if isinstance(sources, Mapping):
        found = {str(name): source for name, source in sources.items()}
    else:
        several: Sequence[Source] = sources if isinstance(sources, list | tuple) else [sources]
        files = _names_of_files([_whole(source) for source in several if isinstance(source, str | Path)])
        found = {}
        for source in several:
            own = getattr(getattr(source, "metadata", None), "name", None)
            name = files[_whole(source)] if isinstance(source, str | Path) else own if own and isinstance(own, str) else "log"
            found[next(free for free in chain([name], (f"{name} {n}" for n in count(2))) if free not in found)] = source
    if not found:
        raise UsageError("There is no log to compare on. Name one or more.")
    return found


def _names_of_files(files: Sequence[Path]) -> dict[Path, str]:
    """Names by which no two files are called alike: with as many folders as it takes, and with endings if that is not enough."""
    alike: dict[str, list[Path]] = {}
    for file in dict.fromkeys(files):
        alike.setdefault(_stem(file), []).append(file)
    names: dict[Path, str] = {}
    for group in alike.values():
        depths = range(max(len(file.parts) for file in group))
        ends = [[_stem(file) for file in group], [file.name for file in group]]
        tried = ([_below(file, end, depth) for file, end in zip(group, last, strict=True)] for last in ends for depth in depths)
        names |= zip(group, next((names for names in tried if len(set(names)) == len(group)), ends[1]), strict=True)
    return names


def _below(file: Path, end: str, folders: int) -> str:
    """The end of a name after so many of the folders next to the file; the root of the disk is none."""
    above = file.parent.relative_to(file.anchor).parts
    return "/".join((*above[max(len(above) - folders, 0) :], end))


def _whole(file: str | Path) -> Path:
    return Path(os.path.abspath(file))  # noqa: PTH100  # resolve() would follow links, whose names are what the user knows


def _stem(file: Path) -> str:
    return file.name.partition(".")[0] or file.name or "log"
