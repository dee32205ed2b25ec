"""`libra compare`: mechanisms side by side on the same logs, at the same budgets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from libra.cli.input_options import OUTPUT, takes_log_options
from libra.cli.output import Json, Quiet, people_console, print_json, print_notes
from libra.cli.paragraphs import say
from libra.cli.progress import doing_bar, progress_bar
from libra.cli.tables import table
from libra.errors import UsageError
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.comparison import Comparison
    from libra.reporting.comparison_tables import Table

EXAMPLES = (
    "libra compare log.xes.gz",
    "libra compare sepsis.xes.gz bpic13.xes.gz --mechanisms libra,travas --epsilon 0.1,1 -o comparison",
    "libra compare log.xes.gz --epsilon 0.1,1,10 --report comparison.html",
    "libra compare log.csv --mechanisms libra,libra:tail=drop,libra:gamma=0.05:subsamples=20 --epsilon 1 --json",
)
NO_RESULT = 1
Form = Literal["table", "markdown", "csv"]


@takes_log_options
def compare(
    logs: Annotated[
        list[Path],
        typer.Argument(metavar="LOG...", help="Event logs: XES, CSV, TSV or Parquet; .gz and .zip too.", show_default=False),
    ],
    options: ReadKeywords,
    *,
    mechanisms: Annotated[
        list[str] | None,
        typer.Option(
            "--mechanisms",
            "-m",
            metavar="A,B,…",
            help="Which, each with parameters if you like: libra:tail=drop. Default: all there are.",
            show_default=False,
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", metavar="A,B,…", help="The budgets.")] = "0.1,1,4.7",
    delta: Annotated[float, typer.Option("--delta", help="Privacy parameter delta, with every epsilon.")] = 1e-4,
    seeds: Annotated[int, typer.Option("--seeds", help="How many runs of each kind; their seeds are 0, 1, 2, …")] = 3,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter for all mechanisms that take it. May be repeated.",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="What a run may take; beyond it there is a dash.")
    ] = 300.0,
    memory_limit: Annotated[
        float, typer.Option("--memory-limit", metavar="GB", help="What a run may take; beyond it there is a dash.")
    ] = 4.0,
    processes: Annotated[
        int | None, typer.Option("--processes", help="How many runs at once. Default: one a core.", show_default=False)
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--cache",
            metavar="DIR",
            help="Where finished runs are kept, for the next time. Default: the user's cache.",
            show_default=False,
        ),
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Run everything, and keep nothing.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Write tables and plots there.", rich_help_panel=OUTPUT, show_default=False
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="Write a page with charts and tables, an .html file.",
            rich_help_panel=OUTPUT,
            show_default=False,
        ),
    ] = None,
    form: Annotated[Form, typer.Option("--format", help="How to print the tables.", rich_help_panel=OUTPUT)] = "table",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run mechanisms on logs at several budgets and compare what comes out: utility, time, memory, guarantee.

    Each run is a process of its own. What it finds is kept, so that an interrupted comparison goes on where it was. Everything
    is confidential: it compares with the original. The exit code is 1 if no run gave a result.
    """
    from libra import api
    from libra.comparison.compare import cache_of, checked_processes, named
    from libra.comparison.compare import compare as run_all
    from libra.comparison.comparison import Limits
    from libra.comparison.folder import check_folder
    from libra.comparison.plan import plan_of
    from libra.comparison.setting import parsed_parameters, settings_of
    from libra.targets import check_page, check_page_name

    if no_cache and cache is not None:
        raise UsageError("--cache and --no-cache contradict each other. Say one of them.")
    if report is not None:
        check_page_name(report)
    limits, at_once = Limits(time_limit, memory_limit), checked_processes(processes)
    plan = plan_of(settings_of(mechanisms or None, parsed_parameters(parameters or ())), _numbers(epsilon), delta, seeds)
    kept = cache_of(cache if cache is not None else not no_cache)
    read = {}
    for name, path in named(logs).items():
        with progress_bar(f"reading {path}", quiet=quiet) as progress:
            options["progress"] = progress
            read[name] = api.read(path, **options)
    if output is not None:
        check_folder(output)
    if report is not None:
        for path in logs:
            check_page(path, report, what="report")
    with doing_bar("comparing", quiet=quiet) as told:
        found = run_all(read, plan, limits, at_once, kept, told)
    written = found.write(output) if output is not None else []
    written += [found.report().save(report)] if report is not None else []
    notes = [f"{log.name}: {note}" for log in found.logs for note in log.notes] + list(found.notes)
    if as_json:
        print_json(found.to_dict() | {"written": [str(path) for path in written], "notes": notes})
    elif form == "table":
        show_comparison(found)
    else:
        print(found.to_markdown() if form == "markdown" else found.to_csv(), end="")
    print_notes(notes, quiet=quiet)
    if not as_json and form == "table" and not quiet:
        _say_written(written, output, report)
    if not found.has_results:
        raise typer.Exit(NO_RESULT)


def _say_written(written: Sequence[Path], folder: Path | None, report: Path | None) -> None:
    if folder is not None:
        say(f"Wrote {len(written) - (report is not None)} files to {folder}.")
    if report is not None:
        say(f"Wrote {report}. It is as confidential as the tables.")


def show_comparison(found: Comparison) -> None:
    """One table a log, with as many columns as there is room for, and what is to be said about it."""
    from libra.comparison.comparison import CHOICE, CONFIDENTIAL
    from libra.reporting.comparison_tables import FIRST, LEGEND, table_of

    for log in found.logs:
        shown = _fitting(table_of(found, log))
        right = [place for place, heading in enumerate(shown.headings) if heading not in (FIRST[0], "guarantee", "audit")]
        table(f"{shown.log}, {found.said_delta}", shown.headings, shown.rows, right=right)
        for note in shown.footnotes:
            say(note, lead="- ")
    say(LEGEND)
    say(CONFIDENTIAL, bold=True)
    say(CHOICE)


def _fitting(whole: Table) -> Table:
    """All columns where the terminal is wide enough; else the essential ones, then fewer of them and no spread."""
    from libra.reporting.comparison_tables import ESSENTIAL, NARROWER

    essential = whole.only(ESSENTIAL)
    narrower = [whole.only(headings) for headings in NARROWER]
    forms = [whole, essential, essential.without_spread(), *(form.without_spread() for form in narrower)]
    return next((form for form in forms if _width(form) <= people_console().width), forms[-1])


def _width(shown: Table) -> int:
    """How many characters a table takes where no cell is broken: three between two columns, and one at each end."""
    from rich.cells import cell_len

    columns = list(zip(shown.headings, *shown.rows, strict=True))
    return sum(max(map(cell_len, column)) for column in columns) + 3 * (len(columns) - 1) + 2


def _numbers(said: str) -> list[float]:
    try:
        return [float(part) for part in said.split(",") if part.strip()]
    except ValueError as error:
        raise UsageError(f'--epsilon "{said}" is no list of numbers. Say it as 0.1,1,4.7.') from error
