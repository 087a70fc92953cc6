"""All sign vectors of a small problem, one by one: which are minima of phase retrieval, which of phase selection.

Phase retrieval: x is a local minimum of `sum_i (|a_i x| - y_i)^2 + (lam/2)|x|^2` if and only if it is the regression of
its own signs, `sign(A x_hat(S)) = S`; where some a_i x = 0 the loss has a ridge. Phase selection: S is flip-stable if
no single flip lowers `E(S) = min_x H(x, S)`. Of S and -S, which are the same solution, one is counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.passes import REORDER
from phaselect.base.kernels import kernel
from phaselect.equations.regression import shrinkage

EXACT = 1e-24
"""Squared residual over |y|^2 that is rounding."""
ROUNDING = 1e-12
"""What a flip may gain, over y_i^2, and still count for nothing: all of it, where every sign vector fits."""
REFRESH = 4096
"""Flips after which the residual is computed anew, lest rounding add up."""


class SignMinima(NamedTuple):
    """Numbers of sign vectors, up to the global sign, and the smallest squared residual over |y|^2 that is not zero.

    retrieval: minima of phase retrieval. selection: flip-stable ones. added: flip-stable ones that are no minimum of
    phase retrieval. exact: those that fit with zero residual.
    """

    retrieval: int
    selection: int
    added: int
    exact: int
    runner_up: float


def sign_minima(A: NDArray[np.float64], y: NDArray[np.float64], lam: float = 0.0) -> SignMinima:
    """Visits all 2^(M-1) sign vectors; a second for M = 26."""
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    left_over = np.eye(y.size) - (U * shrinkage(s**2, lam)) @ U.T
    return SignMinima(*_visit(left_over, y))


@kernel()
def _visit(R: Any, y: Any) -> Any:
    """Gray code: each sign vector differs from the one before in one sign, so `r = R v` costs O(M), `R = I - K`."""
    v, r = y.copy(), np.zeros_like(y)
    retrieval, selection, added, exact = 0, 0, 0, 0
    power, runner_up = _squares(y), np.inf
    for count in range(1 << (y.size - 1)):
        if count > 0:
            flipped = _trailing_zeros(count)
            v[flipped] = -v[flipped]
            for k in range(y.size):
                r[k] += 2 * v[flipped] * R[flipped, k]
        if count % REFRESH == 0:
            _apply(R, v, r)
        own_signs, stable = _own_signs(v, r), _flip_stable(R, v, r)
        retrieval += own_signs
        selection += stable
        added += stable and not own_signs
        misfit = _squares(r) / power
        if misfit < EXACT:
            exact += 1
        elif misfit < runner_up:
            runner_up = misfit
    return retrieval, selection, added, exact, runner_up


@kernel()
def _apply(R: Any, v: Any, r: Any) -> None:
    for i in range(v.size):
        r[i] = 0.0
        for k in range(v.size):
            r[i] += R[i, k] * v[k]


@kernel(fastmath=REORDER)
def _squares(r: Any) -> Any:
    total = 0.0
    for k in range(r.size):
        total += r[k] * r[k]
    return total


@kernel(inline="always")
def _own_signs(v: Any, r: Any) -> Any:
    """`S_i (A x_hat)_i > 0` for all i; `A x_hat = v - r`."""
    k = 0
    while k < v.size and v[k] * (v[k] - r[k]) > 0:
        k += 1
    return k == v.size


@kernel(inline="always")
def _flip_stable(R: Any, v: Any, r: Any) -> Any:
    """`dE_i = 4 v_i (R_ii v_i - r_i) >= 0` for all i: what a flip adds to `E = v R v`."""
    k = 0
    while k < v.size and v[k] * (R[k, k] * v[k] - r[k]) >= -ROUNDING * v[k] ** 2:
        k += 1
    return k == v.size


@kernel(inline="always")
def _trailing_zeros(count: Any) -> Any:
    zeros = 0
    while count & 1 == 0:
        count >>= 1
        zeros += 1
    return zeros
