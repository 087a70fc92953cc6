"""Instances that are drawn on a device: the paper's, each from its seed alone."""

import jax
import numpy as np
import pytest
from scipy.stats import kstest

from phaselect import InputError, Instance, gaussian_batch
from phaselect.backends.jax import batches
from phaselect.problem.instance_batches import GaussianBatch
from tests.backends.shapes import ROWS, N
from tests.backends.test_jax_on_device import full

SEEDS = range(12)
ALPHA = ROWS / N


def drawn(seeds, chosen=None, dtype="float32"):
    drawing = gaussian_batch(N, ALPHA, seeds=seeds)
    chosen = range(len(drawing)) if chosen is None else chosen
    problem, scale = drawing.stacked(chosen, jax.devices("cpu")[0], dtype)
    return np.asarray(problem.matrix.A), jax.tree.map(np.asarray, problem.vectors), scale


def test_drawn_instances_are_the_paper_s():
    """iid Gaussian A of variance 1/N, x0 of norm sqrt(N), magnitudes of `A x0`, in normalised units."""
    A, (scales, y, normalised_x0, signs, _, rounding), x_scale = drawn(SEEDS)
    np.testing.assert_array_equal(rounding, np.finfo(np.float32).eps)
    assert A.shape == (12, ROWS, N)
    assert A.dtype == "float32"
    assert kstest(A.ravel() * np.sqrt(N), "norm").pvalue > 1e-3
    x0 = normalised_x0 * x_scale[:, None]
    np.testing.assert_allclose(np.sum(x0**2, axis=1), N)
    assert kstest(x0.ravel(), "norm").pvalue > 1e-3
    for k in SEEDS:
        problem = Instance(A[k], np.abs(A[k].astype(float) @ x0[k]), x0[k])
        own = problem.normalised
        assert x_scale[k] == pytest.approx(problem.units.x_scale)
        np.testing.assert_allclose(scales[k], own.scale, rtol=1e-10)
        np.testing.assert_allclose(y[k], own.y, rtol=1e-10)
        np.testing.assert_allclose(normalised_x0[k], own.x0, rtol=1e-10)
        np.testing.assert_array_equal(signs[k], own.signs)
    across = np.corrcoef(A.reshape(12, -1))
    assert np.abs(across - np.eye(12)).max() < 5 / np.sqrt(ROWS * N)
    rows_and_x0 = np.corrcoef(np.vstack([A[0] * np.sqrt(N), x0[:1]]))[-1, :-1]
    assert np.abs(rows_and_x0).max() < 4.5 / np.sqrt(N)  # streams of their own


def test_drawn_instances_belong_to_their_seeds():
    """Whatever else is in the batch, in whatever place and dtype; also by itself."""
    A, (_, y, x0, *_), _ = drawn(SEEDS)
    again, (_, y_again, *_), _ = drawn([5, *range(30, 40), 3])
    np.testing.assert_array_equal(again[[0, 11]], A[[5, 3]])
    np.testing.assert_allclose(y_again[[0, 11]], y[[5, 3]], rtol=1e-12)
    np.testing.assert_array_equal(drawn(SEEDS, chosen=[*range(6, 12), *range(6)])[0][:6], A[6:])
    np.testing.assert_array_equal(drawn(SEEDS, dtype="float64")[0], A)
    alone = gaussian_batch(N, ALPHA, seeds=[9, 5]).instance(1, device="cpu")
    np.testing.assert_array_equal(alone.A, A[5])
    np.testing.assert_allclose(alone.normalised.y, y[5], rtol=1e-10)
    np.testing.assert_allclose(alone.normalised.x0, x0[5], rtol=1e-10)
    np.testing.assert_allclose(np.abs(alone.measure(alone.x0)), alone.y, rtol=1e-10)


def test_an_instance_that_does_not_fit(monkeypatch):
    monkeypatch.setattr(batches, "drawing", lambda *_: full)
    with pytest.raises(InputError, match="A needs about"):
        gaussian_batch(N, ALPHA, seeds=[0]).instance(device="cpu")


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: gaussian_batch(10, 1.5, seeds=[]), "seeds: give at least one"),
        (lambda: gaussian_batch(10, 1.5, seeds=5), r"seeds = 5: give one for each instance, such as range\(5\)"),
        (lambda: gaussian_batch(10, 1.5, seeds=[2**63]), r"below 2\^63"),
        (lambda: gaussian_batch(10, 1.5, seeds=[-3]), "seed = -3"),
        (lambda: gaussian_batch(10, 0.01, seeds=[0]), "there must be a measurement"),
        (lambda: gaussian_batch(0, 1.5, seeds=[0]), "n = 0"),
        (lambda: gaussian_batch(10, 1.5, seeds=[0]).instance(1), "instance 1 of a batch of 1"),
    ],
)
def test_bad_arguments_get_one_clear_line(ask, message):
    with pytest.raises(InputError, match=message) as caught:
        ask()
    assert "\n" not in str(caught.value)


def test_a_batch_can_be_compared_and_counted():
    assert gaussian_batch(10, 1.5, seeds=iter([1, 2])) == GaussianBatch(10, 1.5, (1, 2))
    assert len(gaussian_batch(10, 1.5, seeds=range(7))) == 7
