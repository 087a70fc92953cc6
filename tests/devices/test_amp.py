"""Message passing with A on a device: the same iterations as in NumPy, and the same answers at the end."""

import jax
import numpy as np
import pytest
from phaselect.devices import amp, matrix
from phaselect.devices.backend import on
from phaselect.devices.products import Copy
from phaselect.solvers.amp import AMPState, amp_iteration, reader

from phaselect import AMP, Instance, Schedule, Status, gaussian_instance
from tests.exact import normalised
from tests.solvers.test_amp import collapsed

PLAN = AMP().default_schedule(None)
DAMPING = 0.3
PROBLEM = gaussian_instance(60, 81 / 60, seed=4)


def narrowed(problem):
    """The same A in float32, with the measurements that this A makes."""
    A = problem.A.astype(np.float32)
    return Instance(A, np.abs(A.astype(float) @ problem.x0), problem.x0)


def random_state(seed=0):
    """Somewhere on the way, each quantity different from any other."""
    rng = np.random.default_rng(seed)
    x, w, g, z = rng.standard_normal(60), *rng.standard_normal((3, 81))
    return AMPState(x, 0.7, 0.9, w, g, x, z, 5, 900.0, 1e-3, 0.1, False)


def same(found, expected, error=1e-11):
    for name, mine, other in zip(AMPState._fields, found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(mine), other, rtol=error, atol=error, err_msg=name)


@pytest.mark.parametrize("steps", [1, 3])
def test_an_iteration_is_that_of_numpy(steps):
    """In other units than normalised ones, at an unmatched regulariser; `steps` iterations at each temperature."""
    problem = Instance(11.0 * PROBLEM.A, 0.1 * PROBLEM.y)
    schedule = Schedule([1000.0], [2e-3], steps, "iterations")
    expected = random_state()
    for _ in range(steps):
        state = expected._replace(w=expected.w.copy(), g=expected.g.copy())
        expected = amp_iteration(state, *schedule[0], DAMPING, reader(problem))
    found = amp.advance(problem.to_device("cpu", "float64"), random_state(), schedule, DAMPING)
    same(found, expected)
    assert np.abs(expected.x - random_state().x).max() > 0.1


def test_many_iterations_are_the_formula():
    """Against the equations in plain NumPy, from a first state, as long as rounding does not grow."""
    A, y = normalised(PROBLEM)
    device = PROBLEM.to_device("cpu", "float64")
    state = AMP().start(device, PLAN, np.random.default_rng(0), None)
    for stretch in PLAN[:20].segments(10):
        state = amp.advance(device, state, stretch, DAMPING)
    *_, expected = collapsed(A, y, np.random.default_rng(0).standard_normal(60), PLAN.mu[:20], 1.0, DAMPING)
    np.testing.assert_allclose(np.asarray(state.x), expected, atol=1e-9)
    assert (int(state.iteration), float(state.mu), bool(state.diverged)) == (20, PLAN.mu[19], False)


def test_padding_takes_no_part():
    """Rows of zeros that only make A divide among devices, with no measurement, even where a state has crept in."""
    A = np.vstack([PROBLEM.A, np.zeros((3, 60))])
    with on(None):
        arguments = PROBLEM.gain, PROBLEM.target, amp._as_arrays(random_state())
        plan = [np.asarray(array) for array in (PLAN.mu[:10], PLAN.lam[:10], 1, DAMPING)]
        found, expected = (jax.jit(amp._segment)(Copy(B), *arguments, *plan) for B in (A, PROBLEM.A))
    same(found, expected)


def test_divergence_keeps_the_last_finite_state():
    """A matrix with a large common mean; the mark stays, and the state with it."""
    A = PROBLEM.A + 1.0
    problem = Instance(A, np.abs(A @ PROBLEM.x0)).to_device("cpu", "float64")
    state = AMP().start(problem, PLAN, np.random.default_rng(0), None)
    states = []
    for stretch in PLAN[:60].segments(10):
        state = amp.advance(problem, state, stretch, 0.0)
        states.append(state)
    assert bool(states[-1].diverged)
    assert np.isfinite(states[-1].x).all()
    assert np.mean(np.asarray(states[-1].x) ** 2) < 1e6
    first = next(k for k, one in enumerate(states) if one.diverged)
    assert first < 5
    same(states[-1], [np.asarray(one) for one in states[first]], 0)
    marked = random_state()._replace(diverged=True)
    same(amp.advance(PROBLEM.to_device("cpu", "float64"), marked, PLAN[:10], DAMPING), marked, 0)
    result = AMP(restarts=0, damping=0.0).run(problem, PLAN[:60])
    assert result.status is Status.DIVERGED
    assert np.isfinite(result.x).all()


