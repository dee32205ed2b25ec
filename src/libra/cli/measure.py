"""Commands on an original and an anonymized log: measure and report, and how risk figures are shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from libra.cli.options import Json, PublicKeyFile, Quiet, argument, command, option, output_option, switch
from libra.cli.output import Stages, figure, percent, print_json, print_notes, print_result, say, table
from libra.errors import UsageError
from libra.keywords import ReadKeywords

if TYPE_CHECKING:
    from libra.measures import Utility
    from libra.measures.risk.assess import LogRisk, ReleaseRisk
    from libra.measures.risk.figures import Estimate
    from libra.reporting.page import Report


MEANINGS = {
    "emd_freq": "directly-follows frequencies, blind to labels (EMD Freq)",
    "emd_time": "hours spent per directly-follows edge, blind to labels (EMD Time)",
    "dfg_l1": "difference of directly-follows counts, relative to the original",
    "dfg_tv": "difference of directly-follows shares (0 equal, 1 disjoint)",
    "edge_precision": "distinct edges, starts and ends also in the original (1 equal)",
    "edge_recall": "distinct edges, starts and ends of the original kept (1 equal)",
    "edge_recall_weighted": "the same, weighted by their counts in the original",
    "variant_tv": "difference of variant shares (0 equal, 1 disjoint)",
    "unseen_variant_share": "share of cases whose variant the original never had",
    "length_w1": "trace length, mean shift in events",
    "case_duration_w1_hours": "case duration, mean shift in hours",
    "edge_duration_w1_hours": "time between two events, mean shift in hours per edge",
    "edge_duration_w1_relative": "the same, relative to the original's mean",
    "edge_duration_w1_log": "the same on log10(1 + seconds): 1 is a factor of ten",
    "edge_duration_p90_log": "the same between the 90th percentiles of each edge",
    "edge_time_share_l1": "share of all time that each edge takes (0 equal, 2 disjoint)",
    "path_eta2_difference": "variance of case durations that variants explain, difference",
    "cooccurrence_slope": "correlations between activities, share that is left (1 equal)",
    "pair_correlation_difference": "correlation of the durations of consecutive steps, difference",
    "arrival_w1_days": "when cases start, mean shift in days",
    "service_time_w1_log": "from start to completion per activity, on log10(1 + seconds)",
    "waiting_time_w1_log": "from completion to the next start per edge, on log10(1 + seconds)",
    "overlap_share": "difference of the shares of steps that overlap",
    "attribute_tv": "values of a case attribute, mean difference of shares",
    "attribute_pair_tv": "the same for pairs of case attributes",
    "attribute_activity_tv": "the same for a case attribute and whether an activity occurs",
    "attribute_activity_tv_given": "the same, with the original's shares of cases with that activity",
    "attribute_duration_tv": "the same for a case attribute and the case duration's quartile",
    "association_l1": "strong associations of case attributes, relative to the original",
    "number_w1_relative": "numbers of cases, mean shift relative to their spread",
    "event_attribute_tv": "activity and value of an event attribute, difference of shares",
    "handover_tv": "value and next value of an event attribute, difference of shares",
}

MOST_ATTRIBUTES = 20  # shown one by one
SAMPLED = ("edge_time_share_l1", "edge_duration_p90_log", "cooccurrence_slope")  # beside which a fresh sample stands


@command(
    "libra measure log.xes.gz anonymized.xes.gz",
    "libra measure log.csv anonymized.csv --json",
    "libra measure log.xes.gz anonymized.xes.gz --risk --certificate certificate.json",
)
def measure(
    original: Annotated[Path, argument("ORIGINAL", "The original log; - for stdin.")],
    anonymized: Annotated[Path, argument("ANONYMIZED", "The anonymized log, which may be empty; - for stdin.")],
    options: ReadKeywords,
    *,
    risk: Annotated[bool, switch("--risk", "Also measure what an attacker gets from the anonymized log.")] = False,
    certificate: Annotated[
        Path | None, option("With --risk: attack the mechanism named in this certificate, on halves of the original.", "FILE")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare a log with its original: frequencies, variants, lengths, durations, arrivals, attributes.

    All flags apply to both logs, except --description, which is for the original. If the anonymized log lacks a named column,
    that column is detected there.
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
    """One line a figure: what it is, its value, and what a fresh sample and an empty log would score."""
    from libra.measures.utility import OF_ATTRIBUTES, OF_INSTANCES

    figures = utility.to_dict()
    empty = figures["empty"]
    optional = (*OF_INSTANCES, *OF_ATTRIBUTES)  # shown where logs have starts, or such attributes
    shown = {name: text for name, text in MEANINGS.items() if figures[name] is not None or name not in optional}
    if utility.overlaps is not None:
        shown["overlap_share"] += _in_both(percent(utility.overlaps.original), percent(utility.overlaps.anonymized))
    eta2, correlation = utility.path_duration_eta2, utility.pair_duration_correlation
    of_sample = ("", "")
    if (sample := utility.sample) is not None:
        of_sample = figure(sample.path_duration_eta2), figure(sample.pair_duration_correlation)
    shown["path_eta2_difference"] += _in_both(figure(eta2.original), figure(eta2.anonymized), of_sample[0])
    shown["pair_correlation_difference"] += _in_both(figure(correlation.original), figure(correlation.anonymized), of_sample[1])
    for name in SAMPLED if utility.sample is not None else ():
        shown[name] += f" ({figure(figures['sample'][name])} in a fresh sample)"
    rows = [(name, figure(figures[name]), figure(empty[name]) if name in empty else "", text) for name, text in shown.items()]
    title = f"{anonymized.name} against {original.name}: 0 is equal, lower is closer, if not stated otherwise"
    table(title, ("figure", "value", "empty log", "meaning"), rows, right=(1, 2))
    if utility.attributes:
        worst = sorted(utility.attributes, key=lambda one: -one.tv)[:MOST_ATTRIBUTES]
        of_each = [(one.name, one.level, one.kind, *map(figure, (one.tv, one.w1_relative, one.handover_tv))) for one in worst]
        columns = ("attribute", "of", "kind", "tv", "w1_relative", "handover_tv")
        table("Attributes that both logs have, the most different first", columns, of_each, right=(3, 4, 5))
        if len(utility.attributes) > MOST_ATTRIBUTES:
            say(f"… and {len(utility.attributes) - MOST_ATTRIBUTES} more attributes; --json lists them all")
    if utility.risk is not None:
        _show_release_risk(anonymized, utility.risk)


def _in_both(original: str, anonymized: str, sample: str = "") -> str:
    return f" ({original} in the original, {anonymized} here{f', {sample} in a fresh sample' if sample else ''})"


def show_log_risk(risk: LogRisk) -> None:
    """Who stands alone in a log as it is."""
    from libra.measures.risk import words

    _show_singled_out(risk)
    _say(words.CONFIDENTIAL)


def _show_release_risk(anonymized: Path, risk: ReleaseRisk) -> None:
    """Who stands alone before, how often one released case fits and what it tells, and what an attack on membership found."""
    from libra.measures.risk import words

    _show_singled_out(risk.before)
    if risk.linkage:
        cells = {(one.knowledge, one.events): percent(one.released.once.value) for one in risk.linkage}
        _show_by_knowledge(f"The same knowledge in {anonymized.name}: how often exactly one released case fits", cells)
        rows = []
        for kind, one in {one.knowledge: one for one in risk.linkage}.items():  # the last of a kind knows most
            both = (one.released, one.by_chance)
            activities = ("", "") if kind == "variant" else tuple(_share(found.same_activities) for found in both)
            rows.append((words.KNOWN[kind], *activities, *(_share(found.same_gaps_to_the_minute) for found in both)))
        columns = ("most known", "same activities", "by chance", "same gaps", "by chance")
        table("What that one tells", columns, rows, right=range(1, 5))
        _say(words.what_a_match_tells(risk.before))
    _say(words.what_is_copied(risk.copies, risk.before, percent))
    if (found := risk.membership) is not None:
        groups = (("all", found.advantage), *((words.whose_variant(group), group.advantage) for group in found.groups))
        shown = [(who, f"{one.value:.3f}", f"{one.lowest:.3f} to {one.highest:.3f}") for who, one in groups]
        table(f"An attack on membership in {found.mechanism}", ("cases", "advantage", "95 %"), shown, right=(1, 2))
        _say(words.what_the_attack_found(found))
    _say(words.CONFIDENTIAL)


def _show_singled_out(risk: LogRisk) -> None:
    from libra.measures.risk import words

    if risk.singled_out:
        cells = {(one.knowledge, one.events): f"{percent(one.share.value)} ({one.crowd_median:,g})" for one in risk.singled_out}
        matching = f"in brackets: median number of matching {risk.crowds_of}"
        _show_by_knowledge(f"Cases that an attacker can single out ({matching})", cells)
        _say(words.what_singles_out(risk))


def _show_by_knowledge(title: str, cells: Mapping[Any, str]) -> None:
    """A table of cells by kind of knowledge, one a row, and number of events known, one a column."""
    from libra.measures.risk import words

    amounts = sorted({events for _, events in cells if events is not None})
    columns = ("known", *(f"{k} event{'s' if k > 1 else ''}" for k in amounts), "all")
    rows = ((text, *(cells.get((kind, k), "") for k in (*amounts, None))) for kind, text in words.KNOWN.items())
    table(title, columns, rows, right=range(1, len(columns)))


def _share(estimate: Estimate | None) -> str:
    return "-" if estimate is None else percent(estimate.value)


def _say(line: str) -> None:
    say(line)
    say()


@command(
    "libra report log.xes.gz anonymized.xes.gz --certificate certificate.json -o report.html",
    "libra report anonymized.xes.gz --certificate certificate.json --public -o public.html",
    "libra report anonymized.xes.gz --certificate certificate.json --key hospital.pub --public -o public.html",
)
def report(
    logs: Annotated[
        list[Path], argument("ORIGINAL ANONYMIZED", "The original and the anonymized log; with --public, the latter is enough.")
    ],
    options: ReadKeywords,
    *,
    output: Annotated[Path | None, output_option("The page to write, an .html file.")] = None,
    certificate: Annotated[Path | None, option("Certificate of the release; it is verified first.", "FILE")] = None,
    public: Annotated[bool, switch("--public", "Only what is released; the original is not even opened.")] = False,
    key: PublicKeyFile = None,
    attack: Annotated[
        bool, switch("--attack", "Also attack membership, which runs the mechanism ten times. Needs --certificate.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a page that shows what was protected and what was lost: one file, to read, print and keep.

    It first answers whether the log may be released, what is not in it and what it is good for. Two pages for a data protection
    officer to sign follow, then process maps, variants, durations, arrivals, risk, and what not to conclude. It compares with
    the original and is CONFIDENTIAL; --public writes a page that may be published with the log. If the certificate does not
    hold, the page says so and the exit code is 1.
    """
    from libra import pairs
    from libra.targets import check_writable

    if len(logs) > 2 or (len(logs) < 2 and not public):
        both = "libra report ORIGINAL ANONYMIZED -o report.html"
        raise UsageError(f"Name both logs: {both}. With --public, the anonymized one is enough.")
    if output is None:
        raise UsageError("Name the page to write: -o report.html.")
    for source in (*logs, certificate):
        check_writable(source, output, "report")
    options["progress"] = Stages(quiet=quiet)
    original = logs[0] if len(logs) == 2 else None
    page = pairs.report(original, logs[-1], certificate=certificate, key=key, public=public, attack=attack, **options)
    page.save(output)
    print_result({"output": str(output)} | page.to_dict(), told(page, output), as_json=as_json, quiet=quiet)
    if page.standing == "broken":
        raise typer.Exit(1)


STAMPS = {
    "proved": "public: it holds released figures alone",
    "unsigned": "as its certificate says: no signature was checked",
    "weak": "NOT FOR RELEASE: the guarantee is too weak",
}


def told(page: Report, output: Path) -> list[str]:
    """What was written, who may see it, and what it says first."""
    stamp = STAMPS.get(page.standing, "NOT FOR RELEASE: nothing is proved of this log")
    if not page.public:
        stamp = "CONFIDENTIAL: it compares with the original"
    return [f"Wrote {output} ({stamp})", *(f"{question} {answer}" for question, answer in page.answers)]
