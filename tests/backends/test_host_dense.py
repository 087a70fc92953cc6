"""Least squares in float32 where A is large: the digits of float64, and float64 where float32 does not do."""

import numpy as np
import pytest

from phaselect import Instance, gaussian_instance
from phaselect.backends.host import dense
from phaselect.base import memory
from phaselect.solvers.certificate.judge import probes
from phaselect.solvers.finish import examine, settle_estimate

N = 100


@pytest.fixture
def read(monkeypatch):
    """Every A is large; the dtypes that passes over it compute in."""
    dtypes, residual_pass = [], dense.residual_pass

    def watched(A, scale, x, target):
        dtypes.append(str(x.dtype))
        return residual_pass(A, scale, x, target)

    monkeypatch.setattr(dense, "LARGE", 0)
    monkeypatch.setattr(dense, "residual_pass", watched)
    return dtypes


def settled(problem):
    own = problem.normalised
    near = own.x0 + 1e-4 * np.random.default_rng(0).standard_normal(own.n)
    return settle_estimate(own, near, probes(0, own.m_rows, own.n))


@pytest.mark.parametrize("unit", [1.0, 1e-60])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_float32_keeps_the_digits_of_float64(dtype, unit, read):
    """In any units, weights of the rows included, that float64 has room for."""
    given = gaussian_instance(N, 1.3, seed=0)
    unit = unit if dtype == np.float64 else max(unit, 1e-10)
    A = (unit * given.A * np.random.default_rng(0).uniform(0.1, 3, (130, 1))).astype(dtype)
    problem = Instance(A, np.abs(A.astype(float) @ given.x0), given.x0)
    answer, support = settled(problem)
    np.testing.assert_allclose(answer.x, problem.normalised.x0, atol=1e-12)
    assert support.full_rank
    assert support.linked
    assert read.count("float32") > 10 * read.count("float64")


def with_columns(change):
    given = gaussian_instance(N, 1.5, seed=0)
    A = given.A.copy()
    change(A)
    return Instance(A, np.abs(A @ given.x0), given.x0)


def nearly_twins(A):
    A[:, 1] = A[:, 0] + 1e-4 * A[:, 1]


def twins(A):
    A[:, 1] = A[:, 0]


def no_room_in_float32(A):
    A[:, :50] *= 1e-30


def test_float64_goes_on_where_float32_gets_no_further(read):
    problem = with_columns(nearly_twins)
    own = problem.normalised
    answer, support = settled(problem)
    np.testing.assert_allclose(answer.x, own.x0, atol=1e-8)
    assert support.full_rank
    assert not support.firm
    assert read.count("float64") > 20


@pytest.mark.parametrize("change", [twins, no_room_in_float32])
def test_float32_sees_what_no_measurement_does(change, read):
    own = with_columns(change).normalised
    support = examine(own, probes(0, own.m_rows, own.n))
    assert not support.full_rank
    np.testing.assert_allclose(own.forward(support.unseen), 0, atol=1e-9)


def test_no_copy_without_room(read, monkeypatch):
    problem = gaussian_instance(N, 1.3, seed=0)
    monkeypatch.setattr(dense, "free_bytes", lambda: problem.A.nbytes / 2)
    assert settled(problem)[1].full_rank
    assert set(read) == {"float64"}
    settled(Instance(problem.A.astype(np.float32), problem.y, problem.x0))  # takes no copy
    assert "float32" in read


def test_free_memory(monkeypatch):
    assert 1e6 < memory.free_bytes() < 1e15
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.free_bytes() == np.inf
