"""Commands on an original and an anonymized log: measure and report, and how risk figures are shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from libra.cli.options import Json, PublicKeyFile, Quiet, argument, examples, option, takes_log_options
from libra.cli.output import Stages, figure, percent, print_json, print_notes, print_result, say, table
from libra.errors import UsageError
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.measures import Utility
    from libra.measures.risk.assess import LogRisk, ReleaseRisk
    from libra.measures.risk.figures import Estimate, Linkage
    from libra.measures.risk.membership import Membership
    from libra.reporting.page import Report


MEANINGS = {
    "emd_freq": "directly-follows frequencies, blind to labels (EMD Freq)",
    "emd_time": "hours spent per directly-follows edge, blind to labels (EMD Time)",
    "dfg_l1": "difference of directly-follows counts, relative to the original",
    "dfg_tv": "difference of directly-follows shares (0 equal, 1 disjoint)",
    "variant_tv": "difference of variant shares (0 equal, 1 disjoint)",
    "unseen_variant_share": "share of cases whose variant the original never had",
    "length_w1": "trace length, mean shift in events",
    "case_duration_w1_hours": "case duration, mean shift in hours",
    "edge_duration_w1_hours": "time between two events, mean shift in hours per edge",
    "edge_duration_w1_relative": "the same, relative to the original's mean",
    "edge_duration_w1_log": "the same on log10(1 + seconds): 1 is a factor of ten",
    "arrival_w1_days": "when cases start, mean shift in days",
}


@examples(
    "libra measure log.xes.gz anonymized.xes.gz",
    "libra measure log.csv anonymized.csv --json",
    "libra measure log.xes.gz anonymized.xes.gz --risk --certificate certificate.json",
)
@takes_log_options
def measure(
    original: Annotated[Path, argument("ORIGINAL", "The log as it was.")],
    anonymized: Annotated[Path, argument("ANONYMIZED", "The log to judge; may be empty.")],
    options: ReadKeywords,
    *,
    risk: Annotated[bool, typer.Option("--risk", help="Also what an attacker gets from the anonymized log.")] = False,
    certificate: Annotated[
        Path | None,
        option(
            "--certificate", "With --risk: attack the mechanism that this certificate names, on halves of the original.", "FILE"
        ),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare a log with its original: frequencies, variants, lengths, durations, arrivals.

    All flags apply to both logs, but --description to the original alone. Where the anonymized one lacks a column that is named,
    that role is found there by itself.
    """
    from libra import pairs

    options["progress"] = Stages(quiet=quiet)
    utility = pairs.measure(original, anonymized, risk=risk, certificate=certificate, **options)
    if as_json:
        print_json(utility.to_dict() | {"notes": list(utility.notes)})
    else:
        show_utility(original, anonymized, utility)
    print_notes(utility.notes, quiet=quiet)


def show_utility(original: Path, anonymized: Path, utility: Utility) -> None:
    """One line a figure: what it is, its value, and what an empty log would score."""
    figures = utility.to_dict()
    empty = figures["empty"]
    rows = [(name, figure(figures[name]), figure(empty[name]) if name in empty else "", text) for name, text in MEANINGS.items()]
    title = f"{anonymized.name} against {original.name}: 0 is equal, lower is closer"
    table(title, ("figure", "value", "empty log", "meaning"), rows, right=(1, 2))
    if utility.risk is not None:
        show_release_risk(anonymized, utility.risk)


Cells: TypeAlias = dict[tuple[str, int | None], str]  # by kind of knowledge and number of events


def show_log_risk(risk: LogRisk) -> None:
    """Who stands alone in a log as it is."""
    from libra.measures.risk.words import CONFIDENTIAL

    _show_singled_out(risk)
    _say(CONFIDENTIAL)


def show_release_risk(anonymized: Path, risk: ReleaseRisk) -> None:
    """Who stands alone before, what is found after, and what an attack on membership found."""
    from libra.measures.risk.words import CONFIDENTIAL, what_a_match_tells, what_is_copied

    _show_singled_out(risk.before)
    if risk.linkage:
        _show_linkage(anonymized, risk.linkage)
        _say(what_a_match_tells(risk.before))
    _say(what_is_copied(risk.copies, risk.before, percent))
    if risk.membership is not None:
        _show_membership(risk.membership)
    _say(CONFIDENTIAL)


def _show_singled_out(risk: LogRisk) -> None:
    from libra.measures.risk.words import what_singles_out

    if not risk.singled_out:
        return
    found = risk.singled_out
    cells: Cells = {(one.knowledge, one.events): f"{percent(one.share.value)} ({one.crowd_median:,g})" for one in found}
    _show_by_knowledge(f"Cases singled out by what somebody knows (in brackets: median {risk.crowds_of} that fit)", cells)
    _say(what_singles_out(risk))


