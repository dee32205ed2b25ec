"""The command `libra`: what it says of itself, and its commands in the order people need them."""

from __future__ import annotations

from inspect import getdoc
from typing import Annotated

import typer

from libra.cli.anonymize import anonymize
from libra.cli.audit import audit, mechanisms
from libra.cli.certificates import certificate, keygen, verify
from libra.cli.compare import compare
from libra.cli.logs import convert, describe, inspect, simulate
from libra.cli.measure import measure, report
from libra.cli.options import EXAMPLES
from libra.cli.research import epsilon, reproduce
from libra.cli.tour import demo, doctor

COMMANDS = (
    *(anonymize, mechanisms, inspect, describe, convert, measure, report, compare, audit, certificate, verify, keygen, epsilon),
    *(reproduce, simulate, demo, doctor),
)


def _examples(*lines: str) -> str:
    return "\n".join(("[bold]Examples[/bold]", *(f"  {line}" for line in lines)))


def _show_version(asked: bool) -> None:
    if asked:
        from libra._version import __version__

        print(f"libra {__version__}")
        raise typer.Exit


CONTEXT = {"max_content_width": 110}
app = typer.Typer(name="libra", rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings=CONTEXT)
Version = Annotated[bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)]


@app.callback(invoke_without_command=True, epilog=_examples("libra demo", "libra inspect log.csv --case-id Patient"))
def root(context: typer.Context, version: Version = False) -> None:
    """Inspect, convert and anonymize event logs for process mining, and measure what an anonymized copy lost."""
    if context.invoked_subcommand is None:
        print(context.get_help())


for one in COMMANDS:
    paragraphs = (getdoc(one) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)  # wrapped where the terminal ends
    app.command(help=text, epilog=_examples(*EXAMPLES[one.__name__]))(one)
