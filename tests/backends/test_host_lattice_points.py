"""All points of a lattice in a box, against all combinations of its rows one by one."""

from itertools import product

import numpy as np
import pytest

from phaselect.backends.host import lattice_points
from phaselect.backends.host.lattice_points import points_in_box

rng = np.random.default_rng(0)


def points(found):
    """With both of each pair."""
    return sorted(tuple(sign * one) for one in found for sign in (1.0, -1.0))


@pytest.mark.parametrize("columns", [3, 4, 6])
@pytest.mark.parametrize("seed", range(5))
def test_none_is_missed(columns, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(-3, 4, (3, columns)) + 8.0 * np.eye(3, columns)
    box = rng.choice([0.0, 6.0, 12.0, 20.0], columns)
    every = np.array(list(product(range(-20, 21), repeat=3)), dtype=float) @ rows
    inside = every[(np.abs(every) <= box).all(axis=1) & every.any(axis=1)]
    assert points(points_in_box(rows, box)) == sorted(map(tuple, inside))


def test_it_goes_on_where_it_stopped(monkeypatch):
    rows, box = np.eye(6) + np.triu(rng.integers(-1, 2, (6, 6)), 1), np.full(6, 1.0)
    at_once = points(points_in_box(rows, box))
    assert len(at_once) == 3**6 - 1
    monkeypatch.setattr(lattice_points, "PIECE", 7)
    assert points(points_in_box(rows, box)) == at_once


def test_parts_that_no_point_of_the_box_has_are_left(monkeypatch):
    """A sphere around the box holds many more points than the box."""
    calls, honest = [], lattice_points.next_point
    monkeypatch.setattr(lattice_points, "PIECE", 1)
    monkeypatch.setattr(lattice_points, "next_point", lambda *given: calls.append(1) or honest(*given))
    assert len(list(points_in_box(np.eye(8) * 1.5, np.full(8, 1.0)))) == 0
    assert len(calls) == 16
