"""`libra demo`: a tour on the bundled log."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from libra.cli.output import Json, Quiet, print_notes, print_result
from libra.shell import libra_command

EXAMPLES = ("libra demo", "libra demo --out tour")


def demo(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write; made if missing.")] = Path("libra-demo"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A tour on the bundled log of a simulated emergency room: inspect it, convert it, say what to try next."""
    from libra import api, example
    from libra.cli.commands.inspect import show_summary
    from libra.errors import InputError
    from libra.eventlog.summary import summarize

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("this folder cannot be made", place=str(out), remedy="Name another one with --out") from error
    log = api.read(example.path())
    files = (out / "emergency.xes.gz", out / "emergency.csv")
    notes = list(dict.fromkeys(note for file in files for note in (*log.notes, *api.write(log, file))))
    summary = summarize(log)
    if not as_json:
        show_summary(files[0], log, summary)
    print_notes(notes, quiet=quiet)
    document = {"files": [str(file) for file in files], "inspect": summary.to_dict(), "notes": notes}
    print_result(document, next_steps(*files), as_json=as_json, quiet=quiet)


def next_steps(packed: Path, table: Path) -> list[str]:
    """What to try after the tour, spelled so that it can be copied into this shell."""
    libra = libra_command()
    log, csv, parquet = (shlex.quote(str(path)) for path in (packed, table, table.with_suffix(".parquet")))
    return [
        f"Wrote {packed} and {table}",
        "",
        "Try next:",
        f"  {libra} inspect {csv}",
        f"  {libra} convert {csv} {parquet}",
        f"  {libra} measure {log} {csv}",
        f"  {libra} inspect YOUR-LOG.csv",
    ]
