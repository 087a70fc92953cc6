import numpy as np
import pytest
from phaselect.problem.spectrum import spectrum

from phaselect import InputError, Langevin, gaussian_instance
from phaselect.solvers.langevin import explained_part, langevin_step, wall
from tests.exact import normalised


def test_the_force_is_the_gradient_of_the_loss():
    problem = gaussian_instance(8, 1.75, seed=0)
    A, y = normalised(problem)
    lam, eta, step = 0.4, 1e-3, 1e-5
    I_minus_K = np.eye(14) - A @ np.linalg.solve(A.T @ A + lam / 2 * np.eye(8), A.T)

    def loss(theta):
        return np.sum((I_minus_K @ (theta * y)) ** 2)

    theta = np.random.default_rng(0).uniform(-0.5, 0.5, 14)
    explained = explained_part(spectrum(problem), lam)
    moved = langevin_step(theta, problem.target, explained, np.zeros(14), eta, wall(problem))
    force = (theta - moved) / (eta * (1 - theta**2))
    numerical = [(loss(theta + step * e) - loss(theta - step * e)) / (2 * step) for e in np.eye(14)]
    np.testing.assert_allclose(force, numerical, rtol=1e-6, atol=1e-9)


def test_noise_enters_with_the_force_and_walls_hold():
    problem = gaussian_instance(8, 1.75, seed=0)
    theta, explained = np.full(14, 0.5), explained_part(spectrum(problem), 0.4)

    def step(noise):
        return langevin_step(theta, problem.target, explained, np.full(14, noise), 0.1, wall(problem))

    np.testing.assert_allclose(step(0.0) - step(0.2), 0.1 * 0.2 * (1 - 0.25))
    np.testing.assert_array_equal(step(-1e3), wall(problem))


def test_the_relaxed_loss_is_no_certificate():
    """As lam -> 0 theta settles inside the cube at a loss far below that of its rounded signs."""
    problem = gaussian_instance(100, 1.2, seed=0)
    result = Langevin(eager=False).run(problem)
    last = {name: column[-1] for name, column in result.trace.items()}
    assert not result.certified
    assert last["loss_relaxed"] < 0.1 * last["mse_y"]
    assert last["m_relaxed"] < 0.99


def test_bad_step():
    with pytest.raises(InputError, match="eta"):
        Langevin(eta=0)
