"""`libra verify`: whether a certificate holds, for itself and for a released file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.keys import PublicKeyFile
from libra.cli.output import Json, Quiet, print_json
from libra.cli.paragraphs import say
from libra.cli.progress import Stages

if TYPE_CHECKING:
    from libra.certificate.check import Verification

EXAMPLES = (
    "libra verify certificate.json anonymized.xes.gz",
    "libra verify certificate.json anonymized.xes.gz --key hospital.pub",
    "libra verify certificate.json anonymized.xes.gz --json",
)


def verify(
    certificate: Annotated[Path, typer.Argument(metavar="CERTIFICATE", help="What --certificate wrote.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The released log it is about.", show_default=False)],
    *,
    key: PublicKeyFile = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a certificate: its form, its figures by the ledger in it, its sentences, and that it is about this file.

    With --key it also has to be signed by that key. Without, anyone could have written the certificate, and the verdict is
    "Consistent, not signed" at best.

    The exit code is 0 if everything holds, and 1 if something does not, or if nothing is proved (all that is claimed).
    """
    from libra import api

    found = api.verify(certificate, output, key=key, progress=Stages(quiet=quiet))
    if as_json:
        print_json(found.to_dict())
    elif not quiet:
        show_verification(found)
    if not found.promised:
        raise typer.Exit(1)


def show_verification(found: Verification) -> None:
    """One line a check, then the verdict."""
    width = max(len(check.name) for check in found.checks)
    for check in found.checks:
        told = check.found if check.ok else f"{check.found} {check.meaning}"
        say(told, lead=f"{'ok' if check.ok else 'failed':6}  {check.name:{width}}  ")
    say(found.verdict, bold=True)
