import numpy as np
import pytest

from phaselect import gaussian_instance
from phaselect.equations.langevin_step import kick_size, langevin_step
from tests.exact import normalised

PROBLEM = gaussian_instance(8, 1.75, seed=0)
OWN = PROBLEM.normalised
EXPLAINED = OWN.ridge.at(0.4).explaining()


def test_the_force_is_the_gradient_of_the_loss():
    A, y = normalised(PROBLEM)
    eta, step = 1e-3, 1e-5
    I_minus_K = np.eye(14) - A @ np.linalg.solve(A.T @ A + 0.2 * np.eye(8), A.T)

    def loss(theta):
        return np.sum((I_minus_K @ (theta * y)) ** 2)

    theta = np.random.default_rng(0).uniform(-0.5, 0.5, 14)
    moved = langevin_step(theta, OWN.y, EXPLAINED, np.zeros(14), eta, 8)
    force = (theta - moved) / (eta * (1 - theta**2))
    numerical = [(loss(theta + step * e) - loss(theta - step * e)) / (2 * step) for e in np.eye(14)]
    np.testing.assert_allclose(force, numerical, rtol=1e-6, atol=1e-9)


def test_noise_enters_with_the_force_and_walls_hold():
    theta = np.full(14, 0.5)

    def step(noise):
        return langevin_step(theta, OWN.y, EXPLAINED, np.full(14, noise), 0.1, 8)

    np.testing.assert_allclose(step(0.0) - step(0.2), 0.1 * 0.2 * (1 - 0.25))
    np.testing.assert_array_equal(step(-1e3), 1 - 1 / 8)


def test_the_noise_is_that_of_the_temperature():
    """`eta sqrt(2/(mu eta))` per step: a variance of 2 eta/mu, as Langevin dynamics at temperature 1/mu has it."""
    assert (0.1 * kick_size(np.float64(5.0), 0.1)) ** 2 == pytest.approx(2 * 0.1 / 5.0)
