"""Least squares by a factorisation, where columns are so uneven that conjugate gradients do not get there."""

from __future__ import annotations

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.signs import excess, signs_of
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate.close_look import affordable
from phaselect.solvers.finish import Answer

NEARLY = 1e-6
"""mse_y up to which an answer may be the right one, not computed well enough."""
ROUNDS = 4


def worth_polishing(answer: Answer) -> bool:
    """Does it all but fit?"""
    return bool(answer.fit <= NEARLY)


def polished(problem: Normalised, answer: Answer) -> Answer:
    """The answer for its signs by QR with scaled columns, refined; signs follow. The given one, if that fits better."""
    if not affordable(problem):
        return answer
    A = np.asarray(problem.scale)[:, None] * problem.matrix.entries().astype(np.float64)
    y, best = np.asarray(problem.y), answer
    lengths = np.linalg.norm(A, axis=0)
    lengths[lengths == 0] = 1.0
    Q, R = np.linalg.qr(A / lengths)
    if np.abs(np.diag(R)).min() < 1e-13:
        return answer
    x = np.asarray(answer.x)
    for _ in range(ROUNDS):
        residual = signs_of(A @ x) * y - A @ x
        x = x + np.linalg.solve(R, Q.T @ residual) / lengths
        found = _taken(A, y, x, float(problem.rounding))
        if not found.excess < best.excess:
            break
        best = found
    return best


def _taken(A: Vector, y: Vector, x: Vector, rounding: float) -> Answer:
    z = A @ x
    signs = signs_of(z)
    residual = signs * y - z
    sizes = np.abs(A) @ np.abs(x) + y
    return Answer(x, signs, np.mean(residual**2), excess(residual, sizes, rounding))
