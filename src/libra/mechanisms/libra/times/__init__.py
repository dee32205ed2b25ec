"""Times: what is released about them, and how every event of a control flow gets one."""

from libra.mechanisms.libra.times.generate import generate_times
from libra.mechanisms.libra.times.release import TimeFigures, release_times

__all__ = ["TimeFigures", "generate_times", "release_times"]
