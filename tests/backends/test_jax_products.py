"""The two products, in any precision, and how a product of matrices keeps its digits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phaselect import Instance
from phaselect.backends.jax import on_device
from phaselect.backends.jax.products import adjoint, by_halves, forward, product
from tests.backends.shapes import PROBLEM, ROWS, N, result_of

X, Z = np.random.default_rng(0).standard_normal(N), 1e4 * np.random.default_rng(1).standard_normal(ROWS)


def close(found, expected, error=1e-12):
    np.testing.assert_allclose(found, expected, rtol=0, atol=error * np.abs(expected).max())


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-13), ("float32", 2e-6), ("float16", 2e-6)])
def test_products_are_those_of_the_rounded_matrix(dtype, error):
    """A half-precision A is multiplied in single precision."""
    with jax.enable_x64(True):
        A = jnp.asarray(PROBLEM.A, dtype)
        found = forward(A, X), adjoint(A, Z)
        wide = forward(A, X, "float64"), adjoint(A, Z, "float64")
    entries = np.asarray(A, float)
    for one, exact in zip(found, (entries @ X, Z @ entries), strict=True):
        assert one.dtype == ("float64" if dtype == "float64" else "float32")
        close(one, exact, error)
    for one, exact in zip(wide, (entries @ X, Z @ entries), strict=True):
        close(one, exact, 1e-13)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_products_with_several_vectors_are_those_with_each(dtype):
    stack = np.stack([X, 1e-3 * X[::-1], 0 * X, np.eye(N)[3]])
    back = np.stack([Z, 1e-9 * Z[::-1], np.eye(ROWS)[3]])
    with jax.enable_x64(True):
        A = jnp.asarray(PROBLEM.A, dtype)
        for product, vectors in ((forward, stack), (adjoint, back)):
            for one, expected in zip(product(A, vectors), vectors, strict=True):
                close(one, np.asarray(product(A, expected)), 2e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_half_precision_on_matrix_units_keeps_the_digits_of_the_vectors(axis):
    """What a GPU does: vectors of any size, with parts of any size, are as good as in float32."""
    rng = np.random.default_rng(2)
    A = rng.standard_normal((64, 96)).astype("float16")
    vectors = rng.standard_normal((3, A.shape[axis])) * 10.0 ** rng.uniform(-8, 0, (3, A.shape[axis]))
    vectors = (vectors * np.array([[1.0], [1e-30], [1e30]])).astype("float32")
    whole = jax.jit(by_halves, static_argnames="axis")  # in which rounding must not be optimised away
    found = np.asarray(whole(A, vectors, axis=axis), float)
    exact = vectors.astype(float) @ (A if axis == 0 else A.T).astype(float)
    for one, expected in zip(found, exact, strict=True):
        close(one, expected, 1e-6)
    assert not np.asarray(whole(A, 0 * vectors, axis=axis)).any()


def test_a_matrix_product_uses_all_digits():
    half = PROBLEM.A.astype("float32")
    close(product(half.T, half), half.T.astype(float) @ half.astype(float), 1e-6)
    assert "HIGHEST" in str(jax.make_jaxpr(product)(half.T, half))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_measurements_are_float64_whatever_A_is(dtype):
    problem = Instance(5.0 * PROBLEM.A, 0.2 * PROBLEM.y, 0.04 * PROBLEM.x0)
    there = problem.to_device("cpu", dtype)
    entries = problem.A.astype(dtype).astype(float)
    assert (there.A.dtype, there.m_rows, there.n) == (dtype, ROWS, N)
    assert isinstance(there.measure(X), np.ndarray)
    close(there.measure(X), entries @ X)
    close(there.backproject(Z), entries.T @ Z)
    own = there.normalised
    np.testing.assert_allclose(own.scale, np.sqrt(ROWS) / np.linalg.norm(entries), rtol=1e-12)
    np.testing.assert_array_equal(there.matrix.entries(), problem.A.astype(dtype))
    np.testing.assert_array_equal(there.y, problem.y)
    np.testing.assert_array_equal(there.x0, problem.x0)
    np.testing.assert_array_equal(there.signs, problem.signs)
    np.testing.assert_allclose(there.matrix.row_powers(), np.sum(entries**2, axis=1), rtol=1e-12)


# --------------------------------------------------------------------------------------------- the half-precision copy


@pytest.fixture
def half(monkeypatch):
    """Copy of A in half precision, however small it is; in other units, as half precision cannot hold every size."""
    monkeypatch.setitem(on_device.WORTH_A_COPY, "cpu", 0)
    return Instance(jnp.asarray(3e-9 * PROBLEM.A), PROBLEM.y)


def test_a_half_precision_copy_is_close_to_A(half):
    A, ready = np.asarray(half.A, float), half.matrix.ready
    copy = ready.half
    assert half.matrix.half is None
    assert ready.A is half.A
    assert copy.A.dtype == "float16"
    assert copy.A.shape == (64, N)  # rows that matrix units like
    assert not copy.A[ROWS:].any()
    entries = copy.scale * np.asarray(copy.A, float)[:ROWS]
    close(entries, A, 1e-3)
    assert np.abs(entries - A).max() > 0
    assert ready.accuracy.handover > half.matrix.accuracy.handover


def test_products_with_the_copy(half):
    """To the precision of the copy against A."""
    copy = half.matrix.ready.half
    for found, exact in (
        (forward(copy.A, X)[:ROWS], np.asarray(half.A, float) @ X),
        (adjoint(copy.A, np.pad(Z, (0, 64 - ROWS))), Z @ np.asarray(half.A, float)),
    ):
        close(copy.scale * np.asarray(found, float), exact, 2e-3)


def measured_in_a_pass(problem, close):
    start = X, 1.0, 1.0, 1.0, 0.0, 0 * problem.y, 0 * problem.y
    return problem.with_message_pass(close, lambda pass_over: pass_over(*start)[0])


def test_a_pass_reads_the_copy_until_all_digits_count(half):
    own = half.normalised
    own = own._replace(matrix=own.matrix.ready)
    A = own.scale[:, None] * np.asarray(half.A, float)
    rough, exact = (result_of(own, measured_in_a_pass, near) for near in (False, True))
    close(exact, A @ X, 1e-6)
    close(rough, A @ X, 2e-3)
    assert np.abs(np.asarray(rough) - A @ X).max() > 1e-5 * np.abs(A @ X).max()


def test_no_copy_where_one_entry_dominates(half, monkeypatch):
    """It would overflow. (In a small matrix no entry can be as large as it takes, compared with the whole.)"""
    monkeypatch.setattr(on_device, "SMALL", 40)
    assert half.matrix.ready.half is not None
    A = half.A.at[3, 4].set(1e5 * jnp.abs(half.A).max())
    assert Instance(A, PROBLEM.y).matrix.ready.half is None


def test_no_copy_of_a_small_matrix_nor_of_a_wide_one(monkeypatch):
    assert Instance(jnp.asarray(PROBLEM.A), PROBLEM.y).matrix.ready.half is None
    monkeypatch.setitem(on_device.WORTH_A_COPY, "cpu", 0)
    assert PROBLEM.to_device("cpu", "float64").matrix.ready.half is None


def test_no_copy_without_room(half, monkeypatch):
    monkeypatch.setattr(on_device, "free_bytes", lambda device: half.A.nbytes / 2)
    assert half.matrix.ready.half is None
    monkeypatch.setattr(on_device, "free_bytes", lambda device: half.A.nbytes)
    assert Instance(half.A, PROBLEM.y).matrix.ready.half is not None
