"""Runs, each in a process of its own, several at once, within limits of time and memory.

A process beyond a limit is killed. However this ends, by an error or an interrupt too, no process stays behind.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import islice
from threading import Thread
from typing import Any

from libra._system.workers import KILLED, kill, megabytes_of, start_child
from libra.comparison.comparison import Limits, Missing, Result
from libra.comparison.plan import Run

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
