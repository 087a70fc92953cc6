"""Sweeps in blocks are the sequential chain; the kernel of a GPU is the plain loop."""

import jax
import numpy as np
import pytest
from jax import export
from jax.sharding import AbstractDevice, AbstractMesh, AxisType

from phaselect.backends.jax import flips
from tests.backends.shapes import random_signs


def copies_of(rows, copies, mu, dtype="float64"):
    """Signed measurements of a random matrix, their fields and their couplings at a matched lam."""
    rng, n = np.random.default_rng(0), int(rows / 1.25)
    A = rng.standard_normal((rows, n)) / np.sqrt(n)
    G = A @ np.linalg.solve(A.T @ A + 0.5 / mu * np.eye(n), A.T)
    v = random_signs((rows, copies)) * np.abs(A @ rng.standard_normal(n))[:, None]
    return v.astype(dtype), (G @ v).astype(dtype), G.astype(dtype)


def one_by_one(v, G, mu, key, sweeps):
    """Sequential Metropolis from the definition of the energy, with the exponentials that the blocks draw."""
    v, copies, blocks = v.copy(), v.shape[1], -(-len(v) // flips.BLOCK)
    draws = [jax.random.fold_in(key, t) for t in range(blocks * sweeps)]
    draws = [jax.random.exponential(draw, (flips.BLOCK, copies), "float32") for draw in draws]
    thresholds = np.concatenate(draws).astype(float).reshape(sweeps, blocks * flips.BLOCK, copies)
    accepted = 0
    for s in range(sweeps):
        for i in range(len(v)):
            for k in range(copies):
                flipped = v[:, k].copy()
                flipped[i] *= -1
                change = v[:, k] @ G @ v[:, k] - flipped @ G @ flipped  # E = |y|^2 - v G v
                if mu * change < thresholds[s, i, k]:
                    v[:, k] = flipped
                    accepted += 1
    return v, accepted


SWEEP = jax.jit(flips.sweep)


@pytest.mark.parametrize(("rows", "mu"), [(50, 0.5), (50, 8.0), (64, 3.0), (10, 3.0)])
def test_blocks_are_the_sequential_chain(rows, mu):
    """Rows that fill the blocks, or do not."""
    v, h, G = copies_of(rows, 5, mu)
    key = jax.random.key(3)
    with jax.enable_x64(True):
        found, fields, accepted = SWEEP(v, h, G, np.float64(mu), key, 3)
    expected, counted = one_by_one(v, G, mu, key, 3)
    assert 0.02 < np.mean(v != expected) < 0.98
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(fields, G @ expected, atol=1e-12)
    assert int(accepted) == counted


def test_narrow_fields_do_not_drift():
    v, h, G = copies_of(80, 40, 3.0, "float32")
    with jax.enable_x64(True):
        found, fields, _ = SWEEP(v, h, G, np.float64(3.0), jax.random.key(0), 50)
    assert (found.dtype, fields.dtype) == ("float32", "float32")
    np.testing.assert_array_equal(np.abs(found), np.abs(v))
    np.testing.assert_allclose(fields, np.asarray(G, float) @ np.asarray(found, float), atol=5e-5)


def kernel(*arrays):
    return flips.block_by_kernel(*arrays, interpret=True)


@pytest.mark.parametrize("copies", [128, 200])
def test_kernel_against_loop(copies):
    """Copies that fill the tiles, or do not; alone and in a batch."""
    v, h, G = (array[:32] for array in copies_of(40, copies, 3.0, "float32"))
    threshold = np.random.default_rng(0).exponential(size=(32, copies)).astype("float32")
    arguments = [jax.numpy.asarray(array) for array in (v, h, threshold, G[:, :32], np.float32(3.0))]
    expected = flips.block_by_loop(*arguments)
    assert 0.05 < np.mean(expected != v) < 0.95
    np.testing.assert_array_equal(kernel(*arguments), expected)
    batch = [np.stack([array, array[..., ::-1] if k < 3 else array]) for k, array in enumerate(arguments)]
    both = jax.vmap(kernel)(*batch)
    np.testing.assert_array_equal(both[0], expected)
    np.testing.assert_array_equal(both[1][:, ::-1], expected)


@pytest.mark.parametrize(
    ("platform", "dtype", "by_kernel"),
    [("cuda", "float32", True), ("cuda", "float64", False), ("cpu", "float32", False)],
)
def test_the_kernel_is_what_a_gpu_gets(platform, dtype, by_kernel):
    mesh = AbstractMesh(
        (1,), ("d",), axis_types=(AxisType.Auto,), abstract_device=AbstractDevice("NVIDIA H200", 132, "cuda")
    )
    shapes = [(3, 32, 200)] * 3 + [(3, 32, 32), (3,)]
    allowed = export.DisabledSafetyCheck.custom_call("__gpu$xla.gpu.triton")
    with jax.enable_x64(True), jax.sharding.use_abstract_mesh(mesh):
        arguments = [jax.ShapeDtypeStruct(shape, "float32" if k == 2 else dtype) for k, shape in enumerate(shapes)]
        program = jax.jit(jax.vmap(flips.update_block))
        text = export.export(program, platforms=[platform], disabled_checks=[allowed])(*arguments).mlir_module()
    assert ("triton" in text) == by_kernel
