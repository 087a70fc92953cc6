"""What only a GPU runs, and that everything runs on one: alone, in a batch, and from the front door.

NumPy, SciPy, Numba, JAX and pytest are enough: `PYTHONPATH=src python -m pytest -m gpu tests/backends/test_gpu.py`.
"""

import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phaselect import (
    AMP,
    BeliefPropagation,
    Instance,
    Langevin,
    PopulationAnnealing,
    Schedule,
    SimulatedAnnealing,
    Status,
    VectorMessagePassing,
    gaussian_batch,
    gaussian_instance,
    operators,
    solve,
)
from phaselect.backends.jax.devices import free_bytes, on, pick
from phaselect.backends.jax.flip_kernel import by_kernel
from phaselect.backends.jax.flips import _kernel_runs, by_blocks
from phaselect.backends.jax.products import adjoint, forward
from phaselect.equations.arrays import LARGE, in_memory
from phaselect.solvers.certificate.judge import probes
from phaselect.solvers.finish import EXACT, examine, refine_estimate

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(all(device.platform != "gpu" for device in jax.devices()), reason="no GPU"),
]


@pytest.fixture(scope="module", autouse=True)
def _programs_as_users_have_them():
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "1")


# ------------------------------------------------------------------------------------------------------------ kernels


def test_the_kernel_runs_the_chain_of_the_blocks():
    """In a batch whose members have couplings and keys of their own."""
    assert _kernel_runs()
    rng = np.random.default_rng(0)
    half = rng.standard_normal((4, 300, 250)) / 16
    G = jnp.asarray(half @ half.transpose(0, 2, 1), "float32")
    v = jnp.asarray(rng.choice([-1.0, 1.0], (4, 50, 300)) * rng.random((4, 1, 300)), "float32")
    h = jnp.matmul(v, G, precision="highest")
    keys = jnp.asarray(rng.integers(2**32, size=(4, 2)), "uint32")
    how = (0, 0, 0, None, 0, None)
    found, expected = (
        jax.jit(jax.vmap(by, how))(v, h, G, jnp.float32(3.0), keys, jnp.int32(3)) for by in (by_kernel, by_blocks)
    )
    assert np.mean(np.asarray(found[0] != expected[0])) < 1e-3  # a flip at the very threshold may be rounded either way
    np.testing.assert_allclose(found[1], jnp.matmul(found[0], G, precision="highest"), atol=1e-4)
    np.testing.assert_allclose(found[2], expected[2], atol=2)
    assert 0.1 < np.mean(np.asarray(found[0] != v)) < 0.9


def test_products():
    rng = np.random.default_rng(0)
    A, x, z = (rng.standard_normal(shape) for shape in ((700, 500), 500, 700))
    for dtype, digits in (("float64", 1e-11), ("float32", 1e-4), ("float16", 1e-4)):
        with on(pick("gpu")):
            rounded = jnp.asarray(A, dtype)
            exact = np.asarray(rounded, dtype=float)
            np.testing.assert_allclose(forward(rounded, jnp.asarray(x)), exact @ x, atol=digits)
            np.testing.assert_allclose(adjoint(rounded, jnp.asarray(z)), z @ exact, atol=digits)


def test_the_memory_of_the_device_is_known():
    assert free_bytes(pick("gpu")) > 1 << 30


# ------------------------------------------------------------------------------------------------- alone and in a batch

EASY = [gaussian_instance(60, 1.8, seed=seed) for seed in range(6)]
ANNEAL = Schedule.matched(mu0=0.2, mu_max=300.0, eps=0.1, steps=10)
SOLVERS = [
    (AMP(), None, 5),
    (VectorMessagePassing(), None, 5),
    (BeliefPropagation(), None, 5),
    (SimulatedAnnealing(), ANNEAL, 3),
    (PopulationAnnealing(200), ANNEAL, 5),
    (Langevin(), Schedule.fixed_product(0.75, mu_max=1e3, eps=0.05, steps=50, unit="iterations"), 0),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("solver", "schedule", "least"), SOLVERS, ids=["amp", "vmp", "bp", "sa", "pa", "langevin"])
def test_a_batch(solver, schedule, least, dtype):
    found = solver.run_batch(EASY, schedule, device="gpu", dtype=dtype)
    assert [one.seed for one in found] == list(range(6))
    assert sum(one.certified for one in found) >= least
    for one, problem in zip(found, EASY, strict=True):
        assert np.isfinite(one.x).all()
        if one.certified:
            assert one.mse_y < 1e-12
            x = one.x * np.sign(one.x @ problem.x0)
            np.testing.assert_allclose(x, problem.x0, atol=1e-8 if dtype == "float64" else 1e-4)


@pytest.mark.parametrize(("solver", "schedule", "least"), SOLVERS, ids=["amp", "vmp", "bp", "sa", "pa", "langevin"])
def test_one_instance(solver, schedule, least):
    """And its state goes on."""
    device = EASY[0].to_device("gpu", "float64")
    assert device.matrix.on_gpu
    result = solver.run(device, schedule)
    assert np.isfinite(result.x).all()
    assert result.certified or least < 5
    plan = schedule or solver.default_schedule()[:20]
    first = solver.run(device, plan[:10], seed=1)
    resumed = solver.run(device, plan[10:20], init=first.state)
    assert float(resumed.state.sweeps) == 2 * float(first.state.sweeps) or resumed.certified
    assert np.isfinite(resumed.x).all()


