"""The regression of signs on A by one SVD: the ridge estimate and energy of any sign vector at any lam in O(N).

See equations/regression.py for the convention.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.flips import field_kernel, population_kernel, spectral_kernel
from phaselect.backends.host.random import Randomness
from phaselect.base.threads import gram, run_parallel
from phaselect.equations.arrays import inner, squared
from phaselect.equations.fields import REAL, REAL_SIGNAL, Field
from phaselect.equations.lanczos import Eigenvalues
from phaselect.equations.regression import Regressed, explained, shrinkage

Vector = NDArray[np.float64]
Stack = NDArray[np.float64]

WEAKEST = 1e-10
"""Singular values below this fraction of the largest count as zero: rounding would decide that part of x."""
COPIES_PER_TASK = 16
"""What a thread takes at a time: enough for an efficient matrix product, fixed so that rounding is too."""


class SpectralCopies(NamedTuple):
    """Sign vectors (R x M) with their coordinates `c = U^T (S*y)` (R x N)."""

    signs: NDArray[np.int8]
    c: Stack


@dataclass(frozen=True, eq=False)
class SpectralRidge:
    """Left singular vectors `U` (M x rank) and squared singular values `s2` of the rows of A times scale.

    The right singular vectors are not kept: `V diag(s) = A^T U` does their work without an N x N array. Of complex
    data, of which there are no signs to move, products and estimates alone are asked for.
    """

    U: Stack
    s2: Vector
    scale: Vector
    y: Vector
    x0: Vector
    forward: Callable[[Vector], Vector]
    adjoint: Callable[[Vector], Vector]
    field: Field = REAL

    @property
    def rank(self) -> int:
        """Numerical rank of A."""
        return int(self.s2.size)

    @property
    def condition(self) -> float:
        """Largest singular value over the smallest that counts."""
        return float(np.sqrt(self.s2.max() / self.s2.min()))

    @cached_property
    def leverage(self) -> Vector:
        """`sum_k U_ik^2`, the diagonal of K at lam = 0."""
        return np.asarray((self.U**2).sum(axis=1))

    @cached_property
    def signal(self) -> Vector:
        """`U^T A x0 / |x0|^2`: coordinates of the true signed measurements; nan if x0 is, of which A is not asked."""
        if not np.isfinite(self.x0).all():
            return np.full(self.rank, np.nan)
        return self.coordinates(self.forward(self.x0)) / float(np.sum(self.x0**2))

    def coordinates(self, v: Stack) -> Stack:
        """`c = U^T v` for one signed measurement vector, or for each row of a stack of them."""
        return np.asarray(self.field.of_x(v @ self.U.conj()))

    def exact_couplings(self) -> Stack:
        """K at lam = 0, M x M."""
        return self._exact

    @cached_property
    def _exact(self) -> Stack:
        return gram(self.U)

    def couplings(self, lam: float, energy: str = "penalised") -> NDArray[np.float32]:
        """`G = U diag(w) U^T` in float32: the interaction of the signs, M x M; kept until another lam is asked for."""
        key, G = self._latest.get("key and G", (None, None))  # both at once: threads may share this
        if key != (lam, energy) or G is None:
            half = np.multiply(self.U, np.sqrt(self.weights(lam, energy)), dtype=np.float32, casting="same_kind")
            G = gram(half)
            self._latest["key and G"] = (lam, energy), G
        return G  # type: ignore[no-any-return]

    @cached_property
    def _latest(self) -> dict[str, Any]:
        return {}

    def weights(self, lam: float, energy: str = "penalised") -> Vector:
        """`w` such that `E = |y|^2 - sum_k w_k c_k^2`, for either energy."""
        w: Vector = shrinkage(self.s2, lam)
        return w if energy == "penalised" else np.asarray(explained(w))

    def at(self, lam: float) -> SpectralRidgeAt:
        """At one regulariser."""
        return SpectralRidgeAt(self, float(lam))

    def anneal(
        self,
        copies: SpectralCopies,
        mu: Vector,
        lam: Vector,
        sweeps: float,
        random: Randomness,
        *,
        energy: str,
        by_fields: bool,
    ) -> tuple[SpectralCopies, Randomness, int]:
        """Metropolis on one copy through all temperatures, in one compiled loop; or, by fields, one loop for each.

        A whole number of sweeps goes through the signs in order; single proposals are of random ones.
        """
        proposals, in_order = round(sweeps * self.y.size), isinstance(sweeps, int)
        chains = random.chains.copy()
        if by_fields:
            v, accepted = copies.signs[0] * self.y.astype(np.float32), 0
            for level, regulariser in zip(mu.tolist(), lam.tolist(), strict=True):
                G = self.couplings(regulariser, energy)
                self_energy = (self.y**2 * np.diag(G)).astype(np.float32)
                accepted += field_kernel(G, self_energy, v, G @ v, level, proposals, chains[0], in_order)
            exact = np.where(v < 0, -1, 1).astype(np.int8)
            return self.at(0.0).copies(exact[None]), random._replace(chains=chains), accepted
        v, c = copies.signs[0] * self.y, copies.c[0].copy()
        residual = energy == "residual"
        arrays = self.U, self.s2, self.leverage, v, c, mu, lam
        accepted = spectral_kernel(*arrays, proposals, residual, chains[0], in_order)
        signs = np.where(self.y > 0, np.where(v < 0, -1, 1), copies.signs[0]).astype(np.int8)
        return SpectralCopies(signs[None], c[None]), random._replace(chains=chains), accepted


@dataclass(frozen=True, eq=False)
class SpectralRidgeAt:
    """The regression at one lam."""

    ridge: SpectralRidge
    lam: float

    def estimate(self, v: Stack) -> Stack:
        """`x_hat = V diag(s / (s^2 + lam/2)) U^T v`, without V; of one v, or of each row of a stack."""
        ridge = self.ridge
        return ridge.adjoint((ridge.coordinates(v) / (ridge.s2 + self.lam / 2)) @ ridge.U.T)

    @cached_property
    def _explained(self) -> Vector:
        return self.ridge.weights(self.lam, "residual")

    def explaining(self) -> Callable[[Vector], Vector]:
        """`v -> (I - (I - K)^2) v = U (w (2 - w) U^T v)`."""
        ridge, weights = self.ridge, self._explained
        return lambda v: ridge.U @ (weights * ridge.coordinates(v))

    def couplings(self) -> Stack:
        """K in float64, M x M."""
        return gram(self.ridge.U * np.sqrt(self.ridge.weights(self.lam)))

    def fitted(self, v: Stack) -> Stack:
        """`K v`, the predicted measurements, for each row of a stack."""
        ridge = self.ridge
        return np.asarray((ridge.coordinates(v) * ridge.weights(self.lam)) @ ridge.U.T)

    def regress(self, v: Stack) -> Regressed:
        """From c alone: O(N) for each row of v, once c is known."""
        return self._regressed(self.ridge.coordinates(v), inner(v, v))

    def regressed(self, copies: SpectralCopies) -> Regressed:
        """`|y|^2 = M` in normalised units."""
        return self._regressed(copies.c, float(self.ridge.y.size))

    def _regressed(self, c: Stack, power: Any) -> Regressed:
        s2, w = self.ridge.s2, self.ridge.weights(self.lam)
        norm = s2 / (s2 + self.lam / 2) ** 2
        fitted, lowered, length = np.moveaxis(c**2 @ np.stack([self._explained, w, norm], axis=1), -1, 0)
        along = c @ (self.ridge.signal / (s2 + self.lam / 2))
        return Regressed(power - fitted, power - lowered, length, along)

    def copies(self, signs: NDArray[Any]) -> SpectralCopies:
        """With their coordinates, which serve any lam."""
        return SpectralCopies(signs.astype(np.int8), self.ridge.coordinates(signs * self.ridge.y))

    def turn(self, copies: SpectralCopies) -> SpectralCopies:
        """Nothing to do."""
        return copies

    def take(self, copies: SpectralCopies, which: NDArray[Any]) -> SpectralCopies:
        """Some of the copies."""
        return SpectralCopies(copies.signs[which], copies.c[which])

    def energies(self, copies: SpectralCopies) -> Vector:
        """`E = M - sum_k w_k c_k^2`."""
        return np.asarray(self.ridge.y.size - copies.c**2 @ self.ridge.weights(self.lam))

    def sweep(
        self, copies: SpectralCopies, mu: float, random: Randomness, sweeps: float
    ) -> tuple[SpectralCopies, Randomness]:
        """Metropolis on every copy, threads over the copies, which do not interact."""
        ridge, proposals = self.ridge, round(sweeps * self.ridge.y.size)
        G = ridge.couplings(self.lam)
        y = ridge.y.astype(np.float32)
        self_energy = y**2 * np.diag(G)
        signs, c, chains = np.empty_like(copies.signs), np.empty_like(copies.c), random.chains.copy()

        def sweep(start: int) -> None:
            rows = slice(start, start + COPIES_PER_TASK)
            v = copies.signs[rows] * y
            population_kernel(G, self_energy, v, v @ G, mu, proposals, chains[rows], True)
            signs[rows] = np.where(v < 0, -1, 1)
            np.matmul(signs[rows] * ridge.y, ridge.U, out=c[rows])

        run_parallel(sweep, range(0, len(signs), COPIES_PER_TASK))
        return SpectralCopies(signs, c), random._replace(chains=chains)


class NodeBySpectrum(NamedTuple):
    """The linear part of vector message passing (equations/gaussian_node.py): two products with U.

    What is kept are coordinates c of x, `x = A^T U c`, and zeros up to N where A sees fewer directions.
    """

    ridge: SpectralRidge

    def eigenvalues(self, probes: Stack) -> Eigenvalues:
        """All that count."""
        return Eigenvalues(self.ridge.s2, np.ones_like(self.ridge.s2), np.asarray(self.ridge.field.fold))

    def regress(self, target: Vector, shift: float, kept: Vector, enough: float) -> tuple[Vector, Vector]:
        """To all digits."""
        c = self.ridge.coordinates(target) / (self.ridge.s2 + shift)
        return self.ridge.U @ (self.ridge.s2 * c), np.append(c, np.zeros(kept.size - c.size))

    def signal(self, kept: Vector) -> Vector:
        """x."""
        return self.ridge.adjoint(self.ridge.U @ kept[: self.ridge.rank])

    def measure(self, x: Vector) -> Vector:
        """One product."""
        return self.ridge.forward(x)

    def moved(self, old: Vector, new: Vector) -> float:
        """`|A^T U c|^2 = sum_k s_k^2 |c_k|^2`."""
        c = (new - old)[: self.ridge.rank]
        return np.float64(self.ridge.s2 @ squared(c) / new.size)

    def variances(self, g: float, Lam: float, eigenvalues: Eigenvalues) -> Vector:
        """Of each x; what A does not see is known from the prior alone."""
        V2 = squared(self.ridge.adjoint(self.ridge.U.T)) / self.ridge.s2[:, None]  # squares of right singular vectors
        unseen = 0.0 if len(V2) == V2.shape[1] else np.maximum(1 - V2.sum(axis=0), 0.0)
        return np.asarray((1 / (eigenvalues.fold * g * self.ridge.s2 + Lam)) @ V2 + unseen / Lam)


def decompose(
    A: NDArray[Any],
    scale: Vector,
    y: Vector,
    x0: Vector,
    forward: Callable[[Vector], Vector],
    adjoint: Callable[[Vector], Vector],
    field: Field = REAL,
) -> SpectralRidge:
    """The SVD of the rows of A times scale; forward and adjoint are its products.

    Of a complex A and a real x it is that of real and imaginary parts, one below the other.
    """
    even = bool((scale == scale[0]).all())
    weighted = A.astype(field.z, copy=False) if even else scale[:, None] * A
    if field == REAL_SIGNAL:
        weighted = np.concatenate([weighted.real, weighted.imag])
    U, s, _ = np.linalg.svd(weighted, full_matrices=False)
    s = scale[0] * s if even else s
    rank = int(np.sum(s > WEAKEST * s[0]))
    U = U[: len(A), :rank] + 1j * U[len(A) :, :rank] if field == REAL_SIGNAL else U[:, :rank]
    return SpectralRidge(np.ascontiguousarray(U), s[:rank] ** 2, scale, y, x0, forward, adjoint, field)
