"""An answer from fewer measurements than unknowns: many x fit, so what counts is that others have more nonzeros.

By chance so many wrong signs are expected to fit as well as always, for so many choices of places. That columns of A
are not special is looked at: nonzeros that share no measurement have signs of their own, and a nonzero may as well be
at a column that is parallel to its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from phaselect.backends.interface import Vector
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate.impostors import log10_impostors
from phaselect.solvers.finish import Answer
from phaselect.solvers.verdict import CERTIFIED_BELOW, Grade, Judged

LARGEST = 50_000_000
"""Entries of A up to which its columns are looked at."""
PARALLEL = 1e-10
"""What the cosine of two columns may be short of 1."""
FEW = "no more measurements than unknowns, so that others fit; none with {} nonzeros or fewer is expected to"


def judge_few(problem: Callable[[], Normalised], answer: Answer, m_rows: int, exact: bool) -> Judged:
    """Judge an answer with no more measurements than unknowns; exact: does it fit to rounding?"""
    x, fit = np.asarray(answer.x), float(answer.fit)
    places = np.flatnonzero(x)
    if not exact or (places.size >= m_rows and (x < 0).any()):
        return Judged(Grade.OPEN, fit, np.inf)
    if places.size >= m_rows:
        reason = "no entry is negative; with no more measurements than unknowns others may be as good"
        return Judged(Grade.UNCERTIFIED, fit, np.inf, reason=reason)
    own, reason = problem(), FEW.format(places.size)
    if not own.matrix.has_entries or own.m_rows * own.n > LARGEST:
        log10 = _log10_impostors(fit, m_rows, x.size, places.size)
        return _graded(fit, log10, f"{reason}, unless columns of A are special, which was not looked at")
    A = own.dense()[0]
    if (rival := _rival(A, x)) is not None:
        return Judged(Grade.AMBIGUOUS, fit, np.inf, rival=rival)
    columns = A[:, places]
    if np.linalg.matrix_rank(columns) < places.size:
        return Judged(Grade.UNCERTIFIED, fit, np.inf, reason="columns of A at the nonzeros of x depend on each other")
    seen = int(columns.any(axis=1).sum())
    return _graded(fit, _log10_impostors(fit, seen, x.size, places.size), reason)


def _graded(fit: float, log10: float, reason: str) -> Judged:
    if log10 > CERTIFIED_BELOW:
        return Judged(Grade.OPEN, fit, log10)
    return Judged(Grade.UNCERTIFIED, fit, log10, reason=reason)


def _log10_impostors(fit: float, m_rows: int, n: int, nonzeros: int) -> float:
    """Of wrong signs that fit, at all choices of so many places."""
    if nonzeros >= m_rows:
        return np.inf
    choices = (gammaln(n + 1) - gammaln(nonzeros + 1) - gammaln(n - nonzeros + 1)) / np.log(10)
    return log10_impostors(fit, m_rows, nonzeros) + float(choices)


def _rival(A: Vector, x: Vector) -> Vector | None:
    """Another x with as few nonzeros that fits as well, for all that single columns tell."""
    from scipy.sparse.csgraph import connected_components

    places = np.flatnonzero(x)
    touched = A[:, places] != 0
    parts, part = connected_components(touched.T.astype(float) @ touched.astype(float) > 0, directed=False)
    if parts > 1:
        flipped = x.copy()
        flipped[places[part == part[0]]] *= -1
        return flipped
    norms = np.linalg.norm(A, axis=0)
    cosines = (A / norms).T @ (A[:, places] / norms[places])
    cosines[places, np.arange(places.size)] = 0
    if not (np.abs(cosines) > 1 - PARALLEL).any():
        return None
    other, own = np.unravel_index(int(np.argmax(np.abs(cosines))), cosines.shape)
    moved, at = x.copy(), places[own]
    moved[at] = 0
    moved[other] += x[at] * np.sign(cosines[other, own]) * norms[at] / norms[other]
    return moved
