"""Processes started for a piece of work: one thread each, none of them outlives its parent, and how much memory they have.

`start_child` and `kill` are for a parent with a protocol of its own, `pooled` is for many jobs of one kind, and
`end_with_parent` is for the child. A child imports this before anything else: it needs next to nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

ONE_THREAD = dict.fromkeys(("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
KILLED = 9  # the signal that nothing survives
PR_SET_PDEATHSIG = 1  # of Linux: the signal to send when the parent ends
PEAK = re.compile(r"VmHWM:\s+(\d+)")
MEGABYTE = 2**20
Job = TypeVar("Job")
Result = TypeVar("Result")


def end_with_parent(parent: int, wait: Callable[[], object] | None = None) -> None:
    """End this process when its parent ends, however that happens: Linux sees to it even in the middle of a long computation.

    `parent` is its process id; if it has ended already, so does this process. `wait` returns when it has ended, for systems
    other than Linux, which have no other way.
    """
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    if wait is not None:
        Thread(target=_end_after, args=(wait,), daemon=True).start()


def _end_after(wait: Callable[[], object]) -> None:
    wait()
    os._exit(1)


def start_child(command: Sequence[str], stderr: int | IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program of ours with pipes to its stdin and stdout; Python finds the modules there that it finds here.

    An interrupt at the terminal is for the parent alone, which has to `kill` the child.
    """
    found_here = os.pathsep.join(dict.fromkeys(folder or os.getcwd() for folder in sys.path))  # noqa: PTH109  # text is wanted
    apart: dict[str, Any] = {"process_group": 0} if hasattr(os, "killpg") else {}
    variables, pipe = os.environ | ONE_THREAD | {"PYTHONPATH": found_here}, subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=stderr, env=variables, **apart)  # noqa: S603  # our own


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a child and whatever it started, if they are still there."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, KILLED)
        else:
            child.kill()


@contextmanager
def pooled(work: Callable[[Job], Result], jobs: Iterator[Job], processes: int) -> Iterator[Iterator[Result]]:
    """The results of all jobs in the order in which they end, from so many processes; with one, from this one.

    A job is taken when there is room for it. Leaving the block ends the processes.
    """
    if processes == 1:
        yield (work(job) for job in jobs)
        return
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
    from multiprocessing import get_context

    with _environment(ONE_THREAD), ProcessPoolExecutor(processes, get_context("spawn"), _prepare, (work, os.getpid())) as pool:

        def results() -> Iterator[Result]:
            waiting = _begun(pool, islice(jobs, 2 * processes))
            while waiting:
                finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in finished)
                waiting |= _begun(pool, islice(jobs, len(finished)))

        try:
            yield results()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _begun(pool: ProcessPoolExecutor, jobs: Iterator[Job]) -> set[Future[Any]]:
    """Jobs handed to the pool; a process that this starts hears no interrupt from its first moment on, and the parent later."""
    if not hasattr(signal, "pthread_sigmask"):
        return {pool.submit(_prepared_work, job) for job in jobs}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return {pool.submit(_prepared_work, job) for job in jobs}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_prepared: Callable[[Any], Any] | None = None


def _prepare(work: Callable[[Job], Result], parent: int) -> None:
    """In a new process of a pool: keep what all its jobs share, and leave it to the parent to stop after an interrupt."""
    from multiprocessing import parent_process

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    starter = parent_process()
    end_with_parent(parent, starter.join if starter is not None else None)
    global _prepared  # how a pool hands over what is too large to send with each job
    _prepared = work


def _prepared_work(job: Any) -> Any:
    if _prepared is None:
        raise AssertionError("the process was not prepared")
    return _prepared(job)


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Processes started in here find these variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def peak_megabytes() -> float | None:
    """The most memory that this process has had so far; None where the system does not tell.

    On Linux not by getrusage: what it tells begins with the memory of the program that started this one.
    """
    status = Path("/proc/self/status")
    if status.exists():
        found = PEAK.search(status.read_text(encoding="ascii", errors="replace"))
        return int(found[1]) / 1024 if found else None
    try:
        import resource
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE


def megabytes_of(process: int) -> float | None:
    """The memory that another process has right now; None where it is gone or the system does not tell."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / MEGABYTE
    except (OSError, IndexError):
        if sys.platform in ("linux", "win32"):
            return None
    asked = ["/bin/ps", "-o", "rss=", "-p", str(process)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603  # a number goes in
    return int(told) / 1024 if told.isdigit() else None
