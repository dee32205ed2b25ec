"""What the budget of a certificate was spent on, by topic.

In: a certificate of the right form. Out: shares of what may be spent, for people: a topic may have several releases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from libra.certificate.releases import RELEASES
from libra.privacy.ledger import Group

OTHER = "other releases"


@dataclass(frozen=True)
class Spent:
    """What a topic has cost: the cases it was counted from, and its share of what may be spent."""

    topic: str
    group: Group
    share: float


def topic_of(purpose: str, *, otherwise: str = OTHER) -> str:
    """What a release is about, in words for people.

    Example:
        >>> topic_of("which variants are kept"), topic_of("something new")
        ('choice of what is shown', 'other releases')
    """
    return RELEASES[purpose].topic if purpose in RELEASES else otherwise


def spent_by_topic(document: Mapping[str, Any]) -> tuple[Spent, ...] | None:
    """The shares of a certificate's ledger, in its order; None where its noise has no common share.

    Example:
        >>> entries = [{"purpose": "lengths of rare cases", "group": "tail", "share": share} for share in (0.25, 0.5)]
        >>> spent_by_topic({"ledger": entries})
        (Spent(topic='model of rare cases', group='tail', share=0.75),)
    """
    entries = document.get("ledger", ())
    if not entries or any("share" not in entry for entry in entries):
        return None
    shares: dict[tuple[str, Group], float] = {}
    for entry in entries:
        key = topic_of(entry["purpose"]), entry["group"]
        shares[key] = shares.get(key, 0.0) + entry["share"]
    return tuple(Spent(topic, group, share) for (topic, group), share in shares.items())
