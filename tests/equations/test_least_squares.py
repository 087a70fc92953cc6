import numpy as np
import pytest

from phaselect import gaussian_instance
from phaselect.backends.host import loops
from phaselect.equations.least_squares import HUGE, ConjugateGradients, Linear, Systems, least_squares, mended
from tests.exact import energies, normalised


def one(target, x, tolerance):
    """A single system."""
    return Systems(target[None], x[None], np.array([tolerance]))


def linear(A, *correct):
    """Least squares on an array."""
    return Linear(
        lambda x, target: (x @ A.T, (target - x @ A.T) @ A), lambda x: x @ A.T, lambda z: z @ A, correct, loops
    )


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


def test_systems_in_lockstep_are_those_that_are_solved_alone():
    """Each as far as it is asked for, from its own start; one that need not be solved stays where it is."""
    rng = np.random.default_rng(0)
    A, targets, starts = rng.standard_normal((60, 20)), rng.standard_normal((4, 60)), rng.standard_normal((4, 20))
    tolerance = np.array([1e-13, HUGE, 1e-3, 1e-13])
    own = linear(A, gradients(A, 1e-2, 60))
    found, seen = least_squares(own, Systems(targets, starts, tolerance))
    alone = [least_squares(own, one(*system)) for system in zip(targets, starts, tolerance, strict=True)]
    for k, (fit, _) in enumerate(alone):
        np.testing.assert_allclose(found.x[k], fit.x[0], atol=1e-12)
    np.testing.assert_array_equal(found.x[1], starts[1])
    slopes = np.linalg.norm(found.slope, axis=1) / np.linalg.norm(targets @ A, axis=1)
    assert 1e-8 < slopes[2] < 1e-3
    assert max(slopes[::3]) < 1e-13
    assert max(spectrum.steps for _, spectrum in alone) <= seen.steps < sum(spectrum.steps for _, spectrum in alone)


def test_what_is_near_enough_to_a_known_solution_is_done():
    A, x = np.random.default_rng(0).standard_normal((60, 20)), np.arange(20.0)

    def enough(now):
        return 1e-3 / np.linalg.norm(now - x, axis=1)

    whole, own = one(A @ x, np.zeros(20), 1e-15), linear(A, gradients(A, 1e-2, 60))
    (near, few), (there, many) = (least_squares(own, systems) for systems in (whole._replace(enough=enough), whole))
    assert 1e-8 < np.linalg.norm(near.x - x) < 1e-3
    assert np.linalg.norm(there.x - x) < 1e-12
    assert few.steps < many.steps / 2


def test_corrections_that_do_harm_are_not_taken():
    """Finer ones come next, and start from where the rough ones had not been."""
    A, x = np.random.default_rng(0).standard_normal((60, 20)), np.arange(20.0)
    seen = []

    def harmful(residual, slope, enough, spectrum):
        seen.append(slope)
        return np.full_like(slope, [[1e30], [np.nan]][len(seen) - 1]), spectrum

    found, _ = least_squares(linear(A, harmful, harmful, gradients(A, 1e-9, 60)), one(A @ x, 0 * x, 1e-14))
    assert len(seen) == 2
    np.testing.assert_array_equal(*seen)
    np.testing.assert_allclose(found.x[0], x, atol=1e-11)


@pytest.mark.parametrize("smallest", [(0.3,), (1e-2,), (1e-2, 1.05e-2), (1e-3, 2e-3, 2.1e-3, 2.2e-3)])
def test_the_condition_is_read_off_from_the_steps(smallest):
    """Singular values by themselves far below the others, too, and rounds in which it starts afresh."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((90, 50)))[0]
    values = np.r_[np.linspace(0.5, 2, 50 - len(smallest)), smallest]
    A, x = Q * values @ np.linalg.qr(rng.standard_normal((50, 50)))[0], rng.standard_normal(50)
    for gain in (1e-9, 1e-3):
        found, seen = least_squares(linear(A, gradients(A, gain, 200)), one(A @ x, rng.standard_normal(50), 1e-14))
        missing = np.linalg.norm(found.x - x, axis=1)
        assert missing < 1e-5
        assert 0.9 < seen.condition(missing)[0] * min(smallest) / 2 < 2.5


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
    np.testing.assert_array_equal(mended(v, z, 9, 0.0) != v, energy[1:] < energy[0])
    assert (mended(v, z, 9, 0.0) != v).any()
    sure = np.median(abs(v - z)[energy[1:] < energy[0]])
    np.testing.assert_array_equal(mended(v, z, 9, sure) != v, (energy[1:] < energy[0]) & (abs(v - z) > sure))


def energies_of(A, y, signs):
    index = ((signs > 0) @ (1 << np.arange(y.size)[::-1])).astype(int)
    return energies(A, y, 0.0)[index]
