"""Linear operators by fast Fourier transforms, coded diffraction above all; and some of the rows of any operator.

`A x = FFT(mask_l * x)` for l = 1 .. L, one pattern after the other. The transforms are unitary, so that `A^H A` is
diagonal whatever the masks are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from math import ceil, log2, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from phaselect.base.checks import is_count, is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.arrays import Array, namespace, squared
from phaselect.equations.masked_transforms import Shape, masked_transforms, masked_transforms_adjoint
from phaselect.problem.streams import Purpose, check_seed, stream

__all__ = [
    "Fourier",
    "KeptRows",
    "coded_diffraction",
    "keep_rows",
    "masked_fourier",
    "masked_transforms",
    "masked_transforms_adjoint",
    "oversampled_fourier",
]

Vector = NDArray[np.float64]

LARGEST = 1e15
"""More pixels than this have no place in any memory."""
SINGLE = {"f": np.float32, "c": np.complex64}
"""Single precision, by the kind of a dtype: real or complex."""


# ------------------------------------------------------------------ the operators


def coded_diffraction(shape: int | Shape, patterns: int, seed: Any = 0, masks: str = "phase") -> Fourier:
    """Fourier transforms of a signal of any dimension behind random masks, one mask for each pattern.

    masks: "phase", random phases; "octanary", one of 1, -1, i, -i times sqrt(1/2) (in 4 of 5 cases) or sqrt(3), as
        proposed by Candes, Li and Soltanolkotabi; "binary", 0 or 1: many patterns are needed for all pixels to be seen.

    >>> coded_diffraction((64, 64), patterns=3)
    Fourier(3 patterns of 64 x 64, M=12288, N=4096)
    """
    shape = _checked_shape(shape)
    if not is_count(patterns, 1):
        raise InputError(f"patterns = {shortened(patterns)}: give a whole number, 1 or more")
    if not isinstance(masks, str) or masks not in MASKS:
        raise InputError(f"masks = {shortened(masks)}: use one of {', '.join(MASKS)}, or masked_fourier for your own")
    seed = check_seed(seed)
    stack = _checked_shape((patterns, *shape))
    enough = ceil(log2(100 * prod(shape)))  # binary masks that leave a pixel unseen in one of a hundred cases
    drawn = _in_memory(lambda: Fourier(MASKS[masks](stream(seed, Purpose.MATRIX, *stack), stack), shape, seed), stack)
    return _all_seen(drawn, f'take {enough} patterns, or masks="phase"')


def masked_fourier(masks: Any) -> Fourier:
    """Fourier transforms of a signal behind masks of one's own, real or complex: an array (patterns, *shape)."""
    try:
        given = np.asarray(masks)
    except ValueError:
        raise InputError("masks are ragged: give one array, (patterns, *shape of the signal)") from None
    if given.dtype.kind not in "fiubc":
        raise InputError(f"masks are not numeric (dtype {given.dtype}): give real or complex numbers")
    if given.ndim < 2 or given.size == 0:
        raise InputError(f"masks have shape {given.shape}: give one array, (patterns, *shape of the signal)")
    operator = Fourier(given.astype(np.complex128 if given.dtype.kind == "c" else np.float64), given.shape[1:])
    if not np.isfinite(operator.gram).all():
        raise InputError("masks: every entry must be finite, and small enough for its square to be")
    return _all_seen(operator, "add patterns, or let some light through there")


def oversampled_fourier(shape: int | Shape, factor: float = 2) -> Fourier:
    """The Fourier transform of a signal padded with zeros to `round(factor * size)` along each axis: no masks."""
    shape = _checked_shape(shape)
    if not is_number(factor) or not 1 <= factor <= LARGEST:
        raise InputError(f"factor = {shortened(factor)}: give a number, 1 or more, such as 2")
    padded = _checked_shape([round(factor * size) for size in shape])
    return _in_memory(lambda: Fourier(np.ones((1, *shape)), padded), shape)


def keep_rows(A: Any, which: Any) -> KeptRows:
    """The operator of some of the rows of any linear operator: for leaving measurements out.

    which: one boolean for each row, or the numbers of the rows in the order wanted.
    """
    try:
        whole = aslinearoperator(A)
    except TypeError:
        raise InputError(f"A = {shortened(A)}: give a linear operator or an array") from None
    rows, given = int(whole.shape[0]), np.asarray(which)
    if given.dtype == bool and given.shape == (rows,):
        given = np.flatnonzero(given)
    numbers = given.ndim == 1 and given.dtype.kind in "iu" and given.size > 0
    if not numbers or given.min() < 0 or given.max() >= rows or np.unique(given).size < given.size:
        raise InputError(
            f"which = {shortened(which)}: give a boolean for each of the {rows} rows, or numbers of rows, "
            f"each once, from 0 to {rows - 1}; at least one row"
        )
    return KeptRows(whole, given.astype(np.int64))


