"""Clusters on the way of an infinitely slow anneal to the signal."""

import math

import numpy as np
import pytest

from phaselect import theory
from phaselect.theory import on_the_way
from phaselect.theory.continuation import anneal_path
from phaselect.theory.on_the_way import clusters_on_the_way


def test_without_overlap_they_form_where_the_paramagnet_has_them():
    found = clusters_on_the_way(anneal_path(1.5, 0.0, None))
    assert found.mu == pytest.approx(theory.dynamical_transition(1.5), rel=1e-4)
    assert found.m == 0
    assert found.growth == 1


@pytest.mark.slow
def test_just_above_the_threshold_they_form_before_the_branch_ends():
    """alpha = 1.59, lam = 0: replica symmetry has the anneal jump to the signal at mu = 17.49."""
    found = clusters_on_the_way(anneal_path(1.59, 0.0, None))
    assert found.mu == pytest.approx(12.67, abs=0.01)
    assert found.mu < theory.transitions(1.59).mu_uninformed_end
    assert found.m == pytest.approx(theory.saddle_point(1.59, found.mu).m, abs=1e-6)


@pytest.mark.parametrize(
    ("alpha", "lam", "product"),
    [
        pytest.param(1.65, 0.0, None, marks=pytest.mark.slow),
        pytest.param(1.3, 0.005, None, marks=pytest.mark.slow),
        pytest.param(1.3, None, 1.0, marks=pytest.mark.slow),
        (1.9, None, 0.5),
    ],
)
def test_none_where_anneals_recover(alpha, lam, product):
    found = clusters_on_the_way(anneal_path(alpha, lam, product))
    assert math.isinf(found.mu)
    assert 0.6 < found.m <= 0.9
    assert 0.4 < found.growth < 0.95


def test_the_last_step_is_looked_at_more_closely(monkeypatch):
    """With steps of a factor 30 the branch at alpha = 1.59 would be left, at 17.49, without a look at its end."""
    monkeypatch.setattr(on_the_way, "MUS", np.array([0.8, 24.0, 720.0]))
    assert clusters_on_the_way(anneal_path(1.59, 0.0, None)).mu == pytest.approx(12.67, abs=0.01)
