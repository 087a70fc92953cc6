"""What speaks against general position."""

import numpy as np

from phaselect.solvers.certificate.position import distinct_rows, doubts

rng = np.random.default_rng(0)
ROUNDING = {np.float32: float(np.finfo(np.float32).eps), np.float64: float(np.finfo(np.float64).eps)}


def said(y, x, structured=False, dtype=np.float64):
    return list(doubts(y, x, np.ones(y.size, dtype=bool), structured, ROUNDING[dtype]))


def test_nothing_is_said_of_random_numbers():
    for dtype in ROUNDING:
        for size in (60, 100_000):
            y = np.abs(rng.standard_normal(size)).astype(dtype).astype(float)
            assert said(y[y > 1e-7], rng.standard_normal(50), dtype=dtype) == []


def test_each_doubt_is_told():
    y, x = np.abs(rng.standard_normal(60)) + 0.1, rng.standard_normal(50)
    sparse = np.where(np.arange(50) < 3, 0.0, x)
    assert said(y, sparse) == []
    assert "x has 3 exact zeros" in said(y, sparse, structured=True)[0]
    assert said(y, x, structured=True) == []
    assert "few distinct values" in said(np.round(y, 1), x)[0]
    assert "1 measurement of zero, or nearly;" in said(np.where(np.arange(60) == 7, 1e-9, y), x)[0]
    assert "2 measurements of zero, or nearly;" in said(np.where(np.arange(60) < 2, 0.0, y), x)[0]


def test_multiples_of_rows_count_once():
    A, points = rng.standard_normal((30, 10)), rng.standard_normal((2, 10))
    assert distinct_rows(points @ A.T, 2e-16).all()
    again = np.vstack([A, 3 * A[:5], -1e-8 * A[3:7], A[:1]])
    assert distinct_rows(points @ again.T, 2e-16).sum() == 30
    narrow = again.astype(np.float32).astype(float)
    assert distinct_rows(points @ narrow.T, float(np.finfo(np.float32).eps)).sum() == 30
