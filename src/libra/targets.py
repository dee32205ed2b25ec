"""Whether what a command will write can be written: asked before any time is spent on reading."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from libra._system.files import reason
from libra.errors import InputError, UsageError


def check_target(source: object, target: str | Path) -> None:
    """Refuse a log file that cannot be written, or whose name says no format."""
    from libra.eventlog.files import output_format

    output_format(Path(target))
    check_writable(source, target)


def check_page_name(target: str | Path) -> None:
    """Refuse a name that no browser would take for a page."""
    if Path(target).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{Path(target)}: the page is written as HTML. End its name in .html.")


def check_writable(
    source: object, target: str | Path, what: str = "output", others: Mapping[str, str | Path | None] | None = None
) -> None:
    """Refuse a file that cannot be written, that is the source, or that would replace one of `others`, by what they are."""
    path = Path(target)
    if what in ("page", "report"):
        check_page_name(path)
    try:
        there = None
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            there = path.stat()
        folder = path.resolve().parent
        folder_is_there = folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:  # a name that is too long, links in a circle, a null character
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"cannot be written ({why})", place=str(path), remedy="Name another output file") from error
    with contextlib.suppress(OSError, ValueError):  # a source that cannot be looked at is the reader's to complain about
        if there and isinstance(source, str | Path) and os.path.samestat(Path(source).stat(), there):
            raise UsageError(f"{path}: the {what} would replace the input. Name another file for it.")
    if not folder_is_there:
        raise InputError("there is no such folder", place=str(path.parent), remedy="Create it first, or write elsewhere")
    if there and not stat.S_ISREG(there.st_mode):
        raise InputError("this is not a file that can be written", place=str(path), remedy="Name another output file")
    try:
        tempfile.TemporaryFile(prefix=".libra-", dir=folder).close()  # permissions do not say all: a disk may be full, or /proc
    except OSError as error:
        what = (
            "you may not write to this folder" if isinstance(error, PermissionError) else f"cannot be written ({reason(error)})"
        )
        raise InputError(what, place=str(path.parent), remedy="Write elsewhere") from error
    for name, other in (others or {}).items():
        if other is not None and path.resolve() == Path(other).resolve():
            raise UsageError(f"{path}: the {what} would replace the {name}. Name another file.")


def check_inputs_stay(inputs: Mapping[str, object], outputs: Mapping[str, str | Path | None]) -> None:
    """Refuse to write over a file that is read beside the log, such as its description; both by what they are."""
    for what, target in outputs.items():
        for name, source in inputs.items():
            with contextlib.suppress(OSError, TypeError, ValueError):  # what is not there is not replaced
                if Path(target).samefile(source):  # type: ignore[arg-type]  # None, or a key at hand, is a TypeError
                    raise UsageError(f"{target}: the {what} would replace the {name}. Name another file.")


AGAIN = "Delete the log and anonymize again: two releases of one log add up"


@contextlib.contextmanager
def after_writing(output: str | Path, what: str, remedy: str = AGAIN) -> Iterator[None]:
    """An error in this block says that the log is written already, and what is not."""
    try:
        yield
    except InputError as error:
        said = f"{output} is written, the {what} is not. {remedy}"
        raise InputError(error.what.removesuffix(", nothing was written"), place=error.place, remedy=said) from error
