"""The options that several commands share, each defined once: about reading a log, about the mechanism, about the output.

`input_flags` and `mechanism_flags` are never called: their signatures are the definition. `takes` gives such options to a
command, which receives those in use as one dictionary of keywords for the functions of `libra.api`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_type_hints

import typer

from libra.errors import UsageError
from libra.eventlog.files import labels_in
from libra.keywords import OtherParameters
from libra.mechanisms.parameters import ALPHA, BUDGET, CASES, GAMMA, MOST_CASES, SUBSAMPLES, TAIL, TIME_ZONE, B

COLUMNS = "Columns (detected automatically unless given)"
GUARANTEE, KEEP, MECHANISM, READING, ENGINE = "Guarantee", "What to keep", "Mechanism", "Reading", "Engine"
PANELS = (None, GUARANTEE, KEEP, MECHANISM, COLUMNS, READING, ENGINE)  # in the order of the help; input and output come first
LONG_NUMBER = 20  # digits
MOVED = {
    **{
        f"--{name}": f"--set {name.replace('-', '_')}=VALUE"
        for name in ("times", "prune", "max-length", "guessing-advantage", "query", "repeats", "omega", "anonymizer")
    },
    **{f"--{name}": f"--set {name.replace('-', '_')}=true" for name in ("split-budget", "signed-times", "trace-noise")},
    "--no-trace-noise": "--set trace_noise=false",
    "--out": "--output",
}
EXAMPLES: dict[str, tuple[str, ...]] = {}  # by command


def option(flags: str, text: str, metavar: str | None = None, panel: str | None = None) -> Any:
    """An option by its flags, separated by spaces, and its help; its default is not shown."""
    return typer.Option(*flags.split(), help=text, metavar=metavar, rich_help_panel=panel, show_default=False)


def argument(metavar: str, text: str) -> Any:
    """An argument and its help."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


LogPath = Annotated[Path, argument("LOG", "An event log: XES, CSV, TSV or Parquet; .gz and .zip too.")]
Json = Annotated[bool, option("--json", "Print one JSON document on stdout and nothing else there.")]
Quiet = Annotated[bool, option("--quiet -q", "No notes, no progress, no closing words; errors stay.")]
PublicKeyFile = Annotated[
    str | None,
    option(
        "--key", "Public key of the custodian, a file or its line of text: the certificate has to be signed by it.", "KEY.pub"
    ),
]
SecretKeyFile = Annotated[
    Path | None,
    option(
        "--sign-key",
        "Sign the certificate with this secret key; the signature goes beside it, as FILE.minisig. See libra keygen.",
        "KEY",
    ),
]
MechanismName = Annotated[
    str,
    option("--mechanism -m", "How to anonymize. Default: libra. libra mechanisms lists all.", "NAME", MECHANISM),
]


def examples(*lines: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the examples that its help shows."""

    def gives(command: Callable[..., None]) -> Callable[..., None]:
        EXAMPLES[command.__name__] = lines
        return command

    return gives


def _column(flag: str, text: str) -> Any:
    return option(flag, text, "COLUMN", COLUMNS)


def _reading(flag: str, text: str, metavar: str | None = None) -> Any:
    return option(flag, text, metavar, READING)


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
        Path | None, _reading("--description", "Read the log exactly as this file says (libra describe writes one).", "FILE")
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
        named = [*keyword, *(p.replace(kind=p.KEYWORD_ONLY) for p in shared.values())]
        parameters = [*positional, *sorted(named, key=lambda p: PANELS.index(p.annotation.__metadata__[0].rich_help_panel))]

        @functools.wraps(command)
        def wrapped(*args: Any, **given: Any) -> None:
            options = {name: given.pop(name) for name in shared}
            said = {name: value for name, value in options.items() if value is not None and value != []}
            command(*args, **{receiver: said}, **given)

        wrapped.__annotations__ = get_type_hints(command, include_extras=True) | get_type_hints(flags, include_extras=True)
        wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # how inspect is told
        return wrapped

    return gives


def mechanism_flags(
    tail: Annotated[str | None, option("--tail", f"{TAIL} Default: model.", "HOW", KEEP)] = None,
    budget: Annotated[str | None, option("--budget", f"{BUDGET} Default: control=0.55,times=0.45.", "SHARES", KEEP)] = None,
    labels: Annotated[
        Path | None,
        option(
            "--labels",
            "File with the activity names that may be released, one per line; the list must not come from this log. Events with "
            "other names are dropped. Default: names are selected privately.",
            "FILE",
            KEEP,
        ),
    ] = None,
    public_labels: Annotated[
        bool | None, option("--public-labels", "Treat activity names as public: release all of them.", panel=KEEP)
    ] = None,
    time_zone: Annotated[str | None, option("--time-zone", f"{TIME_ZONE} Default: UTC.", "ZONE", KEEP)] = None,
    cases: Annotated[int | None, option("--cases", f"{CASES} Default: about as many as in the log.", panel=KEEP)] = None,
    most_cases: Annotated[int | None, option("--most-cases", f"{MOST_CASES} Default: 1.", panel=KEEP)] = None,
    gamma: Annotated[float | None, option("--gamma", f"{GAMMA} Default: 1; of libra2022: 0.05.", panel=MECHANISM)] = None,
    subsamples: Annotated[
        str | None,
        option(
            "--subsamples",
            f"{SUBSAMPLES} Default: 1; of libra2022: 1/gamma, or 'paper' for gamma times the cases kept.",
            "N|paper",
            MECHANISM,
        ),
    ] = None,
    alpha: Annotated[float | None, option("--alpha", f"libra2022: {ALPHA} Default: 10.", panel=MECHANISM)] = None,
    b: Annotated[float | None, option("--b", f"libra2022: {B} Default: 2.", panel=MECHANISM)] = None,
    others: Annotated[
        list[str] | None,
        option("--set", "Set any parameter that libra mechanisms NAME lists. May be repeated.", "NAME=VALUE", MECHANISM),
    ] = None,
) -> None:
    """The definition of the flags; each is a keyword of `libra.anonymize` as well."""


def flag_of(parameter: str) -> str:
    """The flag of a parameter; empty for one that --set sets."""
    has_flag = parameter in ("epsilon", "delta") or parameter in inspect.signature(mechanism_flags).parameters
    return f"--{parameter.replace('_', '-')}" if has_flag else ""


def takes_mechanism_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the parameters of the mechanisms; it receives those in use as `parameters`."""

    @functools.wraps(command)
    def with_numbers(*args: Any, parameters: OtherParameters, **given: Any) -> None:
        from libra.comparison.setting import parsed_parameters

        if "subsamples" in parameters:
            parameters["subsamples"] = _number(cast("str", parameters["subsamples"]))
        if "labels" in parameters:
            parameters["labels"] = labels_in(cast("Path", parameters["labels"]))
        said = cast("dict[str, Any]", parameters)
        if said.pop("public_labels", None):
            if "labels" in parameters:
                raise UsageError("--labels and --public-labels contradict each other. Leave out one of them.")
            parameters["labels"] = "public"
        others = parsed_parameters(said.pop("others", None) or ())
        command(*args, parameters={**others, **parameters}, **given)

    return takes(mechanism_flags, "parameters")(with_numbers)


def _number(said: str) -> int | Literal["paper"]:
    """What was said, as a number where it is one; the mechanism refuses other words."""
    return int(said) if said.isdecimal() and len(said) < LONG_NUMBER else cast('Literal["paper"]', said)
