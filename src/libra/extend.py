"""What a package needs to add a mechanism of its own, from one place: docs/add-a-mechanism.md shows one.

Names here stay; the modules they come from may move.
"""

from __future__ import annotations

from libra._system.arguments import checked, checked_delta, checked_whole
from libra._system.randomness import Randomness
from libra.errors import InputError, LibraError, UsageError
from libra.eventlog.cases import Cases, cases_of
from libra.eventlog.log import EventLog
from libra.eventlog.options import Progress, no_progress
from libra.mechanisms.fresh_log import PLACEHOLDERS, fresh_log, placeholder_times
from libra.mechanisms.mechanism import Mechanism
from libra.mechanisms.parameters import DELTA, EPSILON, Parameter
from libra.mechanisms.release import Release
from libra.mechanisms.variant_queries import Counted, counted_of
from libra.privacy.guarantee import Guarantee

__all__ = ["DELTA", "EPSILON", "PLACEHOLDERS", "Cases", "Counted", "EventLog", "Guarantee", "InputError", "LibraError"]
__all__ += ["Mechanism", "Parameter", "Progress", "Randomness", "Release", "UsageError", "cases_of", "checked", "checked_delta"]
__all__ += ["checked_whole", "counted_of", "fresh_log", "no_progress", "placeholder_times"]
