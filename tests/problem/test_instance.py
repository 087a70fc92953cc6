import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from phaselect import InputError, Instance, gaussian_instance, load


def test_normalised_units():
    problem = gaussian_instance(100, 1.5, seed=0, signal_variance=7.0)
    own, units = problem.normalised, problem.units
    A = units.scale[:, None] * problem.A
    assert np.sum(A**2) == pytest.approx(problem.m_rows)
    assert np.mean(own.y**2) == pytest.approx(1)
    np.testing.assert_allclose(np.abs(A @ own.x0), own.y, rtol=1e-10)
    np.testing.assert_allclose(own.forward(own.x0), A @ own.x0, rtol=1e-12)
    np.testing.assert_allclose(own.adjoint(own.y), A.T @ own.y, rtol=1e-12)
    np.testing.assert_allclose(own.x0 * units.x_scale, problem.x0, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_by_blocks(dtype, monkeypatch):
    monkeypatch.setattr("phaselect.backends.host.dense.BLOCK_ROWS", 7)
    problem = gaussian_instance(20, 1.5, seed=0)
    problem = Instance(problem.A.astype(dtype), problem.y)
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal(20), rng.standard_normal(30)
    A = problem.A.astype(np.float64)
    np.testing.assert_allclose(problem.measure(x), A @ x, rtol=1e-12)
    np.testing.assert_allclose(problem.backproject(z), A.T @ z, rtol=1e-12)


def test_good_arrays_are_not_copied():
    A = np.random.default_rng(0).standard_normal((6, 4))
    assert Instance(A, np.ones(6)).A is A
    A32 = A.astype(np.float32)
    assert Instance(A32, np.ones(6)).A is A32


GOOD_A = np.random.default_rng(0).standard_normal((4, 3))
GOOD_Y = np.ones(4)


def changed(array, where, value):
    copy = array.copy()
    copy[where] = value
    return copy


@pytest.mark.parametrize(
    ("A", "y", "message"),
    [
        (GOOD_A[0], GOOD_Y, "A has 1 dimensions"),
        (GOOD_A[None], GOOD_Y, "A has 3 dimensions"),
        (np.empty((0, 3)), np.empty(0), "empty"),
        (GOOD_A, np.ones((2, 2)), r"y has shape \(2, 2\)"),
        (GOOD_Y, GOOD_A, r"A has shape \(4,\) and y \(4, 3\): they are exchanged"),
        (GOOD_Y[:, None], GOOD_A, r"A has shape \(4, 1\) and y \(4, 3\): they are exchanged"),
        (GOOD_A, np.ones(5), "A has 4 rows but y has 5 entries"),
        ([["a", "b"], ["c", "d"]], GOOD_Y, "A is not numeric"),
        ([[1.0, 2.0], [3.0]], GOOD_Y, "A is ragged"),
        (GOOD_A, GOOD_Y + 0j, "y is complex"),
        (GOOD_A.astype(object), GOOD_Y, "A is not numeric"),
        (changed(GOOD_A, (2, 1), np.nan), GOOD_Y, r"A\[2, 1\] is nan"),
        (GOOD_A, changed(GOOD_Y, 3, np.inf), r"y\[3\] is inf"),
        (GOOD_A, changed(GOOD_Y, 2, -0.5), r"y\[2\] = -0.5 is negative"),
        (GOOD_A * 0, GOOD_Y, "A is all zeros"),
        (GOOD_A, GOOD_Y * 0, "y is all zeros"),
        (GOOD_A * 1e200, GOOD_Y, "rescale"),
        (GOOD_A * 1e-200, GOOD_Y, "rescale"),
        (changed(GOOD_A, (slice(None), 1), 0), GOOD_Y, "column 1 of A is all zeros"),
    ],
)
def test_bad_arrays_get_one_clear_line(A, y, message):
    with pytest.raises(InputError, match=message) as caught:
        Instance(A, y)
    assert "\n" not in str(caught.value)


@given(
    hnp.arrays(
        st.sampled_from([np.float64, np.float32, np.int64, np.complex128, np.bool_]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
    ),
    hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=5)),
)
def test_any_arrays_are_accepted_or_refused_in_one_line(A, y):
    try:
        problem = Instance(A, y)
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert problem.normalised.y.shape == (problem.normalised.m_rows,)  # more than N? that solvers ask
        assert np.isfinite(problem.units.scale).all()
        assert np.mean(problem.normalised.y**2) == pytest.approx(1)


@pytest.mark.parametrize("shape", [(18, 1), (1, 18)])
def test_a_column_or_a_row_counts_as_its_numbers(shape):
    problem = gaussian_instance(12, 1.5, seed=0)
    noise = np.linspace(0.01, 0.02, 18)
    same = Instance(problem.A, problem.y.reshape(shape), noise=noise.reshape(shape))
    np.testing.assert_array_equal(same.y, problem.y)
    np.testing.assert_array_equal(same.noise, noise)


def test_save_and_load(tmp_path):
    problem = gaussian_instance(12, 1.5, seed=0).with_noise(np.linspace(0.01, 0.02, 18))
    problem.save(tmp_path / "inst.npz")
    back = load(tmp_path / "inst.npz")
    for name in ("A", "y", "x0", "A_test", "y_test", "noise"):
        np.testing.assert_array_equal(getattr(back, name), getattr(problem, name))
    assert [path.name for path in tmp_path.iterdir()] == ["inst.npz"]


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "inst.npz"
    problem = gaussian_instance(12, 1.5, seed=0)
    problem.save(path)
    before = path.read_bytes()

    def fail(stream, **arrays):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(InputError, match="No space left"):
        gaussian_instance(12, 1.5, seed=1).save(path)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.npz").write_bytes(b"")
    (tmp_path / "link.npz").symlink_to(tmp_path / "real.npz")
    gaussian_instance(5, 1.6, seed=0).save(tmp_path / "link.npz")
    assert (tmp_path / "link.npz").is_symlink()
    assert load(tmp_path / "real.npz").n == 5
