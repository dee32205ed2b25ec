"""Commands on the published algorithm: epsilon, what its parameters amount to, and reproduce, the tables of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.options import Json, Quiet, examples, option
from libra.cli.output import Stages, figure, print_json, print_notes, printable, table
from libra.reproduce import settings_named

if TYPE_CHECKING:
    from libra.mechanisms.libra2022.claim import Accounting


MEANINGS = {
    "laplace_epsilon": "Laplace noise of scale b: Renyi at order alpha (paper, Eq. 2). It sets noise_scale.",
    "noise_scale": "Scale of the noise that libra2022 draws: 1 / laplace_epsilon.",
    "renyi_epsilon_one": "One subsampled release: Renyi at order alpha (paper, Eq. 3, misprint corrected).",
    "renyi_epsilon": "All subsamples: Renyi at order alpha. This is what the paper calls epsilon'.",
    "epsilon_at_order": "The same as (epsilon, delta), converted at order alpha (Mironov).",
    "best_order_bound": "(epsilon, delta) from the paper's bound at its best order, {order}.",
    "best_order_exact": "(epsilon, delta) from the exact subsampled Laplace at its best order, {order}.",
    "pld_epsilon": "(epsilon, delta) by privacy loss distribution: the true value for scale b.",
    "pld_epsilon_drawn": "The same for the scale that is really drawn, noise_scale.",
}

NOTES = (
    "A Renyi figure at one order is not the epsilon of (epsilon, delta). Compare only figures that say (epsilon, delta).",
    "The smaller Renyi figure of a smaller alpha is not the stronger setting: converted at its order it is the larger epsilon. "
    "That libra2022 draws more noise for a small alpha shows in pld_epsilon_drawn alone.",
    "All figures count one release of sensitivity 1 per subsample. libra2022 does more than that to a log, so none of them is "
    "its guarantee (docs/accounting.md).",
    "The paper prints epsilon' = 0.04, 0.37 and 4.7 for alpha = 2, 10 and 100; these do not follow from its parameters, which "
    "give 0.011, 0.145 and 0.640.",
)


@examples("libra epsilon --alpha 10 --b 2 --gamma 0.05 --delta 1e-4", "libra epsilon --alpha 2 --subsamples 50 --json")
def epsilon(
    *,
    alpha: Annotated[float, typer.Option("--alpha", help="The Renyi order, above 1.")] = 10,
    b: Annotated[float, typer.Option("--b", help="The scale of the Laplace noise.")] = 2,
    gamma: Annotated[float, typer.Option("--gamma", help="The share of cases in a subsample, up to 1.")] = 0.05,
    delta: Annotated[float, typer.Option("--delta", help="The delta to convert at, below 0.5.")] = 1e-4,
    subsamples: Annotated[int | None, option("--subsamples", "How many subsamples are released; 1/gamma if not said.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say what alpha, b, gamma and delta of the published algorithm (libra2022) amount to, beside the true (epsilon, delta)."""
    from libra.mechanisms.libra2022.claim import accounting, default_subsamples

    times = default_subsamples(gamma) if subsamples is None else subsamples
    found = accounting(alpha, b, gamma, delta, times)
    if as_json:
        print_json(found.to_dict() | {"notes": list(NOTES)})
    else:
        show_accounting(found)
    print_notes(NOTES, quiet=quiet)


def show_accounting(found: Accounting) -> None:
    """One line a figure: its name, its value, and what it says."""
    figures = found.to_dict()
    rows = []
    for name, text in MEANINGS.items():
        value = figures[name] if isinstance(figures[name], dict) else {"epsilon": figures[name]}
        rows.append((name, figure(value["epsilon"]), text.format(**value)))
    given = f"alpha {found.alpha:g}, b {found.b:g}, gamma {found.gamma:g}, delta {found.delta:g}"
    title = f"{given}: {found.subsamples:,} subsample{'' if found.subsamples == 1 else 's'} (none is a guarantee of libra2022)"
    table(title, ("figure", "value", "meaning"), rows, right=(1,))


@examples("libra reproduce --logs logs", "libra reproduce --logs logs --setting printed --seeds 3 -o tables.md")
def reproduce(
    *,
    logs: Annotated[Path, option("--logs", "A folder with event logs; names such as sepsis.xes.gz tell the paper's.", "DIR")],
    alpha: Annotated[
        list[float] | None, option("--alpha", "An order to try. May be said several times; 2, 10 and 100 if not said.")
    ] = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many runs of each kind; their seeds are 0, 1, 2, …")] = 5,
    setting: Annotated[
        list[str] | None,
        option(
            "--setting",
            "How to read the paper: printed (what fits its tables best), text (with trace noise), or stated (with "
            "its delta too). May be said several times; all three if not said.",
            "NAME",
        ),
    ] = None,
    output: Annotated[Path | None, option("--output -o", "Write the Markdown to this file.", "FILE.md")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compute the tables of the paper anew with libra2022, and print them as Markdown."""
    from libra._system.arguments import checked_order
    from libra._system.files import atomic_output
    from libra.reproduce import run
    from libra.reproduce.page import page
    from libra.reproduce.run import log_files, read_logs
    from libra.targets import check_writable

    settings = settings_named(setting or ())
    alphas = tuple(dict.fromkeys(checked_order(order, "alpha") for order in alpha or run.ALPHAS))
    files = log_files(logs)
    if output:
        for file in files:
            check_writable(file, output)
    stages = Stages(quiet=quiet)
    read = read_logs(files, lambda path: stages.stage("read", path.name))
    with stages.stage("anonymize", "and measuring") as progress:
        found = run.reproduce(read, settings, alphas, range(seeds), progress)
    text = "\n".join(map(printable, page(found))) + "\n"
    if output:
        with atomic_output(output) as stream:
            stream.write(text.encode())
    notes = [f"{name}: {note}" for name, log in read.items() for note in log.notes]
    print_notes(notes, quiet=quiet)
    if as_json:
        print_json(found.to_dict() | {"output": str(output) if output else None, "notes": notes})
    elif output and not quiet:
        print(f"Wrote {printable(str(output))}")
    elif not output:
        print(text, end="")
