"""What a certificate of `libra` has to say, given its parameters, and whether it does.

In: a document of the right form. Out: checks. The mechanism is made anew from the parameters; its plan says what may be spent on
what, its guarantee what is promised and in which words, and the accountant counts the ledger once more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from libra.certificate.check import Check, judged
from libra.certificate.differences import DIGITS, differences
from libra.certificate.of_any import said
from libra.certificate.releases import RELEASES, TAIL, TIMES
from libra.certificate.totals import totals
from libra.engines import control_flow_tables as control
from libra.errors import LibraError
from libra.mechanisms.libra import Libra
from libra.privacy.gate import KEPT_LABELS, KEPT_VARIANTS
from libra.privacy.ledger import Entry, Ledger

ALWAYS_OF_TAIL = (control.Size.purpose, control.Lengths.purpose, control.BaseNorms.purpose)


def checks(document: dict[str, Any]) -> Iterator[Check]:
    """The checks of a certificate of libra, but for those that all mechanisms share."""
    parameters = document["parameters"]
    meaning = "The promise is not the one that this run was asked for."
    try:
        made = Libra(**parameters)
    except LibraError as error:
        yield Check("parameters", False, f"libra cannot be run with them: {error}", "No run of libra has such parameters.")
        return
    fails = "They do not go with the rest of the certificate"
    yield judged("parameters", _not_as_asked(document, made), holds=_asked(made), fails=fails, meaning=meaning)
    ledger = Ledger.from_dict(document)
    holds = f"Each of the {len(ledger.entries)} releases is one that libra makes, with the noise that these parameters give it."
    meaning = "The ledger is not that of a run of this version with these parameters, so its total proves nothing."
    fails = "It is not what libra releases with these parameters"
    yield judged("ledger", not_as_planned(ledger.entries, made), holds=holds, fails=fails, meaning=meaning)
    if any(entry.mu is None for entry in ledger.entries):
        found = "The ledger has other than Gaussian noise, and libra draws no other."
        yield Check("total", False, found, "Its total proves nothing.")
    else:
        yield from totals(document, ledger, made.plan.calibration.mu)
    yield said(document, [made.guarantee(seeded=document["guarantee"]["seeded"])])


def _asked(made: Libra) -> str:
    return f"What is promised is what was asked for: epsilon {made.epsilon:g}, delta {made.delta:g}."


def _not_as_asked(document: dict[str, Any], made: Libra) -> Iterator[str]:
    yield from differences(document["parameters"], made.parameters(), "parameters")
    promised = {name: document["guarantee"][name] for name in ("epsilon", "delta")}
    yield from differences(promised, {"epsilon": made.epsilon, "delta": made.delta}, "guarantee")
    drawn = {"rate": made.gamma, "times": made.subsamples, "most_cases": made.most_cases or 1}
    yield from differences(document["subsampling"], drawn, "subsampling")
    yield from differences(document["spent"]["asked"], made.plan.calibration.mu, "spent.asked")


def not_as_planned(entries: Sequence[Entry], made: Libra) -> Iterator[str]:
    """How the entries of a ledger depart from what a run with these parameters releases.

    Example:
        >>> list(not_as_planned([Entry("names", "rounded gaussian", 1.0, 2.0)], Libra(tail="drop")))[0]
        'ledger[0] is for "names", which libra does not release'
    """
    for number, entry in enumerate(entries):
        if entry.purpose not in RELEASES:
            yield f'ledger[{number}] is for "{entry.purpose[:60]}", which libra does not release'
            continue
        for departure in RELEASES[entry.purpose].departures(entry):
            yield f'ledger[{number}], "{entry.purpose}": {departure}'
    plan, noise = made.plan, made.plan.calibration
    second = control.NearestCounts.purpose if made.tail == "nearest" else control.VariantCounts.purpose
    fixed = {
        KEPT_VARIANTS: [(noise.mu_variants, noise.variant_shows)],
        KEPT_LABELS: [(each.mu, noise.labels_show(number)) for number, each in enumerate(noise.label_rounds)],
        second: [(plan.mu_second, 0.0)],
    }
    for purpose in (KEPT_LABELS, KEPT_VARIANTS, control.NearestCounts.purpose, control.VariantCounts.purpose):
        there, planned = [entry for entry in entries if entry.purpose == purpose], fixed.get(purpose, [])
        if len(there) != len(planned):
            yield f'"{purpose}" stands there {len(there)} times, and with these parameters it is released {len(planned)}'
        for entry, figures in zip(there, planned, strict=False):
            if not all(map(_close, (entry.mu or 0.0, entry.shows), figures)):
                yield f'"{purpose}" does not have the noise that these parameters give it'
    yield from _not_as_shared(entries, made)


def _not_as_shared(entries: Sequence[Entry], made: Libra) -> Iterator[str]:
    """Whether rare cases and times have what the plan gives them: the tail at most that, times all of it or nothing."""
    topics = [RELEASES[entry.purpose].topic if entry.purpose in RELEASES else "" for entry in entries]
    of_tail = [entry for entry, topic in zip(entries, topics, strict=True) if topic == TAIL]
    of_times = [entry for entry, topic in zip(entries, topics, strict=True) if topic in TIMES]
    purposes = [entry.purpose for entry in of_tail]
    if made.tail != "model" and of_tail:
        yield f'there are releases about rare cases, and with tail "{made.tail}" there are none'
    if made.tail == "model" and not set(ALWAYS_OF_TAIL) <= set(purposes):
        yield "releases about rare cases are missing that every run makes"
    if Ledger(tuple(of_tail)).mu > made.plan.mu_tail * (1 + DIGITS):
        yield "releases about rare cases take more than the plan gives them"
    if of_times and not _close(Ledger(tuple(of_times)).mu, made.plan.mu_times):
        yield "releases about times do not add up to what the plan gives them"


def _close(found: float, expected: float) -> bool:
    return math.isclose(found, expected, rel_tol=DIGITS)
