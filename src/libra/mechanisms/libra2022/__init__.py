"""Libra as published: Elkoumy and Dumas, "Libra: High-Utility Anonymization of Event Logs …", ICPM 2022.

For research, reproduction and comparison: it does not have the guarantee it was published with.
"""

from libra.mechanisms.libra2022.algorithm import Libra2022

__all__ = ["Libra2022"]
