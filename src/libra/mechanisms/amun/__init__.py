"""Amun (Elkoumy, Pankova and Dumas): cases copied and timestamps noised until nobody's guess about a case gains too much.

`algorithm` is the mechanism and its parameters, `copies` says which cases are copied, `guesses` turns a guessing advantage into
an epsilon, `times` puts noise on starts and gaps, and `claim` says what its authors promise and what that leaves out.
"""

from __future__ import annotations

from libra.mechanisms.amun.algorithm import Amun

__all__ = ["Amun"]
