"""Whether the figures that follow from a ledger are the ones that a certificate states, and whether they keep the promise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from libra.certificate.check import Check, judged
from libra.certificate.counted import counted
from libra.certificate.differences import differences
from libra.privacy.accounting import UnknownReleaseError
from libra.privacy.ledger import Ledger


def totals(document: dict[str, Any], ledger: Ledger, asked: float | None) -> Iterator[Check]:
    """Every figure that follows from the ledger, and whether all of it is within the promise.

    Args:
        document: The certificate.
        ledger: Its ledger.
        asked: The mu that these parameters allow; None where that is not a figure of this mechanism.
    """
    promised = document["guarantee"]
    try:
        expected = counted(replace(ledger, asked=asked), promised["delta"])
    except UnknownReleaseError as error:
        yield Check("total", False, str(error), "Its total proves nothing.")
        return
    stated = {name: document[name] for name in ("ledger", "subsampling", "spent")}
    holds = "All shares, mu and what was spent follow from the noise in the ledger."
    fails = "Some do not follow from the noise in the ledger"
    meaning = "Somebody miscounted, or changed a figure."
    yield judged("figures", differences(stated, expected), holds=holds, fails=fails, meaning=meaning)
    epsilon = expected["spent"]["epsilon"]
    total = f"Everything in the ledger together has epsilon {epsilon:.6g} at delta {promised['delta']:g}"
    if epsilon <= promised["epsilon"]:
        yield Check("total", True, f"{total}, no more than the {promised['epsilon']:g} promised.")
    else:
        meaning = "The release reveals more than the certificate promises."
        yield Check("total", False, f"{total}, more than the {promised['epsilon']:g} promised.", meaning)
