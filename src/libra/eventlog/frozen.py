"""Arrays that nobody changes: what a log computes once is shared by all who ask."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(array: npt.NDArray[Scalar]) -> npt.NDArray[Scalar]:
    """The array, from now on read-only.

    Example:
        >>> frozen(np.zeros(2)).flags.writeable
        False
    """
    array.flags.writeable = False
    return array
