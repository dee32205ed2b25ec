"""The options that several commands share, each defined once: about reading a log, about the mechanism, about the output.

`input_flags` and `mechanism_flags` are never called: their signatures are the definition. `command` gives them to a
function, which receives those in use as one dictionary of keywords for the functions of `libra.api`. `-` stands for a log on
stdin or stdout: to the function a temporary file, readable for its owner alone and removed in every case.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias, get_type_hints

import typer

from libra._system.files import reason
from libra.cli.output import SHOWN_AS
from libra.errors import EmptyReleaseError, InputError, UsageError
from libra.eventlog.files import labels_in
from libra.mechanisms import parameters
from libra.targets import check_inputs_stay

COLUMNS = "Columns (detected automatically unless given)"
GUARANTEE, KEEP, MECHANISM, READING, ENGINE = "Guarantee", "What to keep", "Mechanism", "Reading", "Engine"
PANELS = (None, GUARANTEE, KEEP, MECHANISM, COLUMNS, READING, ENGINE)  # in the order of the help; input and output come first
LONG_NUMBER = 20  # digits
SET_NOW = ("times", "prune", "max_length", "guessing_advantage", "query", "repeats", "omega", "anonymizer")
SWITCHED_NOW = ("split_budget", "signed_times", "trace_noise")
MOVED = {
    **{f"--{name.replace('_', '-')}": f"--set {name}=VALUE" for name in SET_NOW},
    **{f"--{name.replace('_', '-')}": f"--set {name}=true" for name in SWITCHED_NOW},
    "--no-trace-noise": "--set trace_noise=false",
    "--out": "--output",
}
PLAIN = {  # what typer says of a value, and what we say
    "Input should be a valid number, unable to parse string as a number": "not a number. Write it like 0.5",
    "Input should be a valid integer, unable to parse string as an integer": "not a whole number",
}
EXAMPLES: dict[str, tuple[str, ...]] = {}  # by command
Command: TypeAlias = Callable[..., None]


def option(text: str, metavar: str | None = None, panel: str | None = None, flags: str = "", *, shown: bool = False) -> Any:
    """An option by its help. Its flag is the name of the parameter unless given; its default is `shown` or in the text."""
    return typer.Option(*flags.split(), help=text, metavar=metavar, rich_help_panel=panel, show_default=shown)


def switch(flag: str, text: str, panel: str | None = None) -> Any:
    """An option without a value."""
    return option(text, panel=panel, flags=flag)


def output_option(text: str, metavar: str = "FILE", *, shown: bool = False) -> Any:
    """The option that says where a command writes."""
    return option(text, metavar, flags="--output -o", shown=shown)


def argument(metavar: str, text: str) -> Any:
    """An argument and its help."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


KEY_HELP = "Public key of the custodian, a file or its line of text: the certificate has to be signed by it."
LogPath = Annotated[Path, argument("LOG", "An event log: XES, CSV, TSV or Parquet; .gz and .zip too; - for stdin.")]
Json = Annotated[bool, switch("--json", "Print one JSON document to stdout and nothing else.")]
Quiet = Annotated[bool, switch("--quiet -q", "Print no notes, no progress and no summary; errors are still printed.")]
PublicKeyFile = Annotated[str | None, option(KEY_HELP, "KEY.pub")]
MechanismName = Annotated[
    str, option("Mechanism to use. Default: libra. libra mechanisms lists all.", "NAME", MECHANISM, "--mechanism -m")
]


def _column(text: str) -> Any:
    return option(text, "COLUMN", COLUMNS)


def _reading(text: str, metavar: str | None = None, flags: str = "") -> Any:
    return option(text, metavar, READING, flags)


