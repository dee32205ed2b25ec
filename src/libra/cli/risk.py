"""Risk figures for people: a table of what stands alone before, one of what is found after, and what they mean.

In: what `libra.measures.risk` found. Out: tables and sentences on stdout. The sentences are true of every log.
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
    from libra.measures.risk.membership import Membership

KNOWN = {
    "set": "some activities",
    "multiset": "and how often",
    "sequence": "and in which order",
    "days": "some activities, with their days",
    "variant": "all activities, in order",
}
Cells: TypeAlias = dict[tuple[str, int | None], str]  # by kind of knowledge and number of events
CONFIDENTIAL = "CONFIDENTIAL: these figures are computed from the original cases. They are for whoever holds the log."


def show_log_risk(risk: LogRisk) -> None:
    """Who stands alone in a log as it is."""
    _show_singled_out(risk)
    _say(CONFIDENTIAL)


def show_release_risk(anonymized: Path, risk: ReleaseRisk) -> None:
    """Who stands alone before, what is found after, and what an attack on membership found."""
    _show_singled_out(risk.before)
    if risk.linkage:
        cells: Cells = {(one.knowledge, one.events): percent(one.released.once.value) for one in risk.linkage}
        told: dict[str, tuple[str, ...]] = {one.knowledge: _told(one) for one in risk.linkage}  # the last of a kind knows most
        title = f"The same knowledge in {anonymized.name}: how often one released case fits, and no other"
        _show_by_knowledge(title, cells, ("same activities", "same gaps"), told)
        _say(
            "That one fits is no harm by itself: where cases are made up, it may be a coincidence. What counts is what it tells. "
            "The last two columns say how often, with most known, that one has all activities of the case that was sought, and "
            "all times between them to the minute; in brackets, how often a single match among the other original cases has.",
        )
    _say(_copies(risk.copies))
    if risk.membership is not None:
        _show_membership(risk.membership)
    _say(CONFIDENTIAL)


def _show_singled_out(risk: LogRisk) -> None:
    if not risk.singled_out:
        return
    found = risk.singled_out
    cells: Cells = {(one.knowledge, one.events): f"{percent(one.share.value)} ({one.crowd_median:,g})" for one in found}
    off = max(max(one.share.highest - one.share.value, one.share.value - one.share.lowest) for one in found)
    _show_by_knowledge("Cases singled out by what somebody knows of them (in brackets: the median number that fit)", cells)
    _say(
        "Knowledge is some events of a case, drawn at random. It singles the case out where no other case fits; whoever has it "
        f"can then read the rest of the case. Sampled: each share is within {100 * off:.1f} points of the truth, with 95 %.",
    )


def _show_by_knowledge(
    title: str, cells: Cells, more: tuple[str, ...] = (), told: dict[str, tuple[str, ...]] | None = None
) -> None:
    """A table with a row for each kind of knowledge and a column for each amount."""
    amounts = sorted({events for _, events in cells if events is not None})
    header = [f"{k} event{'s' if k > 1 else ''}" for k in amounts]
    rows = (
        (text, *(cells.get((kind, k), "") for k in (*amounts, None)), *((told or {}).get(kind, ())))
        for kind, text in KNOWN.items()
    )
    columns = ("known", *header, "all", *more)
    table(title, columns, rows, right=range(1, len(columns)))


def _told(one: Linkage) -> tuple[str, str]:
    """What single matches tell, and in brackets what they would tell by chance."""
    found, chance = one.released, one.by_chance
    pairs = (
        (found.same_activities, chance.same_activities),
        (found.same_gaps_to_the_minute, chance.same_gaps_to_the_minute),
    )
    activities, gaps = (f"{_share(here)} ({_share(there)})" for here, there in pairs)
    return "" if one.knowledge == "variant" else activities, gaps


def _share(estimate: Estimate | None) -> str:
    return "-" if estimate is None else percent(estimate.value)


def _copies(copies: Copies) -> str:
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
        "another one: so much is to be expected where traces are short and times are coarse."
    )


def _show_membership(found: Membership) -> None:
    """The advantage of the attack, all in all and by how common a case's variant is, against the bound."""
    rows = [("all", *_interval(found.advantage))]
    rows += [(f"with a variant of {group.cases_of_variant}", *_interval(group.advantage)) for group in found.groups]
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


def _interval(estimate: Estimate) -> tuple[str, str]:
    return f"{estimate.value:.3f}", f"{estimate.lowest:.3f} to {estimate.highest:.3f}"


def _say(*lines: str) -> None:
    console = people_console()
    for line in lines:
        console.print(printable(line), soft_wrap=not console.is_terminal)
    console.print()
