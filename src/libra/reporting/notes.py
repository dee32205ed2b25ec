"""What a certificate says about how far the figures of a log can be believed: the notes that its release gave as well.

In: a certificate. Out: sentences, from the noise in its ledger alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from libra.engines.control_flow_tables import BaseEdges
from libra.mechanisms.libra.algorithm import noise_on_edges


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
