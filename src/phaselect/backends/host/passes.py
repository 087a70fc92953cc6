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


@kernel(inline="always")
def _mean_sign(w, rate):  # type: ignore[no-untyped-def]
    t = math.tanh(rate * w)
    return t, 1.0 - t * t


_output_channel = kernel(inline="always")(output_channel_with(_mean_sign))
_local_update = kernel(inline="always")(local_update_with(_output_channel))


@kernel(fastmath=REORDER)
def _dot4(a0, a1, a2, a3, x):  # type: ignore[no-untyped-def]
    z0 = z1 = z2 = z3 = x.dtype.type(0)
    for j in range(x.size):
        z0 += a0[j] * x[j]
        z1 += a1[j] * x[j]
        z2 += a2[j] * x[j]
        z3 += a3[j] * x[j]
    return z0, z1, z2, z3


@kernel(fastmath=REORDER)
def _add4(total, a0, a1, a2, a3, g0, g1, g2, g3):  # type: ignore[no-untyped-def]
    for j in range(total.size):
        total[j] += g0 * a0[j] + g1 * a1[j] + g2 * a2[j] + g3 * a3[j]


@kernel()
def _four_rows(A, i):  # type: ignore[no-untyped-def]
    """Rows i..i+3; past the end the last row again (its weight is set to zero by the caller)."""
    last = A.shape[0] - 1
    return A[i], A[min(i + 1, last)], A[min(i + 2, last)], A[min(i + 3, last)]


@kernel(error_model="numpy")
def _amp_rows(A, scale, powers, y, x, V, Vd, nu, psi, z, w, g, back):  # type: ignore[no-untyped-def]
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
            own = powers[row]
            c = 1 / (nu + own * Vd)
            w[row], g[row], bend = _local_update(z[row], y[row], w[row], g[row], own * V, c, psi)
            curvature += own * bend
            weight[k] = scale[row] * g[row]
        _add4(back, a0, a1, a2, a3, weight[0], weight[1], weight[2], weight[3])
    return curvature


@kernel(fastmath=REORDER)
def _dot4x4(a0, a1, a2, a3, x0, x1, x2, x3, z):  # type: ignore[no-untyped-def]
    """Four rows times four vectors, into z, a row of it for each vector."""
    z00 = z01 = z02 = z03 = z10 = z11 = z12 = z13 = x0.dtype.type(0)
    z20 = z21 = z22 = z23 = z30 = z31 = z32 = z33 = x0.dtype.type(0)
    for j in range(x0.size):
        b0, b1, b2, b3 = a0[j], a1[j], a2[j], a3[j]
        z00 += b0 * x0[j]
        z01 += b1 * x0[j]
        z02 += b2 * x0[j]
        z03 += b3 * x0[j]
        z10 += b0 * x1[j]
        z11 += b1 * x1[j]
        z12 += b2 * x1[j]
        z13 += b3 * x1[j]
        z20 += b0 * x2[j]
        z21 += b1 * x2[j]
        z22 += b2 * x2[j]
        z23 += b3 * x2[j]
        z30 += b0 * x3[j]
        z31 += b1 * x3[j]
        z32 += b2 * x3[j]
        z33 += b3 * x3[j]
    z[0, 0], z[0, 1], z[0, 2], z[0, 3] = z00, z01, z02, z03
    z[1, 0], z[1, 1], z[1, 2], z[1, 3] = z10, z11, z12, z13
    z[2, 0], z[2, 1], z[2, 2], z[2, 3] = z20, z21, z22, z23
    z[3, 0], z[3, 1], z[3, 2], z[3, 3] = z30, z31, z32, z33


@kernel(fastmath=REORDER)
def _add4x4(t0, t1, t2, t3, a0, a1, a2, a3, g):  # type: ignore[no-untyped-def]
    """Four rows, with weights, added to each of four vectors."""
    g00, g01, g02, g03 = g[0]
    g10, g11, g12, g13 = g[1]
    g20, g21, g22, g23 = g[2]
    g30, g31, g32, g33 = g[3]
    for j in range(t0.size):
        b0, b1, b2, b3 = a0[j], a1[j], a2[j], a3[j]
        t0[j] += g00 * b0 + g01 * b1 + g02 * b2 + g03 * b3
        t1[j] += g10 * b0 + g11 * b1 + g12 * b2 + g13 * b3
        t2[j] += g20 * b0 + g21 * b1 + g22 * b2 + g23 * b3
        t3[j] += g30 * b0 + g31 * b1 + g32 * b2 + g33 * b3


