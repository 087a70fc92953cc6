"""Signs of measurements, phases if they are complex, the energy of a flip, and how an estimate compares with the truth.

That is up to what no magnitude tells: the sign, or phase, of all of x.
"""

from __future__ import annotations

from math import nan, pi

from phaselect.equations.arrays import Array, by_blocks, inner, is_complex, namespace, squared


def signs_of(z: Array) -> Array:
    """Signs in {-1, +1}, as float64, or phases `z/|z|`; those of zero are 1."""
    if not is_complex(z):
        return 1.0 - 2.0 * (z < 0)
    xp, size = namespace(z), abs(z)
    return xp.where(size > 0, z, 1.0) / xp.where(size > 0, size, 1.0)


def turned(numbers: Array) -> Array:
    """Random numbers with phases, uniform on the circle, that their own further digits make."""
    return numbers * namespace(numbers).exp(2j * pi * 1000.0 * numbers)


def random_in(dtype: str, numbers: Array) -> Array:
    """Random numbers as they were drawn, or turned into complex ones."""
    return turned(numbers) if dtype.startswith("complex") else numbers


def flip_energy(v: Array, field: Array, coupling: Array) -> Array:
    """`dE = 4 v_i (h_i - v_i G_ii)`: what flipping sign i adds to the energy; `v = S*y`, `h = G v`."""
    return 4.0 * v * (field - v * coupling)


def unknown(vectors: Array) -> Array:
    """Not-a-number, of a vector, or of each row of a stack."""
    return namespace(vectors).full(vectors.shape[:-1], nan)


def overlap(x0: Array, x: Array) -> Array:
    """`m = |x0^H x| / |x0|^2`: 1 on recovery, near 0 for a random guess."""
    if not x0.ndim:
        return unknown(x)
    return abs(x0.conj() @ x) / inner(x0, x0)


def sign_overlap(true_signs: Array, signs: Array) -> Array:
    """`O = |S0^H S| / M`; of one sign vector, or of each row of a stack."""
    if not true_signs.ndim:
        return unknown(signs)
    return abs(signs @ true_signs.conj()) / true_signs.shape[-1]


def mse_x(x0: Array, x: Array) -> Array:
    """`|x0 - x|^2 / |x0|^2` after aligning the global sign or phase."""
    if not x0.ndim:
        return unknown(x)
    aligned = x * signs_of(x.conj() @ x0)
    return squared(x0 - aligned).sum() / squared(x0).sum()


def mse_y(y: Array, z: Array) -> Array:
    """`mean (y - |z|)^2` of a vector z."""
    return by_blocks(lambda z, y: ((y - abs(z)) ** 2).sum(), z, y) / y.shape[-1]


def against_truth(x0: Array, true_signs: Array, x: Array, signs: Array) -> dict[str, Array]:
    """m, O and mse_x of an estimate; nan where the truth is the number nan."""
    return {"m": overlap(x0, x), "O": sign_overlap(true_signs, signs), "mse_x": mse_x(x0, x)}


def estimate_columns(y: Array, x0: Array, signs: Array, x: Array, z: Array, lam: Array) -> dict[str, Array]:
    """Trace columns of an estimate x with its measurements `z = A x` (eq:energies); nan where the truth is."""
    fit = mse_y(y, z)
    q1 = squared(x).mean()
    return {
        "mse_y": fit,
        "m": overlap(x0, x),
        "O": sign_overlap(signs, by_blocks(signs_of, z)),
        "energy": y.shape[-1] / x.shape[-1] * fit + 0.5 * lam * q1,
        "q1": q1,
    }


def excess(residual: Array, sizes: Array, rounding: Array) -> Array:
    """The largest residual of a measurement, in units of the rounding of its terms, `sizes = |A| |x| + y`.

    Right answers leave about 1: what products of rounded numbers leave. One wrong sign, at a small y too, leaves more.
    Sums of many terms, of which the sizes grow, still do not add up to more than the data: all together, residuals must
    be below the rounding of y, or a millionth of it.
    """
    xp = namespace(residual)

    def units(residual: Array, sizes: Array) -> tuple[Array, Array]:
        return abs(residual) / xp.maximum(rounding * sizes, 1e-300), squared(residual).sum()

    each, power = by_blocks(units, residual, sizes)
    return xp.maximum(each.max(), 16 * xp.sqrt(power / sizes.shape[-1]) / xp.maximum(rounding, 1e-6))