def test_message_passing_takes_the_path_of_one_in_memory():
    plan = AMP().default_schedule()[:20]
    single, found = (AMP(restarts=0).run(one, plan, seed=1) for one in (EASY[1], EASY[1].to_device("gpu", "float64")))
    np.testing.assert_allclose(found.state.beliefs.x, single.state.beliefs.x, atol=1e-6)
    together = AMP().run_batch(EASY, device="gpu", dtype="float64")
    for seed, (problem, result) in enumerate(zip(EASY, together, strict=True)):
        alone = AMP().run(problem, seed=seed)
        assert result.status is alone.status
        np.testing.assert_allclose(result.x, alone.x, atol=1e-8)


def test_a_population_finds_what_message_passing_does_not():
    results = PopulationAnnealing(2000).run_batch(gaussian_batch(100, 1.15, seeds=range(8)), device="gpu")
    assert sum(result.certified for result in results) >= 4


def test_the_front_door():
    problem = EASY[2]
    for dtype, error in (("float64", 1e-8), ("float32", 1e-4)):
        result = solve(problem.A, problem.y, device="gpu", dtype=dtype)
        assert result.status is Status.RECOVERED
        np.testing.assert_allclose(result.x * np.sign(result.x @ problem.x0), problem.x0, atol=error)


# --------------------------------------------------------------------------------------------------- half precision


@pytest.fixture(scope="module")
def large():
    """So large that a copy of A in half precision pays."""
    return gaussian_batch(5000, 1.3, seeds=[0]).instance(device="gpu")


def test_one_instance_is_certified_from_half_precision(large):
    assert large.matrix.ready.half.A.dtype == "float16"
    result = AMP().run(large)
    assert result.status is Status.RECOVERED
    assert result.mse_y < 1e-20
    assert result.truth["mse_x"] < 1e-15


def test_products_of_the_copy_on_matrix_units(large):
    """Several vectors, each with all its digits; against float64 products of the same copy."""
    copy, rng = large.matrix.ready.half, np.random.default_rng(0)
    assert copy.A.shape[0] % 64 == 0
    with on(None):
        for product, length in ((forward, copy.A.shape[1]), (adjoint, copy.A.shape[0])):
            vectors = rng.standard_normal((4, length)) * np.array([[1.0], [1e-6], [1e6], [1.0]])
            found, exact = (
                np.asarray(jax.jit(product, static_argnums=2)(copy.A, vectors, d), float) for d in (None, "float64")
            )
            for one, other in zip(found, exact, strict=True):
                np.testing.assert_allclose(one, other, atol=1e-5 * np.abs(other).max())


def test_least_squares_and_the_certificate_with_the_copy(large):
    own = large.normalised._replace(matrix=large.matrix.ready)
    assert own.matrix.half is not None
    error = np.random.default_rng(0).standard_normal(own.n)
    near = own.x0 + 1e-3 * error
    answer = own.compiled(refine_estimate)(own, near)
    assert float(answer.fit) < 1e-18
    assert float(answer.excess) < EXACT
    np.testing.assert_allclose(np.asarray(answer.x), own.x0, atol=1e-8)
    support = own.compiled(examine)(own, probes(0, own.m_rows, own.n))
    assert bool(support.full_rank)
    assert bool(support.linked)
    with on(None):
        twins = Instance(large.A.at[:, 4].set(large.A[:, 17]), large.y).normalised
    twins = twins._replace(matrix=twins.matrix.ready)
    assert not bool(twins.compiled(examine)(twins, probes(0, own.m_rows, own.n)).full_rank)


# ------------------------------------------------------------------------------------------------------------- phases


@pytest.mark.parametrize(("real", "alpha"), [(False, 3.0), (True, 1.6)])
def test_phases(real, alpha):
    """Alone and in a batch, of a complex A that is an array."""
    rng = np.random.default_rng(0)
    n, m_rows = 150, round(150 * alpha)
    many = []
    for _ in range(3):
        A = rng.standard_normal((m_rows, n)) + 1j * rng.standard_normal((m_rows, n))
        x0 = rng.standard_normal(n) + (0 if real else 1j * rng.standard_normal(n))
        many.append(Instance(A, abs(A @ x0), x0, real=real))
    found = [solver.run(many[0].to_device("gpu")) for solver in (AMP(), VectorMessagePassing())]
    found += VectorMessagePassing().run_batch(many, device="gpu")
    for result in found:
        assert result.status is Status.LOCALLY_UNIQUE
        assert result.truth["mse_x"] < 1e-12


def test_large_arrays_come_back_as_they_are():
    numbers = np.random.default_rng(0).standard_normal(LARGE // 4)
    with on(jax.devices("gpu")[0]):
        array = jnp.asarray(numbers) * 1
    (found,) = in_memory([array])
    np.testing.assert_array_equal(found, numbers)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("real", "patterns"), [(False, 3), (True, 2)])
def test_coded_diffraction(real, patterns, dtype):
    A = operators.coded_diffraction((64, 48), patterns, seed=1)
    rng = np.random.default_rng(0)
    x0 = rng.standard_normal(64 * 48) + (0 if real else 1j * rng.standard_normal(64 * 48))
    result = solve(Instance(A, abs(A @ x0), x0, real=real), device="gpu", dtype=dtype)
    assert result.status is Status.LOCALLY_UNIQUE
    assert result.truth["mse_x"] < 1e-26
