"""Libra, sound: the default mechanism.

algorithm      the mechanism with its parameters
arguments      what can be said to it
plan           how the guarantee is spent, before any case is looked at
release_run    what the gate is asked for, in a few rounds
kept, tail     kept variants, and a model of all other cases
control_flow   both together: traces with weights, and whole cases
times          starts, durations, hours
figures        everything that was released
generate       from those figures to cases, in any process
"""

from libra.mechanisms.libra.algorithm import Libra

__all__ = ["Libra"]
