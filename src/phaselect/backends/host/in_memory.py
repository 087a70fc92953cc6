"""What all forms of A in memory share, an array (dense.py, sparse.py) or its products with vectors (by_products.py)."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host import loops, random
from phaselect.backends.host.nonzeros import nonzeros_of
from phaselect.backends.host.ridge import NodeBySpectrum, SpectralRidge, decompose
from phaselect.backends.interface import Accuracy, Vector
from phaselect.equations.amp_iteration import Pass, pass_by_products
from phaselect.equations.belief_iteration import Nonzeros
from phaselect.equations.fields import REAL
from phaselect.equations.gaussian_node import GaussianNode, NodeByGradients
from phaselect.equations.least_squares import GAIN, ConjugateGradients, Linear

ACCURACY = Accuracy(exact=1e-15, ties=1e-8, null=1e-5, handover=1e-10)
"""In float64. An unlucky pair of points hides a null direction with probability 1e-5."""
WORTH_AN_SVD = 5e10
"""M N min(M, N) up to which an SVD takes seconds."""

Stack = NDArray[Any]
"""A vector, or several, one per row."""


class InMemory:
    """What is asked of A, by its two products and its entries."""

    field = REAL
    loops = loops
    random = random
    on_device = on_gpu = False
    processes = 1
    solves_directly = False
    accuracy = ACCURACY
    rounding = float(np.finfo(np.float64).eps)

    shape: tuple[int, int]

    @property
    def has_entries(self) -> bool:
        """Can they be had?"""
        return True

    measure: Callable[[Stack], Stack]
    backproject: Callable[[Stack], Stack]
    entries: Callable[[], NDArray[Any]]
    _kept: dict[str, SpectralRidge]

    @property
    def ready(self) -> InMemory:
        """Itself."""
        return self

    rough = ready

    @property
    def in_memory(self) -> InMemory:
        """Itself."""
        return self

    def prepared(self, scale: Vector) -> tuple[InMemory, Vector]:
        """Itself; kernels are compiled for vectors that take memory."""
        return self, np.ascontiguousarray(scale)

    def placed(self, vector: Vector) -> Vector:
        """Itself."""
        return vector

    def apply(self, x: Stack) -> Stack:
        """`A x` in float64."""
        return self.measure(x)

    def apply_transposed(self, z: Stack, spare: bool = False) -> Stack:
        """`A^T z` in float64."""
        return self.backproject(z)

    @property
    def decomposed(self) -> bool:
        """Has the SVD been computed?"""
        return "ridge" in self._kept

    @property
    def known_condition(self) -> float | None:
        """By the SVD, if it has been computed."""
        return self._kept["ridge"].condition if self.decomposed else None

    def ridge(self, scale: Vector, y: Vector, x0: Vector) -> SpectralRidge:
        """By an SVD, computed once and kept, as long as it is asked for with the same weights and data."""
        kept = self._kept.get("ridge")
        if kept is None or not (np.array_equal(kept.scale, scale) and np.array_equal(kept.y, y)):
            bare = copy(self)  # what keeps the SVD must not be kept by it: arrays would wait for Python's collector
            object.__setattr__(bare, "_kept", {})
            forward, adjoint = lambda x: scale * bare.measure(x), lambda z: bare.backproject(scale * z)
            kept = self._kept["ridge"] = decompose(self.entries(), scale, y, x0, forward, adjoint, self.field)
        return kept

    def linear(self, scale: Vector) -> Linear:
        """Corrected by the SVD, if there is one, and by conjugate gradients."""
        correct, kept = self._corrections(scale), self._kept.get("ridge")
        if kept is not None and np.array_equal(kept.scale, scale):
            regression = kept.at(0.0)
            correct = (lambda residual, slope, enough, spectrum: (regression.estimate(residual), spectrum), *correct)
        return self._linear(scale, correct)

    def _linear(self, scale: Vector, correct: tuple[Any, ...]) -> Linear:
        look, forward = partial(self._look, scale), lambda x: scale * self.measure(x)
        return Linear(look, forward, lambda z: self.backproject(scale * z), correct, loops)

    def gaussian_node(self, scale: Vector, y: Vector, x0: Vector) -> GaussianNode:
        """By the SVD, if there is one or if it can be had within seconds; else by conjugate gradients."""
        rows, columns = self.shape
        if self.decomposed or (self.has_entries and rows * columns * min(rows, columns) <= WORTH_AN_SVD):
            return NodeBySpectrum(self.ridge(scale, y, x0))
        return NodeByGradients(self._linear(scale, self._corrections(scale)), self.field)

    def with_message_pass(
        self, scale: Vector, powers: Vector, y: Vector, close: Any, use: Callable[[Pass], Any]
    ) -> Any:
        """Two products."""
        forward, adjoint = lambda x: scale * self.measure(x), lambda z: self.backproject(scale * z)
        return use(pass_by_products(forward, adjoint, y, powers))

    def nonzeros(self, scale: Vector) -> Nonzeros:
        """Found among all entries."""
        from scipy.sparse import csr_array

        return nonzeros_of(csr_array(self.entries()), scale)

    def _look(self, scale: Vector, x: Stack, target: Stack) -> tuple[Stack, Stack]:
        """`A x` and `A^T (target - A x)`: two products."""
        z = scale * self.measure(x)
        return z, self.backproject(scale * (target - z))

    def _corrections(self, scale: Vector) -> tuple[Any, ...]:
        """In float64."""
        normal = self._normal(partial(self._look, scale))
        return (ConjugateGradients(normal, self.field.x, GAIN["float64"], 2 * self.shape[1], loops),)

    def _normal(self, look: Callable[[Stack, Stack], tuple[Stack, Stack]]) -> Callable[[Stack, Any], Stack]:
        """`A^T A p` of some of a stack."""

        def normal(p: Stack, on: NDArray[np.bool_]) -> Stack:
            image = np.zeros_like(p)
            image[on] = -look(p[on], np.zeros((on.sum(), self.shape[0]), p.dtype))[1]
            return image

        return normal

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """As it is."""
        return function
