"""Compiled passes over the rows of A: each row is read once and used twice while it is in cache.

An AMP iteration and a conjugate-gradient step both need `A x` and then `A^T (something local to the row)`.
Fusing the two halves the traffic, which is what bounds them. Rows go by fours, for the registers.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phaselect.base.kernels import kernel
from phaselect.base.threads import run_parallel
from phaselect.equations.channels import local_update_with, output_channel_with

Vector = NDArray[np.float64]

REORDER = {"reassoc", "contract", "nsz", "arcp"}  # lets sums vectorise; nan and inf keep their meaning
BLOCK_BYTES = 4 << 20  # below this a second thread costs more than it brings
MAX_BLOCKS = 64  # each block keeps an accumulator of N numbers


_output_channel = kernel(inline="always")(output_channel_with(math.tanh))
_local_update = kernel(inline="always")(local_update_with(_output_channel))


@kernel(nogil=True, fastmath=REORDER)
def _dot4(a0, a1, a2, a3, x):  # type: ignore[no-untyped-def]
    z0 = z1 = z2 = z3 = x.dtype.type(0)
    for j in range(x.size):
        z0 += a0[j] * x[j]
        z1 += a1[j] * x[j]
        z2 += a2[j] * x[j]
        z3 += a3[j] * x[j]
    return z0, z1, z2, z3


@kernel(nogil=True, fastmath=REORDER)
def _add4(total, a0, a1, a2, a3, g0, g1, g2, g3):  # type: ignore[no-untyped-def]
    for j in range(total.size):
        total[j] += g0 * a0[j] + g1 * a1[j] + g2 * a2[j] + g3 * a3[j]


@kernel(nogil=True)
def _four_rows(A, i):  # type: ignore[no-untyped-def]
    """Rows i..i+3; past the end the last row again (its weight is set to zero by the caller)."""
    last = A.shape[0] - 1
    return A[i], A[min(i + 1, last)], A[min(i + 2, last)], A[min(i + 3, last)]


@kernel(nogil=True, error_model="numpy")
def _amp_rows(A, scale, y, x, V, c, psi, z, w, g, back):  # type: ignore[no-untyped-def]
    """AMP on a block of rows: updates z, w, g in place, leaves `A^T g` in back, returns the curvature sum."""
    curvature = 0.0
    weight = np.zeros(4, back.dtype)
    for i in range(0, A.shape[0], 4):
        a0, a1, a2, a3 = _four_rows(A, i)
        products = _dot4(a0, a1, a2, a3, x)
        weight[:] = 0
        for k in range(min(4, A.shape[0] - i)):
            row = i + k
            z[row] = scale[row] * products[k]
            w[row], g[row], bend = _local_update(z[row], y[row], w[row], g[row], V, c, psi)
            curvature += bend
            weight[k] = scale[row] * g[row]
        _add4(back, a0, a1, a2, a3, weight[0], weight[1], weight[2], weight[3])
    return curvature


@kernel(nogil=True, error_model="numpy")
def _normal_rows(A, scale, p, back):  # type: ignore[no-untyped-def]
    """Adds `A^T A p` over a block of rows to back, rows multiplied by scale."""
    weight = np.zeros(4)
    for i in range(0, A.shape[0], 4):
        a0, a1, a2, a3 = _four_rows(A, i)
        products = _dot4(a0, a1, a2, a3, p)
        weight[:] = 0
        for k in range(min(4, A.shape[0] - i)):
            weight[k] = scale[i + k] ** 2 * products[k]
        _add4(back, a0, a1, a2, a3, weight[0], weight[1], weight[2], weight[3])


def amp_pass(
    A: NDArray[Any], scale: Vector, y: Vector, x: Vector, V: float, c: float, psi: float, w: Vector, g: Vector
) -> tuple[Vector, Vector, Vector, Vector, float]:
    """One pass of AMP over the rows of A times scale: `z = A x`, the new w and g, `A^T g`, and the curvature sum.

    A float32 matrix is multiplied in float32; z, w and g are float64 always.
    """
    estimate = x.astype(A.dtype, copy=False)
    z, w, g = np.empty(A.shape[0]), w.copy(), g.copy()

    def block(rows: slice) -> tuple[NDArray[Any], float]:
        back = np.zeros(A.shape[1], A.dtype)
        bend = _amp_rows(A[rows], scale[rows], y[rows], estimate, V, c, psi, z[rows], w[rows], g[rows], back)
        return back, bend

    backs, bends = zip(*run_parallel(block, row_blocks(A)), strict=True)
    return z, w, g, np.sum(backs, axis=0, dtype=np.float64), np.float64(sum(bends))


def normal_pass(A: NDArray[Any], scale: Vector, p: Vector) -> Vector:
    """`A^T (A p)` in float64 from one pass over the rows of A times scale, whatever the dtype of A."""

    def block(rows: slice) -> Vector:
        back = np.zeros(A.shape[1])
        _normal_rows(A[rows], scale[rows], p, back)
        return back

    return np.asarray(np.sum(run_parallel(block, row_blocks(A)), axis=0))


def row_blocks(A: NDArray[Any]) -> list[slice]:
    """Cuts A into blocks of rows; depends on A alone, so that sums come out the same on any number of threads."""
    count = min(max(1, A.nbytes // BLOCK_BYTES), MAX_BLOCKS)
    if count == 1:
        return [slice(0, A.shape[0])]
    edges = np.linspace(0, A.shape[0], count + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(edges.tolist())]
