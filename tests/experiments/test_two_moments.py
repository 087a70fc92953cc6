"""The saddle point with both second moments: stationary where the theory says, from whatever split."""

import numpy as np
import pytest

from phaselect.experiments.two_moments import saddle_iteration
from phaselect.theory import saddle_point
from phaselect.theory.control import Control, Overlaps


@pytest.mark.parametrize(("alpha", "mu", "lam"), [(1.7, 1.0, 0.0), (1.3, 1.9158, 1 / 1.9158), (1.7, 3.5792, 0.0)])
def test_a_saddle_point_of_the_theory_stays(alpha, mu, lam):
    point = saddle_point(alpha, mu, lam)
    np.testing.assert_allclose(saddle_iteration(point.overlaps, Control(alpha, mu, lam)), point.overlaps, atol=1e-8)


def test_the_split_of_the_variance_is_forgotten_at_once():
    control = Control(1.4, 7.0, 0.1)
    splits = [Overlaps((1 - share) * 0.8, share * 7.0 * 0.8, 0.4, 0.5) for share in (0.05, 0.5, 0.95)]
    after = [saddle_iteration(order, control) for order in splits]
    sums = [(order.V0 + order.V1 / 7.0, order.q0, order.m) for order in after]
    np.testing.assert_allclose(sums, [sums[0]] * 3, rtol=1e-10)
    assert np.ptp([order.V1 for order in after]) > 0.1  # though V1 itself is not
