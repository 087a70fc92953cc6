"""One list of solvers, whose names mean the same everywhere."""

import pytest

from phaselect import AMP, InputError, Schedule, SimulatedAnnealing, gaussian_instance
from phaselect.solvers.registry import OPTIONS, REGISTRY, recipe


@pytest.mark.parametrize("name", [name for name in REGISTRY if "-" not in name and name != "auto"])
def test_the_defaults_are_the_solvers_own(name):
    solver, schedule = recipe(name).plan()
    assert solver == type(solver)()
    assert schedule == solver.default_schedule()
    assert solver.name == name


def test_options_are_handed_on():
    assert recipe("amp").plan(restarts=1, iterations=500)[0] == AMP(restarts=1)
    assert len(recipe("amp").plan(iterations=500)[1]) == 500
    assert len(recipe("amp").plan(eps=0.01, iterations=500)[1]) == 2084  # the anneal alone
    assert recipe("sa").plan(eps=0.2, product=0.0) == (SimulatedAnnealing(), Schedule.fixed_lambda(0.0, eps=0.2))
    assert recipe("pa").plan(replicas=7)[0].replicas == 7


def test_every_option_is_described_and_its_default_is_good():
    for name in REGISTRY:
        for option, default in recipe(name).options.items():
            assert OPTIONS[option].good(default)
            assert isinstance(default, int) == OPTIONS[option].whole
    assert set(OPTIONS) == {option for name in REGISTRY for option in recipe(name).options}


def test_a_name_means_one_run():
    problem = gaussian_instance(30, 4.0, seed=1)
    assert recipe("sa").run(problem, 3).x == pytest.approx(SimulatedAnnealing().run(problem, seed=3).x, abs=0)
    assert recipe("auto").run(problem, 0).certified


def test_an_unknown_name_gets_one_line():
    with pytest.raises(InputError, match="solver 'magic': use one of amp, amp-paper, vmp, bp, sa"):
        recipe("magic")
