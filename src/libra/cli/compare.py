"""`libra compare`: mechanisms side by side on the same logs, at the same budgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from libra.cli.options import Json, Quiet, argument, command, option, output_option, switch
from libra.cli.output import Stages, people_console, print_json, print_notes, say, table
from libra.errors import UsageError
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.compared import Comparison
    from libra.reporting.comparison_files import Table


@command(
    "libra compare log.xes.gz",
    "libra compare sepsis.xes.gz bpic13.xes.gz --mechanisms libra,travas --epsilon 0.1,1 -o comparison",
    "libra compare log.xes.gz --epsilon 0.1,1,10 --report comparison.html",
    "libra compare log.csv --mechanisms libra,libra:tail=drop,libra:gamma=0.05:subsamples=20 --epsilon 1 --json",
)
def compare(
    logs: Annotated[list[Path], argument("LOG...", "Event logs: XES, CSV, TSV or Parquet; .gz and .zip too.")],
    options: ReadKeywords,
    *,
    mechanisms: Annotated[
        list[str] | None,
        option(
            "Mechanisms to compare, optionally with parameters: libra:tail=drop. Default: all.", "A,B,…", flags="--mechanisms -m"
        ),
    ] = None,
    epsilon: Annotated[str, option("Privacy budgets.", "A,B,…", None, "--epsilon -e", shown=True)] = "0.1,1,4.7",
    delta: Annotated[float, option("Privacy parameter delta, for every epsilon.", shown=True)] = 1e-4,
    seeds: Annotated[int, option("Number of runs of each kind; their seeds are 0, 1, 2, …", shown=True)] = 3,
    shared: Annotated[
        list[str] | None, option("A parameter for all mechanisms that take it. May be repeated.", "NAME=VALUE", flags="--set")
    ] = None,
    time_limit: Annotated[float, option("Time limit of a run; the table has a dash beyond it.", "SECONDS", shown=True)] = 300.0,
    memory_limit: Annotated[float, option("Memory limit of a run; the table has a dash beyond it.", "GB", shown=True)] = 4.0,
    processes: Annotated[int | None, option("Number of runs at once. Default: one per core.")] = None,
    cache: Annotated[Path | None, option("Folder that keeps finished runs. Default: the user's cache.", "DIR")] = None,
    no_cache: Annotated[bool, switch("--no-cache", "Run everything, and keep nothing.")] = False,
    output: Annotated[Path | None, output_option("Write tables and plots there.", "DIR")] = None,
    report: Annotated[Path | None, option("Write a page with charts and tables, an .html file.", "FILE")] = None,
    form: Annotated[
        Literal["table", "markdown", "csv"], option("How to print the tables.", flags="--format", shown=True)
    ] = "table",
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run mechanisms on logs at several budgets and compare what comes out: utility, time, memory, guarantee.

    Each run is a process of its own. Results are kept, so that an interrupted comparison continues where it stopped. Everything
    is confidential: it compares with the original. The exit code is 1 if no run gave a result.
    """
    from libra import api
    from libra.comparison.plan import parsed_parameters
    from libra.reporting.comparison_files import check_folder
    from libra.targets import check_page_name, check_writable

    if no_cache and cache is not None:
        raise UsageError("--cache and --no-cache contradict each other. Remove one of them.")
    try:
        budgets = [float(part) for part in epsilon.split(",") if part.strip()]
    except ValueError as error:
        raise UsageError(f'--epsilon "{epsilon}" is not a list of numbers. Write it as 0.1,1,4.7.') from error
    if output is not None:
        check_folder(output)
    if report is not None and output is not None and report.parent == output and not output.exists():
        check_page_name(report)  # its folder is made with the results
    elif report is not None:
        for path in logs:
            check_writable(path, report, "report")
    options["progress"] = Stages(quiet=quiet)
    asked: dict[str, Any] = {"mechanisms": mechanisms or None, "parameters": parsed_parameters(shared or ())}
    budget: dict[str, Any] = {"epsilon": budgets, "delta": delta, "seeds": seeds}
    limits: dict[str, Any] = {"time_limit": time_limit, "memory_limit": memory_limit, "processes": processes}
    found = api.compare(logs, cache=not no_cache if cache is None else cache, **asked, **budget, **limits, **options)
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
        if output is not None:
            say(f"Wrote {len(written) - (report is not None)} files to {output}.")
        if report is not None:
            say(f"Wrote {report}. It is as confidential as the tables.")
    if not found.has_results:
        raise typer.Exit(1)


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
    """All columns if the terminal is wide enough; else the essential ones, then fewer of them and no spread."""
    from rich.cells import cell_len

    from libra.reporting.comparison_files import ESSENTIAL, NARROWER

    essential = whole.only(ESSENTIAL)
    for form in (whole, essential, *(one.without_spread() for one in (essential, *map(whole.only, NARROWER)))):
        columns = list(zip(form.headings, *form.rows, strict=True))
        width = sum(max(map(cell_len, column)) for column in columns) + 3 * (len(columns) - 1) + 2  # where no cell is broken
        if width <= people_console().width:
            break
    return form
