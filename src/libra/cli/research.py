"""Commands on the published algorithm: epsilon, what its parameters amount to, and reproduce, the tables of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from libra.cli.options import Json, Quiet, command, option, output_option
from libra.cli.output import Stages, figure, print_json, print_notes, printable, table
from libra.reproduce import settings_named

SETTING_HELP = (
    "How to read the paper: printed (what fits its tables best), text (with trace noise), or stated (with its delta too). May be "
    "repeated. Default: all three."
)
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


@command("libra epsilon --alpha 10 --b 2 --gamma 0.05 --delta 1e-4", "libra epsilon --alpha 2 --subsamples 50 --json")
def epsilon(
    *,
    alpha: Annotated[float, option("The Renyi order, above 1.", shown=True)] = 10,
    b: Annotated[float, option("The scale of the Laplace noise.", shown=True)] = 2,
    gamma: Annotated[float, option("The share of cases in a subsample, up to 1.", shown=True)] = 0.05,
    delta: Annotated[float, option("The delta to convert at, below 0.5.", shown=True)] = 1e-4,
    subsamples: Annotated[int | None, option("Number of subsamples that are released. Default: 1/gamma.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what alpha, b, gamma and delta of the published algorithm (libra2022) amount to, and the true (epsilon, delta)."""
    from libra.mechanisms.libra2022.claim import accounting, default_subsamples

    times = default_subsamples(gamma) if subsamples is None else subsamples
    found = accounting(alpha, b, gamma, delta, times)
    if as_json:
        print_json(found.to_dict() | {"notes": list(NOTES)})
    else:
        figures, rows = found.to_dict(), []
        for name, text in MEANINGS.items():
            value = figures[name] if isinstance(figures[name], dict) else {"epsilon": figures[name]}
            rows.append((name, figure(value["epsilon"]), text.format(**value)))
        given = f"alpha {alpha:g}, b {b:g}, gamma {gamma:g}, delta {delta:g}"
        title = f"{given}: {times:,} subsample{'' if times == 1 else 's'} (none is a guarantee of libra2022)"
        table(title, ("figure", "value", "meaning"), rows, right=(1,))
    print_notes(NOTES, quiet=quiet)


@command("libra reproduce --logs logs", "libra reproduce --logs logs --setting printed --seeds 3 -o tables.md")
def reproduce(
    *,
    logs: Annotated[Path, option("A folder with event logs; names such as sepsis.xes.gz identify the paper's.", "DIR")],
    alpha: Annotated[list[float] | None, option("An order to try. May be repeated. Default: 2, 10 and 100.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Number of runs of each kind; their seeds are 0, 1, 2, …")] = 5,
    setting: Annotated[list[str] | None, option(SETTING_HELP, "NAME")] = None,
    output: Annotated[Path | None, output_option("Write the Markdown to this file.", "FILE.md")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compute the tables of the paper again with libra2022, and print them as Markdown."""
    from libra._system.arguments import checked_order
    from libra._system.files import atomic_output
    from libra.reproduce import run
    from libra.reproduce.run import log_files, page, read_logs
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
