"""`libra describe`: how a log is read, as a file to read, correct and keep beside the log."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from libra._system.shell import libra_command
from libra.cli.input_options import LogPath, takes_log_options
from libra.cli.output import Json, Quiet, print_json, print_notes, printable
from libra.cli.progress import progress_bar
from libra.keywords import ReadKeywords

EXAMPLES = (
    "libra describe visits.csv -o log.toml",
    "libra describe visits.csv --case-id Patient --case-id Visit --day-first -o log.toml",
    "libra anonymize visits.csv -o anonymized.csv --description log.toml",
)


@takes_log_options
def describe(
    log: LogPath,
    options: ReadKeywords,
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="The file to write. Not one that is there. Default: print it.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write down how a log is read: columns, times, text, and what a release of it protects.

    Each line of the file says whether it was given, detected (by name or by content) or is a default. Read and correct it; with
    --description all commands read the log exactly so, whatever its content is on the day, and refuse what does not fit.
    """
    from libra import api
    from libra._system.files import atomic_output
    from libra.errors import InputError
    from libra.targets import check_writable

    if output is not None:
        check_writable(log, output, what="description")
        if output.exists():
            remedy = "Name another file, or remove this one first"
            raise InputError("there is a file by this name, which may have been edited", place=str(output), remedy=remedy)
    with progress_bar(f"reading {log.name}", quiet=quiet) as progress:
        options["progress"] = progress
        found = api.describe(log, **options)
    text = found.to_toml()
    if output is not None:
        with atomic_output(output) as stream:
            stream.write(text.encode())
    if as_json:
        more = {"open": {key: getattr(found, key) for key in found.unsettled}, "reasons": dict(found.reasons)}
        print_json(found.to_dict() | more | {"output": None if output is None else str(output)})
    elif output is None:
        print(text, end="")
    elif not quiet:
        files = " ".join(map(shlex.quote, (str(log), "-o", "OUT", "--description", str(output))))
        lines = (f"Wrote {output}. Read it, and correct what is wrong. Then:", f"  {libra_command()} anonymize {files}")
        print("\n".join(map(printable, lines)))
    open_keys = (f"{key} is commented out: {why}. Settle it before the log is read." for key, why in found.unsettled.items())
    print_notes((*open_keys, *found.notes), quiet=quiet)
