"""Commands on mechanisms: mechanisms, which lists them, audit, an attempt to refute a claim, and compare, them side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from libra.cli.options import (
    GUARANTEE,
    Json,
    LogPath,
    MechanismName,
    Quiet,
    argument,
    command,
    flag_of,
    option,
    output_option,
    switch,
)
from libra.cli.output import Stages, people_console, print_json, print_notes, say, table
from libra.errors import UsageError
from libra.keywords import OtherParameters, ReadKeywords

if TYPE_CHECKING:
    from libra.compared import Comparison
    from libra.measures.audit import Audit
    from libra.reporting.comparison_files import Table


@command("libra mechanisms", "libra mechanisms travas", "libra mechanisms --json")
def mechanisms(
    name: Annotated[str | None, argument("NAME", "Show the parameters of this mechanism.")] = None, *, as_json: Json = False
) -> None:
    """List the mechanisms, or the parameters of one: meaning, default and range.

    Parameters without a flag of their own are set with --set NAME=VALUE.
    """
    from libra.mechanisms.mechanism import description_of
    from libra.mechanisms.mechanism import mechanisms as listed

    if name is None:
        found = listed().values()
        if as_json:
            print_json({"mechanisms": [one.to_dict() for one in found]})
            return
        table("Mechanisms", ("name", "what it does"), [(one.name, one.summary) for one in found])
        say("libra mechanisms NAME shows the parameters of one.")
        return
    one = description_of(name)
    if as_json:
        print_json(one.to_dict())
        return
    rows = [(parameter.name, parameter.shown_default, parameter.allowed, parameter.meaning) for parameter in one.parameters]
    say(f"{one.name}: {one.summary}")
    table("Parameters", ("name", "default", "values", "meaning"), rows)
    flags = [flag_of(parameter.name) for parameter in one.parameters]
    with_flag = [flag for flag in flags if flag]
    if with_flag:
        say(f"Flags: {', '.join(with_flag)}.{' Set the others with --set NAME=VALUE.' if len(with_flag) < len(flags) else ''}")
    elif flags:
        say("Set them with --set NAME=VALUE.")


@command(
    "libra audit log.xes.gz",
    "libra audit log.xes.gz --mechanism libra2022 --alpha 10 --epsilon 1",
    "libra audit log.csv --tail nearest --runs 100000 --time-limit 1800 --json",
)
def audit(
    log: LogPath,
    options: ReadKeywords,
    parameters: OtherParameters,
    *,
    mechanism: MechanismName = "libra",
    epsilon: Annotated[
        float | None, option("Claimed epsilon to test. Default: 1, or as the authors claim.", panel=GUARANTEE)
    ] = None,
    delta: Annotated[float, option("Claimed delta to test, not too small. Default: 0.01.", panel=GUARANTEE)] = 1e-2,
    runs: Annotated[int, option("Number of runs in all, of both sides and all canaries.", shown=True)] = 10_000,
    time_limit: Annotated[
        float, option("Time limit, which applies once a few hundred runs are done.", "SECONDS", shown=True)
    ] = 240.0,
    processes: Annotated[int | None, option("Number of runs at once. Default: one per core.")] = None,
    canary: Annotated[list[str] | None, option("Try only this canary. May be repeated. Default: all.", "NAME")] = None,
    seed: Annotated[int | None, option("Seed, to repeat an audit.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to refute what a mechanism claims: a lower bound on its epsilon, from runs with and without one case.

    The exit code is 1 if the claim is refuted. A claim that is not refuted may still be wrong: docs/guarantees.md has the proofs.
    """
    import os

    from libra import api

    options["progress"] = Stages(quiet=quiet)
    claim: dict[str, Any] = {"mechanism": mechanism, "epsilon": epsilon, "delta": delta, "canary": canary or None}
    at_once = (os.cpu_count() or 1) if processes is None else processes
    effort: dict[str, Any] = {"runs": runs, "time_limit": time_limit, "processes": at_once, "seed": seed}
    found = api.audit(log, **claim, **effort, **options, **parameters)
    if as_json:
        print_json(found.to_dict())
    else:
        show_audit(found)
    print_notes(found.notes, quiet=quiet)
    if found.refuted:
        raise typer.Exit(1)


def show_audit(found: Audit) -> None:
    """The claim, what each canary proved, and what that means."""
    claim = found.claim
    unit = "individual" if claim.of_individuals else "case"
    title = f"{found.mechanism}, at ({claim.epsilon:.4g}, {claim.delta:.4g}) for one {unit}, {claim.source}"
    rows = []
    for one in found.findings:
        proved = f"{one.epsilon_low:.2f}" + (" !" if one.refutes else "")
        rows.append((one.canary, proved, f"{one.claim.epsilon:.4g}", one.event, *one.times))
    header = ("a canary that", "epsilon at least", "claim", "told by", "with it", "without")
    table(title, header, rows, right=(1, 2, 4, 5))
    for sentence in verdict(found):
        say(sentence)


def verdict(found: Audit) -> list[str]:
    """What the figures mean, in a few sentences."""
    from libra.measures.audit.events import MOST_RUNS

    claimed = f"({found.claim.epsilon:.4g}, {found.claim.delta:.6g})"
    took = f"{found.runs:,} runs in {found.seconds:,.0f} seconds."
    if found.refuted:
        worst = next(finding for finding in found.findings if finding.refutes)
        proved = (
            f"Refuted: {found.mechanism} is not {claimed}-differentially private. A canary that {worst.canary} gives itself away "
            f"by {worst.event}. At delta {worst.claim.delta:.3g} epsilon is at least {worst.epsilon_low:.2f}; at epsilon "
            f"{worst.claim.epsilon:.3g} delta is at least {worst.delta_low:.2g}."
        )
        return [proved, f"A true claim is refuted like this with a probability of {found.mistaken:g} at most. {took}"]
    needed = f"{'more than' if found.runs_needed == MOST_RUNS else 'about'} {found.runs_needed:,}"
    return [
        f"Not refuted: nothing was found that {claimed}-differential privacy forbids. This is not a proof. {took}",
        f"An epsilon a quarter above the claim would take {needed} runs per side to be found nine times out of ten, "
        "if a single figure of the release shows all of it, and more otherwise.",
    ]


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
