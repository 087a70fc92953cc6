"""The distribution of the gaps: sums, moments, and Metropolis runs."""

import math

import numpy as np
import pytest

from phaselect import InputError, PopulationAnnealing, Schedule, gaussian_instance
from phaselect.theory import gap_density, saddle_point, saddle_point_at_sign_overlap

GRID = np.linspace(0, 9, 301)
WEIGHT = np.where(GRID > 0, 2.0, 1.0) * (GRID[1] - GRID[0])
"""The densities are even: half of the grid does, and an integral counts it twice."""
POINTS = [
    (1.7, 1.0, 0.0, 0.0),
    (1.7, 3.6, 0.0, 0.0),
    (1.2, 49.0, 1 / 49, 0.0),
    (1.7, 2.5, 0.5, 0.3),
    (1.7, 9.0, 0.0, -0.4),
    (1.2, 300.0, 0.05, 0.0),  # replicon above 1: P has two kinks in u0
]


@pytest.mark.parametrize("control", POINTS)
def test_sums_and_moments_follow_from_the_saddle_point(control):
    """P integrates to 1, P_* to (1 + O)/2. In the gauge E[Delta^2] comes from the normal equations: |A x|^2 =
    x.A^T(S y) - (lam/2)|x|^2, and mse_y = 1 - 2 E[S y Delta] + E[Delta^2]."""
    alpha, mu, lam, phi = control
    point = saddle_point(alpha, mu, lam, phi=phi)
    density = gap_density(point, GRID)
    assert np.sum(density.P * WEIGHT) == pytest.approx(1, abs=1e-8)
    assert np.sum(density.P_right * WEIGHT) == pytest.approx(0.5 * (1 + point.O), abs=1e-8)
    assert (density.P_right <= density.P).all()
    assert (density.P_right >= 0).all()
    penalty = point.lam * point.q1 / (2 * point.alpha)  # E[S y Delta] = E[Delta^2] + penalty
    assert point.mse_y == pytest.approx(1 - density.P @ (WEIGHT * GRID**2) - 2 * penalty, abs=1e-8)
    mirrored = gap_density(point, -GRID[:100:20])
    np.testing.assert_allclose(mirrored.P, density.P[:100:20], rtol=1e-12)
    np.testing.assert_allclose(mirrored.P_right, density.P_right[:100:20], rtol=1e-12)


def gaps(alpha, mu, lam, n, seeds, aligned, replicas):
    """Gaps and whether their signs are right, from populations at equilibrium."""
    found, right = [], []
    for seed in seeds:
        problem = gaussian_instance(n, alpha, seed=seed)
        levels = np.concatenate([np.geomspace(0.1, mu, 20), np.full(10, mu)])
        lams = np.full_like(levels, lam)
        run = PopulationAnnealing(replicas=replicas, eager=False)
        state = run.run(problem, Schedule(levels, lams, steps=20), seed=seed).state
        own = problem.normalised
        predicted = own.ridge.at(lam).fitted(state.copies.signs * own.y)
        true = np.sign(problem.A @ problem.x0)
        for signs, z in zip(state.copies.signs, predicted, strict=True):
            flip = np.sign(z @ (true * own.y)) if aligned else 1.0
            found.append(flip * z)
            right.append(flip * signs * true > 0)
    return np.array(found), np.array(right)


@pytest.mark.parametrize(
    ("alpha", "mu", "lam", "n", "copies"),
    [
        (1.3, 2.0, 0.5, 100, 32),
        pytest.param(1.7, 1.0, 0.0, 300, 64, marks=pytest.mark.slow),
        pytest.param(1.3, 2.0, 0.5, 300, 64, marks=pytest.mark.slow),
    ],
)
def test_against_metropolis(alpha, mu, lam, n, copies):
    """Histograms of 8 instances: each bin within 4 standard errors over instances plus 3 % of the peak,
    which is what fluctuations of the overlap at such N leave. Aligned with the signal where theory has m > 0."""
    point = saddle_point(alpha, mu, lam)
    measured, right = gaps(alpha, mu, lam, n, range(8), aligned=point.m > 0, replicas=copies)
    edges = np.linspace(-3, 3, 25)
    centres, width = 0.5 * (edges[1:] + edges[:-1]), edges[1] - edges[0]
    fine = gap_density(point, np.linspace(-3, 3, 24 * 8 + 1))
    for chosen, density in ((np.ones_like(right), fine.P), (right, fine.P_right)):
        histograms = np.array(
            [
                np.histogram(measured[i : i + copies][chosen[i : i + copies]], edges)[0]
                / (copies * measured.shape[1] * width)
                for i in range(0, measured.shape[0], copies)
            ]
        )
        histograms = 0.5 * (histograms + histograms[:, ::-1])  # theory is even in the gap
        cells = [np.trapezoid(density[8 * k : 8 * k + 9], dx=width / 8) / width for k in range(centres.size)]
        error = histograms.std(axis=0) / math.sqrt(len(histograms))
        np.testing.assert_array_less(np.abs(histograms.mean(axis=0) - cells), 4 * error + 0.03 * max(cells))


def test_the_paper_s_panels():
    """O = 0.5, alpha = 1.7: P_* has a dip at 0 that a larger mu or a larger lam deepens. P narrows with lam (not, as
    the paper has it, with mu too)."""

    def at(mu, lam):
        point = saddle_point_at_sign_overlap(1.7, mu, lam, sign_overlap=0.5)
        density = gap_density(point, np.linspace(0, 3, 61))
        return density.P[0], density.P_right[0] / density.P_right.max()

    (peak, dip), (colder_peak, colder_dip), (regular_peak, regular_dip) = at(2.5, 0.0), at(3.5, 0.0), at(2.5, 0.5)
    assert 1 > dip > max(colder_dip, regular_dip)
    assert peak < regular_peak
    assert (peak, colder_peak) == (pytest.approx(0.4826, abs=1e-4), pytest.approx(0.4815, abs=1e-4))


def test_bad_input():
    point = saddle_point(1.7, 1.0)
    with pytest.raises(InputError, match="finite numbers"):
        gap_density(point, [0.0, math.nan])
