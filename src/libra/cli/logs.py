"""Commands on one log: inspect, describe, convert, simulate."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from libra._system.shell import libra_command
from libra.cli.measure import show_log_risk
from libra.cli.options import Json, LogPath, Quiet, argument, command, option, output_option, switch
from libra.cli.output import Stages, columns_taken, percent, print_json, print_notes, print_result, say, table
from libra.errors import InputError, UsageError
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.eventlog.log import EventLog
    from libra.measures.summary import AttributeSummary, InstanceSummary, Summary

LONG_TRACE, MANY_ATTRIBUTES, MANY_LABELS = 12, 30, 10  # of which more are not shown
MODEL_HELP = "Generate from a released model, which libra anonymize --model writes. Default: an emergency department."
PLURALS = {"case": "cases", "event": "events", "activity": "activities", "variant": "variants"}


@command(
    "libra inspect log.xes.gz",
    "libra inspect visits.csv --case-id Patient --case-id Visit",
    "libra inspect log.xes.gz --risk",
    "libra inspect log.csv --json",
)
def inspect(
    log: LogPath,
    options: ReadKeywords,
    *,
    risk: Annotated[bool, switch("--risk", "Also how many cases stand out to those who know some of their events.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what is in a log: its figures, the detected columns, and how many cases stand out."""
    from libra import api
    from libra.eventlog.notes import with_loss

    read = api.read(log, **options | {"progress": Stages(quiet=quiet)})
    summary = api.inspect(read, risk=risk)
    if as_json:
        print_json(summary.to_dict() | {"roles": roles_of(read)})
    else:
        show_summary(log, read, summary)
        if "description" not in options:
            from libra.reporting.commands import reading_flags

            describing = f"{libra_command()} describe {shlex.join((str(log), '-o', 'log.toml', *reading_flags(options)))}"
            say()
            say(f"Before a release, write down how it is read: {describing}", wrapped=False)
    print_notes(with_loss(read.notes), quiet=quiet)


def roles_of(log: EventLog) -> list[dict[str, Any]]:
    """The roles as scripts read them: columns, reason, and the flag that overrides the choice."""
    from libra.eventlog.tables.roles import FLAGS

    return [vars(found) | {"columns": list(found.columns), "flag": FLAGS[found.role]} for found in log.roles]


def show_summary(path: Path, log: EventLog, summary: Summary) -> None:
    """Figures, columns, attributes, frequent variants, and what stands out."""
    from libra.measures.summary import FEW

    say(str(path), bold=True)
    counts = ((summary.cases, "case"), (summary.events, "event"), (summary.activities, "activity"), (summary.variants, "variant"))
    say(", ".join(f"{count:,} {word if count == 1 else PLURALS[word]}" for count, word in counts))
    say(f"from {summary.start} to {summary.end}")
    length = summary.trace_length
    if length is not None and summary.median_case_duration_hours is not None:
        events = f"{length.min:,} to {length.max:,} events per case, median {length.median:g}"
        if length.min == length.max:
            events = f"{length.min:,} {'event' if length.min == 1 else 'events'} in every case"
        say(f"{events}; median case duration {_duration(summary.median_case_duration_hours)}")
    if summary.instances is not None:
        say(_instances(summary.instances, summary.events))
    roles = ((one["role"].replace("_", " "), " + ".join(one["columns"]), one["reason"], one["flag"]) for one in roles_of(log))
    table("Columns", ("role", "column", "why", "override with"), roles)
    attributes = sorted(summary.attributes, key=lambda attribute: not attribute.releasable)[:MANY_ATTRIBUTES]
    rows = (
        (a.column, _what(a), "yes" if a.releasable else "no", a.reason or "", f"{percent(a.filled_share)} of {a.filled_of}s")
        for a in attributes
    )
    table("Attributes", ("column", "what it is", "release", "why", "has a value"), rows, right=(4,))
    if len(summary.attributes) > MANY_ATTRIBUTES:
        say(f"… and {len(summary.attributes) - MANY_ATTRIBUTES} more attributes; --json lists them all")
        say()
    variants = ((f"{v.cases:,}", percent(v.cases / summary.cases), _trace(v.trace)) for v in summary.top_variants)
    table("Most frequent variants", ("cases", "share", "trace"), variants, right=(0, 1))
    if rare := [(f"{label.cases:,}", label.label) for label in summary.rare_labels[:MANY_LABELS]]:
        table(f"Activities that occur in fewer than {FEW} cases", ("cases", "activity"), rare, right=(0,))
    if len(summary.rare_labels) > MANY_LABELS:
        say(f"… and {len(summary.rare_labels) - MANY_LABELS:,} more; --json lists them all")
        say()
    say(_hint(summary))
    if summary.risk is not None:
        say()
        show_log_risk(summary.risk)


