"""The bar of a search: its stage, and its clock."""

import ctypes
import io

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


SLEEP = ctypes.CDLL(None).usleep  # compiled code that takes as long on a busy machine
SLEEP.argtypes = [ctypes.c_uint]


def sleep(tenths):
    for _ in range(tenths):
        SLEEP(100_000)


@pytest.fixture
def terminal():
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def test_the_clock_goes_on_inside_a_kernel_and_when_all_is_done(terminal):
    compiled = kernel()(sleep)
    compiled._cache = NullCache()  # compiled here and now, with the options of today
    compiled(0)
    with progress_bar(terminal) as bar:
        bar(event(1.0, stage=2))
        before = terminal.file.tell()
        compiled(16)
        shown = terminal.file.getvalue()[before:]
    assert shown.count("stage 2: amp") > 3  # not once, at its end
    assert "0:00:01" in shown


def test_quiet(terminal):
    with progress_bar(terminal, quiet=True) as bar:
        bar(event(0.5))
    assert terminal.file.getvalue() == ""
