"""The options about reading a log, defined once and shared by all commands.

`input_flags` is never called: its signature is the definition. `takes_log_options` gives these options to a command, which
receives them as one dictionary of keywords for the functions of `libra.api`. `takes` does the same with any signature.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

COLUMNS = "Columns (detected automatically unless given)"
READING = "Reading"
OUTPUT = "Output"
ENGINE = "Engine"


LogPath = Annotated[
    Path, typer.Argument(metavar="LOG", help="An event log: XES, CSV, TSV or Parquet; .gz and .zip too.", show_default=False)
]


def _column(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="COLUMN", help=text, rich_help_panel=COLUMNS, show_default=False)


def _reading(flag: str, text: str, metavar: str | None = None) -> Any:
    return typer.Option(flag, metavar=metavar, help=text, rich_help_panel=READING, show_default=False)


def input_flags(
    case_id: Annotated[list[str] | None, _column("--case-id", "The case an event belongs to. Repeat it to join several.")] = None,
    activity: Annotated[list[str] | None, _column("--activity", "What happened. Repeat it to join several.")] = None,
    timestamp: Annotated[str | None, _column("--timestamp", "When it happened, or was complete.")] = None,
    start_timestamp: Annotated[str | None, _column("--start-timestamp", "When it started.")] = None,
    lifecycle: Annotated[str | None, _column("--lifecycle", "The transition: start, complete, …")] = None,
    resource: Annotated[str | None, _column("--resource", "Who or what did it.")] = None,
    individual: Annotated[str | None, _column("--individual", "Whose case it is, where a person has several.")] = None,
    lifecycle_keep: Annotated[
        list[str] | None,
        _reading("--lifecycle-keep", "Keep only events in this transition, such as complete. May be repeated.", "NAME"),
    ] = None,
    timestamp_format: Annotated[
        str | None, _reading("--timestamp-format", "How times are written, in strftime codes: '%d.%m.%Y %H:%M'.", "FORMAT")
    ] = None,
    day_first: Annotated[
        bool | None, _reading("--day-first/--month-first", "Whether 03/04/2024 is the third of April or the fourth of March.")
    ] = None,
    epoch_unit: Annotated[str | None, _reading("--epoch-unit", "What Unix times count: s, ms, us or ns.", "UNIT")] = None,
    zone: Annotated[
        str | None,
        _reading(
            "--zone", "file if every time carries its zone, none if no time does, utc if those without are in UTC.", "WHICH"
        ),
    ] = None,
    delimiter: Annotated[str | None, _reading("--delimiter", "What separates the fields of a CSV file.", "CHARACTER")] = None,
    encoding: Annotated[str | None, _reading("--encoding", "The encoding of a CSV file, such as cp1252.", "NAME")] = None,
    decimal: Annotated[str | None, _reading("--decimal", "The decimal sign of a CSV file: . or ,", "CHARACTER")] = None,
    sort_by_time: Annotated[
        bool, _reading("--sort-by-time", "Order the events of each case by time; ties keep the order of the file.")
    ] = False,
    drop_invalid: Annotated[
        bool, _reading("--drop-invalid", "Leave out events without a usable case id, activity or timestamp.")
    ] = False,
    description: Annotated[
        Path | None,
        _reading("--description", "Read the log exactly as this file says (libra describe writes one).", "FILE"),
    ] = None,
) -> None:
    """The definition of the flags; each is a keyword of `libra.read` as well."""


def takes_log_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared input options; it receives those in use as `options`."""
    return takes(input_flags, "options")(command)


def takes(flags: Callable[..., None], receiver: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options that the signature of `flags` defines; it receives those in use as a dictionary."""

    def gives(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        shared = inspect.signature(flags, eval_str=True).parameters
        positional = [p for p in own.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != receiver]
        keyword = [p for p in own.values() if p.kind is p.KEYWORD_ONLY]
        parameters = [*positional, *(p.replace(kind=p.KEYWORD_ONLY) for p in shared.values()), *keyword]

        @functools.wraps(command)
        def wrapped(*args: Any, **given: Any) -> None:
            options = {name: given.pop(name) for name in shared}
            said = {name: value for name, value in options.items() if value is not None and value != []}
            command(*args, **{receiver: said}, **given)

        wrapped.__annotations__ = get_type_hints(command, include_extras=True) | get_type_hints(flags, include_extras=True)
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # how inspect is told
        return wrapped

    return gives
