"""Complex A from end to end: what is found, what is said of it, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator

from phaselect import (
    AMP,
    DataWarning,
    InputError,
    Instance,
    PopulationAnnealing,
    Status,
    VectorMessagePassing,
    operators,
    solve,
)
from phaselect.backends.host.dense import Dense
from phaselect.equations.arrays import inner
from phaselect.equations.least_squares import Systems, least_squares
from phaselect.equations.signs import mse_x
from phaselect.problem.data_files import load
from phaselect.problem.likeness import likeness
from phaselect.problem.suspicions import suspicions
from phaselect.solvers import phases
from phaselect.solvers.phases import locality, refined, tangent

N = 40


def draw(seed, m_rows, real=False, n=N, noise=0.0):
    rng = np.random.default_rng(seed)
    A = (rng.standard_normal((m_rows, n)) + 1j * rng.standard_normal((m_rows, n))) / np.sqrt(2 * n)
    x0 = rng.standard_normal(n) + (0 if real else 1j * rng.standard_normal(n))
    x0 /= np.sqrt(np.mean(np.abs(x0) ** 2))
    y = np.abs(np.abs(A @ x0) + np.sqrt(noise) * rng.standard_normal(m_rows))
    return Instance(A, y, x0, real=real)


@pytest.mark.parametrize(("real", "m_rows"), [(False, 140), (True, 70)])
@pytest.mark.parametrize("solver", [AMP(), VectorMessagePassing()], ids=lambda one: one.name)
def test_message_passing_finds_x_up_to_its_phase(solver, real, m_rows):
    problem = draw(1, m_rows, real)
    result = solver.run(problem)
    assert result.status is Status.LOCALLY_UNIQUE
    assert not result.certified
    assert result.truth["mse_x"] < 1e-28
    assert result.truth["m"] == pytest.approx(1)
    assert result.truth["O"] == pytest.approx(1)
    assert result.x.dtype == (np.float64 if real else np.complex128)
    np.testing.assert_allclose(result.phases * problem.y, problem.A @ result.x, rtol=1e-10)
    least, enough = (41, 79) if real else (80, 156)
    assert f"M = {m_rows}" in result.message
    assert f"= {least} are needed" in result.message
    assert f"= {enough} are enough" in result.message


def test_units_and_phase_do_not_matter():
    """y -> c y scales x by c; a turn of x0 changes nothing."""
    problem = draw(2, 140)
    turned = Instance(problem.A, problem.y, problem.x0 * np.exp(1j))
    scaled = Instance(problem.A, 1e3 * problem.y)
    one, other, large = (solve(given, solver=VectorMessagePassing(restarts=0)) for given in (problem, turned, scaled))
    np.testing.assert_array_equal(one.x, other.x)
    assert one.truth["mse_x"] == pytest.approx(other.truth["mse_x"], abs=1e-28)
    np.testing.assert_allclose(large.x * np.exp(-1j * np.angle(np.vdot(one.x, large.x))), 1e3 * one.x, rtol=1e-9)


def test_a_pair_of_products_and_a_sparse_matrix_do_as_well():
    from scipy.sparse import csr_array

    problem = draw(3, 160)
    pair = (lambda x: problem.A @ x, lambda z: problem.A.conj().T @ z)
    for A in (pair, csr_array(problem.A), problem.A.astype(np.complex64)):
        result = solve(
            A, np.abs(problem.A.astype(np.complex64) @ problem.x0) if not isinstance(A, tuple) else problem.y
        )
        assert result.status in (Status.LOCALLY_UNIQUE, Status.INEXACT)
        assert abs(np.vdot(result.x, problem.x0)) / N == pytest.approx(1, abs=1e-4)


def test_an_operator_of_pylops():
    """Three coded patterns, as a chain of its own operators."""
    pylops = pytest.importorskip("pylops")
    rng = np.random.default_rng(4)
    masks = np.exp(2j * np.pi * rng.random((3, 96)))
    transform = pylops.signalprocessing.FFT(96, norm="ortho", dtype=np.complex128)
    A = pylops.VStack([transform * pylops.Diagonal(mask) for mask in masks])
    x0 = rng.standard_normal(96) + 1j * rng.standard_normal(96)
    result = solve(A, np.abs(A @ x0))
    assert result.status is Status.LOCALLY_UNIQUE
    assert abs(np.vdot(result.x, x0)) == pytest.approx(np.linalg.norm(x0) ** 2)


def test_the_derivative_is_that_of_the_magnitudes():
    problem = draw(4, 90).normalised
    rng = np.random.default_rng(0)
    x, d, r = (
        rng.standard_normal(N) + 1j * rng.standard_normal(N),
        rng.standard_normal(N) + 0.5j,
        rng.standard_normal(90),
    )
    linear, left = tangent(problem, x)
    step = 1e-6
    difference = (abs(problem.forward(x + step * d)) - abs(problem.forward(x - step * d))) / (2 * step)
    np.testing.assert_allclose(linear.forward(d), difference, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(left, problem.y - abs(problem.forward(x)))
    assert inner(linear.adjoint(r), d) == pytest.approx(r @ linear.forward(d))
    np.testing.assert_allclose(linear.forward(1j * x), 0, atol=1e-12)


def test_small_measurements_hardly_count_while_x_is_unsure():
    problem = draw(4, 90).normalised
    (linear, left), (weighted, less) = (tangent(problem, problem.x0 + 0.01, unsure) for unsure in (0.0, 0.5))
    z, d = abs(problem.forward(problem.x0 + 0.01)), np.ones(N) + 1j
    weights = z / np.sqrt(z**2 + 0.25)
    np.testing.assert_allclose(less, weights * left)
    np.testing.assert_allclose(weighted.forward(d), weights * linear.forward(d))


def test_a_few_small_measurements_do_not_hold_up_the_others(monkeypatch):
    """Of thousands some are as small as the error, and the method of Newton stays one."""
    A = operators.coded_diffraction((64, 64), 3, seed=9)
    rng = np.random.default_rng(9)
    x0, noise = (rng.standard_normal(64**2) + 1j * rng.standard_normal(64**2) for _ in range(2))
    problem = Instance(A, np.abs(A @ x0), x0).normalised
    rounds, honest = [], phases.correction

    def counted(*given):
        rounds.append(1)
        return honest(*given)

    monkeypatch.setattr(phases, "correction", counted)
    x, _ = refined(problem, problem.x0 + 1e-2 * noise, 1e-3)
    assert mse_x(problem.x0, x) < 1e-29
    assert len(rounds) <= 4
    rounds.clear()
    x, _ = refined(problem._replace(rounding=np.float64(1e-6)), problem.x0 + 1e-3 * noise, 1e-3)
    assert mse_x(problem.x0, x) < 1e-10
    assert len(rounds) <= 2


def test_where_few_digits_gain_nothing_more_are_taken(monkeypatch):
    """As on a device of which single precision is no help."""
    problem, honest, levels = draw(5, 100).normalised, phases.correction, []

    def in_vain(linear, level, *given):
        levels.append(int(level))
        step, spectrum = honest(linear, level, *given)
        return (0 * step if level == 0 else step), spectrum

    monkeypatch.setattr(phases, "_levels", lambda problem: 2)
    monkeypatch.setattr(phases, "correction", in_vain)
    x, _ = refined(problem, problem.x0 + 0.01, 1e-3)
    assert mse_x(problem.x0, x) < 1e-28
    point = np.random.default_rng(0).standard_normal(N)
    assert locality(problem, problem.x0, point, np.True_).unique
    assert levels.count(0) == 2


def test_the_turn_of_all_phases_is_not_missed(monkeypatch):
    """Least squares cannot tell it, and rounding adds to it."""
    problem, honest = draw(7, 100).normalised, phases.correction

    def turned(*given):
        step, spectrum = honest(*given)
        return step + 1e-3j * problem.x0, spectrum

    monkeypatch.setattr(phases, "correction", turned)
    assert locality(problem, problem.x0, np.random.default_rng(0).standard_normal(N), np.True_).unique


def test_least_squares_of_pairs():
    """Against the real matrix that the derivative is."""
    problem = draw(4, 90).normalised
    linear, left = tangent(problem, problem.x0 + 0.01)
    columns = [linear.forward(u) for u in (*np.eye(N), *(1j * np.eye(N)))]
    expected = np.linalg.lstsq(np.stack(columns, axis=1), left, rcond=1e-10)[0]
    systems = Systems(left[None], np.zeros((1, N), complex), np.array([1e-13]))
    found = least_squares(linear, systems)[0].x[0]
    np.testing.assert_allclose(np.concatenate([found.real, found.imag]), expected, atol=1e-8)


@pytest.mark.parametrize(("real", "m_rows"), [(False, 100), (True, 60)])
def test_an_estimate_is_refined_to_all_digits(real, m_rows):
    problem = draw(5, m_rows, real).normalised
    rng = np.random.default_rng(0)
    x, worth = refined(problem, problem.x0 + 0.01 * rng.standard_normal(N), 1e-3)
    assert worth
    phase = np.vdot(x, problem.x0)
    np.testing.assert_allclose(x * phase / abs(phase), problem.x0, rtol=1e-9, atol=1e-11)
    poor = problem.x0 + 1.0
    kept, worth = refined(problem, poor, 1e-3)
    assert not worth
    np.testing.assert_array_equal(kept, poor)


def test_what_can_be_turned_by_itself_is_not_unique():
    """Two groups of unknowns that share no measurement have phases of their own."""
    A = draw(6, 160).A.copy()
    A[:80, :20] = 0
    A[80:, 20:] = 0
    x0 = draw(6, 160).x0
    problem = Instance(A, np.abs(A @ x0), x0)
    found = locality(problem.normalised, problem.normalised.x0, np.random.default_rng(0).standard_normal(N), np.True_)
    assert found.unseen
    assert not found.unique
    result = VectorMessagePassing().run(problem, init=x0)
    assert result.status is Status.UNCERTIFIED
    assert "x can be changed with hardly any magnitude noticing" in result.message


def test_no_direction_is_missed_however_rough_the_check(monkeypatch):
    """As rough as on a device: one null direction among many, and a random point has a share of about one of it."""
    monkeypatch.setattr(Dense, "accuracy", Dense.accuracy._replace(null=1e-3))
    rng = np.random.default_rng(0)
    A = draw(6, 160).A.copy()
    A[:80, :20] = 0
    A[80:, 20:] = 0
    problem = Instance(A, np.abs(A @ draw(6, 160).x0), draw(6, 160).x0).normalised
    points = rng.standard_normal((60, N))
    assert not any(locality(problem, problem.x0, point, np.True_).unique for point in points)


def test_few_measurements_leave_room():
    """Below 2N - 1 of them, a whole space of x."""
    problem = draw(7, 70).normalised
    point = np.random.default_rng(0).standard_normal(N)
    assert locality(problem, problem.x0, point, np.True_).unseen
    assert locality(draw(7, 90).normalised, draw(7, 90).normalised.x0, point, np.True_).unique


def test_the_locality_is_the_rank_of_the_derivative():
    for m_rows in (76, 78, 79, 82, 100):
        problem = draw(8, m_rows).normalised
        linear, _ = tangent(problem, problem.x0)
        columns = np.stack([linear.forward(u) for u in (*np.eye(N), *(1j * np.eye(N)))], axis=1)
        nullity = 2 * N - np.linalg.matrix_rank(columns, tol=1e-9)
        found = locality(problem, problem.x0, np.random.default_rng(1).standard_normal(N), np.True_)
        assert found.unique == (nullity == 1)


@pytest.mark.parametrize(("real", "m_rows"), [(False, 200), (True, 110)])
def test_noise_is_learned_and_error_bars_hold(real, m_rows):
    noise, seeds = 1e-2, range(2)
    ratios, learned = [], []
    for seed in seeds:
        problem = draw(seed, m_rows, real, noise=noise)
        result = solve(problem, noise="auto")
        assert result.status is Status.ESTIMATE
        phase = np.vdot(result.x, problem.x0)
        error = np.abs(result.x * phase / abs(phase) - problem.x0)
        ratios.append(np.mean(error**2) / np.mean(result.x_std**2))
        learned.append(result.noise)
    assert 0.7 < np.mean(ratios) < 1.4
    assert np.mean(learned) == pytest.approx(noise, rel=0.35)  # two estimates, each to about 17 %


def test_photon_counts():
    rng = np.random.default_rng(0)
    A = operators.coded_diffraction((12, 12), 6)
    x0 = 30 * (rng.standard_normal(144) + 1j * rng.standard_normal(144))
    result = solve(A, counts=rng.poisson(np.abs(A @ x0) ** 2))
    assert result.status is Status.ESTIMATE
    assert result.noise == 0.25
    phase = np.vdot(result.x, x0)
    error = np.abs(result.x * phase / abs(phase) - x0)
    assert np.mean(error**2) == pytest.approx(np.mean(result.x_std**2), rel=0.4)


def test_nothing_is_no_estimate():
    """What is left of y may be its noise, and no more: zero leaves all of it."""
    rng = np.random.default_rng(0)
    A = operators.coded_diffraction((8, 6), 4)
    x0 = 0.55 * (rng.standard_normal(48) + 1j * rng.standard_normal(48))
    with pytest.warns(DataWarning, match="photons per measurement are few"):
        result = solve(A, counts=rng.poisson(np.abs(A @ x0) ** 2))
    assert result.status is Status.POOR_ESTIMATE


def test_an_operator_that_says_it_is_complex_is():
    rng = np.random.default_rng(3)
    B, x0 = rng.standard_normal((200, N)), rng.standard_normal(N) + 1j * rng.standard_normal(N)
    A = LinearOperator((200, N), matvec=lambda x: B @ x, rmatvec=lambda z: B.T @ z, dtype=np.complex128)
    assert solve(A, np.abs(B @ x0)).status is Status.LOCALLY_UNIQUE
    with pytest.warns(DataWarning, match="x and its conjugate fit alike"):
        solve(B.astype(complex), np.abs(B @ x0))


@pytest.mark.parametrize(("real", "m_rows"), [(False, 500), (True, 260)])
def test_iid_entries_look_so(real, m_rows):
    assert likeness(draw(0, m_rows, real, n=200).normalised).unlike_iid == ""


def test_intensities_are_noticed():
    problem = draw(0, 400)
    assert suspicions(problem) == ()
    (line,) = suspicions(Instance(problem.A, problem.y**2))
    assert "looks like intensities" in line
    assert "of magnitudes it would be 0.79" in line


def test_a_single_unknown_and_a_single_bright_pixel():
    """The one is found though all measurements are alike; of the other any pixel would do, and that is said."""
    A = operators.coded_diffraction(1, 4)
    result = solve(A, np.abs(A @ [2 - 1j]))
    assert result.status is Status.LOCALLY_UNIQUE
    assert abs(result.x[0]) == pytest.approx(5**0.5)
    A, x0 = operators.coded_diffraction((8, 8), 4), np.zeros(64)
    x0[5] = 3
    np.testing.assert_allclose(np.abs(A @ x0), np.abs(A @ np.roll(x0, 7)))
    (line,) = suspicions(Instance(A, np.abs(A @ x0)))
    assert "all measurements are the same" in line


def test_what_is_refused():
    problem = draw(0, 79)
    with pytest.raises(InputError, match="below 2N; add measurements, or, if x is real, say so: real=True"):
        solve(problem.A, problem.y)
    enough = draw(0, 120)
    with pytest.raises(InputError, match="pa is for signs, and A is complex: use vmp"):
        PopulationAnnealing(10).run(enough)
    with pytest.raises(InputError, match="x is complex, and priors are of real numbers"):
        solve(enough.A, enough.y, prior="sparse")
    with pytest.raises(InputError, match="counts are in the place of y"):
        solve(enough.A, enough.y, counts=enough.y)
    with pytest.raises(InputError, match=r"counts\[0\] = -1 is negative"):
        solve(enough.A, counts=-np.ones(120))
    with pytest.raises(InputError, match="x0 is complex"):
        Instance(enough.A.real, enough.y, enough.x0)
    with pytest.raises(InputError, match="y is complex"):
        Instance(enough.A, enough.y * 1j)
    with pytest.raises(InputError, match="says itself if x is real"):
        solve(enough, real=True)
    with pytest.raises(InputError, match="init is complex, and x is real"):
        VectorMessagePassing().run(draw(0, 70, real=True), init=draw(0, 70).x0)
    with pytest.raises(InputError, match=r"x0\[1\] is .* must be finite"):
        Instance(enough.A, enough.y, np.where(np.arange(N) == 1, complex(0, np.inf), 1.0))
    with pytest.raises(InputError, match="real = 'no': say True if x is real"):
        Instance(enough.A, enough.y, real="no")
    with pytest.raises(InputError, match="real=True is said when an Instance is made"):
        replace(enough, A=enough.matrix, real=True)
    with pytest.raises(InputError, match="mask 1 lets no light through"):
        operators.masked_fourier(np.stack([np.ones(5), np.zeros(5)]))
    with pytest.raises(InputError, match="must all be real, or all complex"):
        AMP().run_batch([enough, Instance(enough.A.real, enough.y)])


def test_a_real_signal_may_have_a_prior():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, N)) + 1j * rng.standard_normal((60, N))
    x0 = np.abs(rng.standard_normal(N))
    result = solve(A, np.abs(A @ x0), real=True, prior="nonnegative")
    np.testing.assert_allclose(result.x, x0, rtol=1e-8)


def test_files_and_json(tmp_path):
    problem = draw(9, 70, real=True)
    problem.save(tmp_path / "p.npz")
    again = load(tmp_path / "p.npz")
    assert repr(again) == "Instance(M=70, N=40, alpha=1.75, complex A, real x, x0 known)"
    np.testing.assert_array_equal(again.A, problem.A)
    draw(9, 130).save(tmp_path / "c.npz")
    again = load(tmp_path / "c.npz")
    assert repr(again) == "Instance(M=130, N=40, alpha=3.25, complex, x0 known)"
    written = json.loads(solve(again).to_json())
    assert np.shape(written["x"]) == (N, 2)
    assert np.shape(written["signs"]) == (130, 2)


@pytest.mark.parametrize(("real", "patterns"), [(False, 3), (True, 2)])
@pytest.mark.parametrize("masks", ["phase", "octanary"])
def test_coded_diffraction(real, patterns, masks):
    shape = (24, 20)
    A = operators.coded_diffraction(shape, patterns + (masks == "octanary"), seed=3, masks=masks)
    rng = np.random.default_rng(1)
    x0 = rng.standard_normal(480) + (0 if real else 1j * rng.standard_normal(480))
    result = solve(Instance(A, np.abs(A @ x0), x0, real=real))
    assert result.status is Status.LOCALLY_UNIQUE
    assert result.solver == "vmp"
    assert "diagonal" in result.stages[0].why
    assert result.truth["mse_x"] < 1e-27


def test_measurements_may_be_left_out():
    """Then nothing is diagonal, and conjugate gradients do it."""
    rng = np.random.default_rng(2)
    whole = operators.coded_diffraction((16, 12), 4)
    A = operators.keep_rows(whole, rng.permutation(768)[:600])
    x0 = rng.standard_normal(192) + 1j * rng.standard_normal(192)
    result = solve(Instance(A, np.abs(A @ x0), x0))
    assert result.status is Status.LOCALLY_UNIQUE
    assert result.truth["mse_x"] < 1e-26


@pytest.mark.slow
def test_a_device_finds_the_same():
    """Slow to compile; parts of it are tested alone, and all of it on a GPU."""
    pytest.importorskip("jax")
    problem, A = draw(1, 140), operators.coded_diffraction((8, 8), 4)
    x0 = np.random.default_rng(0).standard_normal(64) + 1j
    diffraction = Instance(A, np.abs(A @ x0), x0)
    for given, dtype in ((problem, "float64"), (diffraction, "float32")):
        result = VectorMessagePassing(restarts=0).run(given.to_device("cpu", dtype))
        assert result.status is Status.LOCALLY_UNIQUE
        assert result.truth["mse_x"] < 1e-26
