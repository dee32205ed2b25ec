"""Libra as published: Elkoumy and Dumas, "Libra: High-Utility Anonymization of Event Logs …", ICPM 2022.

`steps` and `trace_noise` are the steps of the paper's Algorithm 1, `algorithm` puts them together, and `claim` says what the
authors claim of the result, and what that leaves out. For research, reproduction and comparison: it does not have the guarantee
it was published with.
"""

from libra.mechanisms.libra2022.algorithm import Libra2022

__all__ = ["Libra2022"]
