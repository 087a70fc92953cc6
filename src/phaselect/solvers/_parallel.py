"""Threads over compiled kernels that release the interpreter.

The number of threads is Numba's own: the variable NUMBA_NUM_THREADS, or `numba.set_num_threads`. Work is cut
into the same pieces whatever that number is, so results do not depend on it.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numba

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_parallel(function: Callable[[Task], Answer], tasks: Iterable[Task]) -> list[Answer]:
    """`[function(task) for task in tasks]` on all threads: each takes every k-th task, this one included."""
    tasks = list(tasks)
    threads = min(numba.get_num_threads(), len(tasks))

    def share(first: int) -> list[Answer]:
        return [function(task) for task in tasks[first::threads]]

    if threads <= 1:
        return [function(task) for task in tasks]
    others = [_pool(threads - 1).submit(share, first) for first in range(1, threads)]
    shares = [share(0), *(other.result() for other in others)]
    return [shares[k % threads][k // threads] for k in range(len(tasks))]


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="phaselect")
