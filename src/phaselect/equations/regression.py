r"""The regression of signed measurements on A; this file fixes THE convention for lam.

`H(x, S) = |S*y - A x|^2 + (lam/2) |x|^2` (EnergyFunction), hence `x_hat(S) = (A^T A + (lam/2) I)^{-1} A^T (S*y)`
(eq:OptimizationPhaseSelection, which prints lam for lam/2) and `E(S) = min_x H = v . (I - K) v` with `v = S*y` and
`K = A (A^T A + (lam/2) I)^{-1} A^T`. Everything is in normalised units, in which `|y|^2 = M`.
"""

from __future__ import annotations

from typing import NamedTuple

from phaselect.equations.arrays import Array

ENERGIES = ("penalised", "residual")


def shrinkage(s2: Array, lam: Array) -> Array:
    """Eigenvalues of K: `w_k = s_k^2 / (s_k^2 + lam/2)` for singular values s_k of A."""
    return s2 / (s2 + lam / 2)


def explained(w: Array) -> Array:
    """Eigenvalues of `I - (I - K)^2`, the part of |v|^2 that the regression explains, from those of K."""
    return w * (2 - w)


class Regressed(NamedTuple):
    """What the trace asks of sign vectors and their ridge estimates; one number each, or one per copy."""

    residual: Array  # |(I - K) v|^2
    energy: Array  # v . (I - K) v
    power: Array  # |x_hat|^2
    along: Array  # x0 . x_hat / |x0|^2


def sign_columns(found: Regressed, overlap: Array, m_rows: int, n: int) -> dict[str, Array]:
    """Trace columns of signs (eq:energies), given their overlap O with the true ones."""
    return {
        "mse_y": found.residual / m_rows,
        "m": abs(found.along),
        "O": overlap,
        "energy": found.energy / n,
        "q1": found.power / n,
    }
