import numpy as np

from phaselect import gaussian_instance
from phaselect.backends.host import loops
from phaselect.equations.least_squares import ConjugateGradients, Linear, Systems, least_squares, mended
from tests.exact import energies, normalised


def one(target, x, tolerance):
    """A single system."""
    return Systems(target[None], x[None], np.array([tolerance]))


def linear(A, *correct):
    """Least squares on an array."""
    return Linear(lambda x, target: (x @ A.T, (target - x @ A.T) @ A), lambda z: z @ A, correct, loops)


def gradients(A, gain, steps, dtype="float64"):
    return ConjugateGradients(lambda p, on: p @ A.T @ A, dtype, gain, steps, loops)


def test_against_numpy_with_and_without_an_svd():
    problem = gaussian_instance(80, 1.2, seed=0)
    A, _ = normalised(problem)
    v = np.random.default_rng(0).standard_normal(problem.m_rows)
    expected = np.linalg.lstsq(A, v, rcond=None)[0]
    own = problem.normalised
    assert not own.matrix.decomposed
    by_steps, _ = least_squares(own.linear, one(v, np.zeros(80), 1e-15))
    own.ridge  # noqa: B018
    by_svd, _ = least_squares(own.linear, one(v, np.zeros(80), 1e-15))
    for found in (by_steps, by_svd):
        np.testing.assert_allclose(found.x[0], expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(found.z[0], A @ expected, rtol=1e-9, atol=1e-11)


def test_of_a_singular_matrix_it_is_the_solution_nearest_to_the_start():
    A = np.random.default_rng(0).standard_normal((12, 5))
    A[:, 4] = A[:, 0]
    v, start = np.random.default_rng(1).standard_normal(12), np.arange(5.0)
    found, _ = least_squares(linear(A, gradients(A, 1e-9, 10)), one(v, start, 1e-13))
    nearest = start + np.linalg.pinv(A) @ (v - A @ start)
    np.testing.assert_allclose(found.x[0], nearest, atol=1e-9)


def test_low_precision_corrections_reach_high_precision():
    """Residuals are in float64: that is what iterative refinement is for."""
    A = np.random.default_rng(0).standard_normal((60, 20))
    v = np.random.default_rng(1).standard_normal(60)
    rough = gradients(A.astype(np.float32), 1e-5, 40, "float32")
    found, _ = least_squares(linear(A, rough), one(v, np.zeros(20), 1e-15))
    np.testing.assert_allclose(found.x[0], np.linalg.lstsq(A, v, rcond=None)[0], atol=1e-13)


def test_mending_flips_what_lowers_the_energy():
    """With every leverage at its mean the rule is exact: compared with the energies of all single flips."""
    rng = np.random.default_rng(0)
    hadamard = np.array([[1.0]])
    for _ in range(4):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    A = hadamard[:, :9] / 3  # 16 x 9, leverage 9/16 everywhere
    y = np.abs(rng.standard_normal(16))
    S = rng.choice([-1.0, 1.0], 16)
    v = S * y
    z = A @ np.linalg.lstsq(A, v, rcond=None)[0]
    flips = S * (1 - 2 * np.eye(16))
    energy = energies_of(A, y, np.vstack([S, flips]))
    np.testing.assert_array_equal(mended(v, z, 9) != v, energy[1:] < energy[0])
    assert (mended(v, z, 9) != v).any()


def energies_of(A, y, signs):
    index = ((signs > 0) @ (1 << np.arange(y.size)[::-1])).astype(int)
    return energies(A, y, 0.0)[index]
