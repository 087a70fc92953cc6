"""What a Bayes estimate does not know: against vector message passing, and against what is elementary."""

import numpy as np
import pytest

from phaselect import VectorMessagePassing, ensemble_instance
from phaselect.backends.host import loops
from phaselect.equations.channels import measurement_posterior
from phaselect.equations.uncertainty import belief_before, precision_of_data


def test_what_was_believed_before_y_was_seen():
    p, y = np.linspace(0, 3, 40), np.linspace(0.1, 2, 40)
    for tau, nu in ((0.5, 0.01), (0.01, 0.1), (1e-4, 1e-3)):
        z = measurement_posterior(p, tau, y, nu)[0]
        found = z
        for _ in range(10):
            found = belief_before(z, tau, y, nu, found, loops)
        np.testing.assert_allclose(measurement_posterior(found, tau, y, nu)[0], z, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("noise", [0.05, 1e-3])
def test_it_is_what_vector_message_passing_comes_to(noise):
    problem = ensemble_instance("toeplitz", 100, 2.5, seed=0, noise=noise).with_noise(noise)
    run = VectorMessagePassing().run(problem)
    own, level, beliefs = problem.normalised, problem.noise_level, run.state.beliefs
    z = own.forward(run.x / float(problem.units.x_scale))
    g = precision_of_data(z, own.y, own.powers, level, 1 / (1 - level), run.state.eigenvalues, loops)
    assert g == pytest.approx(float(beliefs.g), rel=1e-3)
    assert g < 1 / level  # with all signs known


def test_it_is_the_diagonal_of_the_inverse():
    problem = ensemble_instance("toeplitz", 60, 2.5, seed=0, noise=0.01).with_noise(0.01)
    run = VectorMessagePassing().run(problem)
    A, g = problem.normalised.dense()[0], float(run.state.beliefs.g)
    level = problem.noise_level
    covariance = np.linalg.inv(g * A.T @ A + np.eye(60) / (1 - level))
    np.testing.assert_allclose(run.x_std, np.sqrt(np.diag(covariance)) * problem.units.x_scale, rtol=1e-3)
