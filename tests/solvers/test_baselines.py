"""Baselines, in all fields: the spectral start, the gradients, and how many measurements each needs."""

import numpy as np
import pytest

from phaselect import (
    AlternatingMinimisation,
    InputError,
    Instance,
    ReweightedAmplitudeFlow,
    Schedule,
    WirtingerFlow,
    gaussian_instance,
    operators,
)
from phaselect.equations.arrays import inner
from phaselect.equations.fields import COMPLEX, REAL, REAL_SIGNAL
from phaselect.equations.signs import overlap
from phaselect.solvers.baselines.spectral import preprocessed, spectral_initialisation

START = np.random.default_rng(0).standard_normal(400)
FIELDS = [REAL, COMPLEX, REAL_SIGNAL]
SOLVERS = [WirtingerFlow(), ReweightedAmplitudeFlow(), AlternatingMinimisation()]
FLOWS = SOLVERS[:2]

every_field = pytest.mark.parametrize("field", FIELDS, ids=["real", "complex", "real signal"])
every_baseline = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)


def drawn(dtype, shape, seed):
    rng = np.random.default_rng(seed)
    real = rng.standard_normal(shape)
    return real if dtype == "float64" else (real + 1j * rng.standard_normal(shape)) / np.sqrt(2)


def gaussian(field, n, alpha, seed):
    """An instance with iid Gaussian A and x of any field."""
    A, x0 = drawn(field.z, (round(alpha * n), n), seed), drawn(field.x, n, seed + 1000)
    return Instance(A, np.abs(A @ x0), x0, real=field == REAL_SIGNAL)


def found(solver, problem, **options):
    """Is the signal found, to a relative error of 1e-5?"""
    return solver.run(problem, **options).truth["mse_x"] < 1e-10


@every_field
@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_spectral_estimate_against_a_dense_eigensolver(field, n):
    problem = gaussian(field, n, 6, seed=0)
    A, y = problem.normalised.dense()
    matrix = A.conj().T @ (preprocessed(y, 6, field)[:, None] * A)
    leading = np.linalg.eigh(matrix.real if field == REAL_SIGNAL else matrix)[1][:, -1]
    x = spectral_initialisation(problem.normalised, START[:n])
    assert x.dtype == field.x
    assert abs(leading.conj() @ x) / np.sqrt(n) == pytest.approx(1, abs=1e-6)
    assert inner(x, x) == pytest.approx(n)


def test_published_preprocessing():
    y = np.array([0.3, 1.7])
    np.testing.assert_allclose(preprocessed(y, 3, REAL), (y**2 - 1) / (y**2 + np.sqrt(6) - 1))
    np.testing.assert_allclose(preprocessed(y, 3, COMPLEX), (y**2 - 1) / (y**2 + np.sqrt(3) - 1))


@every_field
def test_spectral_estimate_finds_the_direction_from_weak_recovery_on(field):
    """At N = 400 a random direction has an overlap of 0.05 or less."""
    weak = field.reals / 2
    below, above, far = (
        np.mean(
            [
                overlap(own.x0, spectral_initialisation(own, START))
                for own in (gaussian(field, 400, alpha * weak, seed).normalised for seed in range(3))
            ]
        )
        for alpha in (0.7, 2.5, 5)
    )
    assert below < 0.1
    assert above > 0.3
    assert far > 0.6


@pytest.mark.parametrize("unit", [1.0, 1j], ids=["real", "complex"])
def test_equal_magnitudes_tell_nothing_and_do_no_harm(unit):
    problem = Instance(unit * np.vstack([np.eye(30)] * 3), np.ones(90))
    assert spectral_initialisation(problem.normalised, START[:30]).dtype == problem.matrix.field.x
    for solver in SOLVERS:
        assert np.isfinite(solver.run(problem).x).all()


def test_bad_options():
    for options in ({"step_size": np.nan}, {"beta": 0}, {"step_size": "a"}):
        with pytest.raises(InputError, match="ReweightedAmplitudeFlow"):
            ReweightedAmplitudeFlow(**options)


# Derivatives along a direction: a Wirtinger gradient g, with respect to the conjugate of x, makes them `2 Re(g^H d)`.


@every_field
@pytest.mark.parametrize("solver", FLOWS, ids=lambda solver: solver.name)
def test_flows_follow_the_gradient_of_their_loss(solver, field):
    problem = gaussian(field, 12, 4, seed=3).normalised
    x, d, y = drawn(field.x, 12, 5), drawn(field.x, 12, 6), problem.y
    z = problem.forward(x)
    weights = 1.0 if solver.name == "wf" else solver.weights(z, y)  # held fixed in the loss of an iteration

    def loss(t):
        magnitude = np.abs(problem.forward(x + t * d))
        terms = (magnitude**2 - y**2) ** 2 if solver.name == "wf" else weights * (magnitude - y) ** 2
        return terms.sum() / 2

    slope = (loss(1e-5) - loss(-1e-5)) / 2e-5
    conjugate = 2 if solver.name == "wf" else 1
    assert conjugate * inner(problem.adjoint(solver.pull(z, y)), d) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("field", [REAL, COMPLEX], ids=["real", "complex"])