def _what(attribute: AttributeSummary) -> str:
    """What an attribute is, with its kind where that is of interest."""
    kind = attribute.kind if attribute.releasable else None
    return ", ".join(filter(None, (attribute.role or f"time ({attribute.level})", kind)))


def _instances(found: InstanceSummary, rows: int) -> str:
    """How events became activity instances.

    Example:
        >>> from libra.measures.summary import InstanceSummary
        >>> _instances(InstanceSummary(4, 8, 1, 0, {"schedule": 2}), 5)
        '4 of 5 activity instances have a start; 8 events pair, 1 complete event has no start; left out: schedule (2)'
    """
    parts = [f"{found.with_start:,} of {rows:,} activity instances have a start"]
    if found.paired is not None and found.without_start is not None and found.not_completed is not None:
        lone = ((found.without_start, "complete", "no start"), (found.not_completed, "start", "no completion"))
        several = ("event has", "events have")
        parts.append(
            ", ".join(
                [f"{found.paired:,} events pair", *(f"{n:,} {kind} {several[n > 1]} {what}" for n, kind, what in lone if n)]
            )
        )
    if found.left_out:
        parts.append("left out: " + ", ".join(f"{name} ({count:,})" for name, count in found.left_out.items()))
    return "; ".join(parts)


def _hint(summary: Summary) -> str:
    """The risk of being recognized, in words that need no course in privacy."""
    share, other, out = summary.cases_unique_share, "case", "case"
    if summary.cases_of_one_individual_share is not None:
        share, other, out = summary.cases_of_one_individual_share, "individual", "person"
    if share == 0:
        return f"No case has a trace that no other {other} has. Times and attributes may still tell cases apart."
    return (
        f"{percent(share)} of the cases have a trace that no other {other} has: whoever knows which steps a person went through "
        f"can pick that {out} out and read the rest." + (" Times and attributes may tell more cases apart." if share < 1 else "")
    )


def _trace(trace: Sequence[str]) -> str:
    return " > ".join(trace if len(trace) <= LONG_TRACE else (*trace[:LONG_TRACE], f"… ({len(trace) - LONG_TRACE} more)"))


def _duration(hours: float) -> str:
    """A duration in the unit people would choose.

    Example:
        >>> _duration(0), _duration(1 / 60), _duration(0.25), _duration(30), _duration(400), _duration(100_000)
        ('0 minutes', '1 minute', '15 minutes', '30 hours', '16.7 days', '4,167 days')
    """
    amount, unit = (hours * 60, "minutes") if hours < 2 else (hours, "hours") if hours < 72 else (hours / 24, "days")
    number = f"{amount:,.0f}" if amount >= 1000 else f"{amount:.3g}"
    return f"{number} {unit.removesuffix('s') if number == '1' else unit}"


