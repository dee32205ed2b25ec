"""`libra compare`: mechanisms side by side on the same logs, at the same budgets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from libra.cli.options import Json, Quiet, argument, examples, option, takes_log_options
from libra.cli.output import Stages, people_console, print_json, print_notes, say, table
from libra.errors import UsageError
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.compared import Comparison
    from libra.reporting.comparison_files import Table


NO_RESULT = 1

Form = Literal["table", "markdown", "csv"]


@examples(
    "libra compare log.xes.gz",
    "libra compare sepsis.xes.gz bpic13.xes.gz --mechanisms libra,travas --epsilon 0.1,1 -o comparison",
    "libra compare log.xes.gz --epsilon 0.1,1,10 --report comparison.html",
    "libra compare log.csv --mechanisms libra,libra:tail=drop,libra:gamma=0.05:subsamples=20 --epsilon 1 --json",
)
@takes_log_options
def compare(
    logs: Annotated[list[Path], argument("LOG...", "Event logs: XES, CSV, TSV or Parquet; .gz and .zip too.")],
    options: ReadKeywords,
    *,
    mechanisms: Annotated[
        list[str] | None,
        option("--mechanisms -m", "Which, each with parameters if you like: libra:tail=drop. Default: all there are.", "A,B,…"),
    ] = None,
    epsilon: Annotated[str, typer.Option("--epsilon", "-e", metavar="A,B,…", help="The budgets.")] = "0.1,1,4.7",
    delta: Annotated[float, typer.Option("--delta", help="Privacy parameter delta, with every epsilon.")] = 1e-4,
    seeds: Annotated[int, typer.Option("--seeds", help="How many runs of each kind; their seeds are 0, 1, 2, …")] = 3,
    parameters: Annotated[
        list[str] | None, option("--set", "A parameter for all mechanisms that take it. May be repeated.", "NAME=VALUE")
    ] = None,
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="What a run may take; beyond it there is a dash.")
    ] = 300.0,
    memory_limit: Annotated[
        float, typer.Option("--memory-limit", metavar="GB", help="What a run may take; beyond it there is a dash.")
    ] = 4.0,
    processes: Annotated[int | None, option("--processes", "How many runs at once. Default: one a core.")] = None,
    cache: Annotated[
        Path | None, option("--cache", "Where finished runs are kept, for the next time. Default: the user's cache.", "DIR")
    ] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Run everything, and keep nothing.")] = False,
    output: Annotated[Path | None, option("--output -o", "Write tables and plots there.", "DIR")] = None,
    report: Annotated[Path | None, option("--report", "Write a page with charts and tables, an .html file.", "FILE")] = None,
    form: Annotated[Form, typer.Option("--format", help="How to print the tables.")] = "table",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run mechanisms on logs at several budgets and compare what comes out: utility, time, memory, guarantee.

    Each run is a process of its own. What it finds is kept, so that an interrupted comparison goes on where it was. Everything
    is confidential: it compares with the original. The exit code is 1 if no run gave a result.
    """
    from libra import api
    from libra.comparison.setting import parsed_parameters
    from libra.reporting.comparison_files import check_folder
    from libra.targets import check_page, check_page_name

    if no_cache and cache is not None:
        raise UsageError("--cache and --no-cache contradict each other. Say one of them.")
    budgets = _numbers(epsilon)
    if output is not None:
        check_folder(output)
    if report is not None and output is not None and report.parent == output and not output.exists():
        check_page_name(report)  # its folder is made with the results
    elif report is not None:
        for path in logs:
            check_page(path, report, what="report")
    options["progress"] = Stages(quiet=quiet)
    found = api.compare(
        logs,
        mechanisms=mechanisms or None,
        epsilon=budgets,
        delta=delta,
        seeds=seeds,
        parameters=parsed_parameters(parameters or ()),
        time_limit=time_limit,
        memory_limit=memory_limit,
        processes=processes,
        cache=cache if cache is not None else not no_cache,
        **options,
    )
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
    from libra.reporting.comparison_files import FIRST, LEGEND, table_of

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
    from libra.reporting.comparison_files import ESSENTIAL, NARROWER

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
