"""What an attacker finds in the original, and what is left of it in the anonymized log; None in public mode.

An attack on membership takes minutes and is run only where the mechanism is given. The sentences are those of the command line.
"""

from __future__ import annotations

from dataclasses import dataclass

from libra.eventlog.options import Progress, no_progress
from libra.measures.risk import words
from libra.measures.risk.assess import NO_CERTIFICATE, QUICK, risk_of_release
from libra.measures.risk.certified import Certified
from libra.measures.risk.figures import Linkage, SingledOut
from libra.measures.risk.membership import Membership
from libra.reporting.facts.pair import Pair
from libra.reporting.numbers import share

ESSENTIAL = ("days", "variant")
TOLD_BY = ("days", 3)  # the knowledge that the sentence in front is about: what a neighbour or a colleague may well know


@dataclass(frozen=True)
class RiskRow:
    """What one kind ("set", "multiset", "sequence", "days" or "variant") and amount of knowledge (no amount: all) does.

    The shares are those of the cases of the original that it singles out, and of tries in which exactly one case of the
    anonymized log fits. Then, of these single matches, those with all activities of the case that was sought, and the same among
    the other cases of the original, by chance; and likewise those with all its times between events as well, to the minute. None
    where there is no single match; of activities also where the variant is known.
    """

    knowledge: str
    events: int | None
    shares: tuple[float | None, ...]

    @property
    def essential(self) -> bool:
        """Whether it is what somebody is likely to know: days, or all."""
        return self.knowledge in ESSENTIAL


@dataclass(frozen=True)
class RiskFacts:
    """The risk before and after. Confidential."""

    headline: str  # the most telling of it in two sentences; empty where the original has no case
    rows: tuple[RiskRow, ...]  # one for each kind and amount of knowledge
    membership: Membership | None  # what an attack on membership found; None where none was played
    about_singling_out: str  # what the figures before mean
    about_matches: str  # what the figures after mean
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
    return RiskFacts(
        headline=_headline(rows, is_empty=found.copies.to_the_minute is None),
        rows=rows,
        membership=attacked,
        about_singling_out=words.what_singles_out(found.before) if rows else "",
        about_matches=words.what_a_match_tells(found.before),
        about_copies=words.what_is_copied(found.copies, found.before, share),
        about_membership=None if attacked is None else words.what_the_attack_found(attacked),
        notes=tuple(note for note in found.notes if note != NO_CERTIFICATE),
    )


def _row(before: SingledOut, after: Linkage) -> RiskRow:
    found, chance = after.released, after.by_chance
    of_activities = (None, None) if before.knowledge == "variant" else (found.same_activities, chance.same_activities)
    told = (before.share, found.once, *of_activities, found.same_gaps_to_the_minute, chance.same_gaps_to_the_minute)
    return RiskRow(before.knowledge, before.events, tuple(None if one is None else one.value for one in told))


def _headline(rows: tuple[RiskRow, ...], *, is_empty: bool) -> str:
    """What the same knowledge finds before and after."""
    told = next((row for row in rows if (row.knowledge, row.events) == TOLD_BY), None)
    if told is None:
        return ""
    singled_out, once, same, by_chance, *_ = told.shares
    said = f"Three events of a case, with their days, single it out in the original in {share(singled_out)} of all tries."
    if is_empty:
        return f"{said} The anonymized log is empty and shows nobody."
    after = f"In the anonymized log exactly one case fits in {share(once)}"
    if same is None:
        return f"{said} {after}."
    chance = "" if by_chance is None else f"; by chance it would be {share(by_chance)}"
    return f"{said} {after}: in {share(same)} of these it has all activities of the case that was sought{chance}."
