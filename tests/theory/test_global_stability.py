"""The growth of clusters: the replicon as its limit, and 1 where another search finds the first clusters."""

import pytest

from phaselect import theory
from phaselect.theory.control import Control, State
from phaselect.theory.flow import paramagnet
from phaselect.theory.global_stability import cluster_growth, growth_of_odds


def state_of(point):
    return State(point.V, point.q0 - point.m**2, point.m)


@pytest.mark.parametrize("control", [(1.7, 3.6, 0.0), (1.5, 10.0, 0.0), (1.15, 11.0, 3 / 11)])
def test_small_clusters_grow_by_the_replicon(control):
    point = theory.saddle_point(*control)
    assert growth_of_odds(1e-5, state_of(point), point.control) == pytest.approx(point.replicon, rel=1e-4)


def test_large_clusters_may_grow_faster():
    """On the uninformed branch at alpha = 1.3, lam = 0.005, where the replicon is 0.74."""
    point = theory.saddle_point(1.3, 29.24, 0.005)
    assert point.replicon < 0.75
    assert 0.87 < cluster_growth(state_of(point), point.control) < 0.89


@pytest.mark.parametrize(("alpha", "continuous"), [(1.5, False), (1.7, True)])
def test_one_where_clusters_are_born(alpha, continuous):
    """The birth as `dynamical_transition` finds it, which follows clusters until they dissolve."""
    mu = theory.dynamical_transition(alpha)
    control = Control(alpha, mu)
    assert cluster_growth(paramagnet(control), control) == pytest.approx(1, abs=1e-4)
    assert (theory.saddle_point_at_sign_overlap(alpha, mu, sign_overlap=0.0).replicon > 0.999) == continuous


@pytest.mark.parametrize(("mu", "broken"), [pytest.param(9.0, False, marks=pytest.mark.slow), (14.0, True)])
def test_agrees_with_the_search_for_clusters_where_there_is_overlap(mu, broken):
    """On the uninformed branch at alpha = 1.59, lam = 0, where m is about 0.25 and 0.33."""
    point = theory.saddle_point(1.59, mu)
    assert 0.2 < point.m < 0.4
    assert (cluster_growth(state_of(point), point.control) > 1) == broken
    assert theory.one_step_rsb(1.59, mu).broken == broken
