"""The command line: parse, call the API, print. No logic lives here.

`main` is the entry point. It keeps the promise of the interface: exit codes (0 done, 1 not met, 2 usage, 3 bad input, 70 a
mistake of ours, 130 interrupted, 143 ended), one line on stderr for whatever went wrong, and no traceback unless LIBRA_DEBUG=1
asks for it. Whoever ends the process, nothing half-written stays behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

BAD_INPUT, INTERNAL_ERROR, INTERRUPTED, BROKEN_PIPE = 3, 70, 130, 141
STDERR = 2
LOST_AFTER = 0.5  # seconds, from one look at whether a process that was ended is about to end to the next


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Example:
        >>> main(["--version"])
        libra 0.1.0
        0
    """
    try:
        with _ended_in_order() as ended:
            return _run(arguments, ended)
    except KeyboardInterrupt:
        return INTERRUPTED


@contextlib.contextmanager
def _ended_in_order() -> Iterator[list[int]]:
    """Turn the signals that end a process into exceptions, so that `finally` blocks clean up; those ignored (nohup) stay so.

    The exit code that follows is put into the list. Where Polars is calling Python, it turns the exception into a panic
    and says so on stderr, which is silenced then, unless it is a terminal.
    """
    ended, silenced = list[int](), list[int]()
    ends = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    in_main = threading.current_thread() is threading.main_thread()
    ours = [end for end in ends if in_main and signal.getsignal(end) is signal.SIG_DFL]

    def again(_number: int, _frame: FrameType | None) -> None:
        if sys.exc_info()[1] is None:  # nothing is being cleaned up: who was called lost the exception, as Polars may
            raise SystemExit(ended[0])

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        for end in ours:
            signal.signal(end, signal.SIG_IGN)  # a second one must not cut the cleaning short
        ended.append(128 + number)
        with contextlib.suppress(OSError):
            if not os.isatty(STDERR):
                silenced.append(os.dup(STDERR))
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, STDERR)
                os.close(nothing)
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, again)
            signal.setitimer(signal.ITIMER_REAL, LOST_AFTER, LOST_AFTER)
        raise SystemExit(128 + number)

    for end in ours:
        signal.signal(end, stop)
    try:
        yield ended
    finally:
        if ended and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
        for before in silenced:
            os.dup2(before, STDERR)
            os.close(before)
        for end in ours:
            signal.signal(end, signal.SIG_DFL)


def _run(arguments: Sequence[str] | None, ended: Sequence[int]) -> int:
    from typer import TyperException
    from typer.main import get_command

    from libra.cli.app import app
    from libra.errors import LibraError

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever called us
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  # for as long as we run
        elif hasattr(getattr(sys, name), "reconfigure"):
            getattr(sys, name).reconfigure(errors="backslashreplace")
    try:
        command = get_command(app)
        _hide_types_of_switches(command)
        code = command.main(arguments, prog_name="libra", standalone_mode=False)
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
    except OSError as error:  # what a log's files do is a LibraError: this is our own output
        _leave_pipe()
        return _fail(f"the result cannot be written ({error.strerror or error})", BAD_INPUT)
    except SystemExit as stop:  # typer's answer to a broken pipe, and the end of its completion commands
        if isinstance(stop.__context__, BrokenPipeError):
            return _leave_pipe()
        raise
    except BaseException as error:  # Polars' panics are not `Exception`s
        if ended:
            raise SystemExit(ended[0]) from None
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
    """What typer has to say, as one line that ends with where to read on; an unknown option has moved, or another is meant."""
    from libra._system.shell import libra_command
    from libra.cli.options import MOVED, PLAIN
    from libra.errors import did_you_mean

    context, name = getattr(error, "ctx", None), getattr(error, "option_name", None)
    line = " ".join(getattr(error, "format_message", error.__str__)().split())
    for theirs, ours in PLAIN.items():
        line = line.replace(theirs, ours)
    if context is not None and name is not None and hasattr(error, "possibilities"):
        flags = [flag for parameter in context.command.params for flag in (*parameter.opts, *parameter.secondary_opts)]
        hint = did_you_mean(name.lstrip("-"), [flag.removeprefix("--") for flag in flags if flag.startswith("--")])
        line = f"No such option: {name}.{hint.replace('mean ', 'mean --')}"
        if name in MOVED and MOVED[name].split()[0] in flags:
            line = f"{name} is now {MOVED[name]}{_for_which(MOVED[name])}."
    again = libra_command() + (context.command_path if context else "libra").removeprefix("libra")
    return f"{line}{'' if line.endswith(('.', '?')) else '.'} Try: {again} --help"


def _for_which(flag: str) -> str:
    """The mechanisms that take what is set with a flag, in brackets."""
    from libra.mechanisms.mechanism import names, parameters_of

    parameter = flag.removeprefix("--set ").split("=")[0]
    takers = [name for name in names() if parameter in parameters_of(name)]
    return f" (with --mechanism {' or '.join(takers)})" if flag.startswith("--set ") else ""


def _hide_types_of_switches(command: Any) -> None:
    """In the help, a switch takes no value, so none is shown behind it; --help itself is such a switch."""
    import typer

    for parameter in command.get_params(typer.Context(command)):
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for inner in getattr(command, "commands", {}).values():
        _hide_types_of_switches(inner)


def _leave_pipe() -> int:
    """Let what is still to be printed go nowhere, so that Python does not complain when it closes a stream that nobody reads."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE
