"""The threshold that a kind of matrix has by its singular values."""

import pytest

from phaselect.experiments import kind_thresholds


@pytest.mark.parametrize(("kind", "alpha", "error"), [("gaussian", 1.1285, 0.01), ("orthogonal", 1.5839, 1e-4)])
def test_known_thresholds(kind, alpha, error, monkeypatch):
    """The spectrum of Gaussian matrices varies with alpha: at the first one drawn it says 1.2."""
    monkeypatch.setattr(kind_thresholds, "N", 150)
    assert kind_thresholds.kind_threshold(kind) == pytest.approx(alpha, abs=error)


def test_uneven_rows_are_weighted(monkeypatch):
    """As solvers weight them: Gaussian rows of any norms are Gaussian rows."""
    monkeypatch.setattr(kind_thresholds, "N", 150)
    assert kind_thresholds.kind_threshold("uneven_rows") == pytest.approx(1.1285, abs=0.01)
