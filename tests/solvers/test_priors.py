"""Signals of which more is known: sparse ones, from fewer measurements than unknowns, and nonnegative ones."""

import numpy as np
import pytest

from phaselect import (
    AMP,
    InputError,
    Instance,
    Nonnegative,
    Sparse,
    Status,
    VectorMessagePassing,
    ensemble_instance,
    ensembles,
    gaussian_instance,
    solve,
)
from phaselect.backends.host import in_memory
from phaselect.solvers.certificate.judge import judge
from phaselect.solvers.finish import settle_nonzeros, take_as_it_is
from phaselect.solvers.front_door import FrontDoor
from phaselect.solvers.verdict import Grade

FEW = gaussian_instance(120, 0.9, seed=0, density=0.1)


def nonnegative_instance(kind, n, alpha, seed):
    A = ensembles.matrix(kind, round(alpha * n), n, seed, dense=True)
    x0 = np.abs(np.random.default_rng(seed).standard_normal(n))
    return Instance(A, np.abs(A @ x0), x0)


@pytest.mark.parametrize("prior", [Sparse(0.1), "sparse"])
def test_a_sparse_signal_from_fewer_measurements_than_unknowns(prior):
    result = solve(FEW.A, FEW.y, prior=prior)
    assert result.status is Status.UNCERTIFIED
    assert "no more measurements than unknowns" in result.message
    assert [stage.solver for stage in result.stages] == ["vmp"]
    x = result.x * np.sign(result.x @ FEW.x0)
    np.testing.assert_allclose(x, FEW.x0, atol=1e-12)
    np.testing.assert_array_equal(x == 0, FEW.x0 == 0)


def test_a_prior_makes_up_for_measurements_that_are_missing():
    """Where there are more than unknowns, too few for the Gaussian prior, the answer is certified as ever."""
    problem = gaussian_instance(120, 1.05, seed=1, density=0.15)
    assert solve(problem, prior="sparse").certified
    assert not VectorMessagePassing().run(problem).certified


@pytest.mark.parametrize("kind", ["gaussian", "toeplitz", "biased", "uniform"])
def test_a_nonnegative_signal_has_its_sign(kind):
    problem = nonnegative_instance(kind, 100, 1.4, seed=0)
    result = solve(problem, prior=Nonnegative())
    assert result.certified
    np.testing.assert_allclose(result.x, problem.x0, atol=1e-9)


def test_without_entries(monkeypatch):
    monkeypatch.setattr(in_memory, "WORTH_AN_SVD", 0)
    A = np.asarray(FEW.A)
    result = solve((lambda x: A @ x, lambda z: A.T @ z), FEW.y, prior="sparse:0.1")
    np.testing.assert_allclose(np.abs(result.x), np.abs(FEW.x0), atol=1e-9)
    problem = nonnegative_instance("toeplitz", 80, 1.5, seed=1)
    assert VectorMessagePassing(prior=Nonnegative()).run(problem).certified


@pytest.mark.slow
def test_in_a_batch():
    problems = [gaussian_instance(60, 1.0, seed=seed, density=0.1) for seed in range(2)]
    found = VectorMessagePassing(prior=Sparse(0.1), restarts=0).run_batch(problems, device="cpu", dtype="float64")
    for result, problem in zip(found, problems, strict=True):
        assert result.status is Status.UNCERTIFIED
        np.testing.assert_allclose(np.abs(result.x), np.abs(problem.x0), atol=1e-9)


def test_noisy_data():
    """The prior is worth a good part of the error, and small entries are not all set to zero."""
    problem = ensemble_instance("toeplitz", 200, 2.0, seed=0, density=0.1, noise=1e-3).with_noise(1e-3)
    plain, sparse = (solve(problem, solver="vmp", prior=prior) for prior in ("gaussian", "sparse"))
    assert sparse.status is Status.ESTIMATE
    assert sparse.truth["mse_x"] < 0.3 * plain.truth["mse_x"]


