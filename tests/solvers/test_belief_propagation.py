"""Belief propagation on sparse matrices in memory; tests/backends/test_one_source.py has those on a device."""

import numpy as np
import pytest

from phaselect import BeliefPropagation, InputError, Instance, Status, VectorMessagePassing, ensemble_instance, solve
from phaselect.problem.likeness import likeness


@pytest.mark.parametrize("dense", [True, False])
def test_where_vector_message_passing_goes_astray(dense):
    problem = ensemble_instance("sparse", 200, 1.4, seed=0, dense=dense)
    result = BeliefPropagation(restarts=0).run(problem)
    assert result.certified
    assert result.truth["mse_x"] < 1e-25
    assert not VectorMessagePassing(restarts=0).run(problem).certified


def test_a_large_one_needs_no_more_than_its_entries():
    problem = ensemble_instance("sparse", 1800, 1.4, seed=4, dense=False)
    result = solve(problem.A, problem.y)
    assert result.certified
    assert [stage.solver for stage in result.stages] == ["bp"]


def test_few_columns_of_an_operator_will_do():
    problem = ensemble_instance("sparse", 100, 1.8, seed=0, dense=False)
    result = BeliefPropagation().run(Instance((problem.measure, problem.backproject), problem.y))
    assert result.certified


def test_entries_that_cannot_be_had_get_one_line():
    n = 2001
    problem = Instance((lambda x: np.concatenate([x, 2 * x]), lambda z: z[:n] + 2 * z[n:]), np.ones(2 * n))
    with pytest.raises(InputError, match="needs its entries"):
        BeliefPropagation().run(problem)


def test_noisy_data_end_at_the_estimate():
    problem = ensemble_instance("sparse", 200, 3.0, seed=0, noise=1e-3).with_noise(1e-3)
    found, vector = (solver.run(problem) for solver in (BeliefPropagation(), VectorMessagePassing()))
    assert found.status is Status.ESTIMATE
    assert found.truth["mse_x"] < 1.1 * vector.truth["mse_x"]


def test_solve_begins_with_it_where_most_entries_are_zero_and_of_either_sign():
    rng = np.random.default_rng(0)
    where = rng.random((400, 300)) < 0.05
    where[rng.integers(400, size=300), np.arange(300)] = True
    for entries, begins, why in (
        (rng.standard_normal((400, 300)), "bp", "most entries are zero"),
        (rng.random((400, 300)), "vmp", "have a mean"),
    ):
        A = entries * where
        looks = likeness(Instance(A, np.abs(A @ rng.standard_normal(300))).normalised)
        assert looks.sparse == (begins == "bp")
        assert why in looks.unlike_iid
    assert not likeness(ensemble_instance("binary", 80, 1.5, seed=0).normalised).sparse


@pytest.mark.parametrize("options", [{"damping": 1.0}, {"restarts": -1}, {"converged": 0.0}])
def test_bad_options_get_one_line(options):
    with pytest.raises(InputError, match=rf"BeliefPropagation: {next(iter(options))}"):
        BeliefPropagation(**options)
