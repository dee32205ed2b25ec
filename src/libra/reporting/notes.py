"""What a certificate says about how far the figures of a log can be believed: the notes that its release gave as well.

In: a certificate. Out: sentences, from the noise in its ledger alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from libra.engines.control_flow_tables import BaseEdges
from libra.errors import LibraError
from libra.mechanisms.libra import Libra
from libra.mechanisms.libra.algorithm import WOULD_HELP, noise_on_edges
from libra.privacy.unit import CASE


def notes_of(document: Mapping[str, Any] | None) -> Iterator[str]:
    """The notes of a certificate; none where there is no certificate.

    Example:
        >>> import libra, libra.example
        >>> release = libra.anonymize(libra.example.path())
        >>> set(notes_of(release.certificate())) <= set(release.notes)
        True
    """
    if document is None:
        return
    runs = document.get("subsampling")
    for entry in document.get("ledger", ()):
        if entry["purpose"] == BaseEdges.purpose and runs is not None:
            yield noise_on_edges(entry["noise"] / (runs["rate"] * runs["times"]))
            return


def what_survives(document: Mapping[str, Any] | None) -> Iterator[str]:
    """How many cases a variant needs to come out, where the mechanism has such a plan: for whoever got an empty log.

    Example:
        >>> import libra
        >>> from libra.example.simulate import simulate
        >>> next(what_survives(libra.anonymize(simulate(cases=5)).certificate())).partition(" needs")[0]
        'A variant'
    """
    if document is None or document["mechanism"] != Libra.name:
        return
    try:
        made = Libra(**document["parameters"])
    except LibraError:
        return
    individuals = document["guarantee"]["unit"] != CASE.statement()
    yield (made.for_individuals() if individuals else made).plan.survives()
    yield WOULD_HELP
