"""Noise that need not be known: learned where there is some, with its uncertainty, and absent where there is none."""

import numpy as np
import pytest

from phaselect import (
    AMP,
    InputError,
    Instance,
    Status,
    VectorMessagePassing,
    ensemble_instance,
    gaussian_instance,
    load,
    solve,
)
from phaselect.backends.host import in_memory
from phaselect.solvers.learned_noise import learn

NOISY = gaussian_instance(100, 2.5, seed=1, noise=0.01)


def near(result, variance, deviations=4):
    return abs(result.noise - variance) < deviations * result.noise_std


@pytest.mark.parametrize("variance", [0.1, 0.001])
@pytest.mark.parametrize("kind", ["gaussian", "toeplitz", "spectrum"])
def test_it_is_learned_with_its_uncertainty(kind, variance):
    result = solve(ensemble_instance(kind, 100, 3.0, seed=0, noise=variance), noise="auto")
    assert result.status is Status.ESTIMATE
    assert near(result, variance)
    assert 0.05 < result.noise_std / variance < 0.2  # sqrt(2/(M - N)) of it, a little more where signs are uncertain


def test_few_measurements_beyond_the_unknowns_do_not_make_it_larger():
    """With M - N < N the noise shown falls faster than the noise rises: steps must be shorter than that."""
    found = [learn(gaussian_instance(150, 1.5, seed=seed, noise=1e-3), 0)[0] for seed in range(5)]
    off = np.array([(one.noise - 1e-3) / one.std for one in found])
    assert all(one.sure for one in found)
    assert np.abs(off).max() < 3
    assert abs(off.mean()) < 3 / np.sqrt(5)


@pytest.mark.parametrize("unit", [1e-3, 1e5])
def test_it_is_in_the_units_of_the_data(unit):
    plain = solve(NOISY.A, NOISY.y, noise="auto")
    scaled = solve(unit**0.5 * NOISY.A, unit * NOISY.y, noise="auto")
    assert scaled.noise == pytest.approx(unit**2 * plain.noise, rel=1e-6)
    assert scaled.noise_std == pytest.approx(unit**2 * plain.noise_std, rel=1e-5)


def test_it_is_then_as_if_it_had_been_given():
    learned = solve(NOISY, noise="auto")
    given = solve(NOISY, noise=learned.noise)
    np.testing.assert_array_equal(learned.x, given.x)
    np.testing.assert_array_equal(learned.x_std, given.x_std)
    assert (given.noise, given.noise_std) == (learned.noise, None)
    assert [stage.why for stage in learned.stages][1] == "to learn the noise"


@pytest.mark.parametrize("problem", [gaussian_instance(50, 1.6, seed=0), ensemble_instance("sparse", 60, 2, seed=0)])
@pytest.mark.parametrize("solver", ["auto", "vmp", "pa"])
def test_exact_data_are_recovered_and_certified(problem, solver):
    result = solve(problem, noise="auto", solver=solver)
    assert result.certified
    assert (result.noise, result.noise_std, result.x_std) == (0.0, None, None)


def test_what_the_first_attempts_miss_may_still_be_exact():
    """Close to the limit a search that is stuck looks like noise, of which nobody can be sure: the search goes on."""
    problem = gaussian_instance(60, 1.25, seed=4)
    assert not AMP(restarts=1).run(problem).certified
    learned, _ = learn(problem, seed=0)
    assert learned is None or not learned.sure
    assert solve(problem, noise="auto").certified


@pytest.mark.parametrize("solver", [AMP(), VectorMessagePassing()], ids=lambda one: one.name)
def test_by_the_instance_and_for_any_solver(solver, tmp_path):
    noisy = NOISY.with_noise("auto")
    noisy.save(tmp_path / "noisy.npz")
    results = [solve(one, solver=solver) for one in (noisy, load(tmp_path / "noisy.npz"))]
    assert results[0].noise == results[1].noise
    assert near(results[0], 0.01)
    assert results[0].solver == solver.name


def test_operators(monkeypatch):
    """By conjugate gradients and Lanczos' method: the same noise, and the mean variance of x in every place."""
    dense = solve(NOISY, noise="auto", solver="vmp")
    monkeypatch.setattr(in_memory, "WORTH_AN_SVD", 0)
    operator = Instance((NOISY.measure, NOISY.backproject), NOISY.y)
    found = solve(operator, noise="auto", solver="vmp")
    assert found.noise == pytest.approx(dense.noise, rel=0.02)
    assert found.x_std.shape == (100,)
    assert found.x_std == pytest.approx(np.sqrt(np.mean(dense.x_std**2)), rel=0.02)


@pytest.mark.slow
def test_on_a_device():
    pytest.importorskip("jax")
    found = solve(NOISY.A, NOISY.y, noise="auto", device="cpu", dtype="float64")
    assert found.noise == pytest.approx(solve(NOISY, noise="auto").noise, rel=0.02)


def test_a_time_limit_is_kept_and_the_best_so_far_returned():
    result = solve(NOISY, noise="auto", time_limit=1e-3)
    assert result.status is Status.TIME_LIMIT
    assert np.isfinite(result.x).all()


def test_a_run_wants_numbers():
    for run in (AMP().run, lambda problem: AMP().run_batch([problem])):
        with pytest.raises(InputError, match="learns it"):
            run(NOISY.with_noise("auto"))


@pytest.mark.parametrize("looks", [1, 6, 18])
def test_an_interrupt_ends_it_with_the_best_so_far(looks):
    """In the attempts for exact data, while the noise is learned, and at the end."""

    def progress(_):
        nonlocal looks
        looks -= 1
        if looks == 0:
            raise KeyboardInterrupt

    result = solve(NOISY, noise="auto", progress=progress)
    assert looks == 0
    assert result.status is Status.INTERRUPTED
    assert np.isfinite(result.x).all()
