"""Blocks on all cores: results in the order of the blocks, and never more of them in memory than cores need."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

MOST_THREADS = 8  # each holds a block and what is computed from it: some 300 MB
Block = TypeVar("Block")
Result = TypeVar("Result")


def in_order(work: Callable[[Block], Result], blocks: Iterable[Block]) -> Iterator[Result]:
    """What `work` makes of each block; NumPy and Polars let go of the interpreter, so threads run side by side.

    Example:
        >>> list(in_order(lambda number: number * number, range(5)))
        [0, 1, 4, 9, 16]
    """
    threads = min(os.cpu_count() or 1, MOST_THREADS)
    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            under_way.append(pool.submit(work, block))
            if len(under_way) >= threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
