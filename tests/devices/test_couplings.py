import jax
import numpy as np
import pytest
from phaselect.devices import couplings as ridge
from phaselect.devices.member import Given
from phaselect.problem.observables import of_signs
from phaselect.problem.spectrum import spectrum

from phaselect import Instance, gaussian_instance
from phaselect.solvers.finish import greedy


@pytest.fixture(autouse=True)
def _wide_types():
    with jax.enable_x64(True):
        yield


def members_of(problems, dtype="float64"):
    return Given(problems).members(range(len(problems)), jax.devices("cpu")[0], dtype)[0]


def member_of(problem, dtype="float64"):
    return jax.tree.map(lambda batch: batch[0], members_of([problem], dtype))


def in_units(problem, of_A, of_y):
    """The same problem in other units: solvers must not notice."""
    return Instance(problem.A * of_A, problem.y * of_y, problem.x0 * of_y / of_A)


def random_signs(shape, seed=0):
    return np.random.default_rng(seed).choice([-1.0, 1.0], size=shape)


@pytest.mark.parametrize("lam", [0.0, 0.3, 5.0])
@pytest.mark.parametrize(("dtype", "error"), [("float64", 1e-12), ("float32", 1e-6)])
def test_couplings_against_the_inverse_and_the_spectrum(lam, dtype, error):
    problem = in_units(gaussian_instance(20, 1.5, seed=0), 37.0, 0.1)
    B = problem.A * np.sqrt(30) / np.linalg.norm(problem.A)
    expected = B @ np.linalg.inv(B.T @ B + lam / 2 * np.eye(20)) @ B.T
    K = ridge.couplings(member_of(problem, dtype), lam)
    assert K.dtype == dtype
    np.testing.assert_allclose(K, expected, atol=error)
    np.testing.assert_allclose(K, spectrum(problem).couplings(lam), atol=1e-6)


def test_wide_couplings_of_a_narrow_matrix():
    """The couplings at lam = 0 that judge an answer are float64, whatever A is; a projector, then."""
    member = member_of(gaussian_instance(20, 1.5, seed=0), "float32")
    K0 = ridge.couplings(member, 0.0, "float64")
    assert K0.dtype == "float64"
    np.testing.assert_allclose(K0 @ K0, K0, atol=1e-12)


@pytest.mark.parametrize("lam", [0.05, 2.0])
def test_observables_of_copies_are_those_of_signs(lam):
    problem = in_units(gaussian_instance(20, 1.5, seed=1), 0.2, 3.0)
    signs = np.vstack([random_signs((4, 30)), problem.signs])
    expected = of_signs(spectrum(problem), signs, spectrum(problem).coordinates(signs * problem.target), lam)
    member = member_of(problem)
    v = (signs * problem.target).T
    found = ridge.of_copies(member, v, ridge.couplings(member, lam) @ v, lam)
    assert found.keys() == expected.keys()
    for name, column in expected.items():
        np.testing.assert_allclose(found[name], column, rtol=1e-10, atol=1e-12, err_msg=name)


def test_observables_without_the_truth():
    problem = gaussian_instance(20, 1.5, seed=1)
    member = member_of(Instance(problem.A, problem.y))
    v = problem.target[:, None]
    found = ridge.of_copies(member, v, ridge.couplings(member, 1.0) @ v, 1.0)
    assert {name for name, column in found.items() if np.isnan(column).all()} == {"m", "O"}


def test_greedy_flips_as_the_single_instance_path():
    problems = [gaussian_instance(30, 1.4, seed=seed) for seed in range(6)]
    signs = random_signs((6, 42))
    signs[3:] = [problem.signs * np.where(np.arange(42) < 3, -1, 1) for problem in problems[3:]]
    reached, floor = jax.vmap(ridge.quench)(members_of(problems), signs)
    for problem, start, end, residual in zip(problems, signs, reached, floor, strict=True):
        spectral = spectrum(problem)
        expected = greedy(spectral, start)
        assert (expected != start).any()
        np.testing.assert_array_equal(end, expected)
        energy = float(spectral.energy(spectral.coordinates(expected * problem.target), 0.0))
        assert residual * 42 == pytest.approx(energy, abs=1e-12)
    assert min(floor) < 1e-25  # the true signs among them


def test_greedy_flips_leave_the_sign_of_a_vanishing_measurement():
    problem = gaussian_instance(10, 1.5, seed=0)
    y = problem.y.copy()
    y[4] = 0.0
    spectral, member = spectrum(Instance(problem.A, y)), member_of(Instance(problem.A, y))
    for sign in (-1.0, 1.0):
        signs = random_signs(15)
        signs[4] = sign
        reached, _ = ridge.quench(member, signs)
        np.testing.assert_array_equal(reached, greedy(spectral, signs))


def test_a_rank_deficient_matrix_shows_as_nan():
    """And spoils nothing else in the batch."""
    good = gaussian_instance(10, 1.5, seed=0)
    A = good.A.copy()
    A[:, 1] = A[:, 0]
    member = members_of([Instance(A, good.y), good])
    reached, floor = jax.vmap(ridge.quench)(member, random_signs((2, 15)))
    assert np.isnan(floor[0])
    assert np.isfinite(floor[1])
    assert np.isin(reached, [-1, 1]).all()


def test_keys_are_not_used_twice():
    first = jax.random.key_data(jax.random.key(7))
    second, used = ridge.fresh_key(first)
    third, used_next = ridge.fresh_key(second)
    keys = [first, second, third, *(jax.random.key_data(key) for key in (used, used_next))]
    assert len({tuple(np.asarray(key).tolist()) for key in keys}) == 5
