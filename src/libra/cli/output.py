"""What goes where: results on stdout, notes and progress on stderr; tables and paragraphs for people.

With `--json` stdout holds one JSON document and nothing else. Text from a log is made harmless before it reaches a
terminal: brackets are no markup, control characters are shown, not obeyed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from libra.eventlog.options import Progress, no_progress
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bar

    from libra.eventlog.log import FoundRole

PIPE_WIDTH = 120
NARROWEST = 20  # columns that a paragraph has at least, whatever stands before it
PATIENCE_SECONDS = 0.5  # before a bar shows
SHOWN_AS: dict[str, str] = {}  # how temporary files and their folders show
DOING = {"read": "reading", "write": "writing", "simulate": "writing", "anonymize": "anonymizing", "audit": "auditing"}
DOING |= {"attack": "attacking", "compare": "comparing", "report": "reporting on"}


def printable(text: str) -> str:
    r"""Text that a terminal shows as it is: what is not printable becomes its escape.

    Example:
        >>> print(printable("red: \x1b[31m"))
        red: \x1b[31m
    """
    for path, shown in SHOWN_AS.items():
        text = text.replace(path, shown)
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def people_console(*, stderr: bool = False) -> Console:
    """Where tables for people go; wide enough for a pipe, where nobody sees a terminal's edge."""
    from rich.console import Console

    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def print_json(document: dict[str, Any]) -> None:
    """One JSON document on stdout; it holds no NaN, which JSON does not know."""
    print(json.dumps(document, indent=2, allow_nan=False))


def print_notes(notes: Iterable[str], *, quiet: bool) -> None:
    """Notes for people on stderr, each once."""
    if not quiet:
        for note in dict.fromkeys(notes):
            print(f"note: {printable(note)}", file=sys.stderr)


def print_result(document: dict[str, Any], lines: Iterable[str], *, as_json: bool, quiet: bool) -> None:
    """What a command did: one document, or a few lines for people."""
    if as_json:
        print_json(document)
    elif not quiet:
        print("\n".join(map(printable, lines)))


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> None:
    """Print a table on stdout; `right` numbers the columns that hold figures."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, name in enumerate(header):
        table.add_column(name, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))
    console = people_console()
    console.print(printable(title), style="bold")  # not as the title of the table, which is broken at the table's edge
    console.print(table)


def figure(value: float | None) -> str:
    """Four digits that count; a figure that is not defined is a dash."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 or value == 0 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share to a tenth of a percent; all and nothing are said only where they are meant.

    Example:
        >>> percent(1 / 3), percent(1), percent(0.9999), percent(0.0001), percent(0)
        ('33.3 %', '100.0 %', 'over 99.9 %', 'under 0.1 %', '0.0 %')
    """
    if 0.9995 <= share < 1:
        return "over 99.9 %"
    return "under 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"


def say(told: str = "", *, lead: str = "", bold: bool = False, wrapped: bool = True) -> None:
    """Print a paragraph; `lead` stands before its first line, and spaces of that width before the others.

    Example:
        >>> say("It is the file certified.", lead="ok  ")
        ok  It is the file certified.
    """
    from rich.cells import cell_len
    from rich.text import Text

    console = people_console()
    lead, style = printable(lead), "bold" if bold else ""
    whole = Text(printable(told))
    margin = cell_len(lead)
    lines = whole.wrap(console, max(console.width - margin, NARROWEST)) if console.is_terminal and wrapped else [whole]
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text(" " * margin if number else lead) + line, style=style, soft_wrap=True)


def columns_taken(roles: Sequence[FoundRole], options: ReadKeywords) -> list[str]:
    """A line on the columns that play a role, if any of them was found rather than named or called as the standard has it."""
    from libra.eventlog.names import ROLE_COLUMN

    found = [one for one in roles if one.role not in options and one.columns != (ROLE_COLUMN.get(one.role),)]
    if "description" in options or not found:
        return []
    taken = ((one.role.replace("_", " "), " + ".join(f'"{name}"' for name in one.columns)) for one in roles)
    return [f"Columns used: {', '.join(f'{role} {columns}' for role, columns in taken)}."]


class Stages:
    """What the commands hand to `progress=` of the API: a bar for every stage, and how long each took."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self.seconds: dict[str, float] = {}

    def __call__(self, done: int, total: int) -> None:
        """What is told outside of a stage is not shown."""

    @contextlib.contextmanager
    def stage(self, name: str, what: str = "") -> Iterator[Progress]:
        """Show and time a stage."""
        begin = time.perf_counter()
        try:
            shown = progress_bar(f"{DOING[name]} {what}".strip(), quiet=self._quiet) if name in DOING else None
            with shown or contextlib.nullcontext(no_progress) as progress:
                yield progress
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - begin


@contextlib.contextmanager
def progress_bar(text: str, *, quiet: bool) -> Iterator[Progress]:
    """A callback for readers and writers that draws a bar if somebody is watching."""
    if quiet or not sys.stderr.isatty():
        yield no_progress
        return
    late_bar = _LateBar(text)
    try:
        yield late_bar
    finally:
        if late_bar.bar is not None:
            late_bar.bar.stop()


class _LateBar:
    """Draws nothing at first; most files are done before anybody wonders."""

    def __init__(self, text: str) -> None:
        self._text = self._said = text
        self._begin = time.monotonic()
        self.bar: Bar | None = None

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None and time.monotonic() - self._begin >= PATIENCE_SECONDS:
            self.bar = self._opened(total)
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=done, total=total)

    def describe(self, text: str) -> None:
        """Say before the bar what is under way."""
        self._said = f"{self._text}: {text}" if text else self._text
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], description=printable(self._said))

    def _opened(self, total: int) -> Bar:
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column

        words = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
        columns = (words, BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        bar = Bar(*columns, console=people_console(stderr=True), transient=True)
        bar.add_task(printable(self._said), total=total)
        bar.start()
        return bar
