"""`libra epsilon`: what the parameters of the published algorithm amount to, each figure with its meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from libra.cli.output import Json, Quiet, print_json, print_notes
from libra.cli.tables import figure, table

if TYPE_CHECKING:
    from libra.mechanisms.libra2022.claim import Accounting

EXAMPLES = ("libra epsilon --alpha 10 --b 2 --gamma 0.05 --delta 1e-4", "libra epsilon --alpha 2 --subsamples 50 --json")
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


def epsilon(
    *,
    alpha: Annotated[float, typer.Option("--alpha", help="The Renyi order, above 1.")] = 10,
    b: Annotated[float, typer.Option("--b", help="The scale of the Laplace noise.")] = 2,
    gamma: Annotated[float, typer.Option("--gamma", help="The share of cases in a subsample, up to 1.")] = 0.05,
    delta: Annotated[float, typer.Option("--delta", help="The delta to convert at, below 0.5.")] = 1e-4,
    subsamples: Annotated[
        int | None,
        typer.Option("--subsamples", help="How many subsamples are released; 1/gamma if not said.", show_default=False),
    ] = None,
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