def input_flags(
    case_id: Annotated[list[str] | None, _column("The case an event belongs to. Repeat it to join several.")] = None,
    activity: Annotated[list[str] | None, _column("What happened. Repeat it to join several.")] = None,
    timestamp: Annotated[str | None, _column("When it happened, or was complete.")] = None,
    start_timestamp: Annotated[str | None, _column("When it started.")] = None,
    lifecycle: Annotated[str | None, _column("The transition: start, complete, …")] = None,
    resource: Annotated[str | None, _column("Who or what did it.")] = None,
    individual: Annotated[str | None, _column("The person a case belongs to, if a person has several cases.")] = None,
    lifecycle_keep: Annotated[
        list[str] | None, _reading("Keep only events in this transition, such as complete. May be repeated.", "NAME")
    ] = None,
    instances: Annotated[
        str | None,
        _reading(
            "pair start and complete events (default if the log has both), keep complete events only, or keep all events.",
            "pair|complete|events",
        ),
    ] = None,
    timestamp_format: Annotated[str | None, _reading("Format of times in strftime codes: '%d.%m.%Y %H:%M'.", "FORMAT")] = None,
    day_first: Annotated[
        bool | None,
        _reading("Whether 03/04/2024 is the third of April or the fourth of March.", flags="--day-first/--month-first"),
    ] = None,
    epoch_unit: Annotated[str | None, _reading("Unit of Unix times: s, ms, us or ns.", "UNIT")] = None,
    zone: Annotated[
        str | None,
        _reading("file if every time has a zone, none if no time has one, utc if those without are in UTC.", "WHICH"),
    ] = None,
    delimiter: Annotated[str | None, _reading("What separates the fields of a CSV file.", "CHARACTER")] = None,
    encoding: Annotated[str | None, _reading("The encoding of a CSV file, such as cp1252.", "NAME")] = None,
    decimal: Annotated[str | None, _reading("The decimal sign of a CSV file: . or ,", "CHARACTER")] = None,
    sort_by_time: Annotated[
        bool, switch("--sort-by-time", "Order the events of each case by time; ties keep the order of the file.", READING)
    ] = False,
    drop_invalid: Annotated[
        bool, switch("--drop-invalid", "Leave out events without a usable case id, activity or timestamp.", READING)
    ] = False,
    description: Annotated[Path | None, _reading("Read the log as this file says (libra describe writes one).", "FILE")] = None,
) -> None:
    """The definition of the flags; each is a keyword of `libra.read` as well."""


LABELS = (
    "File with the activity names that may be released, one per line; the list must not come from this log. Events with other "
    "names are dropped. Default: names are selected privately."
)
ATTRIBUTE = f"{parameters.ATTRIBUTES} One of them; may be repeated. Default: none."
ALL_ATTRIBUTES = "Release all attributes that the description allows, except resources; add these with --attribute org:resource."
SHARES = (
    "Default: control=0.55,times=0.45; attributes, where asked for, get 0.2 of it for cases, more than ten of them 0.3, "
    "and 0.1 for each attribute of events, at most 0.5 together."
)
PAPER = f"{parameters.SUBSAMPLES} Default: 1; of libra2022: 1/gamma, or 'paper' for gamma times the cases kept."


def mechanism_flags(
    tail: Annotated[str | None, option(f"{parameters.TAIL} Default: model.", "HOW", KEEP)] = None,
    edges: Annotated[str | None, option(f"{parameters.EDGES} Default: certain.", "WHICH", KEEP)] = None,
    attribute: Annotated[list[str] | None, option(ATTRIBUTE, "NAME", KEEP)] = None,
    all_attributes: Annotated[bool | None, switch("--all-attributes", ALL_ATTRIBUTES, KEEP)] = None,
    resource_names: Annotated[bool | None, switch("--resource-names", f"{parameters.RESOURCE_NAMES}", KEEP)] = None,
    budget: Annotated[str | None, option(f"{parameters.BUDGET} {SHARES}", "SHARES", KEEP)] = None,
    labels: Annotated[Path | None, option(LABELS, "FILE", KEEP)] = None,
    public_labels: Annotated[
        bool | None, switch("--public-labels", "Treat activity names as public: release all of them.", KEEP)
    ] = None,
    time_zone: Annotated[str | None, option(f"{parameters.TIME_ZONE} Default: UTC.", "ZONE", KEEP)] = None,
    cases: Annotated[int | None, option(f"{parameters.CASES} Default: about as many as in the log.", panel=KEEP)] = None,
    most_cases: Annotated[int | None, option(f"{parameters.MOST_CASES} Default: 1.", panel=KEEP)] = None,
    gamma: Annotated[float | None, option(f"{parameters.GAMMA} Default: 1; of libra2022: 0.05.", panel=MECHANISM)] = None,
    subsamples: Annotated[str | None, option(PAPER, "N|paper", MECHANISM)] = None,
    alpha: Annotated[float | None, option(f"libra2022: {parameters.ALPHA} Default: 10.", panel=MECHANISM)] = None,
    b: Annotated[float | None, option(f"libra2022: {parameters.B} Default: 2.", panel=MECHANISM)] = None,
    others: Annotated[
        list[str] | None,
        option("Set any parameter that libra mechanisms NAME lists. May be repeated.", "NAME=VALUE", MECHANISM, "--set"),
    ] = None,
) -> None:
    """The definition of the flags; each is a keyword of `libra.anonymize` as well."""


