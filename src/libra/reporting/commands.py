"""Commands that repeat, check and measure a release, to be copied from a report.

A command that cannot be copied as it is shown, because a name in it has characters that nobody sees, is left out.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from libra.errors import LibraError
from libra.mechanisms.mechanism import mechanism, parameters_of

if TYPE_CHECKING:
    from libra.keywords import ReadKeywords

FLAGS = ("epsilon", "delta")  # parameters that are flags of every mechanism
NOT_SAID = ("progress", "allow_empty")  # keywords that are no flags
LABELS = "labels.txt"  # a list of labels, which the command line takes as a file
AGAIN = "again-"  # before the names of what another release writes
LONGEST = 1_000  # characters of a command


@dataclass(frozen=True)
class Names:
    """What the files of a release are called, where they are files, and the flags that the original was read with.

    Nothing else of the machine that they are on.
    """

    original: str = ""
    anonymized: str = ""
    certificate: str = ""
    reading: tuple[str, ...] = ()


USUAL = Names("log.xes.gz", "anonymized.xes.gz", "certificate.json")


def reading_flags(keywords: ReadKeywords) -> tuple[str, ...]:
    """The flags that say what these keywords of `read` say.

    Example:
        >>> reading_flags({"case_id": ["Patient", "Visit"], "day_first": False, "sort_by_time": True})
        ('--case-id', 'Patient', '--case-id', 'Visit', '--month-first', '--sort-by-time')
    """
    words: list[str] = []
    for name, value in keywords.items():
        flag = f"--{name.replace('_', '-')}"
        if name in NOT_SAID or value is None:
            continue
        if name == "day_first":
            words.append("--day-first" if value else "--month-first")
        elif isinstance(value, bool):
            words += [flag] if value else []
        else:
            value = str(getattr(value, "source", value)) if name == "description" else value  # the file that it is from
            several = [value] if isinstance(value, str) else value
            words += [word for one in several for word in (flag, one)]  # type: ignore[attr-defined]  # a name or several
    return tuple(words)


def commands_of(document: Mapping[str, Any] | None, names: Names, *, public: bool) -> dict[str, str]:
    """The commands of a page by what they are for: "again", "verify", "report", "measure"; those that do not apply are empty.

    Example:
        >>> commands_of(None, Names("log.csv", "out.csv"), public=False)["report"]
        'libra report log.csv out.csv -o report.html'
    """
    in_memory = not names.anonymized
    original, released = names.original or USUAL.original, names.anonymized or USUAL.anonymized
    certificate = names.certificate or (USUAL.certificate if in_memory else "")
    logs, reading = ([_path(released)], []) if public else ([_path(original), _path(released)], list(names.reading))
    certified = ["--certificate", _path(certificate)] if document is not None and certificate else []
    report = ["libra", "report", *logs, *certified, *(["--public"] if public else []), "-o", "report.html", *reading]
    commands = {"again": [], "verify": [], "report": report, "measure": []}
    if certified:
        commands["verify"] = ["libra", "verify", _path(certificate), _path(released)]
    if not public:
        commands["measure"] = ["libra", "measure", *logs, "--json", *reading]
    if document is not None and not public:
        written = ["-o", f"{AGAIN}{released}", "--certificate", f"{AGAIN}{USUAL.certificate}"]
        commands["again"] = ["libra", "anonymize", _path(original), *written, *_parameters(document), *reading]
    lines = {name: shlex.join(words) if all(map(str.isprintable, words)) else "" for name, words in commands.items()}
    return {name: line if len(line) <= LONGEST else "" for name, line in lines.items()}


def _parameters(document: Mapping[str, Any]) -> list[str]:
    """The flags of a mechanism; what is left at its default is left out."""
    name, parameters = str(document["mechanism"]), document["parameters"]
    words = ["--mechanism", name]
    usual = _defaults(name)
    words += [word for flag in FLAGS if parameters.get(flag) is not None for word in (f"--{flag}", json.dumps(parameters[flag]))]
    for parameter, value in parameters.items():
        if parameter in FLAGS or value is None or usual.get(parameter) == value:
            continue
        if (name, parameter) == ("libra", "labels"):
            words += ["--public-labels"] if value == "public" else ["--labels", LABELS]
        else:
            words += ["--set", f"{parameter}={value if isinstance(value, str) else json.dumps(value)}"]
    return words


def _path(name: str) -> str:
    """A file that is not taken for a flag."""
    return f"./{name}" if name.startswith("-") else name


def _defaults(name: str) -> Mapping[str, Any]:
    """The parameters of a mechanism that was asked for nothing; none are known of one that is not installed."""
    try:
        made = mechanism(name, {})
        return {parameter: getattr(made, parameter, None) for parameter in parameters_of(name)}
    except LibraError:
        return {}
