"""The options that several commands share, each defined once: about reading a log, about the mechanism, about the output.

`input_flags` and `mechanism_flags` are never called: their signatures are the definition. `takes` gives such options to a
command, which receives those in use as one dictionary of keywords for the functions of `libra.api`.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_type_hints

import typer

from libra.errors import UsageError
from libra.eventlog.files import labels_in
from libra.keywords import OtherParameters

COLUMNS = "Columns (detected automatically unless given)"
READING, ENGINE, GUARANTEE, OUTPUT = "Reading", "Engine", "Guarantee", "Output"
SOUND, BOTH, PUBLISHED = "Mechanism libra", "Mechanisms libra and libra2022", "Mechanism libra2022"
PEERS = "Mechanisms amun, pripel, prefix-laplace, sacofa, travas, and of other packages"
LONG_NUMBER = 20  # digits
EXAMPLES: dict[str, tuple[str, ...]] = {}  # by command


def option(flags: str, text: str, metavar: str | None = None, panel: str | None = None) -> Any:
    """An option by its flags, separated by spaces, and its help; its default is not shown."""
    return typer.Option(*flags.split(), help=text, metavar=metavar, rich_help_panel=panel, show_default=False)


def argument(metavar: str, text: str) -> Any:
    """An argument and its help."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


