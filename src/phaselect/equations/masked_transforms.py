"""The products of masked Fourier transforms, `A x = FFT(mask_l * x)`, for arrays of NumPy and of JAX.

All patterns go in one batch of transforms, which are unitary: `A^H A` is the diagonal `sum_l |mask_l|^2`.
"""

from __future__ import annotations

from math import prod

import numpy as np
import scipy.fft

from phaselect.equations.arrays import Array, namespace

Shape = tuple[int, ...]


def masked_transforms(masks: Array, x: Array, pattern_shape: Shape) -> Array:
    """`FFT(mask_l * x)` for every mask, flat; of a flat x, or of each row of a stack."""
    lead, axes = x.shape[:-1], _last(pattern_shape)
    x = masks * x.reshape(*lead, 1, *masks.shape[1:])  # behind the masks
    if namespace(masks) is np:
        threads = _threads()
        z = scipy.fft.fftn(x, pattern_shape, axes, norm="ortho", overwrite_x=True, workers=threads)
    else:
        z = namespace(masks).fft.fftn(x, pattern_shape, axes, norm="ortho")
    return z.reshape(*lead, len(masks) * prod(pattern_shape))


def masked_transforms_adjoint(masks: Array, z: Array, pattern_shape: Shape, spare: bool = False) -> Array:
    """`sum_l conj(mask_l) IFFT(z_l)`, flat; of a flat z, or of each row of a stack. spare: z may be overwritten."""
    lead, axes = z.shape[:-1], _last(pattern_shape)
    patterns = z.reshape(*lead, len(masks), *pattern_shape)
    inside = (..., *(slice(size) for size in masks.shape[1:]))
    if namespace(masks) is np:
        threads = _threads()
        images = scipy.fft.ifftn(patterns, None, axes, norm="ortho", overwrite_x=spare, workers=threads)[inside]
        np.conj(images, out=images)  # in place: fresh memory takes longer than the arithmetic
        images *= masks
        x = images.sum(axis=-1 - len(pattern_shape))
        np.conj(x, out=x)
    else:
        xp = namespace(masks)
        images = xp.fft.fftn(xp.conj(patterns), None, axes, norm="ortho")[inside]  # its inverse would scale once more
        x = xp.conj((masks * images).sum(axis=-1 - len(pattern_shape)))
    return x.reshape(*lead, prod(masks.shape[1:]))


def _threads() -> int:
    """As many as kernels have."""
    from phaselect.base.kernels import numba

    return int(numba.get_num_threads())


def _last(shape: Shape) -> Shape:
    """The last axes, as many as there are sizes."""
    return tuple(range(-len(shape), 0))
