"""Data that are certain to be noisy end the search for an exact solution; exact ones, however hard, do not."""

import warnings

import numpy as np
import pytest

from phaselect import DataWarning, Instance, Status, ensemble_instance, gaussian_instance, solve
from phaselect.solvers import front_door
from phaselect.solvers.company import OneByOne
from phaselect.solvers.front_door import ENDS_HERE, FrontDoor
from phaselect.solvers.learned_noise import could_be_noisy
from phaselect.solvers.restarts import Search
from phaselect.solvers.result import FITS
from phaselect.solvers.surely_noisy import _coupled_as_iid_rows, surely_noisy

N = 100


def noisy(kind, alpha, level, seed=1, n=N):
    """Exact data and noise of this part of the root mean square of y."""
    problem = ensemble_instance(kind, n, alpha, seed=seed)
    noise = np.random.default_rng(seed).standard_normal(problem.y.size)
    return Instance(problem.A, np.abs(problem.y + level * np.sqrt(np.mean(problem.y**2)) * noise))


@pytest.mark.parametrize("kind", ["gaussian", "toeplitz"])
@pytest.mark.parametrize("level", [0.01, 0.1])
def test_the_search_ends_with_what_to_do(kind, level):
    problem = noisy(kind, 2.5 if kind == "gaussian" else 2.0, level)
    with pytest.warns(DataWarning, match="y looks noisy") as caught:
        result = solve(problem)
    assert result.status is Status.INEXACT
    assert {stage.solver for stage in result.stages} == {"amp" if kind == "gaussian" else "vmp", "vmp"}
    assert result.reason == result.warnings[0] == str(caught[0].message)
    assert result.reason.endswith(f'if it is, solve(A, y, noise="auto"){ENDS_HERE}')
    percent = float(result.reason.split("about ")[1].split(" %")[0])
    assert percent == pytest.approx(100 * level, rel=0.2)


def test_a_time_limit_makes_it_go_on():
    with pytest.warns(DataWarning, match=r"y looks noisy.*\"auto\"\)$"):
        result = solve(noisy("gaussian", 2.5, 0.01), time_limit=2.0)
    assert {"lattice", "pa"} & {stage.solver for stage in result.stages}


def looked_at(problem, monkeypatch):
    """A search that stopped where the longer part would begin."""
    monkeypatch.setattr(front_door, "LARGEST_LATTICE", 0)
    search = Search(OneByOne([problem]), [0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        result = search.run(FrontDoor(ladder=()).plan(problem, False))[0]
    return search, result


def test_what_chance_might_explain_is_searched_to_the_end(monkeypatch):
    """So much noise leaves as much as some wrong signs would."""
    for level, certain in ((0.01, True), (0.1, False)):
        problem = noisy("gaussian", 1.5, level, seed=0)
        search, _ = looked_at(problem, monkeypatch)
        assert surely_noisy(problem, search) is certain


def test_a_few_wrong_measurements_are_not_noise(monkeypatch):
    exact = gaussian_instance(N, 2.5, seed=0)
    problem = Instance(exact.A, exact.y * np.where(np.arange(250) % 100 == 7, 1.2, 1.0))
    search, _ = looked_at(problem, monkeypatch)
    assert not surely_noisy(problem, search)
    monkeypatch.setattr("phaselect.solvers.surely_noisy.SPREAD", np.inf)
    assert surely_noisy(problem, search)  # nothing else tells


def turned(rng, A):
    """Columns mixed, so that no zeros give the structure away."""
    return A @ np.linalg.qr(rng.standard_normal((A.shape[1], A.shape[1])))[0]


def hard_part(rng, few, m=170):
    """A part of x that hardly more measurements see than it has unknowns."""
    A = rng.standard_normal((m, N))
    A[few + 4 :, :few] = 0
    return turned(rng, A)


def loose_halves(rng, weight, m=200):
    A = rng.standard_normal((m, N))
    A[: m // 2, N // 2 :] *= weight
    A[m // 2 :, : N // 2] *= weight
    return turned(rng, A)


HARD = [(hard_part, few, seed) for few in (12, 25) for seed in range(3)]
HARD += [(loose_halves, weight, seed) for weight in (0.03, 0.01, 1e-3) for seed in range(3)]


@pytest.mark.parametrize(("make", "how", "seed"), HARD)
def test_exact_data_are_never_certain_to_be_noisy(make, how, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    A = make(rng, how)
    problem = Instance(A, np.abs(A @ rng.standard_normal(N)))
    assert could_be_noisy(problem)
    assert not _coupled_as_iid_rows(problem.normalised)
    search, result = looked_at(problem, monkeypatch)
    assert result.status in FITS or not surely_noisy(problem, search)


@pytest.mark.parametrize("kind", ["gaussian", "toeplitz", "orthogonal", "uniform", "biased", "spectrum"])
def test_couplings_of_iid_rows_whatever_the_columns(kind):
    for alpha, seed in ((2.0, 0), (2.0, 1), (3.0, 2)):
        problem = ensemble_instance(kind, N, alpha, seed=seed)
        assert _coupled_as_iid_rows(problem.normalised) or not could_be_noisy(problem)  # if rows are uneven


def test_few_measurements_are_not_even_looked_at():
    for alpha in (1.05, 1.1, 1.2, 1.3):
        assert not could_be_noisy(gaussian_instance(N, alpha, seed=0))
