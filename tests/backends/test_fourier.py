"""Masked Fourier transforms in memory and on a device: one operator."""

import pickle

import jax
import numpy as np
import pytest

from phaselect import Instance, VectorMessagePassing, operators, solve
from phaselect.backends.jax.devices import on
from phaselect.equations.gaussian_node import NodeByDiagonal
from phaselect.solvers.certificate.judge import probes
from phaselect.solvers.finish import settle_estimate
from phaselect.solvers.learned_noise import LearningNoise
from phaselect.solvers.result import Status

A = operators.coded_diffraction((4, 3), 3, masks="octanary", seed=1)
DENSE = A @ np.eye(12)
RNG = np.random.default_rng(0)
X, Z = RNG.standard_normal((2, 12)) + 1j, RNG.standard_normal((2, 36)) + 1j


def matrix(real, where):
    problem = Instance(A, np.abs(A @ np.ones(12)), real=real)
    return (problem if where == "memory" else problem.to_device("cpu", "float64")).matrix


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("where", ["memory", "device"])
def test_products_and_powers(real, where):
    own = matrix(real, where)
    x = X.real if real else X
    with on(jax.devices("cpu")[0]):
        np.testing.assert_allclose(own.apply(x), x @ DENSE.T, atol=1e-12)
        back = Z @ DENSE.conj()
        np.testing.assert_allclose(own.apply_transposed(Z), back.real if real else back, atol=1e-12)
        np.testing.assert_allclose(own.apply_magnitudes(x[0]), np.abs(DENSE) @ np.abs(x[0]), rtol=1e-12)
        np.testing.assert_allclose(own.row_powers(), (np.abs(DENSE) ** 2).sum(axis=1), rtol=1e-12)
        assert own.shape == (36, 12)
        assert own.field.x == ("float64" if real else "complex128")


@pytest.mark.parametrize("where", ["memory", "device"])
def test_what_is_diagonal_is_solved_at_once(where):
    """With one scale for all rows, with one for each pattern, and not with one for each row."""
    own = matrix(False, where)
    for scale, left in ((np.full(36, 2.0), ()), (np.repeat([1.0, 2.0, 3.0], 12), (36,)), (RNG.random(36), (36,))):
        prepared, rest = own.prepared(scale)
        assert np.shape(rest) == left
        direct = len(set(scale)) < 36
        assert prepared.solves_directly == direct
        with on(jax.devices("cpu")[0]):
            node = prepared.gaussian_node(rest, None, None)
        assert isinstance(node, NodeByDiagonal) == direct
        if direct:
            B = scale[:, None] * DENSE
            expected = np.linalg.solve(B.conj().T @ B + 0.3 * np.eye(12), B.conj().T @ Z[0])
            with on(jax.devices("cpu")[0]):
                z, x = node.regress(Z[0].copy(), 0.3, None, None)
            np.testing.assert_allclose(x, expected, rtol=1e-9)
            np.testing.assert_allclose(z, B @ expected, rtol=1e-9)


def test_it_can_be_pickled():
    own, _ = matrix(True, "memory").prepared(np.full(36, 2.0))
    again = pickle.loads(pickle.dumps(own))
    np.testing.assert_array_equal(again.measure(X.real), own.measure(X.real))
    assert again.solves_directly


@pytest.mark.parametrize("real", [False, True])
def test_the_copy_in_memory_is_of_the_matrix_as_prepared(real):
    own, _ = matrix(real, "device").prepared(np.full(36, 2.0))
    x = X[0].real if real else X[0]
    np.testing.assert_allclose(own.measure(x), 2 * DENSE @ x, rtol=1e-12)
    np.testing.assert_allclose(own.in_memory.measure(x), own.measure(x), rtol=1e-12)
    np.testing.assert_allclose(own.in_memory.row_powers(), own.row_powers(), rtol=1e-12)
    np.testing.assert_allclose(own.in_memory.diagonal, (np.abs(2 * DENSE) ** 2).sum(axis=0), rtol=1e-12)
    assert not matrix(real, "device").in_memory.solves_directly


def test_a_baseline_finds_the_same_from_a_device():
    masks = 3 * operators.coded_diffraction((12,), 6, masks="octanary", seed=2).masks
    A, x = operators.masked_fourier(masks), np.random.default_rng(3).standard_normal(12) + 1j
    here, there = (solve(A, np.abs(A @ x), solver="raf", device=device) for device in (None, "cpu"))
    assert here.status is there.status is Status.LOCALLY_UNIQUE
    np.testing.assert_allclose(there.x, here.x * np.exp(1j * np.angle(np.vdot(here.x, there.x))), rtol=1e-9)


def test_single_precision_is_for_message_passing_alone():
    own = Instance(A, np.abs(A @ np.ones(12))).to_device("cpu", "float32").normalised
    with on(jax.devices("cpu")[0]):
        rough, exact = (np.asarray(one.forward(X[0])) for one in (own.rough, own))
    assert (rough.dtype, exact.dtype) == ("complex64", "complex128")
    np.testing.assert_allclose(exact, own.matrix.gain * DENSE @ X[0], rtol=1e-12)
    assert 1e-12 < np.max(np.abs(rough - exact)) < 1e-5


@pytest.mark.parametrize(
    ("solver", "real", "noise"),
    [
        (VectorMessagePassing(), False, None),
        (VectorMessagePassing(prior="nonnegative"), True, None),
        (LearningNoise(), False, None),
        (VectorMessagePassing(), False, np.full(36, 0.01)),  # rows of even weight
        (VectorMessagePassing(), True, np.repeat([0.01, 0.02, 0.03], 12)),  # a weight for each pattern
        (VectorMessagePassing(), False, np.linspace(0.01, 0.02, 36)),  # for each row: nothing is diagonal
    ],
)
def test_message_passing_is_in_single_precision_throughout(solver, real, noise):
    """And what it finds is refined in double precision: all of it is traced, nothing compiled."""
    own = Instance(A, np.abs(A @ np.ones(12)), real=real, noise=noise).to_device("cpu", "float32").placed
    schedule = solver.default_schedule()
    drawn = solver.draw(RNG, own.m_rows, own.n, schedule, 0)
    with on(jax.devices("cpu")[0]):
        state = jax.eval_shape(solver.start, own, drawn, 1.0, 1.0, None)
        state = jax.eval_shape(solver.advance, own, state, schedule[:3].stretch(own.m_rows))
        jax.eval_shape(solver.measure, own, state)
        answer, _ = jax.eval_shape(settle_estimate, own, state.beliefs.kept, probes(0, own.m_rows, own.n, 1))
    assert state.beliefs.h.dtype == "complex64"
    assert state.beliefs.kept.dtype == ("float32" if real else "complex64")
    assert state.beliefs.g.dtype == "float64"
    assert answer.x.dtype == ("float64" if real else "complex128")


def test_real_masks_leave_x_complex():
    masks = np.random.default_rng(4).random((2, 5))
    own = Instance(operators.masked_fourier(masks), np.ones(10)).to_device("cpu", "float32").matrix
    x = X[0, :5]
    np.testing.assert_allclose(own.measure(x), np.fft.fft(masks * x, norm="ortho").ravel(), rtol=1e-12)


def test_data_are_sent_once():
    problem = Instance(A, np.abs(A @ np.ones(12))).to_device("cpu", "float32")
    assert problem.placed is problem.with_rounding(0.0).placed
    assert isinstance(problem.placed.y, jax.Array)
    assert problem.placed.x0.ndim == problem.placed.signs.ndim == 0
