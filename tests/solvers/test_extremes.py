"""Numbers near the ends of float64 and float32: recovered all the same, or refused in one line, never a warning."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.linalg import aslinearoperator

from phaselect import InputError, Instance, Status, gaussian_batch, gaussian_instance, solve
from phaselect.solvers.registry import REGISTRY, recipe

PROBLEM = gaussian_instance(30, 2.5, seed=0)
UNITS = [(1e-80, 1e80), (1e80, 1e-80), (1e-140, 1e150), (1e150, 1e-140)]


@pytest.mark.parametrize(("unit_of_A", "unit_of_y"), UNITS)
@pytest.mark.parametrize("kind", [np.asarray, csr_array, aslinearoperator])
def test_any_units(kind, unit_of_A, unit_of_y):
    result = solve(kind(PROBLEM.A * unit_of_A), PROBLEM.y * unit_of_y)
    assert result.status is Status.RECOVERED
    overlap = result.x / (unit_of_y / unit_of_A) @ PROBLEM.x0 / (PROBLEM.x0 @ PROBLEM.x0)
    assert abs(overlap) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize(("unit_of_A", "unit_of_y"), UNITS)
def test_noise_in_any_units(unit_of_A, unit_of_y):
    """One variance, or one for each measurement: both are those of y."""
    A, y, variance = PROBLEM.A * unit_of_A, PROBLEM.y * unit_of_y, 1e-4 * unit_of_y**2
    one, each = (solve(A, y, noise=noise, solver="amp") for noise in (variance, np.full(75, variance)))
    assert one.status is each.status is Status.ESTIMATE
    np.testing.assert_allclose(each.x, one.x, rtol=1e-6)


@pytest.mark.parametrize("noise", [1e-300, 1e-308, np.full(75, 1e-300)])
def test_less_noise_than_rounding_is_none(noise):
    assert solve(PROBLEM, noise=noise).status is Status.RECOVERED


def test_a_row_without_noise_among_noisy_ones_has_that_of_rounding():
    variances = np.full(75, 1e-4)
    variances[3] = 1e-300
    weights = Instance(PROBLEM.A, PROBLEM.y, noise=variances).weights
    assert 1e-15 < weights[0] / weights[3] < 1e-13


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: solve(PROBLEM.A * 1e-300, PROBLEM.y),
        lambda: solve(PROBLEM.A * 1e300, PROBLEM.y),
        lambda: solve(PROBLEM.A, PROBLEM.y * 1e300),
        lambda: solve(PROBLEM.A, PROBLEM.y * 1e-300),
        lambda: solve(aslinearoperator(PROBLEM.A * 1e300), PROBLEM.y),
        lambda: solve(aslinearoperator(PROBLEM.A * 1e-300), PROBLEM.y),
        lambda: solve(csr_array(PROBLEM.A * 1e-300), PROBLEM.y),
        lambda: solve(PROBLEM, init=np.full(30, 1e300)),
        lambda: solve(PROBLEM.A * 1e80, PROBLEM.y * 1e-80, init=np.ones(30)),
        lambda: solve(PROBLEM, noise=1e308),
        lambda: solve(PROBLEM, time_limit=10**400),
        lambda: solve(PROBLEM, time_limit=float("nan")),
        lambda: solve(PROBLEM, time_limit="3"),
        lambda: gaussian_instance(30, 10**400, seed=0),
        lambda: gaussian_instance(10**400, 2.0, seed=0),
        lambda: gaussian_instance(30, 2.0, seed=0, signal_variance=1e-308),
        lambda: gaussian_instance(30, 2.0, seed=0, noise=1e308),
        lambda: recipe("amp").plan(eps=1e-308),
        lambda: recipe("amp").plan(iterations=10**20),
        lambda: recipe("sa").plan(product=1e308),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(wrong):
    with pytest.raises(InputError) as caught:
        wrong()
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("unit", [1e-80, 1e-30, 1e30, 1e80])
def test_float32_on_a_device_has_its_own_ends(unit):
    with pytest.raises(InputError, match=r"float32|all zeros|too large to square"):
        solve(PROBLEM.A * unit, PROBLEM.y / unit, device="cpu")


@pytest.mark.parametrize("seconds", [1e-308, 1e-5, np.float32(1000), float("inf")])
def test_any_time_limit(seconds):
    assert solve(PROBLEM, time_limit=seconds).status in (Status.RECOVERED, Status.TIME_LIMIT)


MASKED = np.ma.masked_greater(PROBLEM.y, 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: solve(np.ma.masked_greater(PROBLEM.A, 0.3), PROBLEM.y),
        lambda: solve(PROBLEM.A, MASKED),
        lambda: solve(PROBLEM.A, PROBLEM.y, noise=MASKED),
        lambda: solve(PROBLEM.A, PROBLEM.y, init=MASKED),
        lambda: Instance(PROBLEM.A, PROBLEM.y, np.ma.masked_greater(PROBLEM.x0, 0.5)),
    ],
)
def test_masked_entries_are_refused(wrong):
    with pytest.raises(InputError, match="masked entries"):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: recipe("amp").plan(foo=1), "foo: no such option; message passing has eps, product"),
        (lambda: recipe("raf").plan(eps=0.1), "has none"),
        (lambda: recipe("amp").plan(eps="fast"), "eps = 'fast': give positive numbers"),
        (lambda: recipe("amp").plan(restarts=1.5), "restarts = 1.5: give whole numbers"),
        (lambda: REGISTRY["amp"].run(PROBLEM, 0, foo=1), "foo: no such option"),
        (lambda: gaussian_batch(30, 2.0, seeds=range(3)).instance("a"), "instance 'a' of a batch of 3"),
        (lambda: gaussian_batch(30, 2.0, seeds=range(3)).instance(1.5), "instance 1.5 of a batch of 3"),
    ],
)
def test_odd_types_get_one_line(wrong, words):
    with pytest.raises(InputError, match=words):
        wrong()
