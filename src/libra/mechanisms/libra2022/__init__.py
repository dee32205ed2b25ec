"""Libra as published: Elkoumy and Dumas, "Libra: High-Utility Anonymization of Event Logs …", ICPM 2022.

One module a step of the paper's Algorithm 1, each usable alone: `clip`, `subsample`, `trace_noise` (on the `automaton` of the
variants), `time_noise`, `relevance`, `combine`. `algorithm` puts them together; `claim` says what the authors claim of the
result, and what that leaves out. For research, reproduction and comparison: it does not have the guarantee it was published
with.
"""

from __future__ import annotations

from libra.mechanisms.libra2022.algorithm import Libra2022

__all__ = ["Libra2022"]
