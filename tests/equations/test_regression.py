"""The convention for lam: what is left of `H(x, S)` when x is integrated out, and the signs given x."""

import numpy as np

from phaselect import Instance
from tests.exact import all_signs


def test_gibbs_identity_sign_marginal():
    """Integrating x out of exp(-mu H(x, S)) on a grid leaves exp(-mu E(S)), up to one constant for all S."""
    A = np.random.default_rng(0).standard_normal((4, 2))
    y = np.abs(A @ [0.7, -1.1])
    mu, lam = 1.3, 0.6
    axis = np.linspace(-10, 10, 401)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    penalty = lam / 2 * np.sum(X**2, axis=1)
    weight = [np.exp(-mu * (np.sum((S * y - X @ A.T) ** 2, axis=1) + penalty)).sum() for S in all_signs(4)]
    problem = Instance(A, y, noise=1e-3)  # rows of noisy data have one weight, so that A is only rescaled
    own, units = problem.normalised, problem.units
    # in normalised units H is H/y_scale^2, and lam becomes lam * x_scale^2/y_scale^2
    energy = own.ridge.at(lam * units.scale[0] ** 2).regress(all_signs(4) * own.y).energy
    expected = np.exp(-mu * units.y_scale**2 * energy)
    expected /= expected.sum()
    np.testing.assert_allclose(np.array(weight) / np.sum(weight), expected, rtol=1e-9)


def test_gibbs_identity_conditional_of_the_signs():
    """Given x the signs are independent: P(S_i = +1) = 1/(1 + exp(-4 mu y_i (A x)_i))."""
    rng = np.random.default_rng(0)
    A, x, mu = rng.standard_normal((5, 3)), rng.standard_normal(3), 0.8
    y = np.abs(A @ rng.standard_normal(3))
    joint = np.exp([-mu * np.sum((S * y - A @ x) ** 2) for S in all_signs(5)])
    joint /= joint.sum()
    marginal = joint @ (all_signs(5) > 0)
    np.testing.assert_allclose(marginal, 1 / (1 + np.exp(-4 * mu * y * (A @ x))))
