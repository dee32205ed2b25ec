"""Libra, the sound version: the default mechanism. CONTRIBUTING.md walks through one release."""

from libra.mechanisms.libra.algorithm import Libra

__all__ = ["Libra"]
