"""What every solver promises, checked on all of them."""

import copy
import inspect
import json
from dataclasses import replace

import numba
import numpy as np
import pytest

from phaselect import (
    AMP,
    AlternatingMinimisation,
    BeliefPropagation,
    GuidedLattice,
    InputError,
    Instance,
    Langevin,
    Lattice,
    PopulationAnnealing,
    ReweightedAmplitudeFlow,
    Schedule,
    SimulatedAnnealing,
    Solver,
    Status,
    VectorMessagePassing,
    WirtingerFlow,
    gaussian_instance,
)
from phaselect.backends.host import passes
from phaselect.solvers import loop
from phaselect.solvers.cohort import Cohort
from phaselect.solvers.registry import REGISTRY

NAMES = [name for name, recipe in REGISTRY.items() if recipe.plan()[0].name == name != "auto"]


def solver_named(name):
    return REGISTRY[name].plan()[0]


GUIDED = np.array([1.0, 3.0, 10.0, 10.0, 10.0, 10.0])
# Each solver to the end of a short schedule, without early stops or restarts.
SOLVERS_AND_SCHEDULES = [
    (AMP(restarts=0), Schedule.matched(mu0=10, mu_max=100, eps=0.1, steps=1, unit="iterations")),
    (VectorMessagePassing(restarts=0), Schedule.matched(mu0=1, mu_max=100, eps=0.1, steps=1, unit="iterations")),
    (BeliefPropagation(restarts=0), Schedule.matched(mu0=1, mu_max=100, eps=0.1, steps=1, unit="iterations")),
    (SimulatedAnnealing(eager=False), Schedule.matched(mu_max=20, eps=0.3, steps=60)),
    (SimulatedAnnealing(eager=False), Schedule.matched(mu_max=20, eps=0.3, steps=3)),
    (SimulatedAnnealing("residual", eager=False), Schedule.matched(mu_max=20, eps=0.1, steps=6, unit="proposals")),
    (PopulationAnnealing(replicas=8, eager=False), Schedule.matched(mu0=0.5, mu_max=20, eps=0.3, steps=3)),
    (Langevin(eager=False), Schedule.fixed_product(0.75, mu_max=20, eps=0.3, steps=5, unit="iterations")),
    (Lattice(block=20, restarts=0), Lattice(block=20).default_schedule()[:12]),
    (GuidedLattice(replicas=8, block=20), Schedule(GUIDED, 1 / GUIDED, steps=3)),
    (AlternatingMinimisation(), Schedule.matched(mu_max=10, steps=1, unit="iterations")),
    (ReweightedAmplitudeFlow(), Schedule.fixed_lambda(0.0, mu_max=2, steps=1, unit="iterations", hold=20)),
    (WirtingerFlow(), Schedule.fixed_lambda(0.0, mu_max=2, steps=1, unit="iterations", hold=20)),
]
every_solver = pytest.mark.parametrize(
    ("solver", "schedule"), SOLVERS_AND_SCHEDULES, ids=lambda value: getattr(value, "name", None)
)


@pytest.fixture(scope="module")
def problem():
    """All signs of so few unknowns are tried in no time; 6 proposals of 48 are a part of a sweep without rounding."""
    return gaussian_instance(32, 1.5, seed=0)


@pytest.fixture
def every_temperature(monkeypatch):
    """A row of the trace for each, however little was done there."""
    monkeypatch.setattr(loop, "EARLY", 0.0)


def same_state(first, second):
    for name, mine, other in zip(first._fields, first, second, strict=True):
        if isinstance(mine, np.random.Generator):
            assert mine.bit_generator.state == other.bit_generator.state
        elif hasattr(mine, "_fields"):
            same_state(mine, other)
        else:
            np.testing.assert_array_equal(mine, other, err_msg=name)


def test_every_solver_is_under_contract():
    assert {solver.name for solver, _ in SOLVERS_AND_SCHEDULES} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_protocol_is_complete(name):
    """Everything the protocol names is there, and functions take its arguments."""
    solver = solver_named(name)
    assert solver.name == name
    members = {member: value for member, value in vars(Solver).items() if not member.startswith("_")}
    assert {"run", "run_batch", "stop", "draw", "start", "advance", "measure", "candidate"} <= set(members)
    for member, value in members.items():
        own = getattr(type(solver), member, None)
        if own is None:  # an option, which a dataclass without a default for it keeps on its instances
            own = getattr(solver, member)
        if inspect.isfunction(value):
            wanted, found = (list(inspect.signature(function).parameters)[1:] for function in (value, own))
            assert found == wanted, member
    assert isinstance(solver.default_schedule(), Schedule)
    assert issubclass(solver.state_type, tuple)
    assert {"mu", "lam", "sweeps"} <= set(solver.state_type._fields)
    assert hash(solver) == hash(solver_named(name))  # what is compiled for one configuration is kept


