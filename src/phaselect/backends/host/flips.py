"""Compiled Metropolis kernels on the signs: arrays, temperatures and a random state in, arrays out.

Both kernels run the same chain (same proposals, same random numbers, the same accepted moves up to rounding):

* `spectral_kernel`: O(N) per proposal, O(N) per change of lam; needs U only.
* `field_kernel`: O(1) per rejection, O(M) per acceptance, at one lam; needs the couplings G.

Each proposal takes one 64-bit random number. Signs are proposed at random, or in order, as in backends/jax/flips.py.
"""

import math

from phaselect.backends.host.passes import REORDER
from phaselect.backends.host.random import proposal
from phaselect.base.kernels import kernel, numba
from phaselect.equations import signs

CERTAIN = 22.9  # exp(-22.9) < 2^-33: rejected whatever the random number

flip_energy = kernel(inline="always")(signs.flip_energy)


@kernel(fastmath=REORDER)
def local_field(U, i, wc):  # type: ignore[no-untyped-def]
    """`h_i = sum_k U_ik w_k c_k`."""
    field = 0.0
    for k in range(wc.size):
        field += U[i, k] * wc[k]
    return field


@kernel(fastmath=REORDER)
def self_coupling(U, i, w):  # type: ignore[no-untyped-def]
    """`G_ii = sum_k w_k U_ik^2`."""
    total = 0.0
    for k in range(w.size):
        total += U[i, k] * U[i, k] * w[k]
    return total


@kernel(fastmath=REORDER)
def _flip(U, i, w, wc, v):  # type: ignore[no-untyped-def]
    """`w c <- w (c - 2 v_i U_i)`."""
    for k in range(w.size):
        wc[k] -= 2.0 * v * w[k] * U[i, k]


@kernel()
def spectral_kernel(U, s2, leverage, v, c, mu, lam, proposals, residual, state, in_order=False):  # type: ignore[no-untyped-def]
    """Runs `proposals` proposals at each (mu, lam); updates v, c and state in place, returns the acceptances.

    leverage: `sum_k U_ik^2`; times the largest w it bounds G_ii, and settles most rejections without computing it.
    residual: take the residual as the energy instead of residual plus penalty.
    """
    accepted = 0
    for t in range(mu.size):
        w = s2 / (s2 + 0.5 * lam[t])
        if residual:
            w = w * (2.0 - w)
        wc = w * c
        largest = w.max()
        for k in range(proposals):
            i, u = proposal(state, v.size)
            if in_order:
                i = k % v.size
            field = local_field(U, i, wc)
            at_least = mu[t] * flip_energy(v[i], field, largest * leverage[i])
            if at_least > CERTAIN or (at_least > 0.0 and u >= math.exp(-at_least)):
                continue
            cost = mu[t] * flip_energy(v[i], field, self_coupling(U, i, w))
            if cost <= 0.0 or u < math.exp(-cost):
                _flip(U, i, w, wc, v[i])
                v[i] = -v[i]
                accepted += 1
        c[:] = wc / w
    return accepted


@kernel()
def population_kernel(G, self_energy, v, h, mu, proposals, states, in_order=False):  # type: ignore[no-untyped-def]
    """`field_kernel` on each row of v, with its own fields and random state."""
    accepted = 0
    for k in range(v.shape[0]):
        accepted += field_kernel(G, self_energy, v[k], h[k], mu, proposals, states[k], in_order)
    return accepted


@kernel(fastmath=REORDER)
def field_kernel(G, self_energy, v, h, mu, proposals, state, in_order=False):  # type: ignore[no-untyped-def]
    """Runs `proposals` proposals at fixed couplings; updates v, h and state in place, returns the acceptances.

    All arrays are float32: `h = G v` holds the local fields, `self_energy = y^2 diag(G)`.
    """
    four_mu = numba.float32(4.0 * mu)  # a bare 4 or 2 below would turn the row update into float64
    minus_two = numba.float32(-2.0)
    certain = numba.float32(CERTAIN)
    accepted = 0
    for k in range(proposals):
        i, u = proposal(state, v.size)
        if in_order:
            i = k % v.size
        cost = four_mu * (v[i] * h[i] - self_energy[i])
        if cost < certain and (cost <= numba.float32(0.0) or u < math.exp(-cost)):
            change = minus_two * v[i]
            for j in range(h.size):
                h[j] += change * G[i, j]
            v[i] = -v[i]
            accepted += 1
    return accepted