@command(
    "libra describe visits.csv -o log.toml",
    "libra describe visits.csv --case-id Patient --case-id Visit --day-first -o log.toml",
    "libra anonymize visits.csv -o anonymized.csv --description log.toml",
)
def describe(
    log: LogPath,
    options: ReadKeywords,
    *,
    output: Annotated[Path | None, output_option("The file to write; it must not exist yet. Default: print it.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write down how a log is read: columns, times, text, and what a release of it protects.

    Each line of the file says whether it was given, detected (by name or by content) or is a default. Review and correct it. With
    --description, all commands read the log exactly as it says, whatever its content, and refuse what does not fit.
    """
    from libra import api
    from libra._system.files import atomic_output
    from libra.targets import check_writable

    if output is not None:
        check_writable(log, output, what="description")
        if output.exists():
            remedy = "Name another file, or remove this one first"
            raise InputError("this file already exists and may have been edited", place=str(output), remedy=remedy)
    options["progress"] = Stages(quiet=quiet)
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
        say(f"Wrote {output}. Review it and correct what is wrong. Then:", wrapped=False)
        say(f"  {libra_command()} anonymize {files}", wrapped=False)
    open_keys = (f"{key} is commented out: {why}. Settle it before the log is read." for key, why in found.unsettled.items())
    print_notes((*open_keys, *found.notes), quiet=quiet)


@command("libra convert log.xes.gz log.csv", "libra convert export.csv log.xes --case-id Order --activity Step --timestamp Done")
def convert(
    source: Annotated[Path, argument("IN", "The log to read; - for stdin.")],
    options: ReadKeywords,
    *,
    target: Annotated[Path | None, argument("OUT", "The file to write; its extension sets the format; - for stdout.")] = None,
    output: Annotated[Path | None, output_option("The file to write, instead of OUT.", "OUT")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a log in another format: XES, CSV, TSV or Parquet, compressed if the name ends in .gz or .zip."""
    from libra import api
    from libra.eventlog.notes import with_loss
    from libra.targets import check_target

    if (target is None) == (output is None):
        raise UsageError("Name one file to write: libra convert IN OUT, or libra convert IN -o OUT.")
    target = Path(target or output or "")
    check_target(source, target)
    stages = Stages(quiet=quiet)
    log = api.read(source, **options | {"progress": stages})
    notes = (*with_loss(log.notes), *api.write(log, target, progress=stages))
    print_notes((*(() if as_json else columns_taken(log.roles, options)), *notes), quiet=quiet)
    document = {"output": str(target), "columns": log.role_columns, "notes": list(notes)}
    print_result(document, [f"Wrote {target}"], as_json=as_json, quiet=quiet)


@command(
    "libra simulate --cases 1_000_000 -o large.parquet",
    "libra simulate --cases 20000 -o log.xes.gz --seed 7",
    "libra simulate --cases 5000 -o instances.xes --starts",
    "libra simulate --cases 500000 -o like-ours.parquet --model model.json",
)
def simulate(
    *,
    cases: Annotated[int, option("How many cases to generate.")],
    output: Annotated[Path, output_option("The file to write; its extension sets the format.", "OUT")],
    seed: Annotated[int | None, option("Seed: the same seed gives the same log.")] = None,
    model: Annotated[Path | None, option(MODEL_HELP, "FILE")] = None,
    order: Annotated[
        Literal["time", "case"] | None,
        option("Order of events: by time, cases are interleaved, as in a data lake. Default: time; case for XES and models."),
    ] = None,
    starts: Annotated[bool, switch("--starts", "Also say when activities started: start and complete events in XES.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a realistic log of any size, in constant memory. It describes no real patient and no real hospital."""
    from libra.example.stream import simulate

    stages = Stages(quiet=quiet)
    with stages.stage("simulate", output.name) as progress:
        done = simulate(output, cases, seed=seed, model=model, order=order, starts=starts, progress=progress)
    print_notes(done.notes, quiet=quiet)
    document = {"output": str(output), "cases": done.cases, "events": done.events, "order": done.order}
    told = f"Wrote {output}: {done.cases:,} cases, {done.events:,} events"
    print_result(document | {"notes": list(done.notes), "seconds": stages.seconds}, [told], as_json=as_json, quiet=quiet)
