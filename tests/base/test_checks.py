"""Values that are shown in messages: one short line, whatever they are."""

import numpy as np
import pytest

import phaselect
from phaselect import theory
from phaselect.base.checks import shortened
from phaselect.base.errors import InputError
from phaselect.experiments.grid import Grid, preset
from phaselect.figures.gallery import FIGURES, figure_module

TEXT = "x" * 10_000
NUMBER = 10**5000
"""Python refuses to write so many digits."""


@pytest.mark.parametrize(
    "value", [TEXT, NUMBER, np.arange(3000.0), [TEXT] * 10, np.eye(3)], ids=lambda value: type(value).__name__
)
def test_in_one_short_line(value):
    assert len(shortened(value)) <= 40
    assert "\n" not in shortened(value)


def test_a_short_value_is_shown_whole():
    assert (shortened("amp"), shortened(0.1), shortened([1, 2])) == ("'amp'", "0.1", "[1, 2]")


PROBLEM = phaselect.gaussian_instance(5, 2.0, seed=0)
CALLS = {
    "n": lambda value: phaselect.gaussian_instance(value, 1.5, seed=0),
    "alpha": lambda value: phaselect.gaussian_instance(10, value, seed=0),
    "activation": lambda value: phaselect.gaussian_instance(10, 1.5, seed=0, activation=value),
    "seed": lambda value: phaselect.gaussian_instance(10, 1.5, seed=[value]),
    "seeds": lambda value: phaselect.gaussian_batch(10, 1.5, seeds=[value]),
    "noise": lambda value: phaselect.solve(PROBLEM, noise=value),
    "rounding": lambda value: phaselect.Instance(PROBLEM.A, PROBLEM.y, rounding=value),
    "schedule": lambda value: phaselect.AMP().run(PROBLEM, value),
    "solver": lambda value: phaselect.solve(PROBLEM, solver=value),
    "time_limit": lambda value: phaselect.solve(PROBLEM, time_limit=value),
    "progress": lambda value: phaselect.solve(PROBLEM, progress=value),
    "damping": lambda value: phaselect.AMP(damping=value),
    "restarts": lambda value: phaselect.AMP(restarts=[value]),
    "replicas": lambda value: phaselect.PopulationAnnealing(replicas=[value]),
    "step_size": lambda value: phaselect.Langevin(step_size=value),
    "step_size of a baseline": lambda value: phaselect.ReweightedAmplitudeFlow(step_size=value),
    "energy": lambda value: phaselect.SimulatedAnnealing(energy=value),
    "steps": lambda value: phaselect.Schedule.fixed_product(1.0, steps=[value]),
    "mu": lambda value: theory.saddle_point(1.2, value, 0.1),
    "start": lambda value: theory.saddle_point(1.2, 1.0, 0.1, start=value),
    "alphas": lambda value: theory.traps(value),
    "n of a sweep": lambda value: Grid.from_dict({"solver": "amp", "n": [value], "alpha": 1.5}),
    "alpha of a sweep": lambda value: Grid.from_dict({"solver": "amp", "n": 10, "alpha": [value]}),
    "preset": lambda value: preset(value, "small"),
    "figure": lambda value: figure_module(value),
}


@pytest.mark.parametrize("value", [TEXT, NUMBER], ids=["text", "number"])
@pytest.mark.parametrize("name", CALLS)
def test_a_message_does_not_show_an_endless_value(name, value):
    with pytest.raises(InputError) as caught:
        CALLS[name](value)
    names = ", ".join(FIGURES) if name == "figure" else ""  # all are named
    assert len(str(caught.value)) < 200 + len(names)
    assert len(str(caught.value).splitlines()) == 1