@pytest.mark.parametrize("name", NAMES)
def test_a_configuration_cannot_be_changed(name):
    with pytest.raises(AttributeError):
        solver_named(name).restarts = 3


@every_solver
def test_same_seed_same_result(solver, schedule, problem):
    first, again, other = (solver.run(problem, schedule, seed=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.x, again.x)
    same_state(first.state, again.state)
    for name, column in first.trace.items():
        if name != "seconds":
            np.testing.assert_array_equal(column, again.trace[name])
    drawn = [solver.run(problem, schedule, seed=np.random.default_rng(8)) for _ in range(2)]
    same_state(drawn[0].state, drawn[1].state)
    assert solver.run(problem, schedule, seed=drawn[0].seed).mse_y == drawn[0].mse_y
    if solver.name not in ("raf", "wf", "altmin"):  # those start from the data, not from a random point
        with pytest.raises(AssertionError):
            same_state(first.state, other.state)


@every_solver
def test_any_number_of_threads_gives_the_same_result(solver, schedule, problem, monkeypatch):
    monkeypatch.setattr(passes, "BLOCK_BYTES", 2000)
    threads = numba.get_num_threads()
    results = []
    try:
        for count in (1, threads):
            numba.set_num_threads(count)
            results.append(solver.run(problem, schedule, seed=5))
    finally:
        numba.set_num_threads(threads)
    same_state(results[0].state, results[1].state)


@every_solver
@pytest.mark.parametrize("cut", [1, 4])
def test_whole_schedule_equals_split_schedule(solver, schedule, problem, cut):
    whole = solver.run(problem, schedule, seed=5)
    first = solver.run(problem, schedule[:cut], seed=5)
    kept = copy.deepcopy(first.state)
    second = solver.run(problem, schedule[cut:], init=first.state)
    same_state(whole.state, second.state)
    np.testing.assert_array_equal(whole.x, second.x)
    same_state(kept, first.state)  # a checkpoint can be used again


@every_solver
def test_units_of_the_data_only_scale_x(solver, schedule, problem):
    result = solver.run(problem, schedule, seed=5)
    for y_factor, A_factor in ((4.0, 1.0), (1.0, 0.5), (0.125, 8.0)):  # powers of two: exact
        scaled = Instance(A_factor * problem.A, y_factor * problem.y)
        other = solver.run(scaled, schedule, seed=5)
        np.testing.assert_allclose(other.x, result.x * y_factor / A_factor, rtol=1e-9, atol=1e-12)
        assert other.mse_y == pytest.approx(result.mse_y, rel=1e-9)


@every_solver
def test_the_sign_of_the_signal_does_not_matter(solver, schedule, problem):
    mirrored = Instance(problem.A, problem.y, -problem.x0)
    result, mirror = (solver.run(instance, schedule, seed=5) for instance in (problem, mirrored))
    assert result.truth == pytest.approx(mirror.truth, rel=1e-12, abs=1e-25)
    assert set(result.truth) == {"m", "O", "mse_x"}
    for name in ("m", "O"):
        np.testing.assert_allclose(result.trace[name], mirror.trace[name], rtol=1e-12)


@every_solver
def test_trace_columns_and_result(solver, schedule, problem, every_temperature):
    result = solver.run(problem, schedule, seed=5)
    lengths = {len(column) for column in result.trace.values()}
    assert len(lengths) == 1
    assert {"mu", "lam", "mse_y", "m", "O", "energy", "q1", "sweeps", "seconds"} <= set(result.trace)
    assert result.trace["mu"][-1] == schedule.mu[-1]
    assert (np.diff(result.trace["sweeps"]) > 0).all()
    np.testing.assert_array_equal(result.trace["mu"], schedule.mu[: len(result.trace["mu"])])
    assert result.trace["m"][-1] >= 0
    assert (result.solver, result.seed, result.schedule) == (solver.name, 5, schedule)
    assert result.x.shape == (32,)
    assert set(np.unique(result.signs)) <= {-1.0, 1.0}
    own, x = problem.normalised, result.x / problem.units.x_scale
    assert result.truth["m"] == pytest.approx(abs(own.x0 @ x) / (own.x0 @ own.x0))
    residual = result.signs * problem.y - problem.A @ result.x
    assert result.mse_y == pytest.approx(np.mean(residual**2) / np.mean(problem.y**2), rel=1e-6, abs=1e-25)
    record = json.loads(result.to_json())
    assert record["status"] == result.status.name
    assert Schedule.from_dict(record["schedule"]) == schedule
    np.testing.assert_array_equal(record["x"], result.x)


@every_solver
def test_unknown_signal_leaves_its_columns_empty(solver, schedule, problem):
    result = solver.run(Instance(problem.A, problem.y), schedule, seed=5)
    assert np.isnan(result.trace["m"]).all()
    assert np.isnan(result.trace["O"]).all()
    assert json.loads(result.to_json())["trace"]["m"][0] is None


@every_solver
def test_the_truth_is_a_good_start(solver, schedule):
    """From x0, or from the true signs, at low temperature nobody leaves the solution."""
    problem = gaussian_instance(32, 2.0, seed=1)
    cold = Schedule([1e6], [1e-9 if solver.name == "langevin" else 1e-6], steps=1, unit="iterations")
    starts = [problem.x0] if solver.name in ("amp", "bp", "raf", "wf", "altmin") else [problem.x0, problem.signs]
    for init in starts:
        assert solver.run(problem, cold, seed=5, init=init).certified


@every_solver
def test_time_limit(solver, schedule):
    problem = gaussian_instance(150, 1.04, seed=0)
    mu = 1e37 if solver.name == "lattice" else 1e8  # noise, to a lattice
    long = replace(schedule, mu=np.full(10**6, mu), lam=np.full(10**6, 1 / mu))
    result = solver.run(problem, long, time_limit=0.02)
    assert result.seconds < 5
    if solver.name not in ("altmin", "raf", "wf"):  # those may come to rest before
        assert result.status is Status.TIME_LIMIT
        assert result.trace["seconds"][-1] >= 0.02


@every_solver
def test_interrupt_returns_the_best_so_far(solver, schedule, problem, every_temperature):
    calls = []

    def interrupt(event):
        calls.append(event)
        if len(calls) == 3:  # the first tells that it begins
            raise KeyboardInterrupt

    result = solver.run(problem, schedule, progress=interrupt)
    assert len(calls) == 3
    assert result.status in (Status.INTERRUPTED, Status.RECOVERED)
    assert np.isfinite(result.x).all()
    assert len(result.trace["mu"]) == 2


@every_solver
@pytest.mark.parametrize("method", ["start", "settle"])
def test_interrupt_outside_the_loop(solver, schedule, problem, method, monkeypatch):
    result = interrupted_once(method, solver, problem, schedule, monkeypatch)
    assert result.status is Status.INTERRUPTED or (method == "settle" and result.certified)
    assert np.isfinite(result.x).all()


@every_solver
def test_an_interrupt_while_the_answer_is_settled_loses_nothing(solver, schedule, monkeypatch):
    """It is settled again: what is found is certified, and the search ends there."""
    problem = gaussian_instance(32, 2.0, seed=1)
    cold = Schedule([1e6], [1e-9], steps=1, unit="iterations")
    result = interrupted_once("settle", solver, problem, cold, monkeypatch, init=problem.x0)
    assert result.mse_y < 1e-20
    assert result.certified


def interrupted_once(method, solver, problem, schedule, monkeypatch, **options):
    original, calls = getattr(Cohort, method), []

    def interrupt_once(*arguments):
        calls.append(method)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(Cohort, method, interrupt_once)
    result = solver.run(problem, schedule, **options)
    assert calls
    return result


@every_solver
def test_a_state_of_something_else_is_refused(solver, schedule, problem):
    state = solver.run(problem, schedule[:1], seed=5).state
    with pytest.raises(InputError, match="init is not the state"):
        solver.run(gaussian_instance(32, 2.0, seed=0), schedule, init=state)
    other = Langevin() if solver.name == "amp" else AMP(restarts=0)
    other_schedule = Schedule.matched(mu_max=2, steps=1, unit="iterations")
    with pytest.raises(InputError, match="init is not the state"):
        solver.run(problem, schedule, init=other.run(problem, other_schedule).state)


@every_solver
def test_progress_is_reported(solver, schedule, problem, every_temperature):
    events = []
    solver.run(problem, schedule, progress=events.append)
    fractions = [event.fraction for event in events]
    assert fractions == sorted(fractions)
    assert 0 == fractions[0] < fractions[1] <= fractions[-1] <= 1
    assert [np.isnan(event.mse_y) for event in events] == [True] + [False] * (len(events) - 1)
    assert {event.solver for event in events} == {solver.name}


@every_solver
def test_bad_input_raises_one_type(solver, schedule, problem):
    for arguments in (
        {"problem": problem.A},
        {"problem": problem, "time_limit": 0},
        {"problem": problem, "time_limit": -1.0},
        {"problem": problem, "seed": -1},
        {"problem": problem, "seed": 0.5},
        {"problem": problem, "init": np.ones(7)},
        {"problem": problem, "init": "start"},
        {"problem": problem, "init": np.full(32, np.nan)},
        {"problem": problem, "schedule": 3},
        {"problem": problem, "noise": -1.0},
    ):
        with pytest.raises(InputError):
            solver.run(**({"schedule": schedule} | arguments))
