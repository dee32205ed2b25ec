"""The tail: cases whose variant is too rare to be kept, released as a model of traces and generated from it."""

from libra.mechanisms.libra.tail.generate import weighted_traces
from libra.mechanisms.libra.tail.release import TailFigures, release_tail

__all__ = ["TailFigures", "release_tail", "weighted_traces"]