def _show_linkage(anonymized: Path, linkage: tuple[Linkage, ...]) -> None:
    """How often one released case fits, and what that one tells."""
    from libra.measures.risk.words import KNOWN

    cells: Cells = {(one.knowledge, one.events): percent(one.released.once.value) for one in linkage}
    _show_by_knowledge(f"The same knowledge in {anonymized.name}: how often exactly one released case fits", cells)
    most = {one.knowledge: one for one in linkage}  # the last of a kind knows most
    columns = ("most known", "same activities", "by chance", "same gaps", "by chance")
    table("What that one tells", columns, [(KNOWN[kind], *_told(one)) for kind, one in most.items()], right=range(1, 5))


def _show_by_knowledge(title: str, cells: Cells) -> None:
    """A table with a row for each kind of knowledge and a column for each amount."""
    from libra.measures.risk.words import KNOWN

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
    from libra.measures.risk.words import what_the_attack_found, whose_variant

    rows = [
        ("all", *_interval(found.advantage)),
        *((whose_variant(group), *_interval(group.advantage)) for group in found.groups),
    ]
    table(f"An attack on membership in {found.mechanism}", ("cases", "advantage", "95 %"), rows, right=(1, 2))
    _say(what_the_attack_found(found))


def _interval(estimate: Estimate) -> tuple[str, str]:
    return f"{estimate.value:.3f}", f"{estimate.lowest:.3f} to {estimate.highest:.3f}"


def _say(*lines: str) -> None:
    for line in (*lines, ""):
        say(line)


TWO = "Name both logs: libra report ORIGINAL ANONYMIZED -o report.html. With --public the anonymized one is enough."


@examples(
    "libra report log.xes.gz anonymized.xes.gz --certificate certificate.json -o report.html",
    "libra report anonymized.xes.gz --certificate certificate.json --public -o public.html",
    "libra report anonymized.xes.gz --certificate certificate.json --key hospital.pub --public -o public.html",
)
@takes_log_options
def report(
    logs: Annotated[
        list[Path],
        argument("ORIGINAL ANONYMIZED", "The log as it was, and the anonymized one; with --public the latter alone will do."),
    ],
    options: ReadKeywords,
    *,
    output: Annotated[Path | None, option("--output -o", "The page to write, an .html file.", "FILE")] = None,
    certificate: Annotated[Path | None, option("--certificate", "That of the release: it is verified first.", "FILE")] = None,
    public: Annotated[bool, typer.Option("--public", help="Only what is released; the original is not even opened.")] = False,
    key: PublicKeyFile = None,
    attack: Annotated[
        bool, typer.Option("--attack", help="Also attack membership, which runs the mechanism ten times. Needs --certificate.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a page that shows what was protected and what was lost: one file, to read, print and keep.

    It answers first whether the log may be handed out and whether it is any good; then come process maps side by side,
    variants, durations, arrivals, risk, and what not to conclude. It compares with the original and is CONFIDENTIAL;
    --public writes what may go along with the log. If the certificate does not hold the page says so, and the exit code is 1.
    """
    from libra import pairs
    from libra.targets import check_page

    if len(logs) > 2 or (len(logs) < 2 and not public):
        raise UsageError(TWO)
    if output is None:
        raise UsageError("Say where the page goes: -o report.html.")
    original, anonymized = (logs[0] if len(logs) == 2 else None), logs[-1]
    for source in (*logs, *([certificate] if certificate is not None else [])):
        check_page(source, output, what="report")
    options["progress"] = Stages(quiet=quiet)
    page = pairs.report(original, anonymized, certificate=certificate, key=key, public=public, attack=attack, **options)
    page.save(output)
    print_result({"output": str(output)} | page.to_dict(), told(page, output), as_json=as_json, quiet=quiet)
    if page.standing == "broken":
        raise typer.Exit(1)


def told(page: Report, output: Path) -> list[str]:
    """What was written, and what it says first."""
    return [f"Wrote {output} ({stamp_of(page)})", *(f"{question} {answer}" for question, answer in page.answers)]


def stamp_of(page: Report) -> str:
    """Who may see a page."""
    if not page.public:
        return "CONFIDENTIAL: it compares with the original"
    if page.standing == "proved":
        return "public: it holds released figures alone"
    if page.standing == "unsigned":
        return "as its certificate says: no signature was checked"
    if page.standing == "weak":
        return "NOT FOR RELEASE: the guarantee is too weak"
    return "NOT FOR RELEASE: nothing is proved of this log"
