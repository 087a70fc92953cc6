"""All sign vectors, for few unknowns: the answer is the only one, or here is another. No assumption about A.

Some rows are chosen, enough to fix x and a few more. Signs that fit these exactly solve linear equations in +-1
unknowns, and are all found by meeting in the middle on a random combination of the equations; each gives an x that the
other rows accept or not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg import qr

from phaselect.backends.host.subset_sums import MOST_PAIRS, signs_that_cancel
from phaselect.backends.interface import Vector
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers.certificate.close_look import FEW_UNKNOWNS, MOST_RIVALS, SAME, CloseLook
from phaselect.solvers.finish import EXACT

SPARE = 4
"""Rows beyond the unknowns that are mostly enough."""
BLOCK = 4096


class TooManyCoincidences(Exception):
    """More sign vectors fit than can be tried; says what is doubtful then, if they all but fit everything."""


def enumerable(look: CloseLook) -> bool:
    """Are there so few unknowns, all of them seen, that every sign vector can be tried?"""
    return look.unseen.shape[1] == 0 and look.unknowns < most_rows(look.rounding)


def most_rows(rounding: float) -> int:
    """Rows that can be chosen: more of them, and too many sums would cancel by chance, up to rounding."""
    return min(FEW_UNKNOWNS, int(np.log2(MOST_PAIRS / (1e4 * rounding))))


def rivals(look: CloseLook, seed: int) -> Iterator[Vector]:
    """Every other x that may fit all data; the caller makes sure that it does.

    seed: of the random combination.
    """
    if len(look.v) == look.unknowns:  # nothing is left over to tell signs apart
        for k in range(1, len(look.v)):
            yield look.from_signed(_flipped(look.v, k))
        return
    order = qr(look.B.T, mode="r", pivoting=True)[1]  # the first ones fix x
    most = most_rows(look.rounding)
    for rows in (look.unknowns + SPARE, most):  # more rows leave fewer sign vectors, and take longer
        chosen = order[: min(rows, most)]
        gauges = _that_fit(look.B[chosen], look.v[chosen], seed)
        if gauges is not None:
            break
    else:
        raise TooManyCoincidences
    predict = look.B @ np.linalg.pinv(look.B[chosen])
    slack = 10 * SAME * EXACT + 1e-14 * look.condition * np.abs(look.v).max()  # a first sieve
    tried = 0
    for start in range(0, len(gauges), BLOCK):
        some = gauges[start : start + BLOCK]
        z = some[(some < 0).any(axis=1)] * look.v[chosen] @ predict.T
        for signed in np.sign(z[(np.abs(np.abs(z) - np.abs(look.v)) <= slack).all(axis=1)]):
            if tried == MOST_RIVALS:  # the caller looks at no more: what is left has not been ruled out
                raise TooManyCoincidences("many other sign vectors all but fit; rows of random numbers would settle it")
            tried += 1
            yield look.from_signed(signed * np.abs(look.v))


def _that_fit(B: Vector, v: Vector, seed: int) -> Vector | None:
    """Every change of signs, one per row, that may leave v in the range of B; None if there are too many."""
    left_over = np.linalg.qr(B, mode="complete")[0][:, B.shape[1] :]
    weights = left_over @ stream(seed, Purpose.ENUMERATION).standard_normal(left_over.shape[1])
    numbers = weights * v
    width = float(SAME * EXACT * np.abs(weights).sum() + 1e-14 * np.abs(numbers).sum())
    return signs_that_cancel(numbers, width)


def _flipped(v: Vector, k: int) -> Vector:
    return np.where(np.arange(len(v)) == k, -v, v)