def test_published_steps(field):
    problem = gaussian(field, 10, 3, seed=0).normalised
    wf, raf = WirtingerFlow(), ReweightedAmplitudeFlow()
    assert wf.rate(problem, 1) == pytest.approx(1 - np.exp(-1 / 330))
    assert [wf.rate(problem, t) for t in (73, 74, 2500)] == [pytest.approx(1 - np.exp(-73 / 330)), 0.2, 0.2]
    assert raf.rate(problem, 1) == raf.rate(problem, 99) == (2 if field == REAL else 5)


@every_field
def test_alternating_minimisation_is_ridge_regression_of_the_phases(field):
    problem, lam = gaussian(field, 20, 3, seed=1), 0.3
    once = Schedule.fixed_lambda(lam, mu_max=1, steps=1, unit="iterations")
    state = AlternatingMinimisation().run(problem, once, init=drawn(field.x, 20, 2)).state
    A, y = problem.normalised.dense()
    z = A @ drawn(field.x, 20, 2)
    gram, back = A.conj().T @ A, A.conj().T @ (y * z / np.abs(z))
    if field == REAL_SIGNAL:
        gram, back = gram.real, back.real
    np.testing.assert_allclose(state.x, np.linalg.solve(gram + lam / 2 * np.eye(20), back), atol=1e-12)
    np.testing.assert_allclose(state.z, A @ state.x, atol=1e-12)


@every_field
@every_baseline
def test_the_truth_is_a_fixed_point(solver, field):
    problem = gaussian(field, 20, 3, seed=1)
    once = Schedule.fixed_lambda(0.0, mu_max=1, steps=1, unit="iterations")
    state = solver.run(problem, once, init=problem.x0).state
    np.testing.assert_allclose(state.x, problem.normalised.x0, atol=1e-12)


@every_field
@every_baseline
def test_works_with_many_measurements_and_fails_with_few(solver, field):
    enough, too_few = {REAL: (7, 1.2), COMPLEX: (5, 2.1), REAL_SIGNAL: (4, 1.02)}[field]
    assert all(found(solver, gaussian(field, 60, enough, seed)) for seed in range(3))
    assert not any(found(solver, gaussian(field, 60, too_few, seed)) for seed in range(3))


def test_amplitude_flow_needs_least():
    """Real data, M = 2.5 N: those of the paper that introduced it."""
    problem = gaussian_instance(150, 2.5, seed=0)
    assert [found(solver, problem) for solver in SOLVERS] == [False, True, False]


@pytest.mark.parametrize("real", [False, True], ids=["complex", "real signal"])
@every_baseline
def test_coded_diffraction(solver, real):
    A = operators.coded_diffraction((12, 12), patterns=6, seed=0)
    x0 = drawn("float64" if real else "complex128", 144, 2)
    assert found(solver, Instance(A, np.abs(A @ x0), x0, real=real))


@every_baseline
def test_rows_of_an_operator_whose_entries_nobody_asks_for(solver, monkeypatch):
    """By conjugate gradients, where least squares is needed: what an SVD gives, and not by one."""
    from phaselect.backends.host import by_products

    whole = operators.coded_diffraction((8, 8), patterns=8, seed=0)
    A = operators.keep_rows(whole, np.arange(whole.shape[0]) % 5 != 0)
    x0 = drawn("complex128", 64, 2)
    once = Schedule.fixed_lambda(0.01, mu_max=1, steps=1, unit="iterations", hold=3)
    by_svd = solver.run(Instance(A @ np.eye(64), np.abs(A @ x0), x0), once, init=START[:64]).state
    monkeypatch.setattr(by_products, "ENTRIES_LIMIT", 10)
    problem = Instance(A, np.abs(A @ x0), x0)
    assert not problem.matrix.has_entries
    np.testing.assert_allclose(solver.run(problem, once, init=START[:64]).state.x, by_svd.x, atol=1e-6)
    assert found(solver, problem)


def test_a_flow_that_diverges_stops_and_keeps_what_it_had():
    problem = gaussian(REAL, 20, 3, seed=0)
    for start in (1e3, 1e90):
        result = WirtingerFlow().run(problem, init=start * problem.x0)
        assert result.status.name == "DIVERGED"
        assert np.isfinite(result.state.x).all()
