import numpy as np
import pytest
from scipy import stats

from phaselect import gaussian_instance
from phaselect.solvers.certificate.impostors import log10_impostors
from tests.exact import all_signs, energies, normalised


def test_impostors_where_scipy_can_follow():
    for m_rows, rank, fit in ((12, 8, 1e-2), (200, 150, 0.05), (30, 28, 1e-3), (15, 5, 2.0)):
        expected = (m_rows - 1) * np.log10(2) + np.log10(stats.chi2.cdf(m_rows * fit, m_rows - rank))
        assert log10_impostors(fit, m_rows, rank) == pytest.approx(expected, abs=1e-9)


def test_impostors_where_the_probability_underflows():
    """Two degrees of freedom have the closed form P(chi2 < t) = 1 - exp(-t/2) = t/2 for tiny t."""
    assert log10_impostors(1e-28, 50, 48) == pytest.approx(49 * np.log10(2) + np.log10(50e-28 / 2), rel=1e-12)
    assert np.isfinite(log10_impostors(0.0, 5000, 100))


def far_from(signs):
    """Which sign vectors are far from the given one and its mirror: |O| <= 1/2."""
    return np.abs(all_signs(signs.size) @ signs) / signs.size <= 0.5


def test_impostor_count_against_enumeration():
    """Mean number of wrong sign vectors below a threshold over instances, by brute force at M = 14.

    The formula counts sign vectors unrelated to the truth; the neighbours of the truth, which fit well because they
    are nearly right, are left out on both sides. Agreement within 20 % (the chi-square law is approximate
    at this size) plus three standard errors.
    """
    m_rows, n, instances = 14, 9, 160
    thresholds = (1e-3, 3e-3, 1e-2, 3e-2)
    counts = np.zeros((instances, len(thresholds)))
    for seed in range(instances):
        problem = gaussian_instance(n, m_rows / n, seed=seed)
        far = far_from(problem.signs)
        residual = energies(*normalised(problem), 0.0)[far] / m_rows
        counts[seed] = [np.sum(residual < t) / 2 for t in thresholds]
    errors = counts.std(0) / np.sqrt(instances)
    for mean, error, t in zip(counts.mean(0), errors, thresholds, strict=True):
        expected = far.mean() * 10 ** log10_impostors(t, m_rows, n)
        assert mean == pytest.approx(expected, abs=0.2 * expected + 3 * error)
    assert counts.mean(0)[-1] > 10 * errors[-1]  # enough impostors were seen for the test to mean something


def test_the_best_impostor_is_never_certified():
    """The closest unrelated answer that exists, found by enumeration, fails the certificate on every instance."""
    for seed in range(20):
        problem = gaussian_instance(9, 14 / 9, seed=seed)
        residual = energies(*normalised(problem), 0.0)
        residual[~far_from(problem.signs)] = np.inf
        assert log10_impostors(residual.min() / 14, 14, 9) > -6


def test_no_power_close_to_alpha_one():
    """At alpha = 1.02 some impostor is expected to fit within float64 rounding: nothing can be certified."""
    assert log10_impostors(0.0, 1020, 1000) > -6
    assert log10_impostors(1e-28, 1200, 1000) < -6
