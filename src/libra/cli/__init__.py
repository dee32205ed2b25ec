"""The command line: parse, call the API, print. No logic lives here.

`main` is the entry point. It keeps the promise of the interface: exit codes (0 done, 2 usage, 3 bad input, 70 a mistake of
ours, 130 interrupted), one line on stderr for whatever went wrong, and no traceback unless LIBRA_DEBUG=1 asks for it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

INTERNAL_ERROR = 70
BROKEN_PIPE = 141
INTERRUPTED = 130
BAD_INPUT = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Example:
        >>> main(["--version"])
        libra 0.1.0
        0
    """
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED


def _run(arguments: Sequence[str] | None) -> int:
    from typer import TyperException
    from typer.main import get_command

    from libra.cli.app import app
    from libra.errors import LibraError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = get_command(app).main(arguments, prog_name="libra", standalone_mode=False)
        sys.stdout.flush()
    except LibraError as error:
        return _fail(str(error), error.exit_code)
    except TyperException as error:
        return _fail(_usage_hint(error), error.exit_code)
    except MemoryError:
        return _fail("there is not enough memory for this log. Close other programs, or use a bigger machine.", BAD_INPUT)
    except KeyboardInterrupt:
        raise
    except BrokenPipeError:
        return _leave_pipe()
    except SystemExit as stop:  # typer's answer to a broken pipe, and the end of its completion commands
        if isinstance(stop.__context__, BrokenPipeError):
            return _leave_pipe()
        raise
    except BaseException as error:  # Polars' panics are not `Exception`s
        if os.environ.get("LIBRA_DEBUG") == "1":
            raise
        told = f"{type(error).__name__}: {error}".splitlines()[0]
        return _fail(f"internal error ({told}); please report it with the output of LIBRA_DEBUG=1.", INTERNAL_ERROR)
    return code if isinstance(code, int) else 0


def _fail(line: str, code: int) -> int:
    from libra.cli.output import printable

    print(f"libra: {printable(line)}", file=sys.stderr)
    return code


def _usage_hint(error: Exception) -> str:
    """What typer has to say, as one line that ends with where to read on."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "libra"
    told = getattr(error, "format_message", error.__str__)()
    line = " ".join(told.split())
    return f"{line}{'' if line.endswith(('.', '?')) else '.'} Try: {command} --help"


def _leave_pipe() -> int:
    """Whoever read our output has gone: say nothing, not even when Python closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
