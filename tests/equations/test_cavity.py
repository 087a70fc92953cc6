"""One precision for rows of uneven norms: the equations that define it, and even rows as their limit."""

import numpy as np
import pytest

from phaselect.equations.cavity import before, told

POWERS = np.random.default_rng(0).lognormal(0, 1.5, 200)


@pytest.mark.parametrize(("v", "g"), [(0.3, 1.0), (1e-3, 900.0), (0.9, 1e-6)])
def test_what_all_others_make_of_a_measurement(v, g):
    tau, own = before(np.float64(v), np.float64(g), POWERS)
    np.testing.assert_allclose(tau / POWERS, tau[0] / POWERS[0])
    np.testing.assert_allclose(1 / own, 1 / tau + g)
    assert own.mean() == pytest.approx(v, rel=1e-6)


@pytest.mark.parametrize("g", [1e-3, 1.0, 1e4])
def test_the_precision_that_explains_what_is_left(g):
    tau = 0.2 * POWERS
    found, left = told((1 / (1 + g * tau)).mean(), tau)
    assert found == pytest.approx(g, rel=1e-6)
    np.testing.assert_allclose(left, tau / (1 + g * tau), rtol=1e-6)


def test_even_rows_are_their_limit():
    v, g, variance = np.float64(0.3), np.float64(1.5), np.array([0.1, 0.2, 0.15])
    alone, together = (before(v, g, powers)[0] for powers in (np.float64(1), np.ones(3)))
    np.testing.assert_allclose(together, alone)
    for one, other in zip(
        told((variance / alone).mean(), alone), told((variance / together).mean(), together), strict=True
    ):
        np.testing.assert_allclose(other, one)
