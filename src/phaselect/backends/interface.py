"""What the rest of the package may ask of a matrix, wherever its entries are, and of the regression of signs on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from phaselect.equations.amp_iteration import Pass
from phaselect.equations.arrays import Array
from phaselect.equations.belief_iteration import Nonzeros
from phaselect.equations.fields import Field
from phaselect.equations.gaussian_node import GaussianNode
from phaselect.equations.least_squares import Linear
from phaselect.equations.regression import Regressed

Vector = NDArray[np.float64]


class Accuracy(NamedTuple):
    """How far least squares goes with a matrix, as gradients relative to that of x = 0.

    exact: for the answer. ties: for the influence of measurements on each other. null: a known solution that is missed
    by more than this shows a null space. handover: mse_y at which message passing hands over to least squares.
    """

    exact: float
    ties: float
    null: float
    handover: float


class Matrix(Protocol):
    """A as it was given. `apply` may be part of a program; `measure` takes and returns arrays of NumPy."""

    @property
    def field(self) -> Field:
        """What x and `A x` are made of."""

    @property
    def loops(self) -> Any:
        """Control flow, as functions of states."""

    @property
    def random(self) -> Any:
        """Random numbers."""

    @property
    def has_entries(self) -> bool:
        """Can its entries be had?"""

    @property
    def on_device(self) -> bool:
        """Do passes over A run on a device, as JAX programs?"""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def on_gpu(self) -> bool:
        """Is it on a GPU?"""

    @property
    def processes(self) -> int:
        """How many processes share A."""

    @property
    def ready(self) -> Any:
        """The matrix with whatever copies make passes over it faster."""

    @property
    def rough(self) -> Any:
        """The matrix in the precision of vector message passing, products and field; itself where that is its own."""

    @property
    def in_memory(self) -> Any:
        """The matrix in memory, for what cannot be compiled."""

    @property
    def accuracy(self) -> Accuracy:
        """What least squares can reach."""

    @property
    def rounding(self) -> float:
        """Relative precision of its entries."""

    @property
    def decomposed(self) -> bool:
        """Is an SVD there already, so that the regression of any v costs next to nothing?"""

    @property
    def solves_directly(self) -> bool:
        """Is `A^T A` known to be diagonal, with the scale that it was prepared for?"""

    @property
    def known_condition(self) -> float | None:
        """That of A, if an SVD is there already."""

    def measure(self, x: Vector) -> Vector:
        """`A x`."""

    def backproject(self, z: Vector) -> Vector:
        """`A^T z`."""

    def row_powers(self) -> Vector:
        """Squared norm of each row, or their mean in every place where rows cannot be told apart."""

    def empty_column(self) -> int | None:
        """The first column of zeros, if there is one and it can be told."""

    def entries(self) -> NDArray[Any]:
        """The entries, as an array in memory."""

    def rows_kept(self, kept: NDArray[np.bool_]) -> Any:
        """The matrix of these rows alone."""

    def prepared(self, scale: Vector) -> tuple[Any, Array]:
        """The matrix that knows that its rows will be used times this scale; and what is left of that, the number 1 if
        the matrix takes it upon itself."""

    def placed(self, vector: Vector) -> Array:
        """A vector, to be used many times, where A is."""

    def apply(self, x: Array) -> Array:
        """`A x` in float64; of one vector, or of each row of a stack."""

    def apply_transposed(self, z: Array, spare: bool = False) -> Array:
        """`A^T z` in float64, likewise; spare: z may be overwritten."""

    def density(self) -> Array:
        """Share of the entries that are not zero, as far as that can be told."""

    def some_rows(self, which: Array) -> Array:
        """Some of its rows."""

    def apply_magnitudes(self, x: Array) -> Array:
        """`|A| |x|` in float64, or an estimate where entries cannot be had."""

    def with_message_pass(self, scale: Array, powers: Array, y: Array, close: Array, use: Callable[[Pass], Any]) -> Any:
        """`use` of a pass of message passing over the rows of A times scale.

        powers: squared norms of these, where they are uneven, else 1. close: is the fit so good that all digits count?
        """

    def linear(self, scale: Array) -> Linear:
        """Least squares with the rows of A times scale."""

    def gaussian_node(self, scale: Array, y: Array, x0: Array) -> GaussianNode:
        """The linear part of vector message passing with the rows of A times scale."""

    def nonzeros(self, scale: Array) -> Nonzeros:
        """The entries of the rows of A times scale that are not zero."""

    def ridge(self, scale: Array, y: Array, x0: Array) -> Ridge:
        """The regression of signs on the rows of A times scale."""

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function of a problem with this matrix, made ready to run where the matrix is."""


class Ridge(Protocol):
    """The regression of signed measurements on A (equations/regression.py)."""

    @property
    def rank(self) -> int:
        """Of A, as far as it is known."""

    def exact_couplings(self) -> Array:
        """K at lam = 0, in float64."""

    def at(self, lam: Array) -> RidgeAt:
        """At one regulariser."""

    def anneal(
        self, copies: Any, mu: Array, lam: Array, sweeps: Any, random: Any, *, energy: str, by_fields: bool
    ) -> tuple[Any, Any, Array]:
        """Metropolis on every copy through a list of temperatures: copies, random numbers and accepted flips."""


class RidgeAt(Protocol):
    """The regression at one regulariser."""

    def couplings(self) -> Array:
        """K in float64, M x M."""

    def fitted(self, v: Array) -> Array:
        """`K v`, the predicted measurements, for each row of a stack."""

    def estimate(self, v: Array) -> Array:
        """`x_hat` of signed measurements v."""

    def explaining(self) -> Callable[[Any], Any]:
        """The function `v -> (I - (I - K)^2) v`."""

    def regress(self, v: Array) -> Regressed:
        """What the trace asks of each row of v."""

    def copies(self, signs: Array) -> Any:
        """Sign vectors, one per row, ready to be searched."""

    def turn(self, copies: Any) -> Any:
        """Copies of another regulariser made ready for this one."""

    def take(self, copies: Any, which: Array) -> Any:
        """Some of the copies, in the order given."""

    def energies(self, copies: Any) -> Array:
        """`E(S)` of each copy."""

    def regressed(self, copies: Any) -> Regressed:
        """What the trace asks of each copy."""

    def sweep(self, copies: Any, mu: Array, random: Any, sweeps: Any) -> tuple[Any, Any]:
        """So many Metropolis sweeps of every copy at mu; the copies and the random numbers after it."""