class Fixed(LinearOperator):  # type: ignore[misc]
    """An operator whose attributes are set once."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(f"{name} of an operator cannot be changed: make another operator")
        super().__setattr__(name, value)


class Fourier(Fixed):
    """`A x = FFT(mask_l * x)`, flat: made by `coded_diffraction`, `masked_fourier`, `oversampled_fourier`.

    masks: (patterns, *signal_shape), read-only.
    pattern_shape: of each transform, that of the signal unless it is padded: `y.reshape(-1, *pattern_shape)`.
    seed: what random masks were drawn with.
    gram: the diagonal of `A^H A`.

    A SciPy user has all of a LinearOperator. `forward` and `adjoint` besides take arrays of JAX, and stacks of vectors,
    one per row, and compute in single precision what is given in single precision.
    """

    def __init__(self, masks: NDArray[Any], pattern_shape: Shape, seed: int | None = None) -> None:
        super().__init__(np.complex128, (len(masks) * prod(pattern_shape), masks[0].size))
        self.masks, self.pattern_shape, self.seed = masks, pattern_shape, seed
        self.gram: Vector = _squares(masks).sum(axis=0).ravel()
        self.masks.flags.writeable = self.gram.flags.writeable = False

    @property
    def patterns(self) -> int:
        """How many."""
        return len(self.masks)

    @property
    def signal_shape(self) -> Shape:
        """The shape of what is measured; vectors are flat."""
        return self.masks.shape[1:]

    @property
    def powers(self) -> Vector:
        """Squared norm of each row: all rows of a pattern have the same."""
        each = prod(self.pattern_shape)
        return np.repeat(_squares(self.masks).reshape(self.patterns, -1).sum(axis=1) / each, each)

    def forward(self, x: Array) -> Array:
        """`A x` of a vector, or of each row of a stack."""
        return self._product(masked_transforms, _checked_vectors(x, self.shape[1], "x"))

    def adjoint(self, z: Array = None) -> Array:
        """`A^H z` of a vector, or of each row of a stack; without z the operator `A^H`, as of any LinearOperator."""
        if z is None:
            return super().adjoint()
        return self._product(masked_transforms_adjoint, _checked_vectors(z, self.shape[0], "z"))

    def _product(self, product: Callable[..., Array], vectors: Array) -> Array:
        """One of the functions below, as one program on JAX."""
        run = product if namespace(vectors) is np else _compiled(product)
        return run(self._masks_for(vectors), vectors, self.pattern_shape)

    def _masks_for(self, vectors: Array) -> Array:
        """The masks where the vectors are, in the same precision: copied once.

        In a program of JAX that is being traced they become constants; one that is to take them as an argument calls
        `masked_transforms` and its adjoint.
        """
        dtype = SINGLE[self.masks.dtype.kind] if vectors.dtype in SINGLE.values() else self.masks.dtype.type
        place = dtype, None if namespace(vectors) is np else _device(vectors)
        if place not in self._copies:
            own: NDArray[Any] = self.masks.astype(dtype, copy=False)
            self._copies[place] = own if place[1] is None else _moved(own, place[1])
        return self._copies[place]

    @cached_property
    def _copies(self) -> dict[Any, Array]:
        """The masks by precision and device."""
        return {}

    def _matvec(self, x: Any) -> Any:
        return self.forward(np.asarray(x).ravel())

    def _rmatvec(self, z: Any) -> Any:
        return self.adjoint(np.asarray(z).ravel())

    def _matmat(self, X: Any) -> Any:
        return self.forward(np.asarray(X).T).T

    def _rmatmat(self, Z: Any) -> Any:
        return self.adjoint(np.asarray(Z).T).T

    def __repr__(self) -> str:
        count = f"{self.patterns} pattern{'s' if self.patterns > 1 else ''}"
        shape = " x ".join(str(size) for size in self.pattern_shape)
        return f"Fourier({count} of {shape}, M={self.shape[0]}, N={self.shape[1]})"

    def __reduce__(self) -> Any:
        """Pickled without copies."""
        return Fourier, (self.masks, self.pattern_shape, self.seed)


class KeptRows(Fixed):
    """Some of the rows of an operator, `whole`: those with the numbers `which`."""

    def __init__(self, whole: Any, which: NDArray[np.int64]) -> None:
        super().__init__(whole.dtype, (which.size, whole.shape[1]))
        self.whole, self.which = whole, which

    def _matvec(self, x: Any) -> Any:
        return self.whole.matvec(x)[self.which]

    def _rmatvec(self, z: Any) -> Any:
        return self.whole.rmatvec(self._among_all(z))

    def _matmat(self, X: Any) -> Any:
        return self.whole.matmat(X)[self.which]

    def _rmatmat(self, Z: Any) -> Any:
        return self.whole.rmatmat(self._among_all(Z))

    def _among_all(self, z: NDArray[Any]) -> NDArray[Any]:
        """With zeros in the rows that are left out."""
        every = np.zeros((self.whole.shape[0], *z.shape[1:]), z.dtype)
        every[self.which] = z
        return every

    def __repr__(self) -> str:
        return f"KeptRows({self.shape[0]} of {self.whole!r})"


# ------------------------------------------------------------------ masks, and what people give


def _phases(rng: np.random.Generator, shape: Shape) -> NDArray[Any]:
    return np.asarray(np.exp(2j * np.pi * rng.random(shape)))


def _octanary(rng: np.random.Generator, shape: Shape) -> NDArray[Any]:
    return np.asarray(rng.choice([1, -1, 1j, -1j], shape) * rng.choice([sqrt(1 / 2), sqrt(3)], shape, p=[0.8, 0.2]))


def _binary(rng: np.random.Generator, shape: Shape) -> NDArray[Any]:
    return rng.integers(2, size=shape).astype(np.float64)


MASKS: dict[str, Callable[[np.random.Generator, Shape], NDArray[Any]]] = {
    "phase": _phases,
    "octanary": _octanary,
    "binary": _binary,
}
"""Random masks by their names."""


def _squares(masks: NDArray[Any]) -> Vector:
    """|mask|^2; infinite where that is too large for float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(squared(masks))


