"""Whether what a command will write can be written: asked before any time is spent on reading.

In: a source and the names of targets. Out: nothing, or an error that names the place and the remedy.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from libra.errors import InputError, UsageError

PAGES = (".html", ".htm")


def check_target(source: object, target: str | Path) -> None:
    """Refuse a log file that cannot be written.

    Its name has to say a format, it must not be the source, its folder has to be there and open for writing, and what is there
    under its name has to be a file.

    Example:
        >>> check_target("log.csv", "log.docx")
        Traceback (most recent call last):
        libra.errors.UsageError: log.docx: cannot tell the format to write from this name.
        End it in .xes, .csv, .tsv (each also .gz or .zip) or .parquet.
    """
    from libra.eventlog.files import output_format

    output_format(Path(target))
    check_writable(source, target)


def check_report(source: object, output: str | Path, certificate: str | Path | None, report: str | Path) -> None:
    """Refuse a report that cannot be written, or that would replace the source or what else is written.

    Example:
        >>> check_report("log.csv", "out.csv", "page.html", "page.html")
        Traceback (most recent call last):
        libra.errors.UsageError: page.html: the report would replace the certificate. Name another file.
    """
    check_page(source, report, what="report")
    for what, other in {"output": output, "certificate": certificate}.items():
        if other is not None and Path(report).resolve() == Path(other).resolve():
            raise UsageError(f"{Path(report)}: the report would replace the {what}. Name another file.")


def check_model(source: object, output: str | Path, others: Sequence[str | Path | None], model: str | Path) -> None:
    """Refuse a model that cannot be written, or that would replace the source or what else is written.

    Example:
        >>> check_model("log.csv", "out.csv", (None,), "out.csv")
        Traceback (most recent call last):
        libra.errors.UsageError: out.csv: the model would replace another file of this release. Name another file.
    """
    check_writable(source, model, what="model")
    if any(other is not None and Path(model).resolve() == Path(other).resolve() for other in (output, *others)):
        raise UsageError(f"{Path(model)}: the model would replace another file of this release. Name another file.")


def check_page(source: object, target: str | Path, *, what: str = "page") -> None:
    """Refuse a page that cannot be written, or whose name no browser would take for one."""
    check_page_name(target)
    check_writable(source, target, what=what)


def check_page_name(target: str | Path) -> None:
    """Refuse a name that no browser would take for a page.

    Example:
        >>> check_page_name("report.pdf")
        Traceback (most recent call last):
        libra.errors.UsageError: report.pdf: the page is written as HTML. End its name in .html.
    """
    if Path(target).suffix.lower() not in PAGES:
        raise UsageError(f"{Path(target)}: the page is written as HTML. End its name in .html.")


def check_writable(source: object, target: str | Path, *, what: str = "output") -> None:
    """Refuse a file of any kind that cannot be written, or that is the source.

    Example:
        >>> check_writable("log.csv", "no/such/folder/page.md")
        Traceback (most recent call last):
        libra.errors.InputError: no/such/folder: there is no such folder. Create it first, or write elsewhere.
    """
    path = Path(target)
    try:
        there = _status(path)
        folder = path.resolve().parent
        folder_is_there = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # a name that is too long, links in a circle, a null character
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot be written ({reason})", place=str(path), remedy="Name another output file") from error
    if there and _is_file(source, there):
        raise UsageError(f"{path}: the {what} would replace the input. Name another file for it.")
    if not folder_is_there:
        raise InputError("there is no such folder", place=str(path.parent), remedy="Create it first, or write elsewhere")
    if there and not stat.S_ISREG(there.st_mode):
        raise InputError("this is not a file that can be written", place=str(path), remedy="Name another output file")
    if not os.access(folder, os.W_OK):
        raise InputError("you may not write to this folder", place=str(path.parent), remedy="Write elsewhere")


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_file(source: object, there: os.stat_result) -> bool:
    """Whether a source is the file of this status; one that cannot be looked at is the reader's to complain about."""
    with contextlib.suppress(OSError, ValueError):
        return isinstance(source, str | Path) and os.path.samestat(Path(source).stat(), there)
    return False
