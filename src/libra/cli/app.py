"""The command `libra`: what it says of itself, and its commands in the order people need them."""

from __future__ import annotations

from typing import Annotated

import typer

from libra.cli.commands import (
    anonymize,
    audit,
    certificate,
    compare,
    convert,
    demo,
    describe,
    doctor,
    epsilon,
    inspect,
    keygen,
    measure,
    report,
    reproduce,
    simulate,
    verify,
)


def _examples(*lines: str) -> str:
    return "\n".join(("[bold]Examples[/bold]", *(f"  {line}" for line in lines)))


def _show_version(asked: bool) -> None:
    if asked:
        from libra._version import __version__

        print(f"libra {__version__}")
        raise typer.Exit


app = typer.Typer(
    name="libra", rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings={"max_content_width": 110}
)


@app.callback(invoke_without_command=True, epilog=_examples("libra demo", "libra inspect log.csv --case-id Patient"))
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Event logs for process mining: look into them, convert them, anonymize them, see what a copy lost."""
    if context.invoked_subcommand is None:
        print(context.get_help())


for command, examples in (
    (anonymize.anonymize, anonymize.EXAMPLES),
    (inspect.inspect, inspect.EXAMPLES),
    (describe.describe, describe.EXAMPLES),
    (convert.convert, convert.EXAMPLES),
    (measure.measure, measure.EXAMPLES),
    (report.report, report.EXAMPLES),
    (compare.compare, compare.EXAMPLES),
    (audit.audit, audit.EXAMPLES),
    (certificate.certificate, certificate.EXAMPLES),
    (verify.verify, verify.EXAMPLES),
    (keygen.keygen, keygen.EXAMPLES),
    (epsilon.epsilon, epsilon.EXAMPLES),
    (reproduce.reproduce, reproduce.EXAMPLES),
    (simulate.simulate, simulate.EXAMPLES),
    (demo.demo, demo.EXAMPLES),
    (doctor.doctor, doctor.EXAMPLES),
):
    app.command(epilog=_examples(*examples))(command)
