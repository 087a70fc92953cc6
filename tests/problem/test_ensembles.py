import numpy as np
import pytest

from phaselect import AMP, InputError, gaussian_batch, gaussian_instance
from phaselect.problem.instance_batches import _STREAMS
from phaselect.problem.streams import Purpose, stream


def test_generator_keeps_the_paper_s_definitions():
    problem = gaussian_instance(300, 1.3, seed=3, signal_variance=2.5)
    assert problem.A.shape == (390, 300)
    assert problem.x0 @ problem.x0 == pytest.approx(300 * 2.5, rel=1e-12)
    assert np.var(problem.A) == pytest.approx(1 / 300, rel=0.02)
    np.testing.assert_array_equal(problem.y, np.abs(problem.A @ problem.x0))
    np.testing.assert_array_equal(problem.signs, np.sign(problem.A @ problem.x0))
    assert problem.A_test.shape == (200, 300)
    np.testing.assert_allclose(problem.y_test, np.abs(problem.A_test @ problem.x0))


def test_generator_is_deterministic_and_seed_dependent():
    first, again, other = (gaussian_instance(20, 1.5, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.A, again.A)
    assert not np.array_equal(first.A, other.A)


def test_sparse_signal_keeps_its_norm():
    problem = gaussian_instance(1000, 1.2, seed=0, density=0.1)
    assert np.mean(problem.x0 != 0) == pytest.approx(0.1, abs=0.03)
    assert problem.x0 @ problem.x0 == pytest.approx(1000, rel=1e-12)


def test_large_instances_have_a_quarter_of_the_rows_as_test_set():
    assert gaussian_instance(1000, 1.2, seed=0).A_test.shape == (300, 1000)


def test_noise_has_the_variance_asked_for():
    problem = gaussian_instance(500, 4.0, seed=0, noise=0.01)
    clean = np.abs(problem.A @ problem.x0)
    far = clean > 0.5  # not folded at zero
    assert np.var((problem.y - clean)[far]) == pytest.approx(0.01, rel=0.1)
    assert problem.y.min() >= 0


def test_power_meter_without_noise_reports_the_same_magnitudes():
    by_abs, by_square = (gaussian_instance(30, 2, seed=0, activation=a) for a in ("abs", "square"))
    np.testing.assert_allclose(by_abs.y, by_square.y, rtol=1e-12)


def test_complex_instances():
    problem = gaussian_instance(300, 2.3, seed=3, signal_variance=2.5, field="complex")
    assert np.vdot(problem.x0, problem.x0).real == pytest.approx(300 * 2.5, rel=1e-12)
    assert abs(np.sum(problem.x0**2)) < 0.2 * 300 * 2.5  # either part has half of it
    np.testing.assert_array_equal(problem.y, np.abs(problem.A @ problem.x0))
    np.testing.assert_array_equal(problem.y_test, np.abs(problem.A_test @ problem.x0))
    power = gaussian_instance(100, 20.0, seed=3, field="complex", activation="square", noise=1e-4)
    clean = np.abs(power.A @ power.x0) ** 2
    assert np.var((power.y**2 - clean)[clean > 0.2]) == pytest.approx(1e-4, rel=0.15)
    sparse = gaussian_instance(300, 2.3, seed=3, density=0.1, field="complex")
    assert np.mean(sparse.x0 != 0) == pytest.approx(0.1, abs=0.06)
    other = gaussian_instance(300, 2.3, seed=3)
    assert not np.isin(problem.A.real, other.A).any()  # as far as a seed goes, another instance


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"field": "complex", "nonnegative": True}, "nonnegative signals are real"),
        ({"field": 2}, "field 2: use one of real, complex"),
        ({"n": 0}, "n = 0"),
        ({"n": 2.5}, "n = 2.5"),
        ({"alpha": 0.001}, "there must be a measurement"),
        ({"alpha": float("nan")}, "give a number"),
        ({"density": 0}, "density"),
        ({"noise": -1}, "noise"),
        ({"signal_variance": 0}, "signal_variance"),
        ({"activation": "relu"}, "activation"),
        ({"seed": -1}, "seed"),
        ({"alpha": "a"}, "give a number"),
        ({"n": 10**7, "alpha": 1e6}, "too large for memory"),
    ],
)
def test_bad_generator_options(change, message):
    with pytest.raises(InputError, match=message):
        gaussian_instance(**({"n": 10, "alpha": 1.5, "seed": 0} | change))


