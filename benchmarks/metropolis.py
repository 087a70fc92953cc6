"""Metropolis kernels against the paper's pseudo-code in NumPy, against dwave-samplers, and on more threads."""

from __future__ import annotations

from itertools import count

import dimod
import numba
import numpy as np
from dwave.samplers import SimulatedAnnealingSampler
from tests.pseudo_code import simulated_annealing
from threadpoolctl import threadpool_limits

from benchmarks.timing import Row, at_least, in_turn, seconds
from phaselect import PopulationAnnealing, Schedule, gaussian_instance
from phaselect.base.threads import run_parallel
from phaselect.problem.instance import signs_of
from phaselect.problem.spectrum import spectrum
from phaselect.solvers._metropolis import field_kernel, population_kernel, random_state, spectral_kernel
from phaselect.solvers.simulated_annealing import FIELD_SWEEPS


def against_pseudo_code(n: int, limit: float) -> Row:
    """The paper's run read literally (eps = 0.01, T_A = 100 proposals), one thread, squared residual on both sides.

    Ours runs it whole, the pseudo-code at a few of its temperatures: its cost does not depend on them.
    """
    problem = gaussian_instance(n, 1.25, seed=0)
    spectral = spectrum(problem)
    rng = np.random.default_rng(0)
    signs = signs_of(rng.standard_normal(problem.m_rows))
    many = Schedule.matched(eps=0.01, steps=100, unit="proposals").mu
    few = many[:: many.size // 3]
    A = problem.gain * problem.A

    def direct() -> None:
        state = random_state(np.random.default_rng(1))
        simulated_annealing(A, problem.target, few, 1 / few, 100, signs.copy(), state, penalised=False)

    def ours() -> None:
        v = signs * problem.target
        c = spectral.coordinates(v)
        state = random_state(np.random.default_rng(1))
        spectral_kernel(spectral.U, spectral.s2, spectral.leverage, v, c, many, 1 / many, 100, True, state)

    with threadpool_limits(1):
        ours()
        reference, time = in_turn(direct, ours, repeat=3)
    reference, time = reference / (100 * few.size), time / (100 * many.size)
    detail = f"{1e9 * time:.0f} ns a proposal, {2 * n / time / 1e9:.1f} Gflop/s; NumPy {1e6 * reference:.0f} us"
    return at_least("SA proposal, NumPy pseudo-code / ours", f"N = {n}", reference / time, limit, detail)


def against_dwave(n: int, limit: float, mu: float = 10.0) -> Row:
    """Same couplings, mu and number of sweeps; dwave-samplers without its set-up (difference of two lengths)."""
    problem = gaussian_instance(n, 1.25, seed=0)
    m_rows, y = problem.m_rows, problem.target
    G = spectrum(problem).couplings(1 / mu)
    model = dimod.BQM(np.zeros(m_rows), np.triu(-2 * G * np.outer(y, y), 1), 0.0, "SPIN")
    sampler = SimulatedAnnealingSampler()
    sweeps = 500

    def dwave(count: int) -> None:
        betas = np.full(count, mu)
        sampler.sample(model, num_reads=1, beta_schedule_type="custom", beta_schedule=betas, seed=1)

    def ours() -> None:
        v = y.astype(np.float32)
        state = random_state(np.random.default_rng(1))
        field_kernel(G, v**2 * np.diag(G), v, G @ v, mu, sweeps * m_rows, state)

    with threadpool_limits(1):
        ours()
        short, long, time = in_turn(lambda: dwave(sweeps), lambda: dwave(2 * sweeps), ours)
    reference = long - short
    detail = (
        f"{1e9 * time / (sweeps * m_rows):.0f} ns a proposal; dwave {1e9 * reference / (sweeps * m_rows):.0f} ns, "
        f"with its set-up {short / time:.1f} times ours"
    )
    return at_least("local fields, dwave-samplers / ours", f"N = {n}, mu = {mu:g}", reference / time, limit, detail)


def population_threads() -> Row:
    """A whole population annealing run on one thread and on two, BLAS limited likewise."""
    problem = gaussian_instance(400, 1.2, seed=0)
    spectrum(problem)
    solver = PopulationAnnealing(replicas=512, eager=False)

    def run(threads: int) -> None:
        numba.set_num_threads(threads)
        with threadpool_limits(threads):
            solver.run(problem)

    available = numba.get_num_threads()
    if available < 2:
        return Row("population, 1 thread / 2 threads", "N = 400, R = 512", float("nan"), ">= 1.7", False, "one core")
    run(2)
    one, two = in_turn(lambda: run(1), lambda: run(2), repeat=3)
    numba.set_num_threads(available)
    detail = f"{two:.2f} s for a whole run on two threads"
    return at_least("population, 1 thread / 2 threads", "N = 400, R = 512", one / two, 1.7, detail)


def against_blocks(n: int, mu: float) -> Row:
    """Sweeps of 256 copies by the compiled kernel on all threads, and in blocks of spins as a GPU does them, by JAX."""
    import jax
    import jax.numpy as jnp

    from phaselect.devices.backend import on, pick
    from phaselect.devices.block_flips import sweep

    problem = gaussian_instance(n, 1.12, seed=0)
    y, sweeps, copies = problem.target.astype(np.float32), 8, 256
    G = spectrum(problem).couplings(1 / mu)
    signs = signs_of(np.random.default_rng(0).standard_normal((copies, y.size))).astype(np.float32)
    states = random_state(np.random.default_rng(1), copies)

    def kernel() -> None:
        def some(first: int) -> None:
            rows = slice(first, first + 16)
            v = signs[rows] * y
            population_kernel(G, y**2 * np.diag(G), v, v @ G, mu, sweeps * y.size, states[rows].copy())

        run_parallel(some, range(0, copies, 16))

    swept = jax.jit(sweep, static_argnames="sweeps")
    with on(pick("cpu")), threadpool_limits(1):
        v = jnp.asarray((signs * y).T)
        arguments = v, jnp.matmul(jnp.asarray(G), v), jnp.asarray(G), jnp.float64(mu), jax.random.key(0)
        kernel(), jax.block_until_ready(swept(*arguments, sweeps=sweeps))
        ours, blocks = in_turn(kernel, lambda: jax.block_until_ready(swept(*arguments, sweeps=sweeps)))
    rate = sweeps * signs.size / 1e6
    detail = f"{rate / ours:.0f} million proposals a second, {rate / blocks:.0f} in blocks"
    return Row("population sweep, blocks by JAX / ours", f"N = {n}, mu = {mu:g}", blocks / ours, "-", True, detail)


def crossover(n: int) -> Row:
    """Sweeps at one lam after which building the couplings has paid for itself, at mu = 10."""
    problem = gaussian_instance(n, 1.25, seed=0)
    spectral, mu, sweeps = spectrum(problem), 10.0, 100
    proposals = sweeps * problem.m_rows
    y = problem.target

    def by_spectrum() -> None:
        v = y.copy()
        one, state = np.array([mu]), random_state(np.random.default_rng(1))
        c = spectral.coordinates(v)
        spectral_kernel(spectral.U, spectral.s2, spectral.leverage, v, c, one, 1 / one, proposals, False, state)

    def by_fields() -> None:
        v = y.astype(np.float32)
        field_kernel(G, v**2 * np.diag(G), v, G @ v, mu, proposals, random_state(np.random.default_rng(1)))

    G = spectral.couplings(1 / mu)
    other_lam = count(1.0)  # the couplings last built are kept
    by_spectrum(), by_fields()
    with threadpool_limits(1):
        build, slow, fast = in_turn(lambda: spectral.couplings(next(other_lam)), by_spectrum, by_fields)
    detail = f"couplings {1e3 * build:.1f} ms; a sweep costs {1e6 * slow / sweeps:.0f} or {1e6 * fast / sweeps:.0f} us"
    value = build / ((slow - fast) / sweeps)
    return Row("sweeps that pay for the couplings", f"N = {n}", value, f"used from {FIELD_SWEEPS}", True, detail)


def svd_share() -> Row:
    """The SVD that the annealers start with, as a share of a whole run."""
    problem = gaussian_instance(400, 1.25, seed=0)
    svd = seconds(lambda: np.linalg.svd(problem.A, full_matrices=False))
    anneal = seconds(lambda: PopulationAnnealing(eager=False).run(problem), repeat=2)
    detail = f"SVD {1e3 * svd:.0f} ms of a run of {anneal:.2f} s"
    return Row("SVD / population annealing run", "N = 400", svd / anneal, "-", True, detail)


def rows() -> list[Row]:
    direct = [against_pseudo_code(n, limit) for n, limit in ((100, 250), (200, 500), (400, 1200), (800, 4000))]
    dwave = [against_dwave(n, limit) for n, limit in ((200, 2), (400, 3), (800, 4))]
    blocks = [against_blocks(n, mu) for n in (200, 400) for mu in (1.0, 10.0, 100.0)]
    return [*direct, *dwave, *blocks, *(crossover(n) for n in (200, 400, 800)), population_threads(), svd_share()]
