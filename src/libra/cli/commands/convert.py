"""`libra convert`: any format to any other."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from libra.cli.columns import columns_taken
from libra.cli.input_options import takes_log_options
from libra.cli.output import Json, Quiet, print_notes, print_result
from libra.cli.progress import progress_bar
from libra.keywords import ReadKeywords

EXAMPLES = (
    "libra convert log.xes.gz log.csv",
    "libra convert export.csv log.xes --case-id Order --activity Step --timestamp Done",
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
    from libra.eventlog.notes import with_loss
    from libra.targets import check_target

    check_target(source, target)
    with progress_bar(f"reading {source.name}", quiet=quiet) as progress:
        options["progress"] = progress
        log = api.read(source, **options)
    with progress_bar(f"writing {target.name}", quiet=quiet) as progress:
        notes = (*with_loss(log.notes), *api.write(log, target, progress=progress))
    print_notes((*(() if as_json else columns_taken(log.roles, options)), *notes), quiet=quiet)
    document = {"output": str(target), "columns": log.role_columns, "notes": list(notes)}
    print_result(document, [f"Wrote {target}"], as_json=as_json, quiet=quiet)
