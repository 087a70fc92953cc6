"""What the table of baselines rests on: instances, and starts as published."""

import numpy as np
import pytest
from benchmarks.baselines import CONTENDERS, complex_instance, largest

from phaselect import gaussian_instance


def test_complex_instances_are_iid():
    problem = complex_instance(200, 3.0, seed=0)
    assert problem.A.shape == (600, 200)
    assert np.mean(np.abs(problem.A) ** 2) == pytest.approx(1 / 200, rel=0.02)
    assert abs(np.mean(problem.A**2)) < 1e-4  # real and imaginary parts are alike, and independent
    np.testing.assert_allclose(problem.y, np.abs(problem.A @ problem.x0))


def test_amplitude_flow_starts_from_the_largest():
    y = np.arange(1.0, 1301.0)
    weights = largest(y)
    assert np.count_nonzero(weights) == 300
    np.testing.assert_allclose(weights[1000:], np.sqrt(y[1000:]))


@pytest.mark.parametrize("name", ["wf, as published", "raf, as published"])
def test_flows_as_published(name):
    assert CONTENDERS[name](gaussian_instance(50, 9.0, seed=0), 0)
    assert CONTENDERS[name](complex_instance(50, 7.0, seed=0), 0)
    assert not CONTENDERS[name](complex_instance(50, 2.0, seed=0), 0)
