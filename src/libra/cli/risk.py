"""Risk figures for people: tables of what stands alone before and of what is found after, and what they mean.

In: what `libra.measures.risk` found. Out: tables and sentences on stdout. The sentences are true of every log, and the tables fit
into 80 columns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from libra.cli.output import people_console, printable
from libra.cli.tables import percent, table

if TYPE_CHECKING:
    from libra.measures.risk.assess import LogRisk, ReleaseRisk
    from libra.measures.risk.copies import Copies
    from libra.measures.risk.estimate import Estimate
    from libra.measures.risk.linkage import Linkage
    from libra.measures.risk.membership import GroupAdvantage, Membership

KNOWN = {
    "set": "some activities",
    "multiset": "and how often",
    "sequence": "and in which order",
    "days": "activities and days",
    "variant": "the whole trace",
}
INDIVIDUALS = "individuals"
Cells: TypeAlias = dict[tuple[str, int | None], str]  # by kind of knowledge and number of events
CONFIDENTIAL = "CONFIDENTIAL: these figures are computed from the original cases. They are for whoever holds the log."


def show_log_risk(risk: LogRisk) -> None:
    """Who stands alone in a log as it is."""
    _show_singled_out(risk)
    _say(CONFIDENTIAL)


def show_release_risk(anonymized: Path, risk: ReleaseRisk) -> None:
    """Who stands alone before, what is found after, and what an attack on membership found."""
    _show_singled_out(risk.before)
    by_individual = risk.before.crowds_of == INDIVIDUALS
    if risk.linkage:
        _show_linkage(anonymized, risk.linkage, "the cases of other individuals" if by_individual else "the other original cases")
    _say(_copies(risk.copies, "one of another individual" if by_individual else "another one"))
    if risk.membership is not None:
        _show_membership(risk.membership)
    _say(CONFIDENTIAL)


def _show_singled_out(risk: LogRisk) -> None:
    if not risk.singled_out:
        return
    found = risk.singled_out
    cells: Cells = {(one.knowledge, one.events): f"{percent(one.share.value)} ({one.crowd_median:,g})" for one in found}
    off = max(max(one.share.highest - one.share.value, one.share.value - one.share.lowest) for one in found)
    by_individual = risk.crowds_of == INDIVIDUALS
    _show_by_knowledge(f"Cases singled out by what somebody knows (in brackets: median {risk.crowds_of} that fit)", cells)
    alone = "all cases that fit are of one individual" if by_individual else "no other case fits"
    _say(
        f"Knowledge is some events of a case, drawn at random. It singles the case out where {alone}; whoever has it "
        f"can then read the rest of the case. Sampled: each share is within {100 * off:.1f} points of the truth, with 95 %.",
    )


def _show_linkage(anonymized: Path, linkage: tuple[Linkage, ...], others: str) -> None:
    """How often one released case fits, and what that one tells."""
    cells: Cells = {(one.knowledge, one.events): percent(one.released.once.value) for one in linkage}
    _show_by_knowledge(f"The same knowledge in {anonymized.name}: how often exactly one released case fits", cells)
    most = {one.knowledge: one for one in linkage}  # the last of a kind knows most
    columns = ("most known", "same activities", "by chance", "same gaps", "by chance")
    table("What that one tells", columns, [(KNOWN[kind], *_told(one)) for kind, one in most.items()], right=range(1, 5))
    _say(
        "That one fits is no harm by itself: where cases are made up, it may be a coincidence. What counts is what it tells: "
        "how often, with most known, that one has all activities of the case that was sought, and all times between them to the "
        f"minute. By chance is how often a single match among {others} has.",
    )


def _show_by_knowledge(title: str, cells: Cells) -> None:
    """A table with a row for each kind of knowledge and a column for each amount."""
    amounts = sorted({events for _, events in cells if events is not None})
    header = [f"{k} event{'s' if k > 1 else ''}" for k in amounts]
    rows = ((text, *(cells.get((kind, k), "") for k in (*amounts, None))) for kind, text in KNOWN.items())
    columns = ("known", *header, "all")
    table(title, columns, rows, right=range(1, len(columns)))


def _told(one: Linkage) -> tuple[str, str, str, str]:
    """What single matches tell, and beside it what they would tell by chance."""
    found, chance = one.released, one.by_chance
    activities = ("", "") if one.knowledge == "variant" else (_share(found.same_activities), _share(chance.same_activities))
    return *activities, _share(found.same_gaps_to_the_minute), _share(chance.same_gaps_to_the_minute)


def _share(estimate: Estimate | None) -> str:
    return "-" if estimate is None else percent(estimate.value)


def _copies(copies: Copies, another: str) -> str:
    if copies.exact is None or copies.to_the_minute is None:
        return "No case was released, so none repeats an original one."
    said = (
        f"{percent(copies.exact)} of the released cases repeat the activities and the gaps of an original case exactly, "
        f"{percent(copies.to_the_minute)} to the minute."
    )
    if copies.exact_by_chance is None or copies.to_the_minute_by_chance is None:
        return said
    return (
        f"{said} Of the original cases {percent(copies.exact_by_chance)} and {percent(copies.to_the_minute_by_chance)} repeat "
        f"{another}: so much is to be expected where traces are short and times are coarse."
    )


def _show_membership(found: Membership) -> None:
    """The advantage of the attack, all in all and by how common a case's variant is, against the bound."""
    rows = [
        ("all", *_interval(found.advantage)),
        *((_whose_variant(group), *_interval(group.advantage)) for group in found.groups),
    ]
    table(f"An attack on membership in {found.mechanism}", ("cases", "advantage", "95 %"), rows, right=(1, 2))
    said = [
        f"{found.rounds} times, a random half of the cases was anonymized once more. The attack is told a case and guesses if it "
        "was in that half. Its advantage is 0 for guessing and 1 for certainty. It shows what this attack found: a better one "
        "may find more."
    ]
    if found.bound is not None:
        promise = found.bound.promise
        allowed = f"at most {found.bound.advantage:.3f}, for each case"
        said.append(
            f"Claimed by its authors: {promise}, which would allow {allowed}."
            if found.bound.kind == "claimed"
            else f"The guarantee, {promise}, allows {allowed}."
        )
        if found.exceeded:
            said.append("The attack found more: that promise does not hold.")
    _say(" ".join(said))


def _whose_variant(group: GroupAdvantage) -> str:
    """Which cases a group has.

    Example:
        >>> from libra.cli.risk import _whose_variant
        >>> from libra.measures.risk.estimate import exactly
        >>> from libra.measures.risk.membership import GroupAdvantage
        >>> _whose_variant(GroupAdvantage("1", exactly(0.0))), _whose_variant(GroupAdvantage("2 to 9", exactly(0.0)))
        ('whose variant 1 case has', 'whose variant 2 to 9 cases have')
    """
    one = group.cases_of_variant == "1"
    return f"whose variant {group.cases_of_variant} {'case has' if one else 'cases have'}"


def _interval(estimate: Estimate) -> tuple[str, str]:
    return f"{estimate.value:.3f}", f"{estimate.lowest:.3f} to {estimate.highest:.3f}"


def _say(*lines: str) -> None:
    console = people_console()
    for line in lines:
        console.print(printable(line), soft_wrap=not console.is_terminal)
    console.print()