def _all_seen(operator: Fourier, advice: str) -> Fourier:
    """The operator, if no pixel is hidden by all of its masks, and no mask hides all."""
    blank = ~operator.masks.reshape(operator.patterns, -1).any(axis=1)
    if blank.any():
        raise InputError(f"mask {int(np.argmax(blank))} lets no light through: leave that pattern out")
    if unseen := int(np.count_nonzero(operator.gram == 0)):
        raise InputError(f"{unseen} of {operator.gram.size} pixels are behind zeros of every mask: {advice}")
    return operator


def _checked_shape(shape: Any) -> Shape:
    sizes = (shape,) if is_count(shape) else shape
    if not isinstance(sizes, tuple | list) or not sizes or not all(is_count(size, 1) for size in sizes):
        raise InputError(f"shape = {shortened(shape)}: give the sizes of the signal, such as (256, 256) or 1000")
    if prod(sizes) > LARGEST:
        raise _too_large(shape)
    return tuple(int(size) for size in sizes)


@cache
def _compiled(product: Callable[..., Array]) -> Callable[..., Array]:
    import jax

    return jax.jit(product, static_argnums=2)  # type: ignore[no-any-return]


def _device(array: Array) -> Any:
    """Where an array of JAX is; None if it is being traced, and so nowhere."""
    import jax

    return None if isinstance(array, jax.core.Tracer) else array.device


def _moved(array: NDArray[Any], device: Any) -> Array:
    import jax

    return jax.device_put(array, device)


def _in_memory(make: Callable[[], Fourier], shape: Shape) -> Fourier:
    """What is made, if there is room for it."""
    try:
        return make()
    except MemoryError:
        raise _too_large(shape) from None


def _too_large(shape: Any) -> InputError:
    return InputError(f"shape = {shortened(shape)}: too large for memory")


def _checked_vectors(vectors: Any, size: int, name: str) -> Array:
    """A vector, or a stack of them; NumPy's in single or in double precision."""
    array = np.asarray(vectors) if namespace(vectors) is np else vectors
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise InputError(f"{name} has shape {array.shape}: give {size} numbers, or a stack of rows of so many")
    if namespace(array) is not np or array.dtype in SINGLE.values():
        return array
    if array.dtype.kind not in "fiubc":
        raise InputError(f"{name} is not numeric (dtype {array.dtype}): give real or complex numbers")
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)
