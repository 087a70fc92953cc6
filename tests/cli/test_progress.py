"""The bar of a search: its stage, and its clock."""

import io
import math
import time

import pytest
from numba.core.caching import NullCache
from rich.console import Console

import phaselect
from phaselect.base.kernels import kernel
from phaselect.cli.progress import progress_bar
from phaselect.solvers.progress_bar import stage


def event(fraction, **more):
    return phaselect.Progress("amp", fraction, 1.0, 0.5, 0.0, **more)


def test_stages_and_attempts():
    assert stage(event(0.5)) == "amp"
    assert stage(event(0.5, attempt=2, attempts=5)) == "amp, attempt 2/5"
    assert stage(event(0.5, stage=3)) == "stage 3: amp"


def busy(count):
    total = 0.0
    for k in range(count):
        total += math.sin(total + k)
    return total


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def test_the_clock_goes_on_inside_a_kernel_and_when_all_is_done(terminal):
    compiled = kernel()(busy)
    compiled._cache = NullCache()  # compiled here and now, with the options of today
    compiled(1)
    began = time.perf_counter()
    compiled(10**6)
    long = int(1.6e6 / (time.perf_counter() - began))
    with progress_bar(terminal) as bar:
        bar(event(1.0, stage=2))
        before = terminal.file.tell()
        compiled(long)
        shown = terminal.file.getvalue()[before:]
    assert shown.count("stage 2: amp") > 3  # not once, at its end
    assert "0:00:01" in shown


def test_quiet(terminal):
    with progress_bar(terminal, quiet=True) as bar:
        bar(event(0.5))
    assert terminal.file.getvalue() == ""
