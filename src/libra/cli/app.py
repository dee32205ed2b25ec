"""The commands. Each reads its flags, calls the API and prints: a table for people or, with --json, one document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from libra.cli.input_options import takes_log_options
from libra.cli.output import Json, Quiet, print_json, print_notes
from libra.cli.progress import progress_bar
from libra.keywords import ReadKeywords

app = typer.Typer(
    name="libra", rich_markup_mode="rich", pretty_exceptions_enable=False, context_settings={"max_content_width": 110}
)

LogPath = Annotated[
    Path, typer.Argument(metavar="LOG", help="An event log: XES, CSV, TSV or Parquet; .gz and .zip too.", show_default=False)
]


def _examples(*lines: str) -> str:
    return "\n".join(("[bold]Examples[/bold]", *(f"  {line}" for line in lines)))


def _show_version(asked: bool) -> None:
    if asked:
        from libra._version import __version__

        print(f"libra {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, epilog=_examples("libra demo", "libra inspect log.csv --case-id Patient"))
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Event logs for process mining: look into them, convert them, measure what a copy still tells."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command(
    epilog=_examples(
        "libra inspect log.xes.gz", "libra inspect visits.csv --case-id Patient --case-id Visit", "libra inspect log.csv --json"
    )
)
@takes_log_options
def inspect(log: LogPath, options: ReadKeywords, *, as_json: Json = False, quiet: Quiet = False) -> None:
    """Show what is in a log: its figures, the columns found, and how many cases stand out."""
    from libra import api
    from libra.cli import pages
    from libra.eventlog.summary import summarize

    with progress_bar(f"reading {log.name}", quiet=quiet) as progress:
        options["progress"] = progress
        read = api.read(log, **options)
    summary = summarize(read)
    if as_json:
        print_json(summary.to_dict() | {"roles": pages.roles_of(read)})
    else:
        pages.show_summary(log, read, summary)
    print_notes(read.notes, quiet=quiet)


@app.command(
    epilog=_examples(
        "libra convert log.xes.gz log.csv", "libra convert export.csv log.xes --case-id Order --activity Step --timestamp Done"
    )
)
@takes_log_options
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The log to read.", show_default=False)],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="The file to write; its name says the format.", show_default=False)
    ],
    options: ReadKeywords,
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a log in another format: XES, CSV, TSV or Parquet, packed where the name ends in .gz or .zip."""
    from libra import api
    from libra.cli import pages

    api.check_target(source, target)
    with progress_bar(f"reading {source.name}", quiet=quiet) as progress:
        options["progress"] = progress
        log = api.read(source, **options)
    with progress_bar(f"writing {target.name}", quiet=quiet) as progress:
        notes = (*log.notes, *api.write(log, target, progress=progress))
    print_notes((*(() if as_json else pages.columns_taken(log, options)), *notes), quiet=quiet)
    document = {"output": str(target), "columns": log.role_columns, "notes": list(notes)}
    _done(document, [f"Wrote {target}"], as_json=as_json, quiet=quiet)


@app.command(epilog=_examples("libra measure log.xes.gz anonymized.xes.gz", "libra measure log.csv anonymized.csv --json"))
@takes_log_options
def measure(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="The log as it was.", show_default=False)],
    anonymized: Annotated[Path, typer.Argument(metavar="ANONYMIZED", help="The log to judge; may be empty.", show_default=False)],
    options: ReadKeywords,
    *,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare a log with its original: frequencies, variants, lengths, durations, arrivals.

    All flags apply to both logs. Where the anonymized one lacks a column that is named, that role is found there by itself.
    """
    from libra import api
    from libra.cli import pages
    from libra.measures import measure as compare

    with progress_bar(f"reading {original.name} and {anonymized.name}", quiet=quiet) as progress:
        options["progress"] = progress
        first, second = api.read_pair(original, anonymized, **options)
    utility = compare(first, second)
    notes = [f"{path.name}: {note}" for path, log in ((original, first), (anonymized, second)) for note in log.notes]
    if as_json:
        print_json(utility.to_dict() | {"notes": notes})
    else:
        pages.show_utility(original, anonymized, utility)
    print_notes(notes, quiet=quiet)


@app.command(epilog=_examples("libra demo", "libra demo --out tour"))
def demo(
    *,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write; made if missing.")] = Path("libra-demo"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A tour on the bundled log of a simulated emergency room: inspect it, convert it, say what to try next."""
    from libra import api, example
    from libra.cli import pages
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
        pages.show_summary(files[0], log, summary)
    print_notes(notes, quiet=quiet)
    document = {"files": [str(file) for file in files], "inspect": summary.to_dict(), "notes": notes}
    _done(document, pages.next_steps(*files), as_json=as_json, quiet=quiet)


@app.command(epilog=_examples("libra doctor", "libra doctor --json"))
def doctor(*, as_json: Json = False) -> None:
    """Say step by step what is installed, what is missing, and how to get it."""
    from libra.cli import pages
    from libra.doctor import examine

    checks = examine()
    ok = all(check.ok for check in checks if check.required)
    if as_json:
        print_json({"ok": ok, "checks": [check.to_dict() for check in checks]})
    else:
        pages.show_checks(checks)
    if not ok:
        raise typer.Exit(1)


def _done(document: dict[str, Any], lines: list[str], *, as_json: bool, quiet: bool) -> None:
    from libra.cli.output import printable

    if as_json:
        print_json(document)
    elif not quiet:
        print("\n".join(printable(line) for line in lines))