@kernel(error_model="numpy")
def _residual_rows(A, first, scale, x, target, z, back):  # type: ignore[no-untyped-def]
    """On a block of rows, for one vector or for four: `z = A x`, and `A^T (target - z)` added to back.

    first: the number of the block's first row, for what has all rows: scale, target and z.
    """
    weight = np.zeros((4, 4), back.dtype)
    for i in range(0, A.shape[0], 4):
        a0, a1, a2, a3 = _four_rows(A, i)
        if len(x) == 1:
            weight[0, 0], weight[0, 1], weight[0, 2], weight[0, 3] = _dot4(a0, a1, a2, a3, x[0])
        else:
            _dot4x4(a0, a1, a2, a3, x[0], x[1], x[2], x[3], weight)
        inside = min(4, A.shape[0] - i)
        for c in range(len(x)):
            for k in range(inside):
                row = first + i + k
                z[c, row] = scale[row] * weight[c, k]
                weight[c, k] = scale[row] * (target[c, row] - z[c, row])
            weight[c, inside:] = 0
        if len(x) == 1:
            _add4(back[0], a0, a1, a2, a3, weight[0, 0], weight[0, 1], weight[0, 2], weight[0, 3])
        else:
            _add4x4(back[0], back[1], back[2], back[3], a0, a1, a2, a3, weight)


def amp_pass(
    A: NDArray[Any],
    scale: Vector,
    powers: Vector,
    y: Vector,
    x: Vector,
    V: float,
    Vd: float,
    nu: float,
    psi: float,
    w: Vector,
    g: Vector,
) -> tuple[Vector, Vector, Vector, Vector, float]:
    """One pass of AMP over the rows of A times scale: `z = A x`, the new w and g, `A^T g`, and the curvature sum.

    powers: squared norms of these rows, or ones. A float32 matrix is multiplied in float32; z, w and g are float64.
    """
    estimate = x.astype(A.dtype, copy=False)
    z, w, g = np.empty(A.shape[0]), w.copy(), g.copy()

    def block(rows: slice) -> tuple[NDArray[Any], float]:
        back = np.zeros(A.shape[1], A.dtype)
        given = A[rows], scale[rows], powers[rows], y[rows], estimate, V, Vd, nu, psi
        return back, _amp_rows(*given, z[rows], w[rows], g[rows], back)

    backs, bends = zip(*run_parallel(block, row_blocks(A)), strict=True)
    return z, w, g, np.sum(backs, axis=0, dtype=np.float64), np.float64(sum(bends))


def residual_pass(
    A: NDArray[Any], scale: Vector, x: NDArray[Any], target: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """`z = A x` and `A^T (target - z)` from one pass over the rows of A times scale, in the dtype of x.

    x and target are stacks of up to four, one vector per row: four take little longer than one.
    """
    count = len(x)
    if 1 < count < 4:
        x, target = (np.concatenate([some, np.zeros_like(some[: 4 - count])]) for some in (x, target))
    z = np.empty(target.shape, x.dtype)

    def block(rows: slice) -> NDArray[Any]:
        back = np.zeros_like(x)
        _residual_rows(A[rows], rows.start, scale, x, target, z, back)
        return back

    back, *others = run_parallel(block, row_blocks(A))
    for other in others:
        back += other
    return z[:count], back[:count]


def row_blocks(A: NDArray[Any]) -> list[slice]:
    """Cuts A into blocks of rows; depends on A alone, so that sums come out the same on any number of threads."""
    count = min(max(1, A.nbytes // BLOCK_BYTES), MAX_BLOCKS)
    if count == 1:
        return [slice(0, A.shape[0])]
    edges = np.linspace(0, A.shape[0], count + 1).astype(int)
    return [slice(a, b) for a, b in pairwise(edges.tolist())]
