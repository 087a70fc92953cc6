"""State evolution with priors: the integral, the Gaussian limit, thresholds, and runs."""

import numpy as np
import pytest

from phaselect import InputError, Nonnegative, Sparse, VectorMessagePassing, gaussian_instance
from phaselect.equations.priors import GAUSSIAN
from phaselect.theory import critical_alpha, evolution_with_prior
from phaselect.theory.signal_priors import mmse


def test_the_variance_that_is_left():
    """Against draws; and, without them, for a Gaussian, and for what is known well."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal(400_000)
    signals = {Nonnegative(): np.abs(x), Sparse(0.2): x * (rng.random(x.size) < 0.2) / np.sqrt(0.2)}
    for prior, signal in signals.items():
        density = prior.draw_density(rng, 0)
        for precision in (0.3, 4.0, 50.0):
            r = signal + rng.standard_normal(x.size) / np.sqrt(precision)
            error = (prior.posterior(r, 1 / precision, 1.0, density).mean - signal) ** 2
            expected = pytest.approx(error.mean(), abs=5 * error.std() / np.sqrt(x.size))
            assert mmse(precision, prior, density) == expected
    assert mmse(3.0, GAUSSIAN, 1.0) == pytest.approx(0.25, rel=1e-10)
    assert mmse(1e8, Sparse(0.2), 0.2) == pytest.approx(0.2e-8, rel=0.01)


def test_what_is_likely_adds_up_to_one():
    for prior, density in ((GAUSSIAN, 1.0), (Nonnegative(), 1.0), (Sparse(0.3), 0.3)):
        r = np.linspace(-20, 20, 40_001)
        assert np.trapezoid(prior.likelihood(r, 0.1, 1.0, density), r) == pytest.approx(1, rel=1e-6)


def test_thresholds():
    """The Gaussian one is known; where few entries count, weak recovery, at 1/2, is all there is to it."""
    assert evolution_with_prior(1.135, prior="gaussian")["mse_x"][-1] == 0
    assert evolution_with_prior(1.12, prior="gaussian")["mse_x"][-1] > 0.1
    assert critical_alpha(prior=Sparse(0.01), tolerance=3e-2) == pytest.approx(0.5, abs=0.03)
    assert evolution_with_prior(0.56, prior="sparse:0.2")["mse_x"][-1] > 0.1
    assert evolution_with_prior(0.61, prior="sparse:0.2")["mse_x"][-1] == 0
    assert evolution_with_prior(0.95, prior="nonnegative")["mse_x"][-1] > 1e-3
    assert evolution_with_prior(1.3, prior="nonnegative", spectrum="orthogonal")["mse_x"][-1] == 0  # 1.58 without it


@pytest.mark.parametrize("prior", [pytest.param("sparse:0.2", marks=pytest.mark.slow), "nonnegative"])
def test_noisy_runs_end_where_state_evolution_does(prior):
    """On average: errors of single instances scatter by a fifth at this size, most of which is the noise's own."""
    noise, options = 0.002, {"density": 0.2} if prior != "nonnegative" else {"nonnegative": True}
    predicted = evolution_with_prior(2.0, prior=prior, noise=noise)["mse_x"][-1]
    errors = []
    for seed in range(12):
        problem = gaussian_instance(400, 2.0, seed=seed, noise=noise, **options)
        found = VectorMessagePassing(prior=prior).run(problem, noise=noise, seed=seed)
        errors.append(found.truth["mse_x"])
    error = np.std(errors) / np.sqrt(12)
    assert error < 0.1 * predicted
    assert np.mean(errors) == pytest.approx(predicted, abs=3.5 * error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evolution_with_prior(1.0, prior="sparse"), "needs the density"),
        (lambda: evolution_with_prior(1.0, prior="sparse:0.2", noise=-1), "noise = -1"),
        (lambda: evolution_with_prior(0.0, prior="sparse:0.2"), "alpha"),
        (lambda: critical_alpha(prior="sparse:0.2", field="complex"), "goes with a real field"),
        (lambda: critical_alpha(2.0, prior="sparse:0.2"), "product 1"),
        (lambda: critical_alpha(prior="dense"), "prior = 'dense'"),
    ],
)
def test_bad_input_gets_one_line(call, message):
    with pytest.raises(InputError, match=message):
        call()
