"""Each equation is written once: NumPy and JAX get the same numbers out of it, to rounding."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from phaselect import BeliefPropagation, Instance, Schedule
from phaselect.backends.host import in_memory
from phaselect.equations import vector_iteration as vector_iteration_module
from phaselect.equations.amp_iteration import Beliefs, iteration
from phaselect.equations.arrays import namespace
from phaselect.equations.greedy import greedy_flips
from phaselect.equations.lanczos import Eigenvalues
from phaselect.equations.langevin_step import kick_size, langevin_step
from phaselect.equations.least_squares import Systems, least_squares
from phaselect.equations.priors import GAUSSIAN
from phaselect.equations.regression import sign_columns
from phaselect.equations.resampling import systematic_resampling
from phaselect.equations.signs import estimate_columns, sign_overlap
from phaselect.equations.vector_iteration import VectorBeliefs, noise_shown, vector_iteration
from phaselect.problem.schedule import Stretch
from phaselect.solvers.certificate.judge import probes
from phaselect.solvers.finish import examine, influence, refine_estimate, refine_signs, take_as_it_is, truth
from tests.backends.shapes import PROBLEM, ROWS, N, random_signs, result_of, there

rng = np.random.default_rng(0)
X, THETA, KICK, W, G, Z = (rng.standard_normal(size) for size in (N, ROWS, ROWS, ROWS, ROWS, ROWS))
SIGNS = np.vstack([random_signs((4, ROWS)), PROBLEM.signs])


def in_other_units():
    """A fresh instance each time: one that has been decomposed finds least squares another way."""
    return Instance(11.0 * PROBLEM.A, 0.1 * PROBLEM.y, 0.1 / 11.0 * PROBLEM.x0)


def agree(function, *arguments, problem=None, error=1e-11):
    """Both backends give the same tree of numbers; returns it."""
    problem = problem or in_other_units()
    expected, found = (result_of(one, function, *arguments) for one in (problem.normalised, there(problem)))
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=error, atol=error)
    return expected


def greedy(problem, signs):
    return greedy_flips(problem.ridge.exact_couplings(), problem.y, signs, problem.loops)


def test_greedy_flips():
    for start in SIGNS[:2]:
        reached, fit = agree(greedy, start)
        assert 3 < np.sum(reached != start) < ROWS
        assert fit > 1e-6
    start = PROBLEM.signs * np.where(np.arange(ROWS) < 2, -1, 1)
    reached, fit = agree(greedy, start)
    np.testing.assert_array_equal(reached, PROBLEM.signs)
    assert fit < 1e-25


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_greedy_flips_leave_the_sign_of_a_vanishing_measurement(sign):
    y = PROBLEM.y * (np.arange(ROWS) != 4)
    start = np.where(np.arange(ROWS) == 4, sign, SIGNS[0])
    reached, _ = agree(greedy, start, problem=Instance(PROBLEM.A, y))
    assert reached[4] == sign


@pytest.mark.parametrize("offset", [0.0, 0.37, 0.999])
def test_systematic_resampling(offset):
    log_weights = 2 * rng.standard_normal(50)
    log_weights[7] = 6.0
    heirs, log_mean = systematic_resampling(log_weights, offset)
    with jax.enable_x64(True):
        others, other_mean = systematic_resampling(jnp.asarray(log_weights), jnp.asarray(offset))
    np.testing.assert_array_equal(heirs, others)
    assert float(other_mean) == pytest.approx(log_mean, rel=1e-13)
    children, weights = np.bincount(heirs, minlength=50), np.exp(log_weights)
    assert (np.abs(children - 50 * weights / weights.sum()) < 1).all()
    assert log_mean == pytest.approx(np.log(weights.mean()))


def step(problem, theta, kick, lam):
    size = kick_size(problem.y[0] * 0 + 40.0, 0.3)
    return langevin_step(theta, problem.y, problem.ridge.at(lam).explaining(), size * kick, 0.3, problem.n)


@pytest.mark.parametrize("lam", [0.0, 0.02])
def test_a_langevin_step(lam):
    """And the formula, written out."""
    theta = np.clip(0.5 * THETA, -0.9, 0.9)
    after = agree(step, theta, KICK, lam)
    own = in_other_units().normalised
    A = own.scale[:, None] * own.matrix.entries()
    rest = np.eye(ROWS) - A @ np.linalg.solve(A.T @ A + lam / 2 * np.eye(N), A.T)
    force = 2 * own.y * (rest @ rest @ (theta * own.y)) + np.sqrt(2 / (40.0 * 0.3)) * KICK
    wall = 1 - 1 / N
    np.testing.assert_allclose(after, np.clip(theta - 0.3 * force * (1 - theta**2), -wall, wall), atol=1e-12)
    assert (np.abs(after) < wall).mean() > 0.5


def columns_of_x(problem, x):
    return estimate_columns(problem.y, problem.x0, problem.signs, x, problem.forward(x), 0.02)


def test_columns_of_an_estimate():
    row = agree(columns_of_x, X)
    assert row.keys() == {"mse_y", "m", "O", "energy", "q1"}
    row = agree(columns_of_x, in_other_units().normalised.x0)
    assert (row["m"], row["O"]) == (pytest.approx(1), 1)
    unknown = agree(columns_of_x, X, problem=Instance(PROBLEM.A, PROBLEM.y))
    assert {name for name, value in unknown.items() if np.isnan(value)} == {"m", "O"}


def columns_of_signs(problem, signs, lam):
    """By way of v, and by way of copies."""
    ridge, overlap = problem.ridge.at(lam), sign_overlap(problem.signs, signs)
    copies = ridge.copies(signs)
    both = ridge.regress(signs * problem.y), ridge.regressed(copies)
    columns = [sign_columns(found, overlap, problem.m_rows, problem.n) for found in both]
    return columns, ridge.energies(copies), ridge.estimate(signs[0] * problem.y), 1.0 * copies.signs


@pytest.mark.parametrize("lam", [0.0, 0.05, 2.0])
def test_columns_of_signs(lam):
    (by_v, by_copies), energies, x, signs = agree(columns_of_signs, SIGNS, lam)
    np.testing.assert_array_equal(signs, SIGNS)
    for name, column in by_v.items():
        np.testing.assert_allclose(by_copies[name], column, rtol=1e-9, atol=1e-11, err_msg=name)
    np.testing.assert_allclose(energies / N, by_v["energy"], atol=1e-12)
    own = in_other_units().normalised
    residual = SIGNS[0] * own.y - own.forward(x)
    assert by_v["mse_y"][0] == pytest.approx(np.mean(residual**2))
    assert energies[0] == pytest.approx(np.sum(residual**2) + lam / 2 * np.sum(x**2))
    if lam == 0:
        assert by_v["m"][-1] == pytest.approx(1)


def fit(problem, targets, x):
    """Two systems, of which one is not to be solved as far."""
    return least_squares(problem.linear, Systems(targets, x, namespace(problem.y).asarray([1e-10, 1e-8])))[0]


def fit_and_mend(problem, target, x):
    return least_squares(problem.linear, Systems(target, x, namespace(problem.y).asarray([1e-10])), mend=True)[0]


def test_least_squares():
    own = in_other_units().normalised
    targets = SIGNS[:2] * own.y
    found = agree(fit, targets, np.stack([X, 0 * X]), error=1e-6)  # each stops where its gradient is small enough
    A = own.scale[:, None] * own.matrix.entries()
    for x, target, error in zip(found.x, targets, (1e-8, 1e-6), strict=True):
        np.testing.assert_allclose(x, np.linalg.lstsq(A, target, rcond=None)[0], atol=error)


def test_least_squares_with_mending():
    """Wrong signs at the two smallest measurements."""
    own = in_other_units().normalised
    wrong = own.signs.copy()
    wrong[np.argsort(own.y)[:2]] *= -1
    found = agree(fit_and_mend, (wrong * own.y)[None], 0 * X[None], error=1e-8)
    np.testing.assert_array_equal(np.sign(found.target[0]), own.signs)
    np.testing.assert_allclose(found.x[0], own.x0, atol=1e-8)


def in_roundings(refine):
    """What is left is rounding, and that is another on each backend: its size alone is compared."""

    def refined(problem, start):
        answer = refine(problem, start)
        return answer._replace(excess=answer.excess < 16)

    return refined


def test_the_answer():
    own = in_other_units().normalised
    poor = agree(take_as_it_is, X)
    assert poor.excess > 1e9
    np.testing.assert_array_equal(agree(refine_estimate, X).x, X)  # nothing to refine
    for answer in (
        agree(in_roundings(refine_estimate), own.x0 + 1e-3 * X, error=1e-8),
        agree(in_roundings(refine_signs), own.signs, error=1e-8),
    ):
        np.testing.assert_allclose(answer.x, own.x0, atol=1e-8)
        np.testing.assert_array_equal(answer.signs, own.signs)
        assert answer.fit < 1e-18
        assert answer.excess
    found = agree(truth, own.x0, own.signs)
    assert found == {"m": pytest.approx(1), "O": 1, "mse_x": pytest.approx(0, abs=1e-20)}


def asked(problem, probe):
    """What is missed of a point that is found is rounding, and is another on each backend."""
    found = examine(problem, probe)
    return found._replace(unseen=found.unseen * ~found.full_rank, steps=0)


def test_what_the_certificate_asks():
    own = in_other_units().normalised
    support = agree(asked, probes(0, own.m_rows, own.n), error=1e-6)
    assert support.full_rank
    assert support.linked
    A = own.scale[:, None] * own.matrix.entries()
    K = A @ np.linalg.pinv(A)
    for i in (0, ROWS - 1):
        np.testing.assert_allclose(agree(influence, i, error=1e-6), K[:, i], atol=1e-6)
    A = PROBLEM.A.copy()
    A[:, 4] = A[:, 17]
    assert not agree(asked, probes(0, own.m_rows, own.n), problem=Instance(A, PROBLEM.y), error=1e-6).full_rank


def iterate(problem, beliefs, mu, lam, psi):
    return problem.with_message_pass(False, partial(iteration, beliefs, mu, lam, psi))


@pytest.mark.parametrize("noise", [None, np.geomspace(1e-3, 1e-1, ROWS)], ids=["even rows", "uneven rows"])
def test_an_iteration_of_message_passing(noise):
    """From somewhere on the way, each quantity different from any other; and the formula, written out."""
    old, mu, lam, psi = Beliefs(X, np.float64(0.7), np.float64(0.9), W, G, Z), 900.0, 2e-3, 0.3
    problem = in_other_units().with_noise(noise)
    new = agree(iterate, old, mu, lam, psi, problem=problem)
    own = problem.normalised
    A, y = own.scale[:, None] * own.matrix.entries(), own.y
    rho = 1.0 if noise is None else (A**2).sum(axis=1)
    Vd = 0.7 * 0.7 + 0.3 * 0.9
    c = 1 / (1 / (2 * mu) + rho * Vd)
    w = 0.7 * (A @ X - 0.7 * rho * G) + 0.3 * W
    g = c * (y * np.tanh(c * y * w) - w)
    chi = np.sum(rho * (c - (c * y) ** 2 / np.cosh(c * y * w) ** 2)) / N
    x = (A.T @ g + max(chi, 0) * X) / (mu * lam + max(chi, 0))
    expected = Beliefs(x, 1 / (mu * lam + max(chi, 0)), Vd, w, g, A @ X)
    for name, one, other in zip(Beliefs._fields, new, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10, err_msg=name)


def propagated(problem, drawn, stretch):
    solver = BeliefPropagation()
    return solver.advance(problem, solver.start(problem, drawn, *stretch[:2], None), stretch).x


def test_belief_propagation():
    """Some iterations: by a list of the entries that are not zero, and by all entries in their places."""
    solver, plan = BeliefPropagation(), Schedule([3.0], [0.4], steps=5, unit="iterations")
    A = PROBLEM.A * (np.random.default_rng(1).random(PROBLEM.A.shape) < 0.3)
    problem = Instance(A, np.abs(A @ PROBLEM.x0))
    drawn = solver.draw(np.random.default_rng(0), ROWS, N, plan, 0)
    x = agree(propagated, drawn, Stretch(np.array([3.0]), np.array([0.4]), 5), problem=problem)
    assert 0.01 < np.std(x) < 10


def shown(problem, beliefs, mu, lam):
    eigenvalues, node = Eigenvalues(np.linspace(0.2, 3, N), np.ones(N)), problem.gaussian_node
    new, z = vector_iteration(beliefs, mu, lam, 0.3, problem.y, problem.powers, eigenvalues, node, GAUSSIAN)
    return new.h, new.g, noise_shown(beliefs, z, new.v, problem.y, problem.powers, 1 / (2 * mu))


def test_the_noise_that_vector_message_passing_shows_on_uneven_rows(monkeypatch):
    monkeypatch.setattr(in_memory, "WORTH_AN_SVD", 0)
    monkeypatch.setattr(vector_iteration_module, "ENOUGH", 1e-9)
    problem = in_other_units().with_noise(np.geomspace(1e-3, 1e-1, ROWS))
    beliefs = VectorBeliefs(Z, np.float64(0.7), np.float64(0.9), X, ())
    agree(shown, beliefs, 20.0, 0.05, problem=problem, error=1e-6)
