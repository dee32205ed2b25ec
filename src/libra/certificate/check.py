"""What a verification is made of: checks, each one line for people, and the verdict; and where two documents differ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

MECHANISM = "mechanism"  # the check that fails where nothing is known of the mechanism
RANDOMNESS = "randomness"  # the check that fails where the noise came from a seed
SIGNATURE = "signature"  # the check that is made where a key is given
DIGITS = 1e-9  # relative: other machines round the last digits otherwise
SHOWN = 3


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str  # what it is about, in a word
    ok: bool
    found: str  # what holds, or what does not, in a sentence
    meaning: str = ""  # if it does not hold, what that means for whoever relies on it


@dataclass(frozen=True)
class Verification:
    """Whether a certificate holds for a file."""

    checks: tuple[Check, ...]  # in order; with a key, its signature as well
    verdict: str  # in a sentence
    promised: bool  # a proved guarantee, and every check holds; unless it is signed, anyone may have promised it
    signed: bool = False  # by the key that was given
    key_id: str | None = None  # of the key that the signature beside it says it is by; None if there is no signature

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)

    @property
    def consistent(self) -> bool:
        """Whether certificate and file agree with themselves and each other, whoever wrote them."""
        return all(check.ok for check in self.checks if check.name != SIGNATURE)

    def to_dict(self) -> dict[str, Any]:
        """A JSON-ready copy."""
        found = {"ok": self.ok, "promised": self.promised, "consistent": self.consistent, "signed": self.signed}
        return found | {"key_id": self.key_id, "verdict": self.verdict, "checks": [asdict(check) for check in self.checks]}


def judged(name: str, problems: Iterable[str], holds: str, fails: str, meaning: str) -> Check:
    """A check that holds if there is no problem; otherwise `fails` begins the sentence that lists them."""
    found = list(problems)
    listed = "; ".join(found[:SHOWN] + ([f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []))
    return Check(name, False, f"{fails}: {listed}.", meaning) if found else Check(name, True, holds)


def differences(found: Any, expected: Any, place: str = "", close: float = DIGITS) -> Iterator[str]:
    """The places where two JSON values differ, each with what is there and what should be.

    Example:
        >>> list(differences({"spent": {"mu": 0.5, "shares": [1, 2]}}, {"spent": {"mu": 0.5 + 1e-12, "shares": [1, 3]}}))
        ['spent.shares[1] is 2, not 3']
    """
    if isinstance(found, dict) and isinstance(expected, dict):
        for name in {**found, **expected}:
            inner = f"{place}.{name}".removeprefix(".")
            if name in found and name in expected:
                yield from differences(found[name], expected[name], inner, close)
            else:
                yield f"{inner} {'should not be there' if name in found else 'is missing'}"
    elif isinstance(found, list) and isinstance(expected, list):
        if len(found) != len(expected):
            yield f"{place} has {len(found)} items, not {len(expected)}"
        for number, (one, other) in enumerate(zip(found, expected, strict=False)):
            yield from differences(one, other, f"{place}[{number}]", close)
    elif not _equal(found, expected, close):
        words = isinstance(found, str) and isinstance(expected, str) and " " in found + expected
        yield f"{place} says something else" if words else f"{place} is {_short(found)}, not {_short(expected)}"


def _equal(found: Any, expected: Any, close: float) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return math.isclose(found, expected, rel_tol=close)
    return bool(found == expected)


def _short(value: Any) -> str:
    said = f'"{value}"' if isinstance(value, str) else f"{value:.12g}" if isinstance(value, float) else str(value)
    return said if len(said) <= 60 else f"{said[:60]}…"
