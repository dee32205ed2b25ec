"""What a mechanism is asked with at a given (epsilon, delta).

In: a setting and the guarantee wanted. Out: the parameters of the run. Most mechanisms take epsilon, and delta where it plays a
part. `libra2022` takes neither: it gets the scale b at which its subsampled Laplace releases would be (epsilon, delta), if they
were all it releases, which is the reading most favourable to it.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from libra.comparison.setting import Setting
from libra.errors import UsageError

PUBLISHED = "libra2022"
FIXED_BY = {PUBLISHED: "b", "amun": "guessing_advantage"}  # what decides the privacy of a mechanism, beside epsilon
SMALLEST, LARGEST = 1e-3, 1e6
PRECISION = 1e-4


def is_asked(setting: Setting) -> bool:
    """Whether epsilon is left to the comparison: it is neither fixed by the setting, nor something the mechanism does not know.

    Example:
        >>> is_asked(Setting("libra")), is_asked(Setting("libra2022", {"b": 2})), is_asked(Setting("libra", {"epsilon": 1}))
        (True, False, False)
    """
    from libra.mechanisms.mechanism import parameters_of

    known = parameters_of(setting.mechanism)
    fixed = {"epsilon", FIXED_BY.get(setting.mechanism, "epsilon")} & set(setting.parameters)
    return not fixed and ("epsilon" in known or setting.mechanism == PUBLISHED)


def asked(setting: Setting, epsilon: float | None, delta: float) -> dict[str, Any]:
    """The parameters of a run at (epsilon, delta); at an epsilon of None they are those of the setting.

    Example:
        >>> asked(Setting("libra", {"tail": "drop"}), 1.0, 1e-4)
        {'epsilon': 1.0, 'delta': 0.0001, 'tail': 'drop'}
        >>> round(asked(Setting("libra2022"), 0.3, 1e-4)["b"], 2)
        2.0
    """
    from libra.mechanisms.mechanism import parameters_of

    known = parameters_of(setting.mechanism)
    wanted: dict[str, Any] = {"delta": delta} if "delta" in known else {}
    if epsilon is not None and setting.mechanism == PUBLISHED:
        wanted["b"] = _scale_of(setting, epsilon, wanted | dict(setting.parameters))
    elif epsilon is not None:
        wanted = {"epsilon": epsilon} | wanted
    return wanted | dict(setting.parameters)


def _scale_of(setting: Setting, epsilon: float, parameters: dict[str, Any]) -> float:
    from libra.mechanisms.libra2022 import Libra2022
    from libra.mechanisms.libra2022.claim import default_subsamples
    from libra.privacy.arguments import checked_delta, checked_rate, checked_times

    defaults = {field.name: field.default for field in fields(Libra2022)}
    gamma = parameters.get("gamma", defaults["gamma"])
    subsamples = parameters.get("subsamples")
    if subsamples == "paper":
        where = f"{setting.label}: the number of subsamples follows from the log"
        raise UsageError(f"{where}, so no b can be found for an epsilon. Say b, or how many subsamples.")
    times = default_subsamples(gamma) if subsamples is None else checked_times(subsamples, "subsamples")
    return subsampled_laplace_scale(epsilon, checked_rate(gamma, "gamma"), times, checked_delta(parameters["delta"]))


@cache
def subsampled_laplace_scale(epsilon: float, rate: float, times: int, delta: float) -> float:
    """The smallest scale at which so many Laplace releases from Poisson subsamples are (epsilon, delta)-differentially private.

    Example:
        >>> round(subsampled_laplace_scale(0.2996, 0.05, 20, 1e-4), 2)
        2.0
    """
    from libra.privacy.renyi import subsampled_laplace_epsilon

    def is_enough(scale: float) -> bool:
        return subsampled_laplace_epsilon(scale, rate, times, delta) <= epsilon

    if not is_enough(LARGEST):
        raise UsageError(f"No b makes {times} subsamples of rate {rate:g} ({epsilon:g}, {delta:g})-differentially private.")
    too_small, enough = 1.0, 1.0
    while enough < LARGEST and not is_enough(enough):
        too_small, enough = enough, enough * 4
    while too_small > SMALLEST and is_enough(too_small):
        too_small, enough = too_small / 4, too_small
    while enough / too_small > 1 + PRECISION:
        between = (enough * too_small) ** 0.5
        too_small, enough = (too_small, between) if is_enough(between) else (between, enough)
    return enough
