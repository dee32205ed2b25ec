"""Why a release is empty and what would have kept something: for the custodian alone, since it tells figures of the log."""

from __future__ import annotations

import math
from collections.abc import Callable

from libra.privacy.renyi import laplace_epsilon

NEXT_TO_NONE = 0.5  # a scale below which a release of sensitivity 1 costs an epsilon above 2


def explain_clipping(threshold: int, needed: int, n_variants: int, alpha: float, b: float, delta: float) -> str:
    """All variants are rare: the threshold in use, the one that was needed, and the parameters that give it.

    Example:
        >>> print(explain_clipping(39, 35, 846, 10, 2, 1e-4))
        All variants of this log are rare: only those with 39 cases or more are kept, and none has more than 35.
        The threshold would have to be 35 or lower, which --b 1.8 or --delta 0.00052 gives, for less protection.
        These figures are of your log: keep them to yourself.
    """
    scale = _fitting_scale(math.log(2 * n_variants / delta) / needed, alpha, b)
    remedies = [f"--b {_two_digits(scale, math.floor)}"]
    least_delta = 2 * n_variants * math.exp(-laplace_epsilon(alpha, b) * needed)
    if least_delta < 0.1:
        remedies.append(f"--delta {_two_digits(least_delta, math.ceil)}")
    price = "less protection" if scale >= NEXT_TO_NONE else "next to no protection"
    return (
        f"All variants of this log are rare: only those with {_whole(threshold)} cases or more are kept, and none has more than "
        f"{needed}. The threshold would have to be {needed} or lower, which {' or '.join(remedies)} gives, for {price}. "
        "These figures are of your log: keep them to yourself."
    )


def explain_draws(*, own_anonymizer: bool) -> str:
    """Some variants were kept, and none of their cases came through: not drawn, or deleted again, or lost in another anonymizer.

    Example:
        >>> explain_draws(own_anonymizer=True).split(":")[0]
        'None of the few cases was drawn, or all were deleted again'
    """
    if not own_anonymizer:
        return "No case was drawn, or the anonymizer gave back none."
    return (
        "None of the few cases was drawn, or all were deleted again: run it anew, or ask for more with --subsamples or --gamma."
    )


def _fitting_scale(epsilon: float, alpha: float, b: float) -> float:
    """The largest scale below b, to four digits, at which the noise has at least this epsilon, which falls as the scale grows."""
    low, high = 0.0, b
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if laplace_epsilon(alpha, middle) >= epsilon else (low, middle)
    return low


def _whole(number: int) -> str:
    return f"{number:,}" if number < 10**12 else f"{number:.2g}"


def _two_digits(value: float, to_whole: Callable[[float], int]) -> str:
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return f"{to_whole(value / unit) * unit:.2g}"