def flag_of(parameter: str) -> str:
    """The flag of a parameter; empty for one that --set sets."""
    parameter = {"attributes": "attribute"}.get(parameter, parameter)  # which may be repeated
    has_flag = parameter in ("epsilon", "delta") or parameter in inspect.signature(mechanism_flags).parameters
    return f"--{parameter.replace('_', '-')}" if has_flag else ""


def command(*examples: str) -> Callable[[Command], Command]:
    """Make a function a command: the examples of its help, and shared flags, which it receives as `options` and `parameters`."""

    def made(function: Command) -> Command:
        EXAMPLES[function.__name__] = examples
        own = inspect.signature(function).parameters
        if "options" not in own:
            return function
        function = with_streams(function)
        if "parameters" in own:
            function = _taking(mechanism_flags, "parameters", _with_values(function))
        return _taking(input_flags, "options", function)

    return made


def _taking(flags: Command, receiver: str, command: Command) -> Command:
    """A command that has the options that the signature of `flags` defines; it receives those in use as a dictionary."""
    own, shared = (inspect.signature(one, eval_str=True).parameters for one in (command, flags))
    positional = [p for p in own.values() if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != receiver]
    named = [p for p in own.values() if p.kind is p.KEYWORD_ONLY]
    named += [p.replace(kind=p.KEYWORD_ONLY) for p in shared.values()]
    named.sort(key=lambda p: PANELS.index(p.annotation.__metadata__[0].rich_help_panel))

    @functools.wraps(command)
    def wrapped(*args: Any, **given: Any) -> None:
        options = {name: given.pop(name) for name in shared}
        said = {name: value for name, value in options.items() if value is not None and value != []}
        command(*args, **{receiver: said}, **given)

    wrapped.__annotations__ = get_type_hints(command, include_extras=True) | get_type_hints(flags, include_extras=True)
    wrapped.__signature__ = inspect.Signature([*positional, *named])  # type: ignore[attr-defined]  # how inspect is told
    return wrapped


def _with_values(command: Command) -> Command:
    """A command whose `parameters` are what flags say, as the values that mechanisms take."""

    @functools.wraps(command)
    def wrapped(*args: Any, parameters: dict[str, Any], **given: Any) -> None:
        from libra.comparison.plan import parsed_parameters

        inputs = {"description": given["options"].get("description"), "list of labels": parameters.get("labels")}
        written = {name: given.get(name) for name in ("output", "certificate", "report", "model")}
        check_inputs_stay(inputs | {"secret key": given.get("sign_key")}, written)
        if (said := parameters.get("subsamples", "")).isdecimal() and len(said) < LONG_NUMBER:
            parameters["subsamples"] = int(said)  # the mechanism refuses words other than paper
        if "labels" in parameters:
            parameters["labels"] = labels_in(parameters["labels"])
        if parameters.pop("public_labels", None):
            if "labels" in parameters:
                raise UsageError("--labels and --public-labels contradict each other. Remove one of them.")
            parameters["labels"] = "public"
        named = parameters.pop("attribute", None)
        if parameters.pop("all_attributes", None):
            parameters["attributes"] = ["all", *named] if named else "all"
        elif named:
            parameters["attributes"] = named
        others = parsed_parameters(parameters.pop("others", ()))
        command(*args, parameters={**others, **parameters}, **given)

    return wrapped


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
