"""A as a linear operator: the same answers as from its entries, and one line for what is not an operator."""

import numpy as np
import pytest
from scipy.sparse import csc_matrix, csr_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from phaselect import AMP, InputError, Instance, Langevin, PopulationAnnealing, Status, gaussian_instance, load, solve
from phaselect.backends.host.by_products import ENTRIES_LIMIT

PROBLEM = gaussian_instance(60, 1.5, seed=0)


def pair(A):
    return lambda x: A @ x, lambda z: A.T @ z


KINDS = pytest.mark.parametrize(
    "kind",
    [aslinearoperator, pair, lambda A: list(pair(A)), csr_array, csc_matrix],
    ids=["LinearOperator", "pair", "list", "sparse", "sparse matrix"],
)


class Stacked(LinearOperator):
    """Twice the identity above three times the identity."""

    def __init__(self, n):
        super().__init__(np.float64, (2 * n, n))

    def _matvec(self, x):
        return np.concatenate([2 * x, 3 * x])

    def _rmatvec(self, z):
        n = self.shape[1]
        return 2 * z[:n] + 3 * z[n:]


@KINDS
def test_products_and_units_are_those_of_the_entries(kind):
    A, y = 7.0 * PROBLEM.A, 0.3 * PROBLEM.y
    problem, dense = Instance(kind(A), y), Instance(A, y)
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(60), rng.standard_normal(90)
    assert (problem.m_rows, problem.n) == (90, 60)
    np.testing.assert_allclose(problem.measure(x), A @ x, rtol=1e-12)
    np.testing.assert_allclose(problem.backproject(z), A.T @ z, rtol=1e-12)
    np.testing.assert_allclose(problem.units.scale, np.sqrt(90) / np.linalg.norm(A), rtol=1e-12)
    np.testing.assert_allclose(problem.normalised.forward(x), dense.normalised.forward(x), rtol=1e-12)


@KINDS
@pytest.mark.parametrize("noise", [None, 1e-4])
def test_message_passing_finds_the_x_of_the_dense_instance(kind, noise):
    """In exact data to the last digits; else where rounding has not had the time to grow."""
    schedule = AMP().default_schedule()[: 30 if noise else 200]
    dense = AMP(restarts=0).run(PROBLEM, schedule, noise=noise, seed=1)
    found = AMP(restarts=0).run(Instance(kind(PROBLEM.A), PROBLEM.y), schedule, noise=noise, seed=1)
    assert dense.certified == (noise is None)
    assert found.status is dense.status
    if noise or kind in (csr_array, csc_matrix):
        assert found.sweeps == dense.sweeps
    else:
        assert 32 < found.sweeps < dense.sweeps  # least squares comes earlier, as products are dear
    np.testing.assert_allclose(found.x, dense.x, rtol=1e-9, atol=1e-9)
    assert found.mse_y == pytest.approx(dense.mse_y, rel=1e-6, abs=1e-20)


