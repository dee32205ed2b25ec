"""A mechanism from a certificate: what is needed to run it once more, for an attack on it.

What is no certificate, does not hold for itself, or cannot be run again, is an `InputError` that names the file: a bound that
nobody promised is never told.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from libra.certificate.check import RANDOMNESS
from libra.certificate.document import CHECKSUM, fingerprint, read_certificate
from libra.certificate.verify import self_checks
from libra.engines.contract import CASE
from libra.errors import InputError, LibraError, UsageError
from libra.mechanisms.mechanism import Mechanism, mechanism, names

WRITES = "Give the file that libra anonymize --certificate FILE wrote"


@dataclass(frozen=True)
class Bound:
    """The largest advantage, between 0 and 1, that a promise allows; of whom the promise is, and what it says."""

    advantage: float
    kind: Literal["proved", "claimed"]  # claimed by the authors of the mechanism
    promise: str


@dataclass(frozen=True)
class Certified:
    """A mechanism from its certificate, and what its guarantee allows."""

    mechanism: Mechanism
    bound: Bound | None
    sha256: str | None  # of the file that was certified, where there is one
    of_individuals: bool = False  # who are protected, and not only cases

    def is_of(self, released: Path) -> bool:
        """Whether this is the file that was certified; also where the certificate names none."""
        return self.sha256 is None or str(fingerprint(released)["sha256"]) == self.sha256


def certified(certificate: str | Path | Mapping[str, Any]) -> Certified:
    """The mechanism of a certificate: a file, or a document such as `release.certificate()` gives.

    A document that never was a file has no checksum and is taken as it is. So is one from a seed: the attack draws anew. An
    `InputError` where it is no certificate, or does not hold, or cannot be run again.

    Example:
        >>> made = certified({"mechanism": "libra2022", "parameters": {"alpha": 2}, "guarantee": {"kind": "claimed"}})
        >>> made.mechanism.name, made.bound
        ('libra2022', None)
    """
    if not isinstance(certificate, str | Path | Mapping):
        raise UsageError(f"certificate is a file or what release.certificate() gives, not {certificate!r}.")
    document = certificate if isinstance(certificate, Mapping) else read_certificate(Path(certificate))[1]
    place = "" if isinstance(certificate, Mapping) else str(certificate)
    name, parameters, output = document.get("mechanism"), document.get("parameters"), document.get("output")
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        raise InputError("this is not a certificate: it names no mechanism with its parameters", place=place, remedy=WRITES)
    if parameters.get("anonymizer") not in (None, *names()):
        what = "this release was made with an anonymizer of your own, which a certificate cannot hold"
        raise InputError(what, place=place, remedy="Omit the certificate")
    if place or CHECKSUM in document:
        try:
            failed = [check.name for check in self_checks(dict(document)) if not check.ok and check.name != RANDOMNESS]
        except (TypeError, ValueError):  # a value that JSON does not have, such as NaN
            failed = ["structure"]
        if failed:
            what = f"this certificate does not hold ({', '.join(failed)}), so nothing follows from it"
            remedy = "Run libra verify with it and the released file: it says what is wrong"
            raise InputError(what, place=place, remedy=remedy)
    try:
        made, bound = mechanism(name, parameters), bound_of(document)
    except (LibraError, ArithmeticError, AttributeError, TypeError, ValueError) as error:
        what = f"the mechanism cannot be run from this certificate ({str(error).removesuffix('.')})"
        raise InputError(what, place=place, remedy=WRITES) from error
    sha256 = output.get("sha256") if isinstance(output, Mapping) else None
    guarantee = document.get("guarantee")
    unit = guarantee.get("unit", CASE.statement()) if isinstance(guarantee, Mapping) else CASE.statement()
    return Certified(made, bound, sha256, of_individuals=unit != CASE.statement())


def bound_of(certificate: Mapping[str, Any]) -> Bound | None:
    """The bound that follows from a certificate.

    A guess between even odds that is right with probability 1/2 + d at most has an advantage of 2 d at most.
    """
    guarantee, claimed = certificate.get("guarantee") or {}, certificate.get("claimed") or {}
    kind: Literal["proved", "claimed"] = "proved" if guarantee.get("kind") == "proved" else "claimed"
    if "anonymizer" in (certificate.get("parameters") or {}):
        return None  # nothing is claimed of another anonymizer than the paper's
    guess = claimed.get("guessing_advantage")
    if kind == "claimed" and guess is not None:
        return Bound(min(2 * guess, 1.0), kind, f"a guessing advantage of {guess:g}")
    said = guarantee if kind == "proved" else claimed
    epsilon, delta = said.get("epsilon"), said.get("delta")
    if epsilon is not None and delta is not None:
        return Bound(of_differential_privacy(epsilon, delta), kind, f"({epsilon:g}, {delta:g})-differential privacy")
    order, divergence = claimed.get("renyi_order"), claimed.get("renyi_epsilon")
    if order is not None and divergence is not None:
        return Bound(of_renyi(order, divergence), kind, f"a Renyi divergence of {divergence:.4g} at order {order:g}")
    return None


def of_differential_privacy(epsilon: float, delta: float) -> float:
    """The largest advantage under (epsilon, delta)-differential privacy: (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)."""
    return min(math.tanh(epsilon / 2) + delta * (1 - math.tanh(epsilon / 2)), 1.0)


def of_renyi(order: float, divergence: float) -> float:
    """The largest advantage where the Renyi divergence at this order is bounded both ways.

    What an attack says is yes or no, with probabilities p and q; the divergence of the two answers is no larger. It is
    quasi-convex and does not change when p and q become 1 - q and 1 - p, so the largest p - q is found at q = 1 - p.
    """
    low, high = 0.0, 1.0
    for _ in range(50):
        advantage = (low + high) / 2
        p, q = math.log1p(advantage) - math.log(2), math.log1p(-advantage) - math.log(2)
        one, other = order * p + (1 - order) * q, order * q + (1 - order) * p
        largest = max(one, other)
        reached = (largest + math.log(math.exp(one - largest) + math.exp(other - largest))) / (order - 1)
        low, high = (low, advantage) if reached > divergence else (advantage, high)
    return high
