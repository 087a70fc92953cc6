"""Searches side by side: the same instances for all, rows that the analysis of success takes."""

from types import SimpleNamespace

import numpy as np
import pytest

from phaselect import Status, gaussian_instance
from phaselect.experiments.success import success_table
from phaselect.experiments.trials import Reached, after_flips, by_name, half_recovered, side_by_side


def test_rows():
    seen, shares = [], []

    def search(problem, seed):
        seen.append((problem.n, problem.m_rows, seed, problem.x0[0]))
        return Reached(1.0 if problem.alpha > 1.7 else 0.1, 0.0, 1e-12)

    table = side_by_side({"one": search, "two": search}, {10: 3, 20: 2}, (1.5, 2.0), shares.append, eps=0.1)
    assert seen[::2] == seen[1::2]  # both searches, the same instance
    assert seen[0] == (10, 15, 0, gaussian_instance(10, 1.5, seed=0).x0[0])
    assert len(table) == 2 * 2 * (3 + 2)
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] < 1
    found = success_table(table)
    assert set(zip(found["solver"], found["n"], found["alpha"], found["p"], found["trials"], strict=True)) == {
        (solver, n, alpha, share, trials)
        for solver in ("one", "two")
        for n, trials in ((10, 3), (20, 2))
        for alpha, share in ((1.5, 0.0), (2.0, 1.0))
    }
    assert (found["eps"] == 0.1).all()


def test_the_end_of_every_search():
    """From one wrong sign greedy flips find the way back; a solver of the registry is asked for its own answer."""
    problem = gaussian_instance(20, 3.0, seed=0)
    z = problem.signs * problem.y
    z[np.argmax(problem.y)] *= -1
    assert after_flips(problem.normalised, z).m > 0.999
    assert after_flips(problem.normalised, z).mse_x < 1e-20
    assert after_flips(problem.normalised, z).mse_y < 1e-25
    found = by_name("sa", eps=0.3)(problem, 0)
    assert found.m > 0.99
    assert found.sweeps > 0


def test_half_recovered():
    """A quarter, half and three quarters of 20 seeds: by symmetry half are at the alpha in the middle."""

    def run(alpha, seed):
        m = 1.0 if seed % 4 < 4 * (alpha - 0.5) else 0.1
        return SimpleNamespace(status=Status.RECOVERED, truth={"m": m, "mse_x": 1 - m}, mse_y=1e-12)

    found = half_recovered(run, [0.75, 1.0, 1.25], 20, least=0.0)
    assert found.value == pytest.approx(1.0, abs=1e-3)
    assert 0.75 < found.low < 1.0 < found.high < 1.25