@pytest.mark.parametrize("seed", [0, 4, 13])
def test_answers_are_those_of_numpy(seed, problems):
    """Least squares takes over earlier on a device, and mends what signs are left: the x is the same."""
    single = AMP(restarts=0).run(problems[seed], seed=seed)
    found = AMP(restarts=0).run(problems[seed].to_device("cpu", "float64"), seed=seed)
    assert single.certified
    assert found.certified
    assert found.mse_y < 1e-20
    assert found.steps <= single.steps
    np.testing.assert_allclose(found.x, single.x, atol=1e-8)
    np.testing.assert_array_equal(found.signs, single.signs)
    assert found.truth == pytest.approx(single.truth, abs=1e-9)
    rows = len(found.trace["mse_y"])
    assert rows == found.steps / 10
    np.testing.assert_allclose(found.trace["mse_y"][:2], single.trace["mse_y"][1:4:2], rtol=1e-8)


@pytest.mark.parametrize("half", [False, True])
def test_a_narrow_matrix_gives_an_answer_in_float64(half, problems, monkeypatch):
    """float32, or half precision, is no limit to what is certified."""
    monkeypatch.setitem(matrix.WORTH_A_COPY, "cpu", 0 if half else np.inf)
    for seed in (0, 2, 13):
        problem = narrowed(problems[seed])
        device = problem.to_device("cpu")
        assert (device.matrix.copy.A.dtype == "float16") == half
        result = AMP(restarts=0).run(device, seed=seed)
        assert result.certified
        assert result.mse_y < 1e-12
        x = result.x * np.sign(result.x @ problem.x0)
        np.testing.assert_allclose(x, problem.x0, atol=1e-6)
        own = np.mean((np.abs(problem.A.astype(float) @ result.x) - problem.y) ** 2) / np.mean(problem.y**2)
        assert own == pytest.approx(result.mse_y, rel=1e-3, abs=1e-28)


def test_a_run_can_be_cut_and_resumed():
    device = PROBLEM.to_device("cpu", "float64")
    solver = AMP(restarts=0)
    first = solver.run(device, PLAN[:20], seed=3)
    whole, resumed = solver.run(device, PLAN[:40], seed=3), solver.run(device, PLAN[20:40], init=first.state)
    assert whole.steps == resumed.steps == 40
    same(resumed.state, [np.asarray(one) for one in whole.state], 0)
    np.testing.assert_array_equal(resumed.x, whole.x)
    assert int(first.state.iteration) == 20  # a checkpoint can be used again


def test_a_run_can_move_to_the_device_and_back():
    """A state is one of the solver, wherever A is."""
    device, solver = PROBLEM.to_device("cpu", "float64"), AMP(restarts=0)
    whole = solver.run(PROBLEM, PLAN[:30], seed=3)
    for here, there in ((PROBLEM, device), (device, PROBLEM)):
        first = solver.run(here, PLAN[:20], seed=3)
        moved = solver.run(there, PLAN[20:30], init=first.state)
        same(moved.state, whole.state, 1e-8)


def test_noisy_data_are_not_refined():
    noisy = gaussian_instance(60, 81 / 60, seed=4, noise=1e-3)
    single, found = (
        AMP().run(problem, PLAN[:20], seed=3, noiseless=False) for problem in (noisy, noisy.to_device("cpu", "float64"))
    )
    assert single.status is found.status is Status.ESTIMATE
    assert not found.certified
    np.testing.assert_allclose(found.x, single.x, atol=1e-8)
    assert found.mse_y == pytest.approx(single.mse_y, rel=1e-8)


def test_progress_time_limit_and_interrupt():
    device, heard = PROBLEM.to_device("cpu", "float64"), []
    result = AMP(restarts=0).run(device, PLAN[:40], seed=3, progress=heard.append)
    assert [one.fraction for one in heard] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert [one.mse_y for one in heard] == result.trace["mse_y"].tolist()
    assert AMP().run(device, PLAN[:40], seed=3, time_limit=1e-3).status is Status.TIME_LIMIT

    def interrupt(progress):
        raise KeyboardInterrupt

    result = AMP().run(device, PLAN[:40], seed=3, progress=interrupt)
    assert (result.status, result.steps) == (Status.INTERRUPTED, 10)
