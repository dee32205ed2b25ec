"""Whether a released log looks like what its certificate says of it: what can be seen in the file itself.

In: a certificate of the right form and the file it names. Out: one `Check`. A log that was drawn with a seed says so in its case
ids, one that has events has times, which a ledger has to count or which are placeholders, and there are traces that some queries
cannot give.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from libra.certificate.check import Check, judged
from libra.certificate.releases import RELEASES, TIMES
from libra.engines.prefix_tables import PrefixLevel
from libra.errors import LibraError
from libra.eventlog.log import EventLog
from libra.eventlog.names import CASE_NAME
from libra.eventlog.options import ReadOptions
from libra.eventlog.read import read
from libra.mechanisms.fresh_log import SEEDED_PREFIX
from libra.mechanisms.peers.placeholders import PLACEHOLDERS, placeholder_times
from libra.privacy.gate import VARIANT_COUNTS


def content(document: dict[str, Any], output: Path) -> Check:
    """Whether the log in the file goes with the certificate."""
    try:
        problems = list(_departures(document, read(output, ReadOptions(allow_empty=True))))
    except LibraError as error:
        problems = [f"it cannot be read: {error}"]
    return judged(
        "content",
        problems,
        holds="The log in the file is one that such a run writes.",
        fails="The log in the file does not go with the certificate",
        meaning="The certificate was made up, or belongs to another run.",
    )


def _departures(document: dict[str, Any], log: EventLog) -> Iterator[str]:
    seeded = bool(log.cases[CASE_NAME].str.starts_with(SEEDED_PREFIX).any())
    if seeded and not document["guarantee"]["seeded"]:
        yield "its case ids say that it was drawn with a seed, and the certificate does not"
    if "cases" in document and log.n_cases != document["cases"]:
        yield f"it has {log.n_cases:,} cases, and the certificate says {document['cases']:,}"
    yield from _other_control_flow(document, log)
    if document["contents"] == PLACEHOLDERS:
        if not np.array_equal(log.timestamps, placeholder_times(log.case_offsets)):
            yield "its timestamps are other than the placeholders that the certificate speaks of"
        return
    purposes = [entry["purpose"] for entry in document.get("ledger", ())]
    timed = any(purpose in RELEASES and RELEASES[purpose].topic in TIMES for purpose in purposes)
    if purposes and log.n_events and not timed:
        yield "it has times, and the ledger counts none"


def _other_control_flow(document: dict[str, Any], log: EventLog) -> Iterator[str]:
    """What the noise or the levels of a sound query by others rule out."""
    ledger = document.get("ledger", ())
    bounds = [entry["bound"] for entry in ledger if entry["purpose"] == VARIANT_COUNTS and "bound" in entry]
    if len(bounds) == 1 and log.n_cases and log.variants.counts.min() <= bounds[0]:
        yield f"it has a variant of {bounds[0]} cases or fewer, and with this noise none is released"
    levels = sum(entry["purpose"] == PrefixLevel.purpose for entry in ledger)
    if levels and log.n_cases and np.diff(log.case_offsets).max() >= levels:
        yield f"it has a trace of {levels} events or more, and {levels} levels of prefixes give shorter ones"
