import mpmath as mp
import numpy as np
import pytest
from scipy.special import ive

from phaselect.equations.bessel import mean_phase, mean_phase_with

U = np.concatenate([[0.0], np.geomspace(1e-6, 1e8, 400)])


def test_the_ratio_of_bessel_functions():
    ratio, _ = mean_phase(U)
    np.testing.assert_allclose(ratio[1:], ive(1, U[1:]) / ive(0, U[1:]), rtol=1e-8)
    assert ratio[0] == 0


def test_what_is_missing_to_one_keeps_its_digits():
    """`1 - R^2` falls like 1/u: the difference of numbers near one would lose it."""
    some = U[::20]
    with mp.workdps(40):
        exact = [float(1 - (mp.besseli(1, u) / mp.besseli(0, u)) ** 2) for u in map(mp.mpf, some.tolist())]
    np.testing.assert_allclose(mean_phase(some)[1], exact, rtol=2e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_compiled_pass_is_the_formula(dtype):
    u = U.astype(dtype)
    by_arrays = mean_phase_with(np.sqrt, np.minimum)(u)
    for found, expected in zip(mean_phase(u), by_arrays, strict=True):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(mean_phase(u)[0], mean_phase(U)[0], rtol=1e-6)
