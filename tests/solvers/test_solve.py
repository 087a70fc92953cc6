import numba
import numpy as np
import pytest
from phaselect.problem.observables import mse_x, overlap

from phaselect import InputError, Instance, Status, gaussian_instance, solve


def correlated(n, alpha, seed, correlation=0.9):
    """Rows with an AR(1) covariance: neighbouring columns nearly parallel."""
    problem = gaussian_instance(n, alpha, seed=seed)
    covariance = correlation ** np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    A = problem.A @ np.linalg.cholesky(covariance).T
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


def shifted(n, alpha, seed):
    """A common mean in all entries: message passing diverges."""
    problem = gaussian_instance(n, alpha, seed=seed)
    A = problem.A + 1.0
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


def with_outliers(n, alpha, seed):
    """Five rows thirty times larger than the rest."""
    problem = gaussian_instance(n, alpha, seed=seed)
    A = problem.A.copy()
    A[:5] *= 30
    return Instance(A, np.abs(A @ problem.x0), problem.x0)


@pytest.mark.parametrize("make", [correlated, shifted, with_outliers])
def test_matrices_that_are_not_iid(make):
    for seed in range(2):
        problem = make(100, 2.0, seed)
        result = solve(problem.A, problem.y, seed=seed)
        assert result.status is Status.RECOVERED
        sign = np.sign(problem.x0 @ result.x)
        np.testing.assert_allclose(sign * result.x, problem.x0, atol=1e-7)


def test_below_message_passing_the_annealers_take_over():
    found = {solve(p.A, p.y, seed=1).solver for p in (gaussian_instance(100, 1.15, seed=s) for s in range(6))}
    assert "pa" in found


def test_units_are_the_user_s():
    problem = gaussian_instance(60, 1.6, seed=0)
    result = solve(1e-7 * problem.A, 1e5 * problem.y)
    assert result.certified
    assert overlap(1e12 * problem.x0, result.x) == pytest.approx(1)


def test_lists_integers_and_other_orders_are_fine():
    rng = np.random.default_rng(0)
    A, x0 = rng.integers(-9, 10, (30, 12)), rng.integers(-5, 6, 12)
    for matrix in (A, A.tolist(), np.asfortranarray(A), A.astype(np.float32), A.astype(">f8")):
        result = solve(matrix, np.abs(A @ x0))
        assert result.certified
        assert mse_x(x0, result.x) < 1e-20


@pytest.mark.parametrize("noise", [1e-4, 1e-3])
def test_noisy_data(noise):
    """No certificate, and an error in x of the order of the noise: sigma^2/(alpha - 1) for known signs."""
    for seed in range(3):
        problem = gaussian_instance(200, 1.6, seed=seed, noise=noise)
        result = solve(problem.A, problem.y, seed=seed, noise=noise)
        assert result.status is Status.ESTIMATE
        assert not result.certified
        assert mse_x(problem.x0, result.x) < 2 * noise / 0.6
        if result.solver == "amp":
            assert result.schedule.mu[-1] == pytest.approx(np.mean(problem.y**2) / (2 * noise))


def test_ignoring_noise_gives_no_certificate():
    problem = gaussian_instance(100, 1.5, seed=0, noise=1e-4)
    assert not solve(problem.A, problem.y, time_limit=2).certified


def test_what_cannot_be_determined_is_not_claimed():
    problem = gaussian_instance(50, 1.8, seed=0)
    twins = problem.A.copy()
    twins[:, 1] = twins[:, 0]
    blocks = np.kron(np.eye(2), problem.A)
    for A, x0 in ((twins, problem.x0), (blocks, np.tile(problem.x0, 2))):
        result = solve(A, np.abs(A @ x0))
        assert result.status is Status.AMBIGUOUS
        assert not result.certified
        assert result.mse_y < 1e-20


def test_zeros_in_the_data_do_no_harm():
    problem = gaussian_instance(60, 1.8, seed=0)
    A = problem.A.copy()
    A[3] -= (A[3] @ problem.x0) * problem.x0 / (problem.x0 @ problem.x0)
    A[5] = 0
    y = np.abs(A @ problem.x0)
    y[3] = 0
    assert solve(A, y).certified


def test_the_smallest_problems():
    rng = np.random.default_rng(0)
    for m_rows, n in ((2, 1), (3, 2), (5, 2), (7, 5)):
        A, x0 = rng.standard_normal((m_rows, n)), rng.standard_normal(n)
        result = solve(A, np.abs(A @ x0))
        assert result.mse_y < 1e-20
        if result.certified:
            assert mse_x(x0, result.x) < 1e-12


@pytest.mark.parametrize("noise", [1e-10, 1e-12, 1e-14])
def test_tiny_noise(noise):
    problem = gaussian_instance(100, 1.6, seed=0, noise=noise)
    result = solve(problem.A, problem.y, noise=noise)
    assert result.status is Status.ESTIMATE
    assert result.solver == "amp"  # followed to the end of its schedule, it needs no population to rescue it
    assert mse_x(problem.x0, result.x) < 3 * noise / 0.6


def test_rounded_data_are_recognised():
    problem = gaussian_instance(100, 1.5, seed=0)
    result = solve(problem.A, np.round(problem.y, 3))
    assert result.status is Status.INEXACT
    assert mse_x(problem.x0, result.x) < 1e-5


def test_an_interrupt_in_the_svd_keeps_what_message_passing_had(monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    problem = gaussian_instance(60, 1.05, seed=0)
    monkeypatch.setattr(np.linalg, "svd", interrupted)
    result = solve(problem.A, problem.y)
    assert result.status is Status.INTERRUPTED
    assert result.solver == "amp"


def test_time_limit_and_interrupt():
    problem = gaussian_instance(300, 1.02, seed=0)
    result = solve(problem.A, problem.y, time_limit=1.0)
    assert result.status is Status.TIME_LIMIT
    assert 1.0 <= result.seconds < 4.0
    assert solve(problem.A, problem.y, time_limit=0.05).status is Status.TIME_LIMIT

    def interrupt(event):
        if event.solver == "pa":
            raise KeyboardInterrupt

    result = solve(problem.A, problem.y, progress=interrupt)
    assert result.status is Status.INTERRUPTED
    assert np.isfinite(result.x).all()


def test_same_seed_same_answer_on_any_number_of_threads():
    problem = gaussian_instance(100, 1.15, seed=3)
    threads = numba.get_num_threads()
    answers = []
    try:
        for count in (1, threads):
            numba.set_num_threads(count)
            answers.append(solve(problem.A, problem.y, seed=4))
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(answers[0].x, answers[1].x)
    assert answers[0].steps == answers[1].steps


def test_bad_arguments():
    problem = gaussian_instance(10, 1.5, seed=0)
    for options in (
        {"noise": -1},
        {"noise": np.nan},
        {"noise": 100.0},
        {"noise": [1]},
        {"time_limit": 0},
        {"time_limit": [1]},
        {"seed": 1.5},
    ):
        with pytest.raises(InputError):
            solve(problem.A, problem.y, **options)
    with pytest.raises(InputError, match="complex"):
        solve(problem.A * 1j, problem.y)
