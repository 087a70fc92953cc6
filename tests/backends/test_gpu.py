"""The parts that only a GPU runs: the block kernel, products as sums, memory, real batches."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from phaselect.devices.backend import free_bytes, on, pick
from phaselect.devices.block_flips import block_by_kernel, block_by_loop
from phaselect.devices.products import adjoint, forward

from phaselect import AMP, PopulationAnnealing, Status, gaussian_batch, gaussian_instance
from phaselect.experiments.executors import Batches
from phaselect.experiments.grid import Grid
from phaselect.experiments.sweep import run_sweep

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(all(device.platform != "gpu" for device in jax.devices()), reason="no GPU"),
]


def test_the_block_kernel_is_the_plain_loop():
    rng = np.random.default_rng(0)
    half = rng.standard_normal((32, 40)) / 6
    G = jnp.asarray(half @ half.T, "float32")
    v = jnp.asarray(rng.choice([-1.0, 1.0], (32, 1000)) * rng.random((32, 1)), "float32")
    h = jnp.matmul(G, v, precision="highest")
    threshold = jnp.asarray(rng.exponential(size=(32, 1000)), "float32")
    by_loop = block_by_loop(v, h, threshold, G, jnp.float32(3.0))
    differ = np.mean(np.asarray(block_by_kernel(v, h, threshold, G, jnp.float32(3.0)) != by_loop))
    assert differ < 1e-3  # a flip at the very threshold may be rounded either way
    assert np.mean(np.asarray(by_loop != v)) > 0.1


def test_products():
    rng = np.random.default_rng(0)
    A, x, z = (rng.standard_normal(shape) for shape in ((700, 500), 500, 700))
    for dtype, digits in (("float64", 1e-11), ("float32", 1e-4), ("float16", 1e-4)):
        with on(pick("gpu")):
            rounded = jnp.asarray(A, dtype)
            exact = np.asarray(rounded, dtype=float)
            np.testing.assert_allclose(forward(rounded, jnp.asarray(x)), exact @ x, atol=digits)
            np.testing.assert_allclose(adjoint(rounded, jnp.asarray(z)), z @ exact, atol=digits)


def test_one_instance_is_certified_from_half_precision():
    problem = gaussian_batch(5000, 1.3, seeds=[0]).instance(device="gpu")
    result = AMP().run(problem)
    assert problem.matrix.copy.A.dtype == "float16"
    assert result.status is Status.RECOVERED
    assert result.mse_y < 1e-20
    assert result.truth["mse_x"] < 1e-15


def test_batches_agree_with_single_runs():
    problems = [gaussian_instance(100, 1.5, seed=seed) for seed in range(8)]
    together = AMP().run_batch(problems, device="gpu", dtype="float64")
    for seed, (problem, result) in enumerate(zip(problems, together, strict=True)):
        alone = AMP().run(problem, seed=seed)
        assert result.status is alone.status
        np.testing.assert_allclose(result.x, alone.x, atol=1e-8)


def test_a_population_finds_what_message_passing_does_not():
    results = PopulationAnnealing(2000).run_batch(gaussian_batch(100, 1.15, seeds=range(8)), device="gpu")
    assert sum(result.certified for result in results) >= 4


def test_a_sweep_on_the_gpu(tmp_path):
    grid = Grid(("amp",), (200,), (1.6,), instances=32)
    assert run_sweep([grid], tmp_path / "runs.db", Batches("gpu")) == (32, 0, 32, 0, "")


def test_the_memory_of_the_device_is_known():
    assert free_bytes(pick("gpu")) > 1 << 30
