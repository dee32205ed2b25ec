"""Risk figures for people: tables of what stands alone before and of what is found after, and what they mean.

In: what `libra.measures.risk` found. Out: tables and the sentences of `libra.risk_words` on stdout. The tables fit into 80
columns.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from libra.cli.output import people_console, printable
from libra.cli.tables import percent, table
from libra.risk_words import (
    CONFIDENTIAL,
    KNOWN,
    what_a_match_tells,
    what_is_copied,
    what_singles_out,
    what_the_attack_found,
    whose_variant,
)

if TYPE_CHECKING:
    from libra.measures.risk.assess import LogRisk, ReleaseRisk
    from libra.measures.risk.figures import Estimate, Linkage
    from libra.measures.risk.membership import Membership

Cells: TypeAlias = dict[tuple[str, int | None], str]  # by kind of knowledge and number of events


def show_log_risk(risk: LogRisk) -> None:
    """Who stands alone in a log as it is."""
    _show_singled_out(risk)
    _say(CONFIDENTIAL)


def show_release_risk(anonymized: Path, risk: ReleaseRisk) -> None:
    """Who stands alone before, what is found after, and what an attack on membership found."""
    _show_singled_out(risk.before)
    if risk.linkage:
        _show_linkage(anonymized, risk.linkage)
        _say(what_a_match_tells(risk.before))
    _say(what_is_copied(risk.copies, risk.before, percent))
    if risk.membership is not None:
        _show_membership(risk.membership)
    _say(CONFIDENTIAL)


def _show_singled_out(risk: LogRisk) -> None:
    if not risk.singled_out:
        return
    found = risk.singled_out
    cells: Cells = {(one.knowledge, one.events): f"{percent(one.share.value)} ({one.crowd_median:,g})" for one in found}
    _show_by_knowledge(f"Cases singled out by what somebody knows (in brackets: median {risk.crowds_of} that fit)", cells)
    _say(what_singles_out(risk))


def _show_linkage(anonymized: Path, linkage: tuple[Linkage, ...]) -> None:
    """How often one released case fits, and what that one tells."""
    cells: Cells = {(one.knowledge, one.events): percent(one.released.once.value) for one in linkage}
    _show_by_knowledge(f"The same knowledge in {anonymized.name}: how often exactly one released case fits", cells)
    most = {one.knowledge: one for one in linkage}  # the last of a kind knows most
    columns = ("most known", "same activities", "by chance", "same gaps", "by chance")
    table("What that one tells", columns, [(KNOWN[kind], *_told(one)) for kind, one in most.items()], right=range(1, 5))


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


def _show_membership(found: Membership) -> None:
    """The advantage of the attack, all in all and by how common a case's variant is, against the bound."""
    rows = [
        ("all", *_interval(found.advantage)),
        *((whose_variant(group), *_interval(group.advantage)) for group in found.groups),
    ]
    table(f"An attack on membership in {found.mechanism}", ("cases", "advantage", "95 %"), rows, right=(1, 2))
    _say(what_the_attack_found(found))


def _interval(estimate: Estimate) -> tuple[str, str]:
    return f"{estimate.value:.3f}", f"{estimate.lowest:.3f} to {estimate.highest:.3f}"


def _say(*lines: str) -> None:
    console = people_console()
    for line in lines:
        console.print(printable(line), soft_wrap=not console.is_terminal)
    console.print()