LogPath = Annotated[Path, argument("LOG", "An event log: XES, CSV, TSV or Parquet; .gz and .zip too.")]
Json = Annotated[bool, option("--json", "Print one JSON document on stdout and nothing else there.", panel=OUTPUT)]
Quiet = Annotated[bool, option("--quiet -q", "No notes, no progress, no closing words; errors stay.", panel=OUTPUT)]
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
        OUTPUT,
    ),
]
MechanismName = Annotated[
    str,
    typer.Option(
        "--mechanism",
        "-m",
        metavar="NAME",
        help="How to anonymize: libra; or libra2022, amun, pripel, prefix-laplace, sacofa, travas.",
    ),
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


def mechanism_flags(
    tail: Annotated[
        str | None,
        option(
            "--tail",
            "Rare cases: model (new traces like them), nearest (to a kept variant) or drop. Default: model.",
            "HOW",
            SOUND,
        ),
    ] = None,
    budget: Annotated[
        str | None, option("--budget", "Shares, here and with --times model. Default: control=0.55,times=0.45.", "SHARES", SOUND)
    ] = None,
    labels: Annotated[
        Path | None,
        option(
            "--labels",
            "Activity names that may be released, one per line: a list that does not come from this log. Events with other "
            "names are left out. Default: names are chosen privately.",
            "FILE",
            SOUND,
        ),
    ] = None,
    public_labels: Annotated[
        bool | None, option("--public-labels", "Do not protect activity names: release all of them.", panel=SOUND)
    ] = None,
    time_zone: Annotated[
        str | None,
        option(
            "--time-zone",
            "Time zone used for hour and weekday patterns, here and with --times model. Default: UTC.",
            "ZONE",
            SOUND,
        ),
    ] = None,
    cases: Annotated[
        int | None, option("--cases", "How many cases to generate. Default: about as many as there are.", panel=SOUND)
    ] = None,
    most_cases: Annotated[
        int | None, option("--most-cases", "How many cases of an individual count, given --individual. Default: 1.", panel=SOUND)
    ] = None,
    gamma: Annotated[
        float | None, option("--gamma", "The share of cases in a subsample. Default: 1; of libra2022: 0.05.", panel=BOTH)
    ] = None,
    subsamples: Annotated[
        str | None,
        option(
            "--subsamples",
            "How many. Default: 1; of libra2022: 1/gamma, or 'paper' for gamma times the cases kept.",
            "N|paper",
            BOTH,
        ),
    ] = None,
    alpha: Annotated[
        float | None, option("--alpha", "The order of Renyi differential privacy. Default: 10.", panel=PUBLISHED)
    ] = None,
    b: Annotated[float | None, option("--b", "The scale of the Laplace mechanism. Default: 2.", panel=PUBLISHED)] = None,
    trace_noise: Annotated[
        bool | None,
        option("--trace-noise/--no-trace-noise", "Whether cases are copied and deleted. Default: they are.", panel=PUBLISHED),
    ] = None,
    signed_times: Annotated[
        bool | None, option("--signed-times", "Let noisy times between events fall below zero, as in the paper.", panel=PUBLISHED)
    ] = None,
    omega: Annotated[
        float | None, option("--omega", "How many minutes a mean moves for a case to be relevant. Default: 20.", panel=PUBLISHED)
    ] = None,
    anonymizer: Annotated[
        str | None, option("--anonymizer", "Another mechanism for the subsamples, in place of the paper's.", "NAME", PUBLISHED)
    ] = None,
    times: Annotated[
        str | None,
        option(
            "--times",
            "For mechanisms without timestamps: none, or model to add Libra's private timestamps using part of the budget. "
            "Default: none.",
            "HOW",
            PEERS,
        ),
    ] = None,
    prune: Annotated[
        float | None,
        option(
            "--prune",
            "Drop prefixes rarer than this: below 1 a fraction of all cases, otherwise a count. Default: 0.01.",
            panel=PEERS,
        ),
    ] = None,
    max_length: Annotated[
        int | None,
        option("--max-length", "Events of the longest trace. Default: the average of a case, rounded up.", panel=PEERS),
    ] = None,
    split_budget: Annotated[
        bool | None,
        option("--split-budget", "For prefix-laplace: the sound form, with the budget split over levels.", panel=PEERS),
    ] = None,
    guessing_advantage: Annotated[
        float | None,
        option("--guessing-advantage", "For amun, in place of --epsilon: how much surer a guess may become.", panel=PEERS),
    ] = None,
    query: Annotated[str | None, option("--query", "For pripel: prefix-laplace (default) or sacofa.", "NAME", PEERS)] = None,
    repeats: Annotated[
        int | None, option("--repeats", "For travas: how often to ask, averaging the counts. Default: 1.", panel=PEERS)
    ] = None,
    others: Annotated[
        list[str] | None, option("--set", "Any parameter of a mechanism. May be repeated.", "NAME=VALUE", PEERS)
    ] = None,
) -> None:
    """The definition of the flags; each is a keyword of `libra.anonymize` as well."""


def takes_mechanism_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the parameters of the mechanisms; it receives those in use as `parameters`."""

    @functools.wraps(command)
    def with_numbers(*args: Any, parameters: OtherParameters, **given: Any) -> None:
        if "subsamples" in parameters:
            parameters["subsamples"] = _number(cast("str", parameters["subsamples"]))
        if "labels" in parameters:
            parameters["labels"] = labels_in(cast("Path", parameters["labels"]))
        said = cast("dict[str, Any]", parameters)
        if said.pop("public_labels", None):
            if "labels" in parameters:
                raise UsageError("--labels and --public-labels contradict each other. Leave out one of them.")
            parameters["labels"] = "public"
        others = said.pop("others", None) or []
        command(*args, parameters={**assigned(others), **parameters}, **given)

    return takes(mechanism_flags, "parameters")(with_numbers)


def assigned(words: list[str]) -> dict[str, Any]:
    """Parameters from NAME=VALUE; a value that is JSON is taken as such, all others as text.

    Example:
        >>> assigned(["sides=6", "fair=true", "colour=red"])
        {'sides': 6, 'fair': True, 'colour': 'red'}
    """
    return dict(_assigned(word) for word in words)


def _assigned(word: str) -> tuple[str, Any]:
    name, equals, value = word.partition("=")
    name = name.strip().replace("-", "_")
    if not equals or not name.isidentifier():
        raise UsageError(f'"{word}" sets nothing. Say it as --set NAME=VALUE.')
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _number(said: str) -> int | Literal["paper"]:
    """What was said, as a number where it is one; the mechanism refuses other words."""
    return int(said) if said.isdecimal() and len(said) < LONG_NUMBER else cast('Literal["paper"]', said)
