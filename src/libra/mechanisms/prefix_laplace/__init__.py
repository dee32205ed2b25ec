"""The prefix query with Laplace noise (Mannhardt et al. 2019), as published and in a sound form."""

from libra.mechanisms.prefix_laplace.algorithm import PrefixLaplace

__all__ = ["PrefixLaplace"]
