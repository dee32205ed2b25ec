"""PRIPEL (Fahrenkrog-Petersen, van der Aa and Weidlich 2020): variants of a query, with times and attributes of real cases.

`algorithm` is the mechanism and its parameters; `matching` gives each variant a case of the original by least total edit distance
(`edit_distance`, `transport`), `context` says which event each event takes after and when it happens, `randomize` holds the
mechanisms that its values go through, `times` and `attributes` apply them, and `claim` says what this is worth.
"""

from __future__ import annotations

from libra.mechanisms.pripel.algorithm import Pripel

__all__ = ["Pripel"]
