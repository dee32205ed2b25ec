"""`libra report`: one page on what was protected and what was lost, for any pair of logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.input_options import OUTPUT, takes_log_options
from libra.cli.keys import PublicKeyFile
from libra.cli.output import Json, Quiet, print_result
from libra.cli.progress import progress_bar
from libra.errors import UsageError
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.reporting.page import Report

EXAMPLES = (
    "libra report log.xes.gz anonymized.xes.gz --certificate certificate.json -o report.html",
    "libra report anonymized.xes.gz --certificate certificate.json --public -o public.html",
    "libra report anonymized.xes.gz --certificate certificate.json --key hospital.pub --public -o public.html",
)
TWO = "Name both logs: libra report ORIGINAL ANONYMIZED -o report.html. With --public the anonymized one is enough."


@takes_log_options
def report(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="ORIGINAL ANONYMIZED",
            help="The log as it was, and the anonymized one; with --public the latter alone will do.",
            show_default=False,
        ),
    ],
    options: ReadKeywords,
    *,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="The page to write, an .html file.", show_default=False),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="That of the release: it is verified first.", show_default=False),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Only what is released; the original is not even opened.", rich_help_panel=OUTPUT)
    ] = False,
    key: PublicKeyFile = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Also attack membership, which runs the mechanism ten times. Needs --certificate.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a page that shows what was protected and what was lost: one file, to read, print and keep.

    It answers first whether the log may be handed out and whether it is any good; then come process maps side by side,
    variants, durations, arrivals, risk, and what not to conclude. It compares with the original and is CONFIDENTIAL;
    --public writes what may go along with the log. If the certificate does not hold the page says so, and the exit code is 1.
    """
    from libra import showing
    from libra.targets import check_page

    if len(logs) > 2 or (len(logs) < 2 and not public):
        raise UsageError(TWO)
    if output is None:
        raise UsageError("Say where the page goes: -o report.html.")
    original, anonymized = (logs[0] if len(logs) == 2 else None), logs[-1]
    for source in (*logs, *([certificate] if certificate is not None else [])):
        check_page(source, output, what="report")
    with progress_bar(f"reporting on {anonymized.name}", quiet=quiet) as progress:
        options["progress"] = progress
        page = showing.report(original, anonymized, certificate=certificate, key=key, public=public, attack=attack, **options)
        page.save(output)
    print_result({"output": str(output)} | page.to_dict(), told(page, output), as_json=as_json, quiet=quiet)
    if page.standing == "broken":
        raise typer.Exit(1)


def told(page: Report, output: Path) -> list[str]:
    """What was written, and what it says first."""
    return [f"Wrote {output} ({stamp_of(page)})", *(f"{question} {answer}" for question, answer in page.answers)]


def stamp_of(page: Report) -> str:
    """Who may see a page."""
    if not page.public:
        return "CONFIDENTIAL: it compares with the original"
    if page.standing == "proved":
        return "public: it holds released figures alone"
    if page.standing == "unsigned":
        return "as its certificate says: no signature was checked"
    if page.standing == "weak":
        return "NOT FOR RELEASE: the guarantee is too weak"
    return "NOT FOR RELEASE: nothing is proved of this log"