def test_noise_is_learned_with_the_prior():
    """From fewer measurements than unknowns, where nothing else could; and a run goes on from a state of its own."""
    problem = gaussian_instance(200, 0.95, seed=1, density=0.08, noise=1e-3)
    result = solve(problem, prior="sparse", noise="auto")
    assert result.status is Status.ESTIMATE
    assert result.x_std is None
    assert abs(result.noise - 1e-3) < 4 * result.noise_std < 1.6e-3
    assert result.truth["mse_x"] < 2e-3
    solver = VectorMessagePassing(prior=Sparse(0.1), restarts=0)
    plan = solver.default_schedule()
    half = solver.run(FEW, plan[:60])
    assert solver.run(FEW, plan[60:], init=half.state).x == pytest.approx(solver.run(FEW, plan).x)


def test_where_it_fails_nothing_is_claimed():
    """So few measurements that any sparse answer would be made up."""
    problem = gaussian_instance(100, 0.3, seed=0, density=0.3)
    result = solve(problem, prior=Sparse(0.3))
    assert result.status is Status.NOT_RECOVERED
    assert result.truth["mse_x"] > 0.1


def test_many_nonzeros_that_fit_exactly_say_nothing():
    """With as many columns as rows, least squares fits any signs; with one less, some of 2^107 signs."""
    problem = FEW.normalised
    for nonzeros, grade in ((108, Grade.OPEN), (107, Grade.OPEN), (100, Grade.UNCERTIFIED), (20, Grade.UNCERTIFIED)):
        chosen = np.argsort(-np.abs(FEW.x0))[:nonzeros]
        x = np.zeros(120)
        x[chosen] = np.linalg.lstsq(problem.dense()[0][:, chosen], problem.y * problem.signs, rcond=None)[0]
        answer = take_as_it_is(problem, x)
        assert judge(lambda: problem, problem.y, answer._replace(excess=0.0), None).grade is grade


def test_columns_of_a_that_leave_a_choice_are_seen():
    """Nonzeros that share no measurement; a column parallel to that of a nonzero; and a right x, zero to rounding."""
    problem = ensemble_instance("sparse", 100, 0.9, seed=6, density=0.1)
    result = solve(problem, prior="sparse")
    assert result.status is Status.AMBIGUOUS
    for x in (result.x, result.rival):
        np.testing.assert_allclose(np.abs(problem.measure(x)), problem.y, atol=1e-12)
    A, x0 = (
        np.random.default_rng(0).standard_normal((80, 100)),
        np.where(np.arange(100) < 10, 1.0 + np.arange(100), 0.0),
    )
    A[:, 50] = -2 * A[:, 3]
    result = solve(A, np.abs(A @ x0), prior="sparse")
    assert result.status is Status.AMBIGUOUS
    assert np.count_nonzero(result.rival) == 10
    np.testing.assert_allclose(np.abs(A @ result.rival), np.abs(A @ x0), atol=1e-9)
    right = ensemble_instance("sparse", 100, 0.9, seed=0, density=0.1)
    assert solve(right, prior="sparse").status is Status.UNCERTIFIED
    positive = gaussian_instance(60, 1.0, seed=0, nonnegative=True)
    assert "no entry is negative" in solve(positive, prior="nonnegative").message


def test_least_squares_on_the_columns_of_the_estimate():
    problem = FEW.normalised
    rough = problem.x0 * (1 + 1e-3 * np.random.default_rng(0).standard_normal(120))
    answer, support = settle_nonzeros(problem, rough, None)
    assert support is None
    np.testing.assert_allclose(answer.x, problem.x0, atol=1e-13)


def test_annealers_say_that_they_keep_the_gaussian_prior():
    with pytest.raises(InputError, match="pa keeps the Gaussian prior: with another one use vmp or auto"):
        solve(FEW, solver="pa", prior="sparse")
    first, *others = FrontDoor(prior=Nonnegative()).plan(gaussian_instance(60, 1.02, seed=2), timed=False)
    assert (first.solver.name, first.solver.prior) == ("vmp", Nonnegative())
    assert {(stage.solver.name, "without the prior" in stage.why) for stage in others} == {("pa", True)}


def test_few_measurements_need_a_prior():
    for run in (lambda: solve(FEW), lambda: AMP().run(FEW), lambda: AMP().run_batch([FEW], device="cpu")):
        with pytest.raises(InputError, match=r"108 measurements.*120 unknowns.*with prior=\"sparse\"") as caught:
            run()
        assert "\n" not in str(caught.value)
