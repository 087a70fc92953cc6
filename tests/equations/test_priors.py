"""Priors of x: posteriors against integrals, and names."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from phaselect import InputError, Nonnegative, Sparse
from phaselect.equations.priors import FAR, KNOWN, Gaussian, as_prior

PLACES = [(-1.3, 0.2), (0.4, 0.5), (3.0, 0.01), (0.0, 2.0)]


def integrated(density, r, v, low, high):
    """Mean and variance of x with this density, believed to be r to v."""

    def moment(k):
        near = [point for point in (r, 0.0) if low < point < high]
        return quad(lambda x: x**k * density(x) * np.exp(-((x - r) ** 2) / (2 * v)), low, high, points=near)[0]

    norm, mean, square = map(moment, range(3))
    return norm, mean, square


def gauss(x, variance):
    return np.exp(-(x**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)


@pytest.mark.parametrize(("r", "v"), PLACES)
def test_posteriors_are_integrals(r, v):
    power = 1.7
    norm, mean, square = integrated(lambda x: gauss(x, power), r, v, -12, 12)
    check(Gaussian(), r, v, power, 1.0, mean / norm, square / norm)
    norm, mean, square = integrated(lambda x: 2 * gauss(x, power), r, v, 0, 12)
    check(Nonnegative(), r, v, power, 1.0, mean / norm, square / norm)
    rho = 0.3
    norm, mean, square = integrated(lambda x: rho * gauss(x, power / rho), r, v, -30, 30)
    norm += (1 - rho) * np.exp(-(r**2) / (2 * v))
    check(Sparse(rho), r, v, power, rho, mean / norm, square / norm)


def check(prior, r, v, power, density, mean, square):
    for xp in (np, jnp):
        found = prior.posterior(xp.asarray([r]), xp.asarray(v), xp.asarray(power), xp.asarray(density))
        assert float(found.mean[0]) == pytest.approx(mean, rel=1e-6, abs=1e-9)
        assert float(found.variance[0]) == pytest.approx(square - mean**2, rel=1e-5)


def test_far_below_zero_nothing_is_lost():
    """The series and the differences agree where they meet; far out the posterior is exponential."""
    v = 1e-4
    r = np.sqrt(v) * np.array([FAR * (1 + 1e-9), FAR * (1 - 1e-9), -1e6])
    found = Nonnegative().posterior(r, v, 1e9, 1.0)
    assert found.mean[0] == pytest.approx(found.mean[1], rel=1e-6)
    assert found.variance[0] == pytest.approx(found.variance[1], rel=1e-5)
    assert found.mean[2] == pytest.approx(v / -r[2], rel=1e-6)
    assert found.variance[2] == pytest.approx((v / r[2]) ** 2, rel=1e-6)


def test_a_density_is_learnt_once_entries_are_known():
    x = np.where(np.arange(1000) < 50, 3.0, 0.0)
    for prior, expected in ((Sparse(), 0.05), (Sparse(0.2), 0.2)):
        assert prior.posterior(x, 1e-9, 1.0, 0.3).density == pytest.approx(expected, rel=0.02)
        assert prior.posterior(x, 1.01 / KNOWN, 1.0, 0.3).density == 0.3


def test_attempts_try_other_densities():
    rng = np.random.default_rng(0)
    assert Sparse(0.03).draw_density(rng, 0) == 0.03
    assert 0.02 < Sparse(0.03).draw_density(rng, 1) != 0.03
    assert Nonnegative().draw_density(rng, 1) == 1


def test_names():
    assert as_prior("sparse") == as_prior("sparse:auto") == Sparse() == Sparse("auto")
    assert as_prior("sparse:0.25") == Sparse(0.25) == as_prior(Sparse(0.25))
    assert as_prior("nonnegative") == Nonnegative()
    assert as_prior("gaussian").gaussian


@pytest.mark.parametrize("given", ["dense", "sparse:many", "nonnegative:2", "", None, 0.2, Sparse, "gaussian:1"])
def test_what_is_no_prior_gets_one_line(given):
    with pytest.raises(InputError, match=r"give gaussian, sparse, sparse:0.1") as caught:
        as_prior(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("density", [0, 1, -0.1, 2, float("nan"), "some", None, True])
def test_what_is_no_density_gets_one_line(density):
    with pytest.raises(InputError, match="share of nonzeros"):
        Sparse(density)
