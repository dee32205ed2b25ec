"""Commands to begin with: demo, a tour on the bundled log, and doctor, what is installed."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from libra._system.shell import libra_command
from libra.cli.options import Json, Quiet, command, output_option
from libra.cli.output import people_console, print_json, print_notes, print_result, table
from libra.errors import InputError

FILES = ("emergency.xes.gz", "emergency.csv", "anonymized.xes.gz", "certificate.json", "report.html")


@command("libra demo", "libra demo -o tour")
def demo(
    *,
    output: Annotated[Path, output_option("Folder to write to; created if missing.", "FOLDER", shown=True)] = Path("libra-demo"),
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
    from libra.measures import measure
    from libra.measures.summary import summarize
    from libra.reporting.build import draft_of_release
    from libra.reporting.commands import Names

    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError("this folder cannot be created", place=str(output), remedy="Name another one with --output") from error
    log = api.read(example.path())
    original, table, anonymized, certificate, report = (output / name for name in FILES)
    notes = [*log.notes, *api.write(log, original), *api.write(log, table)]
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
    files, described = [str(output / name) for name in FILES], {"inspect": summary.to_dict(), "anonymize": release.to_dict()}
    checked = {"verify": verification.to_dict(), "measure": utility.to_dict(), "report": page.to_dict()}
    document = {"files": files, **described, **checked, "notes": notes}
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


@command("libra doctor", "libra doctor --json")
def doctor(*, as_json: Json = False) -> None:
    """Show what is installed, what is missing, and how to get it."""
    from libra._system.doctor import examine

    checks = examine()
    lacking = [check.name for check in checks if check.required and not check.ok]
    if as_json:
        print_json({"ok": not lacking, "checks": [asdict(check) for check in checks]})
    else:
        rows = [
            ("ok" if check.ok else "missing", check.name, check.found, check.purpose, "" if check.ok else check.remedy)
            for check in checks
        ]
        table("What Libra found", ("", "part", "found", "for", "get it with"), rows)
        people_console().print(f"Missing: {', '.join(lacking)}." if lacking else "Everything required is installed.")
    if lacking:
        raise typer.Exit(1)
