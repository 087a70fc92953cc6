"""Vector message passing on every kind of matrix, by an SVD, by conjugate gradients, on a device and in a batch."""

import numpy as np
import pytest

from phaselect import AMP, InputError, Instance, Status, VectorMessagePassing, ensemble_instance, solve
from phaselect.backends.host import in_memory
from phaselect.equations import gaussian_node
from phaselect.problem.likeness import likeness

KINDS = ("signs", "toeplitz", "uneven_rows", "uneven_columns", "biased", "uniform", "spectrum", "sparse")
IID = ("gaussian", "signs", "uneven_rows")  # rows are weighted to even norms


@pytest.fixture
def without_svd(monkeypatch):
    monkeypatch.setattr(in_memory, "WORTH_AN_SVD", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_any_matrix(kind):
    """Some of which AMP cannot do."""
    problem = ensemble_instance(kind, 120, 1.6, seed=1)
    result = VectorMessagePassing().run(problem)
    assert result.certified
    assert result.truth["m"] == pytest.approx(1)
    if kind in ("toeplitz", "uneven_columns", "biased", "uniform"):
        assert not AMP(restarts=0).run(problem).certified


@pytest.mark.parametrize("kind", ["orthogonal", "dct"])
def test_orthogonal_matrices_need_more_measurements(kind):
    """Far above their threshold, 1.58 for orthogonal columns."""
    assert VectorMessagePassing().run(ensemble_instance(kind, 100, 1.95, seed=0)).certified


@pytest.mark.parametrize("kind", ["toeplitz", "biased", "spectrum"])
def test_without_an_svd(kind, without_svd):
    problem = ensemble_instance(kind, 120, 1.6, seed=1)
    result = VectorMessagePassing(restarts=0).run(problem)
    assert result.certified
    assert not problem.matrix.decomposed


def test_an_operator_is_asked_for_products_alone(without_svd):
    problem = ensemble_instance("toeplitz", 120, 1.6, seed=1)
    A = np.asarray(problem.A)
    operator = Instance((lambda x: A @ x, lambda z: A.T @ z), problem.y)
    found = VectorMessagePassing(restarts=0).run(operator)
    assert found.status is Status.RECOVERED
    np.testing.assert_allclose(abs(found.x), abs(problem.x0), atol=1e-6)


def test_where_columns_are_orthogonal_a_step_solves_the_system(without_svd, monkeypatch):
    """No more gradients are computed than iterations done, but for a few."""
    steps, regress = [], gaussian_node.ConjugateGradients.__call__

    def counted(self, *given):
        found = regress(self, *given)
        steps.append(int(found[1].steps))
        return found

    problem = ensemble_instance("orthogonal", 60, 1.95, seed=0)
    with monkeypatch.context() as patch:
        patch.setattr(gaussian_node.ConjugateGradients, "__call__", counted)
        VectorMessagePassing(restarts=0).run(problem, VectorMessagePassing().default_schedule()[:60])
    assert np.median(steps) == 1


@pytest.mark.slow
def test_a_batch_takes_the_same_path():
    """Conjugate gradients in float64 there: the same answers, in about as many iterations."""
    problems = [ensemble_instance("toeplitz", 60, 1.8, seed=seed) for seed in range(3)]
    solver = VectorMessagePassing(restarts=0)
    alone = [solver.run(problem, seed=k) for k, problem in enumerate(problems)]
    together = solver.run_batch(problems, seeds=range(3), device="cpu", dtype="float64")
    for one, other in zip(alone, together, strict=True):
        assert one.certified
        assert other.certified
        np.testing.assert_allclose(abs(one.x), abs(other.x), atol=1e-6)


def test_noisy_data_end_at_the_estimate():
    """As good as it can be: no worse than AMP's on an iid matrix, and much better than AMP's on one that is not."""
    for kind, times in (("gaussian", 1.1), ("toeplitz", 0.1)):
        problem = ensemble_instance(kind, 300, 3.0, seed=0, noise=1e-3).with_noise(1e-3)
        vector, amp = (solver.run(problem) for solver in (VectorMessagePassing(), AMP()))
        assert vector.status is Status.ESTIMATE
        assert vector.truth["mse_x"] < times * amp.truth["mse_x"]


@pytest.mark.parametrize("options", [{"damping": 1.0}, {"restarts": -1}, {"converged": 0.0}, {"damping": "much"}])
def test_bad_options_get_one_line(options):
    with pytest.raises(InputError, match=rf"VectorMessagePassing: {next(iter(options))}"):
        VectorMessagePassing(**options)


@pytest.mark.parametrize("n", [25, 80])
def test_what_looks_iid(n):
    """Every kind is told, of four seeds each."""
    for kind in ("gaussian", *KINDS, "orthogonal", "dct"):
        for seed in range(4):
            found = likeness(ensemble_instance(kind, n, 1.6, seed=seed).normalised).unlike_iid
            assert (found == "") == (kind in IID), (kind, seed, found)


def test_solve_begins_with_what_suits_the_matrix():
    for kind, name in (("gaussian", "amp"), ("toeplitz", "vmp")):
        result = solve(ensemble_instance(kind, 80, 1.8, seed=0))
        assert (result.solver, result.certified) == (name, True)
        assert result.to_dict()["stages"][0]["why"] == result.stages[0].why != ""
