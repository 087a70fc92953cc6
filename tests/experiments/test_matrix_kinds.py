"""Kinds of matrices are what their names say."""

import numpy as np
import pytest

from phaselect.experiments.matrix_kinds import IID, STRUCTURED, instance_of

ALL = IID | STRUCTURED


@pytest.mark.parametrize("name", list(ALL))
def test_instances_are_measurements_of_their_signal(name):
    problem = instance_of(ALL[name], 30, 1.5, seed=1)
    assert problem.A.shape == (45, 30)
    np.testing.assert_allclose(problem.y, np.abs(problem.A @ problem.x0))
    np.testing.assert_array_equal(instance_of(ALL[name], 30, 1.5, seed=1).A, problem.A)
    assert not np.array_equal(instance_of(ALL[name], 30, 1.5, seed=2).A, problem.A)


def drawn(name, m_rows=400, n=40):
    return ALL[name](np.random.default_rng(0), m_rows, n)


def test_the_law_of_entries():
    assert set(drawn("random signs").ravel()) == {-1.0, 1.0}
    assert set(drawn("0 or 1").ravel()) == {0.0, 1.0}
    assert np.mean(drawn("10 entries a row") != 0) == pytest.approx(10 / 40, abs=0.02)
    assert np.mean(drawn("Gaussian, mean 1")) == pytest.approx(1, abs=0.03)
    assert np.mean(np.abs(drawn("Student t, 1.5")) > 10) > 10 * np.mean(np.abs(drawn("Student t, 2.5")) > 20) > 0


def test_structures():
    correlations = np.corrcoef(drawn("correlated columns", m_rows=4000).T)
    np.testing.assert_allclose(np.diag(correlations, 1), 0.9, atol=0.03)
    np.testing.assert_allclose(np.diag(correlations, 3), 0.9**3, atol=0.06)
    np.testing.assert_allclose(drawn("orthogonal columns").T @ drawn("orthogonal columns"), np.eye(40), atol=1e-12)
    assert np.linalg.cond(drawn("condition number 30")) == pytest.approx(30)
    assert np.std(np.log(np.linalg.norm(drawn("uneven rows"), axis=1))) == pytest.approx(1, abs=0.1)
    assert np.std(np.log(np.linalg.norm(drawn("uneven columns"), axis=0))) == pytest.approx(1, abs=0.3)


def test_rows_of_transforms():
    """Rows of a circulant are shifts of one another; behind one mask all cosines are orthogonal."""
    rows = drawn("circulant", m_rows=40)
    assert any(np.array_equal(np.roll(rows[0], k), rows[1]) for k in range(1, 40))
    cosines = drawn("masked cosines", m_rows=40)
    np.testing.assert_allclose(cosines @ cosines.T, np.diag(np.sum(cosines**2, axis=1)), atol=1e-10)
    assert len({tuple(row) for row in np.abs(drawn("masked cosines", m_rows=80)).round(9)}) == 40  # two masks
