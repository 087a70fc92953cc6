r"""The regression of signs on A by Cholesky factors, for programs; see equations/regression.py for the convention.

An SVD is slow on GPUs in batches. Always in float64, since the Gram matrix squares the condition number of A. Signed
measurements v and their fields `h = v K` are (R, M), one copy per row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax

from phaselect.backends.jax.flips import sweep
from phaselect.backends.jax.products import product
from phaselect.backends.jax.random import Randomness
from phaselect.equations.arrays import Array
from phaselect.equations.regression import Regressed
from phaselect.equations.signs import signs_of

SINGULAR = 1e-6
"""A pivot below this fraction of the largest may be rounding: that of the Gram matrix leaves about 1e-8."""


class FieldCopies(NamedTuple):
    """Signed measurements and their fields at one lam, in the dtype of A, one copy per row."""

    v: Array  # (R, M)
    h: Array  # (R, M)

    @property
    def signs(self) -> Array:
        """Their signs, one row per copy."""
        return signs_of(self.v)


class CholeskyRidge(NamedTuple):
    """B, the rows of A times scale, in float64, and `B^T B`; `dtype` is what the couplings are kept in."""

    B: Array
    gram: Array
    y: Array
    x0: Array
    dtype: Any

    @property
    def rank(self) -> int:
        """Not known: where A is nearly singular, everything at lam = 0 is nan."""
        return int(self.B.shape[1])

    def exact_couplings(self) -> Array:
        """K at lam = 0, in float64; nan if A is rank deficient."""
        return self.at(0.0).couplings()

    def _factors(self, lam: Array) -> tuple[Array, Array]:
        """L with `L L^T = B^T B + (lam/2) I`, and `L^-1 B^T` (N x M), with Gram matrix K; nan if nearly singular."""
        root = jnp.linalg.cholesky(self.gram + lam / 2 * jnp.eye(self.B.shape[1]))
        pivots = jnp.diag(root)
        root = jnp.where(pivots.min() > SINGULAR * pivots.max(), root, jnp.nan)
        return root, lax.linalg.triangular_solve(root, self.B.T, left_side=True, lower=True)

    def at(self, lam: Array) -> CholeskyRidgeAt:
        """At one regulariser."""
        root, half = self._factors(lam)
        narrow = half.astype(self.dtype)
        return CholeskyRidgeAt(self, root, half, product(narrow.T, narrow))

    def anneal(
        self,
        copies: FieldCopies,
        mu: Array,
        lam: Array,
        sweeps: Any,
        random: Randomness,
        *,
        energy: str,
        by_fields: Any,
    ) -> tuple[FieldCopies, Randomness, Array]:
        """Metropolis on every copy, spins in order; always by fields, with couplings built where lam changes."""

        def temperature(state: Any, level: Any) -> Any:
            copies, random, accepted, G, built_at = state
            level_mu, level_lam = level
            G = lax.cond(level_lam == built_at, lambda: G, lambda: self.at(level_lam).pull(energy))
            random, used = random.words()
            v, h, flips = sweep(copies.v, product(copies.v, G), G, level_mu, used, sweeps)
            return (FieldCopies(v, h), random, accepted + flips.sum(dtype="int64"), G, level_lam), None

        rows = self.y.shape[0]
        none = jnp.zeros((rows, rows), self.dtype), jnp.full_like(lam[0], jnp.nan)
        return lax.scan(temperature, (copies, random, jnp.int64(0), *none), (mu, lam))[0][:3]  # type: ignore[no-any-return]


class CholeskyRidgeAt(NamedTuple):
    """The regression at one lam: the factors, and K in the dtype of A."""

    ridge: CholeskyRidge
    root: Array
    half: Array
    K: Array

    def couplings(self) -> Array:
        """K in float64, M x M."""
        return product(self.half.T, self.half)

    def fitted(self, v: Array) -> Array:
        """`K v`, the predicted measurements, for each row of a stack."""
        return product(product(v.astype("float64"), self.half.T), self.half)

    def estimate(self, v: Array) -> Array:
        """`x_hat = L^-T L^-1 B^T v`, of one v or of each row of a stack."""
        along = product(v.astype("float64"), self.half.T)
        x = lax.linalg.triangular_solve(self.root, jnp.atleast_2d(along), left_side=False, lower=True)
        return x if v.ndim == 2 else x[0]

    def pull(self, energy: str) -> Array:
        """The couplings of an energy: K, or `I - (I - K)^2` where the residual alone counts."""
        return self.K if energy == "penalised" else 2 * self.K - product(self.K, self.K)

    def explaining(self) -> Callable[[Array], Array]:
        """`v -> (I - (I - K)^2) v`, one matrix product."""
        pull = self.pull("residual")
        return lambda v: product(pull, v.astype(pull.dtype)).astype("float64")

    def regress(self, v: Array) -> Regressed:
        """Of each row of v."""
        narrow = v.astype(self.K.dtype)
        return self.regressed(FieldCopies(narrow, product(narrow, self.K)))

    def regressed(self, copies: FieldCopies) -> Regressed:
        """From the fields, which must be those of this lam; sums, not products: they take no copy in float64."""
        v, h = copies
        x, x0 = self.estimate(v), self.ridge.x0
        power = jnp.sum(v.astype("float64") ** 2, axis=1)
        return Regressed(
            residual=jnp.sum((v - h).astype("float64") ** 2, axis=1),
            energy=power - jnp.sum(v.astype("float64") * h.astype("float64"), axis=1),
            power=jnp.sum(x**2, axis=1),
            along=jnp.sum(x * x0, axis=1) / jnp.sum(x0**2),
        )

    def copies(self, signs: Array) -> FieldCopies:
        """With their fields."""
        v = (signs * self.ridge.y).astype(self.ridge.dtype)
        return FieldCopies(v, product(v, self.K))

    def turn(self, copies: FieldCopies) -> FieldCopies:
        """With the fields of this lam."""
        return copies._replace(h=product(copies.v, self.K))

    def take(self, copies: FieldCopies, which: Array) -> FieldCopies:
        """Some of the copies."""
        return FieldCopies(copies.v[which], copies.h[which])

    def energies(self, copies: FieldCopies) -> Array:
        """`E = |y|^2 - v . K v`, in float64; `|y|^2 = M` in normalised units."""
        return copies.v.shape[1] - jnp.sum(copies.v.astype("float64") * copies.h.astype("float64"), axis=1)

    def sweep(self, copies: FieldCopies, mu: Array, random: Randomness, sweeps: Any) -> tuple[FieldCopies, Randomness]:
        """Spins in order, each seeing all earlier flips."""
        random, used = random.words()
        v, h, _ = sweep(copies.v, copies.h, self.K, mu, used, sweeps)
        return FieldCopies(v, h), random
