"""Threads over compiled kernels and matrix products, with results that do not depend on their number.

The number of threads is Numba's own: the variable NUMBA_NUM_THREADS, or `numba.set_num_threads`. Sums are cut into
the same pieces whatever that number is. Inside a solver's loop BLAS runs on one thread and our threads share
out its calls: the idle threads of a multi-threaded BLAS spin, and would take the cores from the kernels.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from phaselect.base.kernels import numba

Task = TypeVar("Task")
Answer = TypeVar("Answer")

BLOCK_ROWS = 64


def run_parallel(function: Callable[[Task], Answer], tasks: Iterable[Task]) -> list[Answer]:
    """`[function(task) for task in tasks]` on all threads: each takes every k-th task, this one included."""
    tasks = list(tasks)
    threads = min(numba.get_num_threads(), len(tasks))

    def share(first: int) -> list[Answer]:
        return [function(task) for task in tasks[first::threads]]

    if threads <= 1:
        return [function(task) for task in tasks]
    others = [_pool(threads - 1).submit(share, first) for first in range(1, threads)]
    done = [share(0), *(other.result() for other in others)]
    return [done[k % threads][k // threads] for k in range(len(tasks))]


def gram(left: NDArray[Any]) -> NDArray[Any]:
    """`left @ left.T`, computed above the diagonal and mirrored."""
    product = np.empty((left.shape[0],) * 2, left.dtype)

    def block(start: int) -> None:
        rows = slice(start, start + BLOCK_ROWS)
        np.matmul(left[rows], left[start:].T, out=product[rows, start:])
        product[start:, rows] = product[rows, start:].T

    run_parallel(block, range(0, left.shape[0], BLOCK_ROWS))
    return product


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within this context BLAS uses the calling thread only; without threadpoolctl it is left as it is.

    The limit holds for the whole process: the first run to enter sets it, the last to leave lifts it.
    """
    with _limit.lock:
        if _limit.users == 0 and (controller := _controller()) is not None:
            _limit.limiter = controller.limit(limits=1, user_api="blas")
        _limit.users += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.users -= 1
            if _limit.users == 0 and _limit.limiter is not None:
                _limit.limiter.restore_original_limits()
                _limit.limiter = None


class _Limit:
    """How many runs want BLAS on one thread, and what lifts the limit."""

    lock = Lock()
    users = 0
    limiter: Any = None


_limit = _Limit()


@cache
def _controller() -> Any:
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # some clusters have NumPy and Numba only
        return None
    return ThreadpoolController()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="phaselect")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
