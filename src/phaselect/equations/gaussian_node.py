r"""What Gaussian beliefs about all measurements, and a Gaussian prior of x, come to: the linear part of vector message
passing.

With measurements believed to be `target` to precision g, and x to have precision Lam,

    x = (A^T A + shift)^-1 A^T target,    shift = Lam/(fold g),    z = A x,

fold being that of the field.

Here by conjugate gradients, where each call starts from the x of the last one and goes only as far as that pays: what
it leaves, the next one sees. And at once, where `A^T A` is diagonal.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from phaselect.equations.arrays import Array, by_blocks, like, namespace, squared
from phaselect.equations.fields import REAL, Field
from phaselect.equations.lanczos import Eigenvalues, quadrature
from phaselect.equations.least_squares import ConjugateGradients, Linear, nothing_seen

QUANTILES = 1000
"""Eigenvalues that stand for all, of a diagonal."""


class GaussianNode(Protocol):
    """The linear part for one A. `kept`, N numbers, is what a call leaves for the next, and for `signal`."""

    def eigenvalues(self, probes: Array) -> Eigenvalues:
        """Of `A^T A`; probes: random signs to find them with, where that is how they are found."""

    def regress(self, target: Array, shift: Array, kept: Array, enough: Array) -> tuple[Array, Array]:
        """z, and what is kept; enough: the length of a gradient that may be left."""

    def signal(self, kept: Array) -> Array:
        """x."""

    def measure(self, x: Array) -> Array:
        """`A x`."""

    def moved(self, old: Array, new: Array) -> Array:
        """Mean squared change of x between two that were kept."""

    def variances(self, g: Array, Lam: Array, eigenvalues: Eigenvalues) -> Array:
        """Of each x, the diagonal of `(fold g A^T A + Lam)^-1`; or their mean."""


def mean_squared_change(old: Array, new: Array) -> Array:
    """Of one vector into another."""
    return by_blocks(lambda new, old: squared(new - old).sum(), new, old) / new.shape[-1]


class NodeByGradients(NamedTuple):
    """By conjugate gradients; x itself is kept."""

    linear: Linear
    field: Field = REAL

    def eigenvalues(self, probes: Array) -> Eigenvalues:
        """By Lanczos' method."""
        linear, own = self.linear, probes.astype(self.field.x)
        return quadrature(lambda p: linear.adjoint(linear.forward(p)), own, linear.loops, self.field.fold)

    def regress(self, target: Array, shift: Array, kept: Array, enough: Array) -> tuple[Array, Array]:
        """From the last x; the roughest corrections do, as the next call starts from what they leave."""
        xp, x = namespace(target), kept[None]
        slope = self.linear.look(x, target[None])[1] - like(x, shift) * x
        gradients: Any = self.linear.correct[0]

        def normal(p: Array, on: Array) -> Array:
            return gradients.normal(p, on) + xp.asarray(shift, dtype=gradients.dtype) * p

        own: ConjugateGradients = gradients._replace(normal=normal)
        x = x + own(None, slope, enough[None], nothing_seen(x))[0]
        return self.linear.forward(x)[0], x[0]

    def signal(self, kept: Array) -> Array:
        """It is what is kept."""
        return kept

    def measure(self, x: Array) -> Array:
        """One product."""
        return self.linear.forward(x[None])[0]

    def moved(self, old: Array, new: Array) -> Array:
        """Of what is kept."""
        return mean_squared_change(old, new)

    def variances(self, g: Array, Lam: Array, eigenvalues: Eigenvalues) -> Array:
        """Their mean."""
        return eigenvalues.mean_variance_of_x(g, Lam, eigenvalues.weights.sum())


class NodeByDiagonal(NamedTuple):
    """At once, where `A^T A` is diagonal; x itself is kept. fold: that of the field."""

    forward: Any
    adjoint: Any
    diagonal: Array
    fold: float

    def eigenvalues(self, probes: Array) -> Eigenvalues:
        """As many of them, from the smallest to the largest, as stand for all."""
        xp, n = namespace(self.diagonal), self.diagonal.shape[0]
        count = min(n, QUANTILES)
        values = xp.sort(self.diagonal)[((xp.arange(count) + 0.5) * (n / count)).astype(int)]
        return Eigenvalues(values, xp.full(count, n / count), xp.asarray(self.fold))

    def regress(self, target: Array, shift: Array, kept: Array, enough: Array) -> tuple[Array, Array]:
        """To all digits."""
        x = self.adjoint(target) / like(target, self.diagonal + shift)
        del target  # its memory may serve for z
        return self.forward(x), x

    def signal(self, kept: Array) -> Array:
        """It is what is kept."""
        return kept

    def measure(self, x: Array) -> Array:
        """One product."""
        return self.forward(x)

    def moved(self, old: Array, new: Array) -> Array:
        """Of what is kept."""
        return mean_squared_change(old, new)

    def variances(self, g: Array, Lam: Array, eigenvalues: Eigenvalues) -> Array:
        """Of each x."""
        return 1 / (eigenvalues.fold * g * self.diagonal + Lam)
