"""Commands to begin with: demo, a tour on the bundled log, and doctor, what is installed."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra._system.shell import libra_command
from libra.cli.options import Json, Quiet, examples
from libra.cli.output import people_console, print_json, print_notes, print_result, table

if TYPE_CHECKING:
    from libra._system.doctor import Check


FILES = ("emergency.xes.gz", "emergency.csv", "anonymized.xes.gz", "certificate.json", "report.html")


@examples("libra demo", "libra demo -o tour")
def demo(
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write to; created if missing.")
    ] = Path("libra-demo"),
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """A tour on the bundled log of a simulated emergency room: inspect, convert, anonymize, verify, measure and report."""
    from libra import api, example
    from libra.certificate.document import fingerprint
    from libra.cli.anonymize import show_release
    from libra.cli.certificates import show_verification
    from libra.cli.logs import show_summary
    from libra.cli.measure import show_utility
    from libra.errors import InputError
    from libra.measures import measure
    from libra.measures.summary import summarize
    from libra.reporting.build import draft_of_release
    from libra.reporting.commands import Names

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("this folder cannot be made", place=str(output), remedy="Name another one with --output") from error
    log = api.read(example.path())
    original, table, anonymized, certificate, report = (output / name for name in FILES)
    notes = list(dict.fromkeys(note for file in (original, table) for note in (*log.notes, *api.write(log, file))))
    release = api.anonymize(log)
    release.write(anonymized, certificate=certificate)
    notes = list(dict.fromkeys((*notes, *release.notes)))
    names = Names(original.name, anonymized.name, certificate.name)
    page = draft_of_release(release, log, names=names).report({"file": anonymized.name} | fingerprint(anonymized))
    page.save(report)
    summary, verification, utility = summarize(log), api.verify(certificate, anonymized), measure(log, release.log)
    if not as_json and not quiet:
        show_summary(original, log, summary)
        print()
        show_release(release, anonymized, certificate)
        print()
        show_verification(verification)
        print()
        show_utility(original, anonymized, utility)
    print_notes(notes, quiet=quiet)
    document = {
        "files": [str(output / name) for name in FILES],
        "inspect": summary.to_dict(),
        "anonymize": release.to_dict(),
        "verify": verification.to_dict(),
        "measure": utility.to_dict(),
        "report": page.to_dict(),
        "notes": notes,
    }
    print_result(document, next_steps(original, table, certificate, report), as_json=as_json, quiet=quiet)


def next_steps(packed: Path, table: Path, certificate: Path, report: Path) -> list[str]:
    """What to try after the tour, spelled so that it can be copied into this shell."""
    libra = libra_command()
    names = (packed.name, table.name, "log.parquet", "out.csv", certificate.name, "new.json", "new-report.html")
    log, csv, parquet, out, promise, new, page = (shlex.quote(str(table.with_name(name))) for name in names)
    return [
        f"All files are in {table.parent}",
        "",
        "Try next:",
        f"  {libra} inspect {csv}",
        f"  {libra} convert {csv} {parquet}",
        f"  {libra} certificate {promise}",
        f"  {libra} anonymize {csv} -o {out} --epsilon 0.5 --certificate {new} --explain",
        f"  {libra} measure {log} {out}",
        f"  {libra} report {csv} {out} --certificate {new} -o {page}",
        f"  {libra} inspect YOUR-LOG.csv",
        "",
        f"What was protected and what was lost, on one page for your browser: {report}",
    ]


@examples("libra doctor", "libra doctor --json")
def doctor(*, as_json: Json = False) -> None:
    """Say step by step what is installed, what is missing, and how to get it."""
    from libra._system.doctor import examine

    checks = examine()
    ok = all(check.ok for check in checks if check.required)
    if as_json:
        print_json({"ok": ok, "checks": [check.to_dict() for check in checks]})
    else:
        show_checks(checks)
    if not ok:
        raise typer.Exit(1)


def show_checks(checks: Sequence[Check]) -> None:
    """One line a check, then the commands that install what is missing."""
    rows = [
        ("ok" if check.ok else "missing", check.name, check.found, check.purpose, "" if check.ok else check.remedy)
        for check in checks
    ]
    table("What Libra found", ("", "part", "found", "for", "get it with"), rows)
    lacking = [check.name for check in checks if check.required and not check.ok]
    people_console().print(f"Missing: {', '.join(lacking)}." if lacking else "Everything that is required is there.")