# ------------------------------------------------------------------ random streams


def first_estimate_of_message_passing(n, m_rows, seed):
    """As a run of this seed draws it."""
    schedule = AMP().default_schedule()
    return AMP().draw(stream(seed, Purpose.RUN, 0), m_rows, n, schedule, 0).x


def greatest_cosine(A, x):
    return np.abs(A @ x / (np.linalg.norm(A, axis=1) * np.linalg.norm(x))).max()


@pytest.mark.parametrize("seed", [0, 7])
def test_the_start_of_a_run_has_nothing_of_an_instance_of_the_same_seed(seed):
    """One stream for both made the first x of message passing a row of A; 0.6 is out of reach of 130 random rows."""
    problem = gaussian_instance(100, 1.3, seed=seed)
    x = first_estimate_of_message_passing(100, 130, seed)
    assert greatest_cosine(problem.A, x) < 0.6
    assert greatest_cosine(problem.A_test, x) < 0.6
    assert greatest_cosine(problem.x0[None], x) < 0.6
    run = AMP(restarts=0).run(problem, AMP().default_schedule()[:1], seed=seed)
    np.testing.assert_allclose(run.state.x_in, x)  # what is looked at here is what a run starts from


def test_the_start_of_a_run_has_nothing_of_a_drawn_batch_of_the_same_seeds():
    pytest.importorskip("jax")
    batch = gaussian_batch(100, 1.3, seeds=[7])
    drawn = batch.instance(0, device="cpu")
    A = np.asarray(drawn.matrix.entries())
    run = AMP(restarts=0).run(drawn, AMP().default_schedule()[:1], seed=7, noise=0.1)  # no exact end to compile
    x = np.asarray(run.state.x_in)
    np.testing.assert_allclose(x, first_estimate_of_message_passing(100, 130, 7))
    assert greatest_cosine(A, x) < 0.6
    assert greatest_cosine(drawn.x0[None], x) < 0.6
    assert greatest_cosine(A, drawn.x0) < 0.6
    assert len(set(_STREAMS)) == 2


def test_matrix_signal_noise_and_test_set_are_independent():
    """They are drawn from streams of their own: other numbers for the one do not shift another."""
    full, sparse = gaussian_instance(50, 1.4, seed=3, noise=0.1), gaussian_instance(50, 1.4, seed=3, density=0.5)
    np.testing.assert_array_equal(full.A, sparse.A)
    np.testing.assert_array_equal(full.A_test, sparse.A_test)
    assert greatest_cosine(full.A, full.A_test[0]) < 0.8
    assert greatest_cosine(full.A, full.x0) < 0.8


def test_instances_of_one_seed_and_several_shapes_have_nothing_in_common():
    """Else the points of a curve of success against alpha would rise and fall together."""
    small, large = gaussian_instance(50, 1.4, seed=3), gaussian_instance(50, 1.5, seed=3)
    assert greatest_cosine(large.A, small.A[0]) < 0.8
    assert greatest_cosine(small.x0[None], large.x0) < 0.8


def test_a_generator_may_be_the_seed():
    first, again = (gaussian_instance(20, 1.5, seed=np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first.A, again.A)
    one = np.random.default_rng(5)
    assert not np.array_equal(gaussian_instance(20, 1.5, seed=one).A, gaussian_instance(20, 1.5, seed=one).A)
