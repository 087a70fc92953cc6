"""Theory against simulation: population annealing at equilibrium."""

import math

import numpy as np
import pytest

from phaselect import PopulationAnnealing, Schedule, gaussian_instance
from phaselect.theory import saddle_point


def measure(alpha, mu, product, n, instances):
    """mse_y, q1, m and free entropy of each instance: cooled from mu = 0.02 in 25 steps, then 400 sweeps at mu."""
    levels = np.concatenate([np.geomspace(0.02, mu, 25), np.full(20, mu)])
    schedule = Schedule(levels, product / levels, steps=20)
    rows = []
    for seed in range(instances):
        problem = gaussian_instance(n, alpha, seed=seed)
        trace = PopulationAnnealing(replicas=32, eager=False).run(problem, schedule, seed=seed).trace
        late = slice(-12, None)
        rows.append([*(trace[name][late].mean() for name in ("mse_y", "q1", "m")), trace["free_entropy"][-1]])
    return np.array(rows)


@pytest.mark.parametrize(
    ("alpha", "mu", "product", "n", "instances"),
    [
        (1.7, 1.0, 0.0, 100, 5),
        (1.3, 2.0, 1.0, 100, 5),
        pytest.param(1.7, 0.5, 0.0, 400, 10, marks=pytest.mark.slow),
        pytest.param(1.7, 1.0, 0.0, 400, 10, marks=pytest.mark.slow),
        pytest.param(1.3, 2.0, 1.0, 400, 10, marks=pytest.mark.slow),
    ],
)
def test_equilibrium(alpha, mu, product, n, instances):
    """Means over instances, within 4 standard errors plus a finite-size error: 2 % of mse_y and q1, 0.01 of the free
    entropy. The overlap of a finite sample is |m|, so that m = 0 reads as about sqrt(q1/N)."""
    rows = measure(alpha, mu, product, n, instances)
    mean, error = rows.mean(axis=0), rows.std(axis=0) / math.sqrt(instances)
    point = saddle_point(alpha, mu, product / mu)
    assert abs(mean[0] - point.mse_y) < 4 * error[0] + 0.02 * point.mse_y
    assert abs(mean[1] - point.q1) < 4 * error[1] + 0.02 * point.q1
    assert abs(mean[2] - point.m) < 4 * error[2] + (0.03 if point.m else 3 * math.sqrt(point.q1 / n))
    assert abs(mean[3] - point.free_entropy) < 4 * error[3] + 0.01
