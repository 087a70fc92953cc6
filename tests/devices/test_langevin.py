import jax
import numpy as np
import pytest
from phaselect.devices import langevin
from phaselect.devices.couplings import fresh_key
from phaselect.problem.spectrum import spectrum

from phaselect import Langevin, Schedule, gaussian_instance
from phaselect.solvers.finish import greedy
from phaselect.solvers.langevin import LangevinState, explained_part, langevin_step, wall
from tests.devices.test_couplings import member_of
from tests.devices.test_population import close_to, key_data, many_keys
from tests.exact import normalised


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


def one_step(problem, dtype, mu, lam, eta):
    """A step of the device program from a random start, with the numbers that went into it."""
    member = member_of(problem, dtype)
    state = langevin.start(member, key_data(4))
    after = langevin.advance(member, state, np.array([mu]), np.array([lam]), 1, eta)
    _, used = fresh_key(state.key)
    z = jax.random.normal(jax.random.fold_in(used, 0), state.theta.shape, dtype)
    return np.asarray(state.theta, float), np.asarray(z, float), after


@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-13), ("float32", 2e-6)])
def test_a_step_against_the_formula_and_the_single_instance_path(dtype, error):
    problem, mu, lam, eta = gaussian_instance(20, 1.5, seed=3), 40.0, 0.02, 0.3
    theta, z, after = one_step(problem, dtype, mu, lam, eta)
    noise = np.sqrt(2 / (mu * eta)) * z
    A, y = normalised(problem)
    I_minus_K = np.eye(30) - A @ np.linalg.inv(A.T @ A + lam / 2 * np.eye(20)) @ A.T
    force = 2 * y * (I_minus_K @ I_minus_K @ (theta * y))
    expected = np.clip(theta - eta * (force + noise) * (1 - theta**2), -0.95, 0.95)
    assert after.theta.dtype == dtype
    assert (np.abs(expected) < 0.95).any()
    np.testing.assert_allclose(after.theta, expected, atol=error)
    single = langevin_step(theta, problem.target, explained_part(spectrum(problem), lam), noise, eta, wall(problem))
    np.testing.assert_allclose(after.theta, single, atol=error)
    assert (after.iteration, after.mu, after.lam) == (1, mu, lam)


def test_start_fills_the_cube():
    problem = gaussian_instance(400, 1.5, seed=0)
    theta = np.asarray(langevin.start(member_of(problem), key_data(0)).theta)
    assert np.abs(theta).max() <= wall(problem)
    np.testing.assert_allclose(np.histogram(theta, 4, (-1, 1))[0] / 600, 0.25, atol=0.09)
    assert (theta != np.asarray(langevin.start(member_of(problem), key_data(1)).theta)).any()


def test_columns_and_quench_of_a_state():
    problem = gaussian_instance(20, 1.5, seed=3)
    member = member_of(problem)
    state = langevin.advance(member, langevin.start(member, key_data(0)), np.array([2.0]), np.array([0.4]), 5)
    theta = np.asarray(state.theta)
    single = Langevin().measure(problem, LangevinState(theta, None, 5, 2.0, 0.4, np.nan))
    row = langevin.columns(member, state)
    assert row.keys() == single.keys() - {"quenched"}
    for name, value in row.items():
        assert value == pytest.approx(single[name], rel=1e-10), name
    signs, floor = langevin.quench(member, state)
    expected = greedy(spectrum(problem), np.where(theta < 0, -1.0, 1.0))
    np.testing.assert_array_equal(signs, expected)
    assert floor == pytest.approx(
        spectrum(problem).energy(spectrum(problem).coordinates(expected * problem.target), 0.0) / 30
    )


def test_a_segment_can_be_cut():
    member = member_of(gaussian_instance(16, 1.25, seed=0), "float32")
    mu = np.array([1.0, 2.0, 3.0, 4.0])
    advance = jax.jit(langevin.advance)
    whole = advance(member, langevin.start(member, key_data(0)), mu, 1 / mu, 4)
    parts = langevin.start(member, key_data(0))
    for cut in (slice(0, 2), slice(2, 4)):
        parts = advance(member, parts, mu[cut], 1 / mu[cut], 4)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_trajectories_against_the_single_instance_solver():
    """The same distribution at the end of an anneal, and no two trajectories alike."""
    problem = gaussian_instance(40, 1.5, seed=0)
    schedule = Schedule.fixed_product(0.75, mu0=1.0, mu_max=50.0, eps=0.3, steps=20, unit="iterations")

    def run(member, key):
        state = langevin.advance(member, langevin.start(member, key), schedule.mu, schedule.lam, schedule.steps)
        return langevin.columns(member, state)

    row = jax.jit(jax.vmap(run, (None, 0)))(member_of(problem, "float32"), many_keys(60))
    single = [Langevin(eager=False).run(problem, schedule, seed=seed) for seed in range(60)]
    assert len(np.unique(row["energy"])) == 60
    for name in ("mse_y", "m", "O", "energy", "q1", "loss_relaxed", "m_relaxed"):
        assert close_to(row[name], [result.trace[name][-1] for result in single]), name
    assert (row["steps"] == single[0].trace["steps"][-1]).all()
