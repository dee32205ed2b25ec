"""What risk figures mean, in sentences that the command line and the report share. They are true of every log.

How shares are written is passed in, as a terminal and a page write them differently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libra.measures.risk.assess import LogRisk
    from libra.measures.risk.figures import Copies
    from libra.measures.risk.membership import GroupAdvantage, Membership

KNOWN = {
    "set": "some activities",
    "multiset": "and how often",
    "sequence": "and in which order",
    "days": "activities and days",
    "variant": "the whole trace",
}
INDIVIDUALS = "individuals"
CONFIDENTIAL = "CONFIDENTIAL: these figures are computed from the original cases. They are for whoever holds the log."


def what_singles_out(risk: LogRisk) -> str:
    """When knowledge singles a case out, and how sure the shares are; there has to be one."""
    found = risk.singled_out
    off = max(max(one.share.highest - one.share.value, one.share.value - one.share.lowest) for one in found)
    alone = "all cases that fit belong to one individual" if risk.crowds_of == INDIVIDUALS else "no other case fits"
    return (
        f"The attacker knows some events of a case, drawn at random. They single the case out if {alone}; the attacker can then "
        f"read the rest of the case. From {risk.samples:,} samples: each share is within {100 * off:.1f} points of the truth "
        "with 95 % confidence."
    )


def what_a_match_tells(risk: LogRisk) -> str:
    """That one released case fits is not yet a harm."""
    others = "the cases of other individuals" if risk.crowds_of == INDIVIDUALS else "the other original cases"
    return (
        "A single match is no harm by itself: among generated cases it may be a coincidence. What counts is what it reveals: how "
        "often, with most events known, it has all activities of the case that was sought, and all times between them to the "
        f"minute. By chance shows the same for a single match among {others}."
    )


def what_is_copied(copies: Copies, risk: LogRisk, percent: Callable[[float], str]) -> str:
    """How many released cases repeat an original one, and how many would anyway."""
    if copies.exact is None or copies.to_the_minute is None:
        return "No case was released, so none repeats an original one."
    said = (
        f"{percent(copies.exact)} of the released cases repeat the activities and the gaps of an original case exactly, "
        f"{percent(copies.to_the_minute)} to the minute."
    )
    if copies.exact_by_chance is None or copies.to_the_minute_by_chance is None:
        return said
    another = "one of another individual" if risk.crowds_of == INDIVIDUALS else "another one"
    return (
        f"{said} Of the original cases {percent(copies.exact_by_chance)} and {percent(copies.to_the_minute_by_chance)} repeat "
        f"{another}: this is expected if traces are short and times are coarse."
    )


def what_the_attack_found(found: Membership) -> str:
    """How membership was attacked, what the promise allows, and whether it holds."""
    said = [
        f"{found.rounds} times, a random half of the cases was anonymized once more. The attack is given a case and guesses "
        "whether it was in that half. Its advantage is 0 for guessing and 1 for certainty. A better attack may find more."
    ]
    if found.bound is not None:
        promise, allowed = found.bound.promise, f"at most {found.bound.advantage:.3f}, for each case"
        claimed = f"Claimed by its authors: {promise}, which would allow {allowed}."
        said.append(claimed if found.bound.kind == "claimed" else f"The guarantee, {promise}, allows {allowed}.")
        if found.exceeded:
            said.append("The attack found more: that promise does not hold.")
    return " ".join(said)


def whose_variant(group: GroupAdvantage) -> str:
    """Which cases a group has."""
    return f"whose variant {group.cases_of_variant} {'case has' if group.cases_of_variant == '1' else 'cases have'}"