@pytest.mark.parametrize("seed", range(3))
def test_gain_of_a_wide_operator_is_known_within_half_a_percent(seed):
    """From random vectors; columns of unequal size make it harder."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((600, 300)) * np.exp(rng.standard_normal(300))
    gain = Instance(aslinearoperator(A), np.ones(600)).units.scale[0]
    assert gain == pytest.approx(np.sqrt(600) / np.linalg.norm(A), rel=5e-3)
    assert gain != pytest.approx(np.sqrt(600) / np.linalg.norm(A), rel=1e-9)  # not from its entries


def test_a_wide_operator_is_solved():
    easy = gaussian_instance(300, 1.6, seed=0)
    dense, found = AMP().run(easy), AMP().run(Instance(pair(easy.A), easy.y))
    assert dense.certified
    assert found.certified
    np.testing.assert_allclose(found.x * np.sign(found.x @ dense.x), dense.x, atol=1e-9)


def test_solvers_that_need_the_entries_get_them_from_a_small_operator():
    operator = Instance(aslinearoperator(PROBLEM.A), PROBLEM.y)
    np.testing.assert_allclose(operator.normalised.ridge.s2, PROBLEM.normalised.ridge.s2, rtol=1e-10)
    schedule = PopulationAnnealing().default_schedule()[::3]
    for solver, plan in ((PopulationAnnealing(16), schedule), (Langevin(eager=False), schedule[:8])):
        dense, found = (solver.run(problem, plan, seed=2) for problem in (PROBLEM, operator))
        assert found.status is dense.status
        np.testing.assert_allclose(found.x, dense.x, atol=1e-9)


@KINDS
def test_solve_takes_an_operator(kind):
    """A common mean calls for vector message passing; where that is expected to fail, a lattice needs entries."""
    assert solve(kind(PROBLEM.A), PROBLEM.y).certified
    A = PROBLEM.A + 1.0
    found = solve(kind(A), np.abs(A @ PROBLEM.x0))
    assert (found.solver, found.status) == ("vmp", Status.RECOVERED)
    hard = gaussian_instance(60, 1.15, seed=0)
    assert solve(kind(hard.A), hard.y).solver == "lattice"


def test_a_small_operator_is_saved_as_its_entries(tmp_path):
    Instance(pair(PROBLEM.A), PROBLEM.y).save(tmp_path / "inst.npz")
    np.testing.assert_allclose(load(tmp_path / "inst.npz").A, PROBLEM.A, rtol=1e-12)


def test_a_large_operator_does_not_give_its_entries():
    n = ENTRIES_LIMIT + 1
    problem = Instance(Stacked(n), np.ones(2 * n))
    np.testing.assert_allclose(problem.units.scale, np.sqrt(2 * n / (13 * n)))
    for use in (lambda problem: problem.normalised.ridge, PopulationAnnealing(8).run):
        with pytest.raises(InputError, match=f"operator with {n} columns.* use AMP, or give an array"):
            use(problem)
    with pytest.raises(InputError, match="array in memory"):
        problem.to_device("cpu")


def blocks(rng):
    return np.kron(np.eye(2), rng.standard_normal((45, 30))), rng.standard_normal(60)


def twins(rng):
    A = rng.standard_normal((90, 60))
    A[:, 4] = A[:, 17]
    return A, rng.standard_normal(60)


def sparse_signal(rng):
    return rng.standard_normal((90, 60)), rng.standard_normal(60) * (rng.random(60) < 0.5)


@pytest.mark.parametrize("limit", [ENTRIES_LIMIT, 10])
@pytest.mark.parametrize(
    ("make", "status"),
    [(blocks, Status.AMBIGUOUS), (twins, Status.AMBIGUOUS), (sparse_signal, Status.RECOVERED)],
    ids=["blocks", "twins", "sparse"],
)
def test_the_verdict_is_that_of_the_dense_instance(make, status, limit, monkeypatch):
    """Also where entries cannot be had; but that A has no null space is then seen by products alone."""
    monkeypatch.setattr("phaselect.backends.host.by_products.ENTRIES_LIMIT", limit)
    A, x0 = make(np.random.default_rng(3))
    y = np.abs(A @ x0)
    dense, found = (AMP(restarts=0).run(Instance(kind, y), init=x0) for kind in (A, aslinearoperator(A)))
    assert dense.status is status
    assert found.mse_y < 1e-20
    assert found.status is status


def test_solve_on_a_large_operator_that_message_passing_cannot_do(monkeypatch):
    """Says that it failed, with the best so far; that annealing would need the entries is no reason to lose it."""
    monkeypatch.setattr("phaselect.backends.host.by_products.ENTRIES_LIMIT", 10)
    hard = gaussian_instance(60, 1.05, seed=0)
    result = solve(aslinearoperator(hard.A), hard.y)
    assert result.status in (Status.NOT_RECOVERED, Status.INEXACT)
    assert result.x.shape == (60,)


A, Y = PROBLEM.A, PROBLEM.y
FORWARD, ADJOINT = pair(A)


@pytest.mark.parametrize(
    ("operator", "y", "message"),
    [
        ((FORWARD, lambda z: 2 * ADJOINT(z)), Y, "not of one matrix"),
        ((FORWARD, lambda z: np.roll(A, 1, axis=1).T @ z), Y, "not of one matrix"),
        ((FORWARD, lambda z: np.roll(A, 1, axis=0).T @ z), Y, "not of one matrix"),
        ((lambda x: FORWARD(x)[:-1], ADJOINT), Y, "A x has 89 entries: it must have 90"),
        ((lambda x: FORWARD(x) * np.nan, ADJOINT), Y, "A x is not finite"),
        ((FORWARD, lambda z: ADJOINT(z) + np.inf), Y, r"A\^T z is not finite"),
        ((lambda x: FORWARD(x) * 1j, ADJOINT), Y, "not of one matrix"),
        ((lambda x: FORWARD(x) * 1j, lambda z: ADJOINT(z) * 1j), Y, r"not of one matrix: .* x . \(A\^H z\)"),
        ((FORWARD, lambda z: ADJOINT(z) + 0j), Y, r"A\^T z .*complex"),
        (aslinearoperator(A), Y[:-1], "A has 90 rows but y has 89 entries"),
        ((FORWARD, ADJOINT), Y[:-1], r"A\^T z failed for a vector of 89"),
        (LinearOperator(A.shape, matvec=FORWARD), Y, r"A\^T z failed .* not defined"),
        ((FORWARD, lambda z: None), Y, "."),
        ((FORWARD, lambda z: "abc"), Y, "."),
        ((lambda x: np.array(["abc"] * 90), ADJOINT), Y, "must return numbers"),
        (csr_array(A), Y[:-1], "A has 90 rows but y has 89 entries"),
        (aslinearoperator(A), -Y, "is negative"),
        (aslinearoperator(A), np.tile(Y[:, None], 2), "give a 1-D array"),
        (aslinearoperator(0 * A), Y, "A has entries too large or too small|A is all zeros"),
    ],
)
def test_what_is_no_operator_gets_one_clear_line(operator, y, message):
    with pytest.raises(InputError, match=message) as caught:
        Instance(operator, y)
    assert "\n" not in str(caught.value)


def test_an_operator_that_goes_wrong_later_is_caught_too():
    """At the first product that is not finite, whichever that is."""
    calls = []

    def forward(x):
        calls.append(x)
        return FORWARD(x) if len(calls) < 80 else FORWARD(x) * np.nan

    problem = Instance((forward, ADJOINT), Y)
    with pytest.raises(InputError, match="A x is not finite"):
        AMP().run(problem)
