"""What goes where: results on stdout, everything else on stderr.

With `--json` stdout holds one JSON document and nothing else. Text from a log is made harmless before it reaches a
terminal: brackets are no markup, control characters are shown, not obeyed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from libra.cli.input_options import OUTPUT

if TYPE_CHECKING:
    from rich.console import Console

PIPE_WIDTH = 120

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.", rich_help_panel=OUTPUT)
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No notes, no progress, no closing words; errors stay.", rich_help_panel=OUTPUT),
]


def printable(text: str) -> str:
    r"""Text that a terminal shows as it is: what is not printable becomes its escape.

    Example:
        >>> print(printable("red: \x1b[31m"))
        red: \x1b[31m
    """
    if text.isprintable():
        return text
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
        print("\n".join(printable(line) for line in lines))
