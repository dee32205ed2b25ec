"""How long the stages of a command took, for its JSON document."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator


class Stopwatch:
    """Seconds by stage.

    Example:
        >>> watch = Stopwatch()
        >>> with watch.stage("read"):
        ...     pass
        >>> list(watch.seconds)
        ['read']
    """

    def __init__(self) -> None:
        """Nothing is timed yet."""
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens in this block."""
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = time.perf_counter() - begin
