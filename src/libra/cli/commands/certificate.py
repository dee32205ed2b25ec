"""`libra certificate`: what a certificate says, on one page for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.input_options import OUTPUT
from libra.cli.keys import PublicKeyFile
from libra.cli.output import Json, Quiet, print_json, print_notes, print_result
from libra.cli.paragraphs import say, say_command
from libra.errors import InputError, UsageError

if TYPE_CHECKING:
    from libra.certificate.page import Page, Section

EXAMPLES = (
    "libra certificate certificate.json",
    "libra certificate certificate.json -o certificate.html",
    "libra certificate --schema",
)
BAR = 36  # characters for all that may be spent: with the longest name it fits into 80 columns


def certificate(
    certificate: Annotated[
        Path | None, typer.Argument(metavar="CERTIFICATE", help="What --certificate wrote.", show_default=False)
    ] = None,
    *,
    key: PublicKeyFile = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PAGE",
            help="Write it as an HTML page to print, instead.",
            show_default=False,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of certificates, instead.", rich_help_panel=OUTPUT)
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show a certificate on one page: the promise in a sentence, what it means in odds, what has to hold, what was spent.

    If it contradicts itself, is of a seeded run or is not signed by the --key, the page begins with that, and the exit code is 1.

    Whether it belongs to a file is for libra verify.
    """
    from libra.certificate.document import certificate_bytes, parsed_certificate, why_invalid
    from libra.certificate.document import schema as published
    from libra.certificate.page import page_of
    from libra.certificate.signing import public_key, vouched
    from libra.certificate.verify import self_checks
    from libra.targets import check_page

    if schema:
        print_json(published())
        return
    if certificate is None:
        raise UsageError("Name a certificate, or ask for the --schema.")
    if output is not None:
        check_page(certificate, output)
    trusted, raw = None if key is None else public_key(key), certificate_bytes(certificate)
    document = parsed_certificate(certificate, raw)
    if wrong := why_invalid(document):
        raise InputError(f"this certificate is damaged: {wrong}", place=str(certificate), remedy="Ask for it again")
    signature = vouched(raw, certificate, trusted)
    checks = [*([signature.check] if signature.check else []), *self_checks(document)]
    page = page_of(document, checks, certificate.name, signature)
    if output is not None:
        _write_page(page, output)
    if as_json:
        print_json(document)
    elif output is not None:
        print_result({}, [f"Wrote {output}"], as_json=False, quiet=quiet)
    else:
        show_page(page)
    print_notes((f"{page.verdict.partition('. ')[0]}. {warning}" for warning in page.warnings), quiet=quiet)
    if page.warnings:
        raise typer.Exit(1)


def _write_page(page: Page, output: Path) -> None:
    from libra._system.files import atomic_output
    from libra.certificate.page import html_of

    with atomic_output(output) as stream:
        stream.write(html_of(page).encode())


def show_page(page: Page) -> None:
    """The page on the terminal."""
    say(page.title, bold=True)
    say(page.issued)
    say(page.signature, bold=True)
    for warning in page.warnings:
        say(warning, lead="DOES NOT HOLD: ", bold=True)
    say("")
    say(page.sentence, bold=True)
    for section in page.sections:
        say("")
        _show_section(section)


def _show_section(section: Section) -> None:
    say(section.title, bold=True)
    names = [row[0] for row in section.table] + [name for name, _ in section.bars]
    width = max(map(len, names), default=0)
    columns = zip(*(values for _, *values in section.table), strict=True)
    cells = [max(map(len, column)) for column in columns]
    for name, *values in section.table:
        figures = "  ".join(f"{value:>{cell}}" for value, cell in zip(values, cells, strict=True))
        say(figures if len(values) > 1 else values[0], lead=f"{name:{width}}  ")
    for name, share in section.bars:
        say("#" * round(BAR * min(share, 1.0)), lead=f"{name:{width}}  {100 * share:5.1f} %  ")
    for paragraph in section.text:
        say(paragraph)
    for point in section.points:
        say(point, lead="- ")
    if section.command:
        say_command(section.command)
