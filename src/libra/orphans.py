"""No process outlives the one that started it for a piece of work.

For the processes of `libra.comparison` and `libra.reporting`, which import this before anything else: it needs next to nothing.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys

KILL_ME_WITH_MY_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def end_with_parent(parent: int) -> None:
    """See to it that this process is killed when its parent ends, however that ends and whatever this one is busy with.

    Only Linux has a way; elsewhere nothing happens.

    Args:
        parent: The number of the process that started this one; if that has ended already, so does this one.
    """
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(KILL_ME_WITH_MY_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
