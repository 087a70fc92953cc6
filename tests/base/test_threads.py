"""Results do not depend on threads, BLAS or processes."""

import multiprocessing
import os
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_info

import phaselect
from phaselect.base.threads import one_blas_thread

RUN = """
import phaselect
problem = phaselect.gaussian_instance(300, 1.1, seed=1)
short = phaselect.Schedule.matched(mu_max=20, eps=0.3, steps=4)
for solver in (phaselect.AMP(restarts=0), phaselect.SimulatedAnnealing(), phaselect.PopulationAnnealing(16),
               phaselect.Langevin()):
    print(solver.run(problem, short, seed=0).x.sum().hex())
"""


def test_any_number_of_blas_and_kernel_threads_gives_the_same_bits():
    outputs = set()
    for threads in ("1", "2"):
        environment = dict(os.environ, OPENBLAS_NUM_THREADS=threads, NUMBA_NUM_THREADS=threads)
        done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, check=True)
        outputs.add(done.stdout)
    assert len(outputs) == 1


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_blas_limit_is_lifted_by_the_last_to_leave():
    before = blas_threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def anneal(seed):
    problem = phaselect.gaussian_instance(40, 1.5, seed=seed)
    return phaselect.PopulationAnnealing(32).run(problem, seed=seed).mse_y


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_can_run_after_its_parent_did():
    expected = anneal(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(anneal, (0,)).get(timeout=60) == expected
