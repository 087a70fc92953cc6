"""State evolution of vector message passing against undamped runs, for four spectra.

Left to themselves runs leave a random start at different iterations: the overlap grows exponentially from about
1/sqrt(M), each run from another one. The mean of curves that are shifted in time is no such curve: in the phase of
growth it misses state evolution by several of its standard errors, and by more where growth is slow. So both begin with
something to go by: a first message that is z0 with Gaussian noise of variance 1/FIRST.
"""

import math

import numpy as np
import pytest

from phaselect import Schedule, VectorMessagePassing, ensemble_instance
from phaselect.theory.spectra import as_spectrum
from phaselect.theory.vector_evolution import evolve
from phaselect.theory.vector_nodes import Ensemble, Message

FIRST = 1.0
SCHEDULE = Schedule.matched(mu0=5.0, mu_max=60.0, eps=0.1, steps=1, unit="iterations")
SCATTER = 1.2
"""sqrt(N) times the standard deviation of any of the columns over runs, at the iteration where it is largest."""


def two_values(n):
    """Half of the squared singular values are ten times the others."""
    return np.repeat([1.0, 0.1], [n - n // 2, n // 2])


def geometric(n):
    """Condition number 10."""
    return np.geomspace(1.0, 0.01, n)


CASES = {
    "gaussian": (1.4, None),
    "orthogonal": (1.8, None),
    "geometric": (1.4, geometric),
    "two values": (1.4, two_values),
}


def problem_of(name, n, seed):
    alpha, squares = CASES[name]
    if squares is None:
        return ensemble_instance(name, n, alpha, seed=seed).normalised
    return ensemble_instance("spectrum", n, alpha, seed=seed, values=np.sqrt(squares(n))).normalised


def run(problem, seed):
    """v, m and q1 at each iteration of a run, from the same first message."""
    solver, rng = VectorMessagePassing(damping=0.0), np.random.default_rng(seed)
    state = solver.start(problem, solver.draw(rng, problem.m_rows, problem.n, SCHEDULE, 0), *SCHEDULE[0], None)
    h = FIRST * problem.signs * problem.y + math.sqrt(FIRST) * rng.standard_normal(problem.m_rows)
    state = state._replace(beliefs=state.beliefs._replace(h=h, g=np.asarray(FIRST)))
    rows = []
    for i in range(len(SCHEDULE)):
        state = solver.advance(problem, state, SCHEDULE[i : i + 1].stretch(problem.m_rows))
        row = solver.measure(problem, state)
        rows.append([row["v"], row["m"], row["q1"] / np.mean(problem.x0**2)])
    return np.array(rows)


def predicted(name, n):
    alpha, squares = CASES[name]
    law = as_spectrum(name if squares is None else squares(n))
    first = Message(*map(np.asarray, (FIRST, FIRST, FIRST)))
    found = evolve(Ensemble(alpha, law, 1), SCHEDULE, first=first, damping=0.0)
    return np.column_stack([found[column] for column in ("v", "m", "q1")])


@pytest.mark.parametrize(("n", "runs"), [(200, 16), pytest.param(2000, 4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", CASES)
def test_against_runs(name, n, runs):
    """Iteration by iteration, within two of the largest standard errors and a shift of order 1/N."""
    found = np.array([run(problem_of(name, n, seed), seed) for seed in range(runs)])
    expected = predicted(name, n)
    assert np.abs(found.mean(axis=0) - expected).max() < 2 * SCATTER / math.sqrt(n * runs) + 3 / n
    assert expected[0, 1] < 0.7
    assert expected[-1, 1] > 0.95
