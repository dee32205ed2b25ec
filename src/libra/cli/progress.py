"""A progress bar for files that take a while: on stderr, only on a terminal, only after half a second, and gone at the end."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from libra.eventlog.options import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

PATIENCE_SECONDS = 0.5


Doing = Callable[[int, int, str], None]
"""Called with what is done, what there is in all, and what is being done."""


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


@contextlib.contextmanager
def doing_bar(text: str, *, quiet: bool) -> Iterator[Doing]:
    """A callback for long work in parts: a bar that also says which parts are under way."""
    with progress_bar(text, quiet=quiet) as progress:
        if not isinstance(progress, _LateBar):
            yield lambda _done, _total, _doing: None
            return

        def told(done: int, total: int, doing: str) -> None:
            progress.describe(f"{text}: {doing}" if doing else text)
            progress(done, total)

        yield told


class _LateBar:
    """Draws nothing at first; most files are done before anybody wonders."""

    def __init__(self, text: str) -> None:
        self._text, self._begin = text, time.monotonic()
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
        """Say something else before the bar from now on."""
        from libra.cli.output import printable

        self._text = text
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=printable(text))

    def _open(self, total: int) -> None:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column

        from libra.cli.output import people_console, printable

        words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
        columns = (words, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Bar(*columns, console=people_console(stderr=True), transient=True)
        self._task = self._bar.add_task(printable(self._text), total=total)
        self._bar.start()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
