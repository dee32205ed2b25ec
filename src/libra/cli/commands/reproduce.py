"""`libra reproduce`: the paper's tables for the logs in a folder, ours and the printed values side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from libra.cli.input_options import OUTPUT
from libra.cli.output import Json, Quiet, print_json, print_notes, printable
from libra.cli.progress import progress_bar
from libra.reproduce import settings_named

EXAMPLES = ("libra reproduce --logs logs", "libra reproduce --logs logs --setting printed --seeds 3 --out tables.md")


def reproduce(
    *,
    logs: Annotated[
        Path,
        typer.Option(
            "--logs",
            metavar="DIR",
            help="A folder with event logs; names such as sepsis.xes.gz tell the paper's.",
            show_default=False,
        ),
    ],
    alpha: Annotated[
        list[float] | None,
        typer.Option(
            "--alpha", help="An order to try. May be said several times; 2, 10 and 100 if not said.", show_default=False
        ),
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many runs of each kind; their seeds are 0, 1, 2, …")] = 5,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--setting",
            metavar="NAME",
            help="How to read the paper: printed (what fits its tables best), text (with trace noise), or stated (with "
            "its delta too). May be said several times; all three if not said.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.md", help="Write the Markdown there.", rich_help_panel=OUTPUT, show_default=False),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compute the tables of the paper anew with libra2022, and print them as Markdown."""
    from libra._system.files import atomic_output
    from libra.privacy.arguments import checked_order
    from libra.reproduce import run
    from libra.reproduce.page import page
    from libra.reproduce.run import log_files, read_logs
    from libra.targets import check_writable

    settings = settings_named(setting or ())
    alphas = tuple(dict.fromkeys(checked_order(order, "alpha") for order in alpha or run.ALPHAS))
    files = log_files(logs)
    if out:
        for file in files:
            check_writable(file, out)
    read = read_logs(files, lambda path: progress_bar(f"reading {path.name}", quiet=quiet))
    with progress_bar("anonymizing and measuring", quiet=quiet) as progress:
        found = run.reproduce(read, settings, alphas, range(seeds), progress)
    text = "\n".join(map(printable, page(found))) + "\n"
    if out:
        with atomic_output(out) as stream:
            stream.write(text.encode())
    notes = [f"{name}: {note}" for name, log in read.items() for note in log.notes]
    print_notes(notes, quiet=quiet)
    if as_json:
        print_json(found.to_dict() | {"out": str(out) if out else None, "notes": notes})
    elif out and not quiet:
        print(f"Wrote {printable(str(out))}")
    elif not out:
        print(text, end="")
