"""Units: the paper's random instance, and the normalised problem in which the matched product is mu*lam = 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phaselect.equations.arrays import Array, namespace


class Units(NamedTuple):
    """What takes data to normalised units: rows of A are multiplied by `scale`, y by `weight` over `y_scale`."""

    scale: Array  # (M,): weighted rows have unit mean square
    weight: Array  # (M,)
    y_scale: Array
    x_scale: Array  # what takes a normalised x back to the units of the data


def normalised_units(weight: Array, row_powers: Array, y: Array) -> Units:
    """Unit mean squared norm of the weighted rows, unit mean square of the weighted y.

    row_powers: squared norm of each row of A; their mean in every place is as good where weights are even.
    """
    xp = namespace(y)
    gain = xp.sqrt(1 / (weight**2 * row_powers).mean())
    y_scale = xp.sqrt(((weight * y) ** 2).mean())
    return Units(times(gain, weight), weight, y_scale, gain * y_scale)


def times(factor: Array, weight: Array) -> Array:
    """The product; of weights that take no memory, as all are the same, one that takes none."""
    if namespace(weight) is np and weight.strides == (0,):
        return np.broadcast_to(factor * weight[0], weight.shape)
    return factor * weight


def gaussian_signal(x: Array, variance: float = 1.0) -> Array:
    """x0 of norm `sqrt(n * variance)` exactly, along a random vector (alg:Problem)."""
    xp = namespace(x)
    return x * (xp.sqrt(x.shape[-1] * variance) / xp.sqrt((x**2).sum()))
