"""Matrices stacked on a device, and functions of one mapped over all."""

import jax
import numpy as np

from phaselect import Instance
from phaselect.backends.jax.batches import mapped, one, take
from phaselect.backends.jax.devices import on
from phaselect.problem.instance_batches import as_batch
from tests.backends.shapes import PROBLEMS, ROWS, N

CPU = jax.devices("cpu")[0]


def measured(problem, x):
    return problem.forward(x)


def test_a_stack_is_each_of_its_members():
    """In any units, from memory or from the device; some members, and one."""
    units = [0.1, 1.0, 30.0]
    given = [Instance(PROBLEMS[k].A * u, PROBLEMS[k].y / u, PROBLEMS[k].x0 / u**2) for k, u in enumerate(units)]
    given[1] = given[1].to_device("cpu", "float64")
    problem, scales = as_batch(given).stacked([2, 0, 1], CPU, "float64")
    assert problem.matrix.A.shape == (3, ROWS, N)
    assert (problem.m_rows, problem.n, problem.matrix.shape) == (ROWS, N, (ROWS, N))
    x = np.random.default_rng(0).standard_normal((3, N))
    with on(CPU):
        together = mapped(measured)(problem, x)
        some = mapped(measured)(take(problem, [1, 2]), x[[1, 2]])
        last = one(problem, 2)
    for place, k in enumerate([2, 0, 1]):
        expected = given[k].measure(x[place] * given[k].units.x_scale) / given[k].units.y_scale
        np.testing.assert_allclose(together[place], expected, atol=1e-12)
        assert scales[place] == given[k].units.x_scale
    np.testing.assert_allclose(some, together[1:], atol=1e-13)
    np.testing.assert_array_equal(last.matrix.entries(), PROBLEMS[1].A)


def test_a_program_is_kept():
    assert mapped(measured) is mapped(measured)
    assert mapped(measured, (0, None)) is not mapped(measured)


def test_a_stack_in_single_precision():
    """A alone is narrow."""
    problem, _ = as_batch(PROBLEMS[:2]).stacked([0, 1], CPU, "float32")
    assert problem.matrix.A.dtype == "float32"
    assert {array.dtype.name for array in problem.vectors} == {"float64"}
