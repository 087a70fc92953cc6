r"""One step of replica symmetry breaking of the signs: free entropy and saddle-point equations (eq:1RSB).

Sign vectors gather in clusters (eq:1RSBAnsatz): overlap p1 of the estimates inside a cluster, p0 between, weighted
with Parisi parameter tau. As in the replica symmetric case V0 = q1 - p1 and V1 act through `V = V0 + V1/mu`; with `D1
= p1 - p0`, `D0 = p0 - m^2`,

    X1 = mu lam - alpha E<phi_out''>,   V = 1/X1,    Y = X1 - tau (p1_hat - p0_hat),
    p1_hat = alpha E<phi_out'^2>,   p0_hat = alpha E[<phi_out'>^2],   m_hat = alpha E[<phi_out'> dw/dm],
    m = m_hat/Y,    D0 = p0_hat/Y^2,    D1 = (p1_hat - p0_hat)/(X1 Y),

where < > averages w = m u0 + sqrt(D0) z0 + sqrt(D1) z over z with weight `exp(tau phi_out)`. The paper's g_s lacks
the 1/tau of the second logarithm, and the regulariser.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from phaselect.base.kernels import kernel
from phaselect.theory.control import Control
from phaselect.theory.quadrature import SATURATED, TAIL, Array, legendre, panelled_gaussian

OUTER, INNER = 16, 32
"""Gauss-Legendre nodes per panel: of u0, and of the Gaussians w0 and z."""


class ClusterState(NamedTuple):
    """Collapsed order parameters: V inside a cluster, D1 = p1 - p0, D0 = p0 - m^2, m."""

    V: float
    D1: float
    D0: float
    m: float


class ClusterAverages(NamedTuple):
    """Averages over the measurement of the averages < > in a cluster."""

    log_z: float  # E log <exp(tau phi_out)>_z / tau
    phi_out: float  # E<phi_out>
    slope: float  # E[<phi_out'> dw/dm]
    slope_squared_between: float  # E[<phi_out'>^2]
    slope_squared: float  # E<phi_out'^2>
    curvature: float  # E<phi_out''>
    misfit: float  # E<(S u0 - w)^2>
    O: float  # E<tanh>


def cluster_averages(s2: float, state: ClusterState, phi: float, tau: float) -> ClusterAverages:
    """Integrates over (u0, z0) outside and z inside the logarithm."""
    u0, w0, weight = _outer_nodes(state, s2)
    node, node_weight = legendre(INNER)
    inside = _inside(u0, w0, s2, max(state.D1, 1e-30), phi, tau, node, node_weight)
    log_z, phi_out, slope, slope_squared, curvature, misfit, tanh = inside
    direction = u0 - (state.m * (w0 - state.m * u0) / state.D0 if state.D0 > 0 else 0.0)
    rows = (log_z, phi_out, slope * direction, slope**2, slope_squared, curvature, misfit, tanh)
    return ClusterAverages(*(float(weight @ row) for row in rows))


@kernel()
def _inside(
    u0: Array, w0: Array, s2: float, D1: float, phi: float, tau: float, node: Array, node_weight: Array
) -> Array:
    """log <exp(tau phi_out)>_z / tau and the averages < > at each (u0, w0), in the order of the rows above.

    On either side S of the kink phi_out is -(w - S u0)^2/(2 s2) + S phi plus a term that saturates. The Gaussian of z
    times the exponential of the former is a Gaussian again, in closed form, so that narrow peaks at w = +-u0 are
    never missed. The integral goes over two panels per side: as long as it takes to saturate, and the rest.
    """
    stretched = s2 + tau * D1
    width = math.sqrt(D1 * s2 / stretched)
    result = np.zeros((7, u0.size))
    for o in range(u0.size):
        u = u0[o]
        peaks = (phi - 0.5 * (w0[o] - u) ** 2 / stretched, -phi - 0.5 * (w0[o] + u) ** 2 / stretched)
        top = max(peaks[0], peaks[1])
        total = 0.0
        for side in (1, -1):
            centre = (w0[o] * s2 + tau * side * u * D1) / stretched
            cut = min(max((-phi * s2 / u - centre) / width, -TAIL), TAIL)
            turn = min(max(cut + side * SATURATED * s2 / (u * width), -TAIL), TAIL)
            scale = math.exp(tau * (peaks[0 if side > 0 else 1] - top))
            for begin, end in ((cut, turn), (turn, side * TAIL)):
                if begin == end:
                    continue
                for k in range(node.size):
                    z = begin + (end - begin) * node[k]
                    w = centre + width * z
                    x = phi + u * w / s2
                    decay = math.exp(-2 * abs(x))
                    excess = math.log1p(decay) + abs(x) - side * x  # log 2cosh(x) - side x
                    weight = scale * side * (end - begin) * node_weight[k] * math.exp(-0.5 * z * z + tau * excess)
                    tanh = math.copysign((1 - decay) / (1 + decay), x)
                    force = (u * tanh - w) / s2
                    total += weight
                    result[1, o] += weight * (excess + side * phi - 0.5 * (w - side * u) ** 2 / s2)
                    result[2, o] += weight * force
                    result[3, o] += weight * force * force
                    result[4, o] += weight * (u * u * (1 - tanh * tanh) / s2 - 1) / s2
                    result[5, o] += weight * (u * u + w * w - 2 * u * w * tanh)
                    result[6, o] += weight * tanh
        result[0, o] = top + math.log(total * math.sqrt(0.5 * s2 / (math.pi * stretched))) / tau
        for row in range(1, 7):  # an array expression takes seconds more to compile
            result[row, o] /= total
    return result


def _outer_nodes(state: ClusterState, s2: float) -> tuple[Array, Array, Array]:
    """(u0, w0) and weights; u0 > 0 suffices, only the product u0 w matters."""
    node, weight = legendre(OUTER)
    ends = [0.0, min(0.6, 3 * math.sqrt(s2)), 2.0, 8.5]
    u0 = np.concatenate([a + (b - a) * node for a, b in pairwise(ends)])
    weight_u = np.concatenate([(b - a) * weight for a, b in pairwise(ends)])
    weight_u *= np.exp(-0.5 * u0 * u0) * math.sqrt(2 / math.pi)
    if state.D0 == 0.0:
        return u0, state.m * u0, weight_u
    blur = s2 / (u0 + math.sqrt(s2)) + 0.1 * math.sqrt(state.D1)
    w0, weight_w = panelled_gaussian(state.m * u0, np.full_like(u0, math.sqrt(state.D0)), [(0 * u0, blur)], INNER)
    return np.repeat(u0, w0.shape[1]), w0.ravel(), (weight_u[:, None] * weight_w).ravel()


def cluster_map(state: ClusterState, control: Control, tau: float) -> tuple[ClusterState, ClusterAverages]:
    """One undamped iteration."""
    alpha = control.alpha
    out = cluster_averages(state.V + control.noise, state, control.phi, tau)
    X1 = control.product - alpha * out.curvature
    between = alpha * (out.slope_squared - out.slope_squared_between)
    Y = np.float64(X1 - tau * between)  # where this cancels (mu beyond 1e6), not a number rather than an error
    m = alpha * out.slope / Y
    return ClusterState(1 / X1, between / (X1 * Y), alpha * out.slope_squared_between / Y**2, m), out


class ClusterOverlaps(NamedTuple):
    """The five order parameters of the ansatz; V0 = q1 - p1."""

    V0: float
    V1: float
    p1: float
    p0: float
    m: float


class ClusterConjugates(NamedTuple):
    """Their Lagrange multipliers."""

    dq_hat: float
    q1_hat: float
    p1_hat: float
    p0_hat: float
    m_hat: float


def cluster_free_entropy(order: ClusterOverlaps, conjugates: ClusterConjugates, control: Control, tau: float) -> float:
    """Phi at any overlaps and conjugates (eq:1RSB)."""
    entropic = cluster_g_i(order, conjugates, control.mu, tau) + cluster_g_s(conjugates, control.product, tau)
    return entropic + control.alpha * cluster_g_e(order, control.mu, control.phi, tau)


def cluster_g_i(order: ClusterOverlaps, conjugates: ClusterConjugates, mu: float, tau: float) -> float:
    """Interaction term."""
    dq_hat, q1_hat, p1_hat, p0_hat, m_hat = conjugates
    V0, V1, p1, p0, m = order
    q1 = p1 + V0
    pairs = tau * p0_hat * p0 - (tau - 1) * p1_hat * p1
    return 0.5 * (dq_hat * q1 - q1_hat * V1 / mu - q1_hat * q1 + pairs - 2 * m_hat * m)


def cluster_g_s(conjugates: ClusterConjugates, product: float, tau: float) -> float:
    """Entropic term, with `product = mu*lam`."""
    dq_hat, q1_hat, p1_hat, p0_hat, m_hat = conjugates
    D, a = dq_hat + product, p1_hat - p0_hat
    X1 = D - (q1_hat - p1_hat)
    if tau * a >= X1:
        return math.nan  # the clusters would have infinite variance
    inside = -0.5 * math.log(X1 / D) - 0.5 / tau * math.log1p(-tau * a / X1)
    return inside + 0.5 * (p0_hat + m_hat**2) / (X1 - tau * a)


def cluster_g_e(order: ClusterOverlaps, mu: float, phi: float, tau: float) -> float:
    """Energetic term."""
    V0, V1, p1, p0, m = order
    W = 1 + 2 * V1 + 2 * mu * V0
    state = ClusterState(V0 + V1 / mu, p1 - p0, p0 - m * m, m)
    return 0.5 * math.log((1 + 2 * V1) / W) + cluster_averages(W / (2 * mu), state, phi, tau).log_z


def overlaps_and_conjugates(
    state: ClusterState, out: ClusterAverages, control: Control
) -> tuple[ClusterOverlaps, ClusterConjugates]:
    """The five parameters of a state, and the conjugates that make Phi stationary in them."""
    V1, alpha = control.response, control.alpha
    p0 = state.m**2 + state.D0
    dq_hat = 2 * control.mu * alpha / (1 + 2 * V1)
    p1_hat, p0_hat = alpha * out.slope_squared, alpha * out.slope_squared_between
    q1_hat = dq_hat + p1_hat + alpha * out.curvature
    order = ClusterOverlaps(state.V - V1 / control.mu, V1, p0 + state.D1, p0, state.m)
    return order, ClusterConjugates(dq_hat, q1_hat, p1_hat, p0_hat, alpha * out.slope)


def free_entropy_by_tau(
    order: ClusterOverlaps, conjugates: ClusterConjugates, out: ClusterAverages, control: Control, tau: float
) -> float:
    """dPhi/dtau at a saddle point, where only the explicit tau counts."""
    dq_hat, q1_hat, p1_hat, p0_hat, m_hat = conjugates
    a = p1_hat - p0_hat
    X1 = dq_hat + control.product - (q1_hat - p1_hat)
    Y = X1 - tau * a
    if Y <= 0:
        return math.nan
    entropic = 0.5 / tau**2 * math.log(Y / X1) + 0.5 * a / (tau * Y) + 0.5 * (p0_hat + m_hat**2) * a / Y**2
    interaction = 0.5 * (p0_hat * order.p0 - p1_hat * order.p1)
    return interaction + entropic + control.alpha * (out.phi_out - out.log_z) / tau
