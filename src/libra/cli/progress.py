"""Progress of what takes a while: bars on stderr, only on a terminal, only after half a second, and gone at the end."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from libra.eventlog.options import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

PATIENCE_SECONDS = 0.5
DOING = {
    "read": "reading",
    "write": "writing",
    "anonymize": "anonymizing",
    "audit": "auditing",
    "attack": "attacking",
    "compare": "comparing",
    "report": "reporting on",
    "simulate": "writing",
}


class Stages:
    """What the commands hand to `progress=` of the API: a bar for every stage, and how long each took."""

    def __init__(self, *, quiet: bool) -> None:
        """Nothing is done yet."""
        self._quiet = quiet
        self.seconds: dict[str, float] = {}

    def __call__(self, done: int, total: int) -> None:
        """What is told outside of a stage is not shown."""

    @contextlib.contextmanager
    def stage(self, name: str, what: str = "") -> Iterator[Progress]:
        """Show and time a stage."""
        begin = time.perf_counter()
        try:
            if name in DOING:
                with progress_bar(f"{DOING[name]} {what}".strip(), quiet=self._quiet) as progress:
                    yield progress
            else:
                yield no_progress
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


@contextlib.contextmanager
def progress_bar(text: str, *, quiet: bool) -> Iterator[Progress]:
    """A callback for readers and writers that draws a bar where somebody is watching."""
    if quiet or not sys.stderr.isatty():
        yield no_progress
        return
    late_bar = _LateBar(text)
    try:
        yield late_bar
    finally:
        late_bar.close()


class _LateBar:
    """Draws nothing at first; most files are done before anybody wonders."""

    def __init__(self, text: str) -> None:
        self._text = self._said = text
        self._begin = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            if time.monotonic() - self._begin < PATIENCE_SECONDS:
                return
            self._open(total)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=done, total=total)

    def describe(self, text: str) -> None:
        """Say before the bar what is under way."""
        from libra.cli.output import printable

        self._said = f"{self._text}: {text}" if text else self._text
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=printable(self._said))

    def _open(self, total: int) -> None:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column

        from libra.cli.output import people_console, printable

        words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
        columns = (words, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=people_console(stderr=True), transient=True)
        self._task = self._bar.add_task(printable(self._said), total=total)
        self._bar.start()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
