"""What an attacker finds in the original, and what is left of it in the anonymized log; None in public mode.

An attack on membership takes minutes and is run only where the mechanism is given. The sentences are those of the command line.
"""

from __future__ import annotations

from dataclasses import dataclass

from libra.eventlog.options import Progress, no_progress
from libra.measures.risk import words
from libra.measures.risk.assess import NO_CERTIFICATE, QUICK, risk_of_release
from libra.measures.risk.figures import Estimate, Linkage, Matches, SingledOut
from libra.measures.risk.membership import Certified, Membership
from libra.reporting.facts.pair import Pair
from libra.reporting.numbers import of_hundred, share

ESSENTIAL = ("days", "variant")
TOLD_BY = (("days", 3), ("days", 2), ("days", 1))  # the knowledge that the first sentence is about: what a neighbour may know
EVENTS = {1: "one event", 2: "two events", 3: "three events"}


@dataclass(frozen=True)
class RiskRow:
    """What one kind ("set", "multiset", "sequence", "days" or "variant") and amount of knowledge (no amount: all) does.

    All are shares of the tries. A case is found where exactly one case fits and has its activities and times, to the minute.
    """

    knowledge: str
    events: int | None
    before: float  # found in the original
    after: float  # found in the anonymized log
    by_chance: float  # found among the other cases of the original
    once: float  # exactly one case of the anonymized log fits
    same: float  # and has the same activities
    same_by_chance: float  # likewise among the other cases of the original

    @property
    def essential(self) -> bool:
        """Whether it is what somebody is likely to know: days, or all."""
        return self.knowledge in ESSENTIAL


@dataclass(frozen=True)
class RiskFacts:
    """The risk before and after. Confidential."""

    headline: str  # what the same knowledge finds before and after; empty where nobody could know so little
    linked: str  # what a single match tells; likewise
    rows: tuple[RiskRow, ...]
    membership: Membership | None  # what an attack on membership found; None where none was played
    about_singling_out: str  # what the figures before mean
    about_copies: str  # what was found about copies
    about_membership: str | None  # what the attack found; None where none was played
    notes: tuple[str, ...]  # why something is missing, or what to mind


def risk_of(pair: Pair, certified: Certified | None = None, progress: Progress = no_progress) -> RiskFacts | None:
    """Assess the risk, and attack membership if the mechanism is given; None in public mode."""
    if pair.original is None:
        return None
    found = risk_of_release(pair.original, pair.anonymized, certified=certified, effort=QUICK, progress=progress)
    rows = tuple(_row(*both) for both in zip(found.before.singled_out, found.linkage, strict=True))
    attacked = found.membership
    headline, linked = _told(rows, is_empty=found.copies.to_the_minute is None)
    return RiskFacts(
        headline=headline,
        linked=linked,
        rows=rows,
        membership=attacked,
        about_singling_out=words.what_singles_out(found.before) if rows else "",
        about_copies=words.what_is_copied(found.copies, found.before, share),
        about_membership=None if attacked is None else words.what_the_attack_found(attacked),
        notes=tuple(note for note in found.notes if note != NO_CERTIFICATE),
    )


def _row(before: SingledOut, after: Linkage) -> RiskRow:
    def tries(of: Matches, same: Estimate | None) -> float:
        return 0.0 if same is None else of.once.value * same.value

    there, chance = after.released, after.by_chance
    return RiskRow(
        knowledge=before.knowledge,
        events=before.events,
        before=before.share.value,
        after=tries(there, there.same_gaps_to_the_minute),
        by_chance=tries(chance, chance.same_gaps_to_the_minute),
        once=there.once.value,
        same=tries(there, there.same_activities),
        same_by_chance=tries(chance, chance.same_activities),
    )


def _told(rows: tuple[RiskRow, ...], *, is_empty: bool) -> tuple[str, str]:
    """What the same knowledge finds before and after, and what a single match tells."""
    told = next((row for known in TOLD_BY for row in rows if (row.knowledge, row.events) == known), None)
    if told is None:
        return "", ""
    knows = f"somebody who knows {EVENTS[told.events or 1]} with {'its day' if told.events == 1 else 'their days'}"
    said = f"Of 100 cases, {knows} finds {of_hundred(told.before)} in the original"
    if is_empty:
        return f"{said}. The anonymized log is empty and shows nobody.", ""
    linked = (
        f"For {of_hundred(told.once)} of 100 cases exactly one anonymized case fits. It has the same activities for "
        f"{of_hundred(told.same)}; among the other original cases, by chance, for {of_hundred(told.same_by_chance)}."
    )
    return f"{said} and {of_hundred(told.after)} in the anonymized log.", linked
