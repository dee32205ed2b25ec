"""How to do it again: the commands that give such a release, check it and measure it, spelled so that they can be copied."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libra.errors import LibraError
from libra.mechanisms.mechanism import mechanism, parameters_of

FLAGS = ("epsilon", "delta")  # parameters that are flags of every mechanism


@dataclass(frozen=True)
class Names:
    """What the files of a release are called, where they are files: nothing else of the machine that they are on."""

    original: str = ""
    anonymized: str = ""
    certificate: str = ""


def anonymize_again(document: Mapping[str, Any], original: str, anonymized: str) -> str:
    """The command that makes another release of the same kind; what is left at its default is left out.

    Example:
        >>> document = {"mechanism": "libra", "parameters": {"epsilon": 0.5, "delta": 1e-05, "tail": "drop", "gamma": 1.0}}
        >>> print(anonymize_again(document, "log.csv", "out.csv"))
        libra anonymize log.csv -o out.csv --mechanism libra --epsilon 0.5 --delta 1e-05 --set tail=drop
    """
    name, parameters = str(document["mechanism"]), document["parameters"]
    words = ["libra", "anonymize", original, "-o", anonymized, "--mechanism", name]
    usual = _defaults(name)
    for flag in FLAGS:
        if parameters.get(flag) is not None:
            words += [f"--{flag}", f"{parameters[flag]:g}"]
    for parameter, value in parameters.items():
        if parameter not in FLAGS and value is not None and usual.get(parameter) != value:
            words += ["--set", f"{parameter}={value if isinstance(value, str) else json.dumps(value)}"]
    return shlex.join(words)


def _defaults(name: str) -> Mapping[str, Any]:
    """The parameters of a mechanism that was asked for nothing; none are known of one that is not installed."""
    try:
        made = mechanism(name, {})
        return {parameter: getattr(made, parameter, None) for parameter in parameters_of(name)}
    except LibraError:
        return {}
