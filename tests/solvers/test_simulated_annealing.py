import pytest

from phaselect import InputError, Schedule, SimulatedAnnealing, gaussian_instance
from phaselect.problem.streams import Purpose, stream


def test_the_kernel_follows_the_time_spent_at_each_lam():
    def uses_fields(schedule):
        return bool(SimulatedAnnealing().draw(stream(0, Purpose.RUN), 30, 20, schedule, 0).by_fields)

    assert uses_fields(Schedule.matched(steps=100))
    assert not uses_fields(Schedule.matched(steps=1))
    assert not uses_fields(Schedule.matched(steps=100, unit="proposals"))
    assert uses_fields(Schedule.fixed_lambda(0.1, steps=1))  # one lam for all its sweeps


def test_literal_proposals_are_counted_in_sweeps():
    problem = gaussian_instance(20, 1.5, seed=0)
    schedule = Schedule.matched(mu_max=10, steps=100, unit="proposals")
    result = SimulatedAnnealing(eager=False).run(problem, schedule)
    assert result.sweeps == pytest.approx(100 * len(schedule) / 30)
    assert result.trace["accepted"][-1] < 100 * len(schedule)


def test_bad_energy():
    with pytest.raises(InputError, match=r"energy = 'total'; use one of penalised, residual"):
        SimulatedAnnealing("total")
