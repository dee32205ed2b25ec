"""`-` for a log on stdin or stdout: to the command a temporary file, readable for its owner alone and removed in every case."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from libra._system.files import reason
from libra.cli.options import READING, Command, option
from libra.cli.output import SHOWN_AS
from libra.errors import EmptyReleaseError, InputError, UsageError

RECEIVED = ("options", "parameters")  # what is no argument of the command line
LOGS = ("LOG", "IN", "ORIGINAL", "ANONYMIZED")  # what arguments that may be stdin are called in the help
OUT = "OUT"  # the same of stdout
ENDINGS = "xes, csv, tsv (each also with .gz or .zip) or parquet"
FORMATS = {*(kind + packing for kind in ("xes", "csv", "tsv") for packing in ("", ".gz", ".zip")), "parquet"}
InputFormat = Annotated[str | None, option(f"Format of a log on stdin: {ENDINGS}. Default: detected.", "NAME", READING)]
OutputFormat = Annotated[str | None, option(f"Format of a log on stdout: {ENDINGS}.", "NAME")]


def with_streams(command: Command) -> Command:
    """A command that can read its log from stdin and write it to stdout; one without such arguments stays as it is."""
    own = inspect.signature(command, eval_str=True).parameters
    called = {name: getattr(p.annotation.__metadata__[0], "metavar", "") for name, p in own.items() if name not in RECEIVED}
    inputs, outputs = [name for name in called if called[name] in LOGS], [name for name in called if called[name] == OUT]
    if not inputs:
        return command

    @functools.wraps(command)
    def wrapped(*, input_format: str | None, output_format: str | None = None, **given: Any) -> None:
        read, write = ([name for name in names if given[name] == Path("-")] for names in (inputs, outputs))
        for flag, said, stream in (("--input-format", input_format, read), ("--output-format", output_format, write)):
            if said is not None and not stream:
                raise UsageError(f"{flag} needs a log named -.")
            if said is not None and said not in FORMATS:
                raise UsageError(f'{flag} "{said}" is unknown. Use {ENDINGS}.')
        if len(read) > 1:
            raise UsageError("Only one log can be read from stdin.")
        if write and sys.stdout.name == os.devnull:  # put there in place of a closed one
            raise UsageError("stdout is closed, so no log can be written to it.")
        if write and output_format is None:
            raise UsageError("The log goes to stdout. Name its format: --output-format csv.")
        if write and (given.get("as_json") or given.get("engine") == "spark"):
            what = "--json goes to stdout as well" if given.get("as_json") else "Spark writes folders"
            raise UsageError(f"{what}. Write the log to a file: -o OUT.")
        with contextlib.ExitStack() as until_then:
            if read or write:
                folder = Path(until_then.enter_context(tempfile.TemporaryDirectory(prefix="libra-")))
                SHOWN_AS.update({f"{folder}{os.sep}stdout.{output_format}": "the log to stdout", f"{folder}{os.sep}": ""})
                given |= {name: _from_stdin(folder / (f"stdin.{input_format}" if input_format else "stdin")) for name in read}
                given |= {name: until_then.enter_context(_to_stdout(folder / f"stdout.{output_format}")) for name in write}
            command(**given)

    more = {"input_format": InputFormat} | ({"output_format": OutputFormat} if outputs else {})
    flags = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=more[name]) for name in more]
    wrapped.__annotations__ = get_type_hints(command, include_extras=True) | more
    wrapped.__signature__ = inspect.Signature([*own.values(), *flags])  # type: ignore[attr-defined]  # how inspect is told
    return wrapped


def _from_stdin(file: Path) -> Path:
    """The file, with all that stdin has."""
    if sys.stdin is None:
        raise UsageError("stdin is closed, so no log can be read from it.")
    try:
        with file.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
    except OSError as error:
        raise InputError(
            f"cannot be read ({reason(error)})", place="stdin", remedy="Set TMPDIR to a folder with enough space"
        ) from error
    return file


@contextlib.contextmanager
def _to_stdout(file: Path) -> Iterator[Path]:
    """What is printed goes to stderr; the log in the file goes to stdout once it is whole."""
    stdout, empty = sys.stdout, None
    with contextlib.redirect_stdout(sys.stderr):
        try:
            yield file
        except EmptyReleaseError as error:
            empty = error
    with file.open("rb") as log:
        shutil.copyfileobj(log, stdout.buffer)
    stdout.buffer.flush()
    if empty is not None:
        raise empty
