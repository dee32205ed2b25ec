"""SaCoFa (Fahrenkrog-Petersen et al. 2021): the prefix query with an eye to what the process allows."""

from libra.mechanisms.sacofa.algorithm import Sacofa

__all__ = ["Sacofa"]
