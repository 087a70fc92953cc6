"""Sweeps in blocks are the sequential chain; the kernel of a GPU runs the same one."""

import importlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.extend.random import threefry_2x32
from jax.sharding import AbstractDevice, AbstractMesh, AxisType
from scipy import stats

from phaselect.backends.jax import flips, random
from phaselect.backends.jax.flip_kernel import by_kernel
from tests.backends.shapes import random_signs

KEY = np.array([3, 4], "uint32")


def copies_of(rows, copies, mu, dtype="float64"):
    """Signed measurements of a random matrix, their fields and their couplings at a matched lam."""
    rng, n = np.random.default_rng(0), int(rows / 1.25)
    A = rng.standard_normal((rows, n)) / np.sqrt(n)
    G = A @ np.linalg.solve(A.T @ A + 0.5 / mu * np.eye(n), A.T)
    v = random_signs((copies, rows)) * np.abs(A @ rng.standard_normal(n))
    return v.astype(dtype), (v @ G).astype(dtype), G.astype(dtype)


def numbers(sweep, copies, rows):
    """The exponential random numbers of a sweep."""
    copy, spin = np.arange(copies, dtype="uint32")[:, None], np.arange(rows, dtype="uint32")
    return np.asarray(random.thresholds(KEY, np.uint32(sweep), copy, spin), dtype=float)


def one_by_one(v, G, mu, sweeps):
    """Sequential Metropolis from the definition of the energy."""
    v, (copies, rows) = v.copy(), v.shape
    accepted = np.zeros(copies, int)
    for sweep in range(sweeps):
        threshold = numbers(sweep, copies, rows)
        for k in range(copies):
            for i in range(rows):
                flipped = v[k].copy()
                flipped[i] *= -1
                change = v[k] @ G @ v[k] - flipped @ G @ flipped  # E = |y|^2 - v G v
                if mu * change < threshold[k, i]:
                    v[k] = flipped
                    accepted[k] += 1
    return v, accepted


SWEEP = jax.jit(flips.sweep)


@pytest.mark.parametrize(("rows", "mu"), [(50, 0.5), (50, 8.0), (64, 3.0), (10, 3.0)])
def test_blocks_are_the_sequential_chain(rows, mu):
    """Rows that fill the blocks, or do not."""
    v, h, G = copies_of(rows, 5, mu)
    with jax.enable_x64(True):
        found, fields, accepted = SWEEP(v, h, G, mu, KEY, 3)
    expected, counted = one_by_one(v, G, mu, 3)
    assert 0.02 < np.mean(v != expected) < 0.98
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(fields, expected @ G, atol=1e-12)
    np.testing.assert_array_equal(accepted, counted)


def test_narrow_fields_do_not_drift():
    v, h, G = copies_of(80, 40, 3.0, "float32")
    with jax.enable_x64(True):
        found, fields, _ = SWEEP(v, h, G, 3.0, KEY, 50)
    assert (found.dtype, fields.dtype) == ("float32", "float32")
    np.testing.assert_array_equal(np.abs(found), np.abs(v))
    np.testing.assert_allclose(fields, np.asarray(found, float) @ np.asarray(G, float), atol=5e-5)


# ------------------------------------------------------------------------------------------------------ random numbers


def test_the_random_bits_are_those_of_threefry():
    counter = np.arange(10, dtype="uint32")
    found = random.threefry((KEY[0], KEY[1]), (jnp.asarray(counter[:5]), jnp.asarray(counter[5:])))
    np.testing.assert_array_equal(np.concatenate(found), threefry_2x32(jnp.asarray(KEY), counter))


def test_thresholds():
    """Exponential, and each sweep, copy and spin has its own."""
    some = np.stack([numbers(sweep, 40, 50) for sweep in range(10)])
    assert stats.kstest(some.ravel(), "expon").pvalue > 1e-3
    assert np.unique(some).size > 0.99 * some.size
    assert 0 <= some.min() < some.max() < 17  # 24 bits


# -------------------------------------------------------------------------------------------------- the kernel of a GPU


def interpreter():
    """What runs the kernel without a GPU; JAX 0.10 does not show it."""
    public = importlib.import_module("jax.experimental.pallas.mosaic_gpu")
    hidden = importlib.import_module("jax._src.pallas.mosaic_gpu.interpret.params")
    return getattr(public, "InterpretGPUParams", hidden.InterpretGPUParams)()


@pytest.mark.parametrize(("rows", "mu"), [(50, 0.5), (128, 10.0)])
def test_the_kernel_runs_the_same_chain(rows, mu):
    """Spins that fill the threads, or do not; one of them is measured as zero, and never flips."""
    v, h, G = copies_of(rows, 3, mu, "float32")
    v[:, 7] = 0
    h = v @ G
    arguments = [jnp.asarray(it) for it in (v, h, G, np.float32(mu), KEY, np.int32(2))]
    expected = flips.by_blocks(*arguments)
    found = by_kernel(*arguments, interpret=interpreter())
    assert 0.05 < np.mean(expected[0] != v) < 0.95
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-5)
    np.testing.assert_array_equal(found[2], expected[2])


@pytest.mark.parametrize(
    ("platform", "dtype", "capable", "kernel"),
    [
        ("cuda", "float32", True, True),
        ("cuda", "float64", True, False),
        ("cuda", "float32", False, False),
        ("cpu", "float32", True, False),
    ],
)
def test_who_gets_the_kernel(platform, dtype, capable, kernel, monkeypatch):
    """Members of a batch, each with couplings and key of its own."""
    monkeypatch.setattr(flips, "_kernel_runs", lambda: capable)
    gpu = AbstractDevice("NVIDIA H200", 132, "cuda")
    mesh = AbstractMesh((1,), ("d",), axis_types=(AxisType.Auto,), abstract_device=gpu)
    shapes = [(3, 5, 40), (3, 5, 40), (3, 40, 40), (), (3, 2), ()]
    dtypes = [dtype, dtype, dtype, "float64", "uint32", "int32"]
    allowed = export.DisabledSafetyCheck.custom_call("mosaic_gpu_v2")
    with jax.enable_x64(True), jax.sharding.use_abstract_mesh(mesh):
        arguments = [jax.ShapeDtypeStruct(*it) for it in zip(shapes, dtypes, strict=True)]
        program = jax.jit(jax.vmap(flips.sweep, (0, 0, 0, None, 0, None)))
        text = export.export(program, platforms=[platform], disabled_checks=[allowed])(*arguments).mlir_module()
    assert ("mosaic" in text) == kernel
    assert ("stablehlo.while" in text) != kernel
