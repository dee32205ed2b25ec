"""What a ledger comes to, as it stands in a certificate: made here for a release, and made again when it is verified."""

from __future__ import annotations

from typing import Any

from libra.privacy.accounting import epsilon_of_ledger
from libra.privacy.ledger import Ledger


def counted(ledger: Ledger, delta: float) -> dict[str, Any]:
    """The fields `ledger`, `subsampling` and `spent`: the entries, and what the accountant makes of them at a delta.

    Example:
        >>> from libra.privacy.ledger import ROUNDED_GAUSSIAN, Entry
        >>> made = counted(Ledger((Entry("edges", ROUNDED_GAUSSIAN, 1.0, 4.0),)), delta=1e-5)
        >>> made["spent"]["mu"], round(made["spent"]["epsilon"], 2)
        (0.25, 0.93)
    """
    plain = ledger.to_dict()
    return plain | {"spent": {"epsilon": epsilon_of_ledger(ledger, delta), "delta": delta} | plain["spent"]}
