r"""One SVD of A; then the ridge estimate and the energy of any sign vector at any regulariser.

This file fixes THE convention for lam: `H(x, S) = |S*y - A x|^2 + (lam/2) |x|^2` (EnergyFunction), hence
`x_hat(S) = (A^T A + (lam/2) I)^{-1} A^T (S*y)` (eq:OptimizationPhaseSelection, which prints lam for
lam/2) and `E(S) = min_x H = (S*y)^T (I - K) (S*y)` with `K = A (A^T A + (lam/2) I)^{-1} A^T`.
Everything is in the normalised units of `Instance`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.threads import gram
from phaselect.problem.instance import Instance, Vector

ENERGIES = ("penalised", "residual")
WEAKEST = 1e-10
"""Singular values below this fraction of the largest count as zero: rounding would decide that part of x."""


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Left singular vectors `U` (M x rank) and squared singular values `s2` of the normalised matrix.

    The right singular vectors are not kept: `V diag(s) = A^T U` does their work without an N x N array.
    """

    U: NDArray[np.float64]
    s2: Vector
    problem: Instance

    @property
    def rank(self) -> int:
        """Numerical rank of A."""
        return int(self.s2.size)

    @cached_property
    def leverage(self) -> Vector:
        """`sum_k U_ik^2`, the diagonal of K at lam = 0."""
        return np.asarray(np.einsum("ik,ik->i", self.U, self.U))

    def coordinates(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """`c = U^T v` for one signed measurement vector, or for each row of a stack of them."""
        return v @ self.U

    def shrinkage(self, lam: float) -> Vector:
        """Eigenvalues of K on the columns of U: `w_k = s_k^2 / (s_k^2 + lam/2)`."""
        return self.s2 / (self.s2 + lam / 2)

    def weights(self, lam: float, energy: str = "penalised") -> Vector:
        """`w` such that `E = |y|^2 - sum_k w_k c_k^2`, for either energy.

        "penalised" is `min_x H`, residual plus penalty; "residual" is the residual `|(I - K) v|^2` alone.
        """
        w = self.shrinkage(lam)
        return w if energy == "penalised" else w * (2 - w)

    def energy(self, c: NDArray[np.float64], lam: float, energy: str = "penalised") -> NDArray[np.float64]:
        """`E(S)` from the coordinates of `S*y` (a stack of them gives a vector of energies).

        `|y|^2 = M` in normalised units.
        """
        return np.asarray(self.problem.m_rows - c**2 @ self.weights(lam, energy))

    def couplings(self, lam: float, energy: str = "penalised") -> NDArray[np.float32]:
        """`G = U diag(w) U^T` in float32: the interaction of the signs, M x M."""
        if self._latest.get("key") != (lam, energy):
            root = np.sqrt(self.weights(lam, energy))
            half = np.multiply(self.U, root, dtype=np.float32, casting="same_kind")
            self._latest.update(key=(lam, energy), G=gram(half))
        return self._latest["G"]  # type: ignore[no-any-return]

    @cached_property
    def _latest(self) -> dict[str, Any]:
        """The couplings last asked for: many temperatures may share a lam."""
        return {}

    def ridge(self, c: Vector, lam: float) -> Vector:
        """`x_hat = V diag(s / (s^2 + lam/2)) c`, the ridge estimate, without V."""
        problem = self.problem
        return problem.adjoint(self.U @ (c / (self.s2 + lam / 2)))

    def overlap(self, c: NDArray[np.float64], lam: float) -> NDArray[np.float64]:
        """`m = |x0 . x_hat| / |x0|^2` of the ridge estimate, in O(N) for each sign vector; nan if x0 is unknown."""
        if self.problem.target_x0 is None:
            return np.full(c.shape[:-1], np.nan)
        return np.abs(c @ (self.signal / (self.s2 + lam / 2))) / np.sum(self.problem.target_x0**2)

    @cached_property
    def signal(self) -> Vector:
        """`U^T A x0`, the coordinates of the true signed measurements."""
        problem = self.problem
        assert problem.target_x0 is not None
        return self.coordinates(problem.forward(problem.target_x0))


def spectrum(problem: Instance) -> Spectrum:
    """The spectrum of an instance; computed once, kept with it, shared by all solvers that run on it."""
    kept = vars(problem)
    if "_spectrum" not in kept:
        kept["_spectrum"] = _decompose(problem)
    return kept["_spectrum"]  # type: ignore[no-any-return]


def has_spectrum(problem: Instance) -> bool:
    """Has the spectrum of this instance been computed?"""
    return "_spectrum" in vars(problem)


def _decompose(problem: Instance) -> Spectrum:
    U, s, _ = np.linalg.svd(problem.matrix.entries().astype(np.float64, copy=False), full_matrices=False)
    rank = int(np.sum(s > WEAKEST * s[0]))
    return Spectrum(np.ascontiguousarray(U[:, :rank]), (problem.gain * s[:rank]) ** 2, problem)
