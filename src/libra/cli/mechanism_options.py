"""The parameters of the mechanisms as options, defined once and shared by the commands that run one.

`mechanism_flags` is never called: its signature is the definition. What the guarantee is asked with, epsilon and delta, is left
to the commands: to one it is a wish, to another a claim.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from libra.cli.input_options import takes
from libra.errors import UsageError
from libra.eventlog.files import labels_in
from libra.keywords import OtherParameters

SOUND, BOTH, PUBLISHED = "Mechanism libra", "Mechanisms libra and libra2022", "Mechanism libra2022"
GUARANTEE = "Guarantee"
PEERS = "Mechanisms amun, pripel, prefix-laplace, sacofa, travas, and of other packages"
LONG_NUMBER = 20  # digits

MechanismName = Annotated[
    str,
    typer.Option(
        "--mechanism",
        "-m",
        metavar="NAME",
        help="How to anonymize: libra; or libra2022, amun, pripel, prefix-laplace, sacofa, travas.",
    ),
]


def parameter(*flags: str, text: str, panel: str, metavar: str | None = None) -> Any:
    """An option whose default is up to the mechanism."""
    return typer.Option(*flags, help=text, metavar=metavar, rich_help_panel=panel, show_default=False)


def mechanism_flags(
    tail: Annotated[
        str | None,
        parameter(
            "--tail",
            text="Rare cases: model (new traces like them), nearest (to a kept variant) or drop. Default: model.",
            metavar="HOW",
            panel=SOUND,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        parameter(
            "--budget",
            text="Shares, here and with --times model. Default: control=0.55,times=0.45.",
            metavar="SHARES",
            panel=SOUND,
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        parameter(
            "--labels",
            text="Activity names that may be released, one per line: a list that does not come from this log. Events with other "
            "names are left out. Default: names are chosen privately.",
            metavar="FILE",
            panel=SOUND,
        ),
    ] = None,
    public_labels: Annotated[
        bool | None,
        parameter("--public-labels", text="Do not protect activity names: release all of them.", panel=SOUND),
    ] = None,
    time_zone: Annotated[
        str | None,
        parameter(
            "--time-zone",
            text="Time zone used for hour and weekday patterns, here and with --times model. Default: UTC.",
            metavar="ZONE",
            panel=SOUND,
        ),
    ] = None,
    cases: Annotated[
        int | None,
        parameter("--cases", text="How many cases to generate. Default: about as many as there are.", panel=SOUND),
    ] = None,
    most_cases: Annotated[
        int | None,
        parameter("--most-cases", text="How many cases of an individual count, given --individual. Default: 1.", panel=SOUND),
    ] = None,
    gamma: Annotated[
        float | None,
        parameter("--gamma", text="The share of cases in a subsample. Default: 1; of libra2022: 0.05.", panel=BOTH),
    ] = None,
    subsamples: Annotated[
        str | None,
        parameter(
            "--subsamples",
            text="How many. Default: 1; of libra2022: 1/gamma, or 'paper' for gamma times the cases kept.",
            metavar="N|paper",
            panel=BOTH,
        ),
    ] = None,
    alpha: Annotated[
        float | None, parameter("--alpha", text="The order of Renyi differential privacy. Default: 10.", panel=PUBLISHED)
    ] = None,
    b: Annotated[float | None, parameter("--b", text="The scale of the Laplace mechanism. Default: 2.", panel=PUBLISHED)] = None,
    trace_noise: Annotated[
        bool | None,
        parameter(
            "--trace-noise/--no-trace-noise", text="Whether cases are copied and deleted. Default: they are.", panel=PUBLISHED
        ),
    ] = None,
    signed_times: Annotated[
        bool | None,
        parameter("--signed-times", text="Let noisy times between events fall below zero, as in the paper.", panel=PUBLISHED),
    ] = None,
    omega: Annotated[
        float | None,
        parameter("--omega", text="How many minutes a mean moves for a case to be relevant. Default: 20.", panel=PUBLISHED),
    ] = None,
    anonymizer: Annotated[
        str | None,
        parameter(
            "--anonymizer", text="Another mechanism for the subsamples, in place of the paper's.", metavar="NAME", panel=PUBLISHED
        ),
    ] = None,
    times: Annotated[
        str | None,
        parameter(
            "--times",
            text="For mechanisms without timestamps: none, or model to add Libra's private timestamps using part of the budget. "
            "Default: none.",
            metavar="HOW",
            panel=PEERS,
        ),
    ] = None,
    prune: Annotated[
        float | None,
        parameter(
            "--prune",
            text="Drop prefixes rarer than this: below 1 a fraction of all cases, otherwise a count. Default: 0.01.",
            panel=PEERS,
        ),
    ] = None,
    max_length: Annotated[
        int | None,
        parameter("--max-length", text="Events of the longest trace. Default: the average of a case, rounded up.", panel=PEERS),
    ] = None,
    split_budget: Annotated[
        bool | None,
        parameter("--split-budget", text="For prefix-laplace: the sound form, with the budget split over levels.", panel=PEERS),
    ] = None,
    guessing_advantage: Annotated[
        float | None,
        parameter(
            "--guessing-advantage", text="For amun, in place of --epsilon: how much surer a guess may become.", panel=PEERS
        ),
    ] = None,
    query: Annotated[
        str | None,
        parameter("--query", text="For pripel: prefix-laplace (default) or sacofa.", metavar="NAME", panel=PEERS),
    ] = None,
    repeats: Annotated[
        int | None, parameter("--repeats", text="For travas: how often to ask, averaging the counts. Default: 1.", panel=PEERS)
    ] = None,
    others: Annotated[
        list[str] | None,
        parameter("--set", text="Any parameter of a mechanism. May be repeated.", metavar="NAME=VALUE", panel=PEERS),
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
