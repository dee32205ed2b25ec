"""Commands on mechanisms: mechanisms, which lists them with their parameters, and audit, an attempt to refute a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from libra.cli.options import GUARANTEE, Json, LogPath, MechanismName, Quiet, argument, command, flag_of, option
from libra.cli.output import Stages, print_json, print_notes, say, table
from libra.keywords import OtherParameters, ReadKeywords

if TYPE_CHECKING:
    from libra.measures.audit import Audit


@command("libra mechanisms", "libra mechanisms travas", "libra mechanisms --json")
def mechanisms(
    name: Annotated[str | None, argument("NAME", "Show the parameters of this mechanism.")] = None, *, as_json: Json = False
) -> None:
    """List the mechanisms, or the parameters of one: meaning, default and range.

    Parameters without a flag of their own are set with --set NAME=VALUE.
    """
    from libra.mechanisms.mechanism import description_of
    from libra.mechanisms.mechanism import mechanisms as listed

    if name is None:
        found = listed().values()
        if as_json:
            print_json({"mechanisms": [one.to_dict() for one in found]})
            return
        table("Mechanisms", ("name", "what it does"), [(one.name, one.summary) for one in found])
        say("libra mechanisms NAME shows the parameters of one.")
        return
    one = description_of(name)
    if as_json:
        print_json(one.to_dict())
        return
    rows = [(parameter.name, parameter.shown_default, parameter.allowed, parameter.meaning) for parameter in one.parameters]
    say(f"{one.name}: {one.summary}")
    table("Parameters", ("name", "default", "values", "meaning"), rows)
    flags = [flag_of(parameter.name) for parameter in one.parameters]
    with_flag = [flag for flag in flags if flag]
    if with_flag:
        say(f"Flags: {', '.join(with_flag)}.{' Set the others with --set NAME=VALUE.' if len(with_flag) < len(flags) else ''}")
    elif flags:
        say("Set them with --set NAME=VALUE.")


@command(
    "libra audit log.xes.gz",
    "libra audit log.xes.gz --mechanism libra2022 --alpha 10 --epsilon 1",
    "libra audit log.csv --tail nearest --runs 100000 --time-limit 1800 --json",
)
def audit(
    log: LogPath,
    options: ReadKeywords,
    parameters: OtherParameters,
    *,
    mechanism: MechanismName = "libra",
    epsilon: Annotated[
        float | None, option("Claimed epsilon to test. Default: 1, or as the authors claim.", panel=GUARANTEE)
    ] = None,
    delta: Annotated[float, option("Claimed delta to test, not too small. Default: 0.01.", panel=GUARANTEE)] = 1e-2,
    runs: Annotated[int, option("Number of runs in all, of both sides and all canaries.", shown=True)] = 10_000,
    time_limit: Annotated[
        float, option("Time limit, which applies once a few hundred runs are done.", "SECONDS", shown=True)
    ] = 240.0,
    processes: Annotated[int | None, option("Number of runs at once. Default: one per core.")] = None,
    canary: Annotated[list[str] | None, option("Try only this canary. May be repeated. Default: all.", "NAME")] = None,
    seed: Annotated[int | None, option("Seed, to repeat an audit.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try to refute what a mechanism claims: a lower bound on its epsilon, from runs with and without one case.

    The exit code is 1 if the claim is refuted. A claim that is not refuted may still be wrong: docs/guarantees.md has the proofs.
    """
    import os

    from libra import api

    options["progress"] = Stages(quiet=quiet)
    claim: dict[str, Any] = {"mechanism": mechanism, "epsilon": epsilon, "delta": delta, "canary": canary or None}
    at_once = (os.cpu_count() or 1) if processes is None else processes
    effort: dict[str, Any] = {"runs": runs, "time_limit": time_limit, "processes": at_once, "seed": seed}
    found = api.audit(log, **claim, **effort, **options, **parameters)
    if as_json:
        print_json(found.to_dict())
    else:
        show_audit(found)
    print_notes(found.notes, quiet=quiet)
    if found.refuted:
        raise typer.Exit(1)


def show_audit(found: Audit) -> None:
    """The claim, what each canary proved, and what that means."""
    claim = found.claim
    unit = "individual" if claim.of_individuals else "case"
    title = f"{found.mechanism}, at ({claim.epsilon:.4g}, {claim.delta:.4g}) for one {unit}, {claim.source}"
    rows = []
    for one in found.findings:
        proved = f"{one.epsilon_low:.2f}" + (" !" if one.refutes else "")
        rows.append((one.canary, proved, f"{one.claim.epsilon:.4g}", one.event, *one.times))
    header = ("a canary that", "epsilon at least", "claim", "told by", "with it", "without")
    table(title, header, rows, right=(1, 2, 4, 5))
    for sentence in verdict(found):
        say(sentence)


def verdict(found: Audit) -> list[str]:
    """What the figures mean, in a few sentences."""
    from libra.measures.audit.events import MOST_RUNS

    claimed = f"({found.claim.epsilon:.4g}, {found.claim.delta:.6g})"
    took = f"{found.runs:,} runs in {found.seconds:,.0f} seconds."
    if found.refuted:
        worst = next(finding for finding in found.findings if finding.refutes)
        proved = (
            f"Refuted: {found.mechanism} is not {claimed}-differentially private. A canary that {worst.canary} gives itself away "
            f"by {worst.event}. At delta {worst.claim.delta:.3g} epsilon is at least {worst.epsilon_low:.2f}; at epsilon "
            f"{worst.claim.epsilon:.3g} delta is at least {worst.delta_low:.2g}."
        )
        return [proved, f"A true claim is refuted like this with a probability of {found.mistaken:g} at most. {took}"]
    needed = f"{'more than' if found.runs_needed == MOST_RUNS else 'about'} {found.runs_needed:,}"
    return [
        f"Not refuted: nothing was found that {claimed}-differential privacy forbids. This is not a proof. {took}",
        f"An epsilon a quarter above the claim would take {needed} runs per side to be found nine times out of ten, "
        "if a single figure of the release shows all of it, and more otherwise.",
    ]
