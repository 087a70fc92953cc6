"""Metropolis kernels: against dwave-samplers, the paper's pseudo-code, one another, and what the machine allows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count

import numba
import numpy as np

from benchmarks.instances import MU
from benchmarks.internals import (
    FIELD_SWEEPS,
    couplings,
    device,
    device_sweep,
    field_kernel,
    in_normalised_units,
    on_device,
    one_blas_thread,
    population_kernel,
    random_state,
    run_parallel,
    spectral_anneal,
    spectrum,
)
from benchmarks.machine import Kernel, Machine
from benchmarks.plan import Plan
from benchmarks.rivals import dwave_pair
from benchmarks.rows import Measurement, Task
from benchmarks.timing import best_seconds, in_turn
from phaselect import InputError, PopulationAnnealing, Schedule, gaussian_instance
from phaselect.experiments.pseudo_code import simulated_annealing

SECTION = "metropolis"
LEAST_DWAVE = {("one copy", 200): 2.0, ("one copy", 400): 3.0, ("one copy", 800): 4.0}
LEAST_PSEUDO_CODE = {100: 250.0, 200: 500.0, 400: 1200.0, 800: 4000.0}
LEAST_THREADS = 1.7


def tasks(machine: Machine, plan: Plan) -> list[Task]:
    """Each kernel at each N; then what is settled by comparing them."""
    rates = [
        Task(SECTION, f"Metropolis, {name}", f"N = {n}, mu = {MU:g}", partial(against_dwave, name, kernel, n))
        for n in plan.kernels
        for name, kernel in machine.kernels().items()
    ]
    if not plan.comparisons:
        return rates
    blocks = [
        Task(SECTION, "population, against blocks", f"N = {n}, mu = {mu:g}", partial(against_blocks, n, mu))
        for n in plan.kernels[:2]
        for mu in (1.0, 10.0, 100.0)
    ]
    return [
        *rates,
        *(Task(SECTION, "SA proposal, spectral", f"N = {n}", partial(against_paper, n)) for n in plan.comparisons),
        *blocks,
        *(Task(SECTION, "couplings pay after", f"N = {n}", partial(crossover, n)) for n in plan.kernels),
        Task(SECTION, "SVD before population annealing", "N = 400", svd_share),
        *([Task(SECTION, "population annealing, two threads", "N = 400, R = 512", two_threads)] if plan.whole else []),
    ]


def against_dwave(name: str, kernel: Callable[[int], Kernel], n: int) -> Measurement:
    """Millions of proposals per second on the same couplings; the reference is dwave-samplers on one core.

    Its set-up does not count: it is the difference of two run lengths.
    """
    ours = kernel(n)
    try:
        short, long, proposals = dwave_pair(n)
    except InputError as missing:
        alone = ours.measurement(best_seconds(ours.run))
        return alone._replace(detail=f"{alone.detail}; {missing}")
    with one_blas_thread():
        seconds, short_seconds, long_seconds = in_turn(ours.run, short, long)
    theirs = proposals / (long_seconds - short_seconds) / 1e6
    return ours.measurement(seconds)._replace(reference=theirs, least_ratio=LEAST_DWAVE.get((name, n)))


def against_paper(n: int) -> Measurement:
    """The paper's run read literally (eps = 0.01, T_A = 100 proposals), one thread, squared residual on both sides.

    Ours runs it whole, the pseudo-code at a few of its temperatures: its cost does not depend on them.
    The bound: a dot product of length N for each proposal, at the speed at which U @ x reads U.
    """
    problem = gaussian_instance(n, 1.25, seed=0)
    spectral = spectrum(problem)
    A, y = in_normalised_units(problem)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], y.size)
    many = Schedule.matched(eps=0.01, steps=100, unit="proposals").mu
    few = many[:: many.size // 3]
    x, reads = np.ones(spectral.U.shape[1]), max(1, int(1e8 / spectral.U.nbytes))

    def direct() -> None:
        state = random_state(np.random.default_rng(1))
        simulated_annealing(A, y, few, 1 / few, 100, signs.copy(), state, penalised=False)

    with one_blas_thread():
        theirs, ours, read = in_turn(
            direct,
            lambda: spectral_anneal(spectral, signs * y, many, 100, residual=True),
            lambda: [spectral.U @ x for _ in range(reads)],
            repeat=3,
        )
    seconds = ours / (100 * many.size)
    return Measurement(
        1e9 * seconds,
        "ns",
        f"{2 * n / seconds / 1e9:.1f} Gflop/s; reference: the paper's pseudo-code in NumPy; bound: {8 * n} bytes of U",
        reference=1e9 * theirs / (100 * few.size),
        bound=1e9 * read / (reads * y.size),
        least_ratio=LEAST_PSEUDO_CODE.get(n),
    )


def against_blocks(n: int, mu: float) -> Measurement:
    """Sweeps of 256 copies by the compiled kernel on all threads, and in blocks of spins, by JAX."""
    import jax
    import jax.numpy as jnp

    sweeps, copies = 8, 256
    G, y = couplings(gaussian_instance(n, 1.12, seed=0), 1 / mu)
    rng = np.random.default_rng(0)
    v = rng.choice(np.array([-1, 1], np.float32), (copies, y.size)) * y
    states = random_state(rng, copies)

    def kernel() -> None:
        def some(first: int) -> None:
            rows = slice(first, first + 16)
            mine = v[rows].copy()
            population_kernel(G, y**2 * np.diag(G), mine, mine @ G, mu, sweeps * y.size, states[rows].copy())

        run_parallel(some, range(0, copies, 16))

    swept = device_sweep()
    with on_device(device("cpu")), one_blas_thread():
        arguments = jnp.asarray(v), jnp.asarray(v @ G), jnp.asarray(G), mu, jnp.zeros(2, "uint32"), sweeps
        ours, blocks = in_turn(kernel, lambda: jax.block_until_ready(swept(*arguments)))
    rate = sweeps * v.size / 1e6
    detail = f"{copies} copies, all threads; reference: blocks of spins by JAX"
    return Measurement(rate / ours, "million/s", detail, rate / blocks, more_is_better=True)


def crossover(n: int) -> Measurement:
    """Sweeps at one lam after which building the couplings has paid for itself, at mu = 10."""
    problem = gaussian_instance(n, 1.25, seed=0)
    spectral, sweeps = spectrum(problem), 100
    G, y = couplings(problem, 1 / MU)
    proposals = sweeps * y.size
    other_lam = count(1.0)  # the couplings last built are kept

    def by_fields() -> None:
        v = y.copy()
        field_kernel(G, v**2 * np.diag(G), v, G @ v, MU, proposals, random_state(np.random.default_rng(1)))

    with one_blas_thread():
        build, slow, fast = in_turn(
            lambda: couplings(problem, next(other_lam)),
            lambda: spectral_anneal(spectral, y.astype(np.float64), np.array([MU]), proposals, residual=False),
            by_fields,
        )
    detail = f"couplings {1e3 * build:.1f} ms; a sweep costs {1e6 * slow / sweeps:.0f} or {1e6 * fast / sweeps:.0f} us"
    return Measurement(build / ((slow - fast) / sweeps), "sweeps", f"{detail}; used from {FIELD_SWEEPS}")


def two_threads() -> Measurement:
    """A whole run on two threads; the reference is one thread."""
    available = numba.get_num_threads()
    if available < 2:
        raise InputError("there is one core")
    problem = gaussian_instance(400, 1.2, seed=0)
    spectrum(problem)
    solver = PopulationAnnealing(replicas=512, eager=False)

    def run(threads: int) -> None:
        numba.set_num_threads(threads)
        solver.run(problem)

    try:
        one, two = in_turn(lambda: run(1), lambda: run(2), repeat=3)
    finally:
        numba.set_num_threads(available)
    return Measurement(two, "s", "a whole run; reference: one thread", one, one / 2, least_ratio=LEAST_THREADS)


def svd_share() -> Measurement:
    """The SVD that the annealers start with, as a share of a whole run."""
    problem = gaussian_instance(400, 1.25, seed=0)
    spectrum(problem)
    svd, anneal = in_turn(
        lambda: np.linalg.svd(problem.A, full_matrices=False),
        lambda: PopulationAnnealing(eager=False).run(problem),
        repeat=2,
    )
    return Measurement(svd / (svd + anneal), "of the run", f"SVD {1e3 * svd:.0f} ms, anneal {anneal:.2f} s")
