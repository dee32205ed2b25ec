"""Paragraphs on stdout: on a terminal wrapped to its width, further lines under the first; elsewhere one line each."""

from __future__ import annotations

from libra.cli.output import people_console, printable

NARROWEST = 20  # columns that the text has at least, whatever stands before it


def say(told: str, *, lead: str = "", bold: bool = False) -> None:
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
    lines = whole.wrap(console, max(console.width - margin, NARROWEST)) if console.is_terminal else [whole]
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text(" " * margin if number else lead) + line, style=style, soft_wrap=True)


def say_command(command: str) -> None:
    """Print something to type, never broken, so that it can be copied."""
    people_console().print(printable(f"  {command}"), soft_wrap=True)
