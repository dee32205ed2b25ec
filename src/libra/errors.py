"""Errors written for the person who reads them: what is wrong, where, and what to do.

Everything the package raises on purpose is a `LibraError`; its text is one line. The command line prints that line and exits with
`exit_code` (1 not met, 2 usage, 3 bad input, as the interface promises).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from libra._system.shell import pip_install


class LibraError(Exception):
    """Base of all errors raised on purpose. `str(error)` is one line for people."""

    exit_code = 3

    def __reduce__(self) -> tuple[Any, ...]:
        """How it goes from one process to another: as it is, its line not composed a second time."""
        return _again, (type(self), *self.args), self.__dict__


class InputError(LibraError):
    """An input that cannot be used: names the place, what is wrong there, and the remedy.

    Example:
        >>> from libra.errors import InputError
        >>> print(InputError('timestamp "n/a" cannot be read', place="a.csv, line 214", remedy="Use --timestamp-format"))
        a.csv, line 214: timestamp "n/a" cannot be read. Use --timestamp-format.
    """

    def __init__(self, what: str, *, place: str = "", remedy: str = "") -> None:
        """Compose the line from its three parts; `what` and `remedy` come without a final full stop."""
        self.what, self.place, self.remedy = what, place, remedy
        line = f"{place}: {what}." if place else f"{what}."
        super().__init__(" ".join((f"{line} {remedy}." if remedy else line).split()))


class MissingColumnError(InputError):
    """Columns that the user named for some roles are not in the log; `lacking` tells them by role, such as `case_id`."""

    def __init__(self, what: str, *, lacking: Mapping[str, Sequence[str]], place: str = "", remedy: str = "") -> None:
        super().__init__(what, place=place, remedy=remedy)
        self.lacking = lacking


class UsageError(LibraError):
    """A call that contradicts itself, such as an unknown output format."""

    exit_code = 2


class BrokenMechanismError(UsageError):
    """A mechanism of another package broke down; what it raised is the cause."""


class MissingExtraError(LibraError):
    """An optional dependency that the call needs is not installed; the text says how to get it."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed. Install it with: {pip_install(f'libra-pm[{extra}]')}")


class EmptyReleaseError(LibraError):
    """An anonymized log came out empty, and was written as such; the text says why and what would help."""

    exit_code = 1


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question to put behind an error, where one of the known words is close, or only written in other letters; or nothing.

    Example:
        >>> did_you_mean("Billed", ["PAID", "BILLED"]), did_you_mean("BILLD", ["PAID", "BILLED"]), did_you_mean("x", ["PAID"])
        (' Did you mean BILLED?', ' Did you mean BILLED?', '')
    """
    from difflib import get_close_matches

    known = list(known)
    close = [each for each in known if each.casefold() == word.strip().casefold()] or get_close_matches(word, known, n=1)
    return f" Did you mean {close[0]}?" if close else ""


def _again(kind: type[LibraError], *told: object) -> LibraError:
    return kind.__new__(kind, *told)
