"""Blocks on all cores, in order and never more of them in memory than cores need; and small matrix products on one."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import RLock
from typing import TypeVar

_of_the_process = RLock()
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


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within it, matrices are multiplied on one core: the threads of BLAS spin while they wait for each other.

    On a busy machine, many small products take minutes that way. The number is that of the whole process: one thread of Python at
    a time is within, and puts back what was before.
    """
    from threadpoolctl import threadpool_limits

    with _of_the_process, threadpool_limits(1, user_api="blas"):
        yield
