r"""The replica symmetric free entropy `Phi = g_i + g_s + alpha g_e`, per unknown, with its derivatives.

`Phi = Sigma - mu e + phi alpha O`: the paper prints `Sigma + mu e + phi O`, which contradicts its own partition
function (eq:partition_func). Conjugates enter as printed, but the regulariser enters g_s as `mu*lam`, not `lam`: that
is what the rescaling of the order parameters gives, and the only reading that reproduces the paper's figures.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from phaselect.theory.averages import Averages, averages
from phaselect.theory.control import Conjugates, Control, Overlaps, State, collapse


class Gradient(NamedTuple):
    """Partial derivatives of the free entropy; all of the first eight vanish at a saddle point."""

    V0: float
    V1: float
    q0: float
    m: float
    dq_hat: float
    q1_hat: float
    q0_hat: float
    m_hat: float
    mu: float  # minus the energy, at a saddle point
    phi: float  # alpha times the overlap of the signs


def free_entropy(order: Overlaps, conjugates: Conjugates, control: Control) -> float:
    """Phi at any overlaps and conjugates (eq.FreeEnergy)."""
    entropic = g_i(order, conjugates, control.mu) + g_s(conjugates, control.product)
    return entropic + control.alpha * g_e(order, control.mu, control.phi)


def g_i(order: Overlaps, conjugates: Conjugates, mu: float) -> float:
    """Interaction term (unlabelled, after subsec:RSAnsatz)."""
    dq_hat, q1_hat, q0_hat, m_hat = conjugates
    q1 = order.q1
    return 0.5 * (dq_hat * q1 - q1_hat * order.V1 / mu - q1_hat * q1 + q0_hat * order.q0 - 2 * m_hat * order.m)


def g_s(conjugates: Conjugates, product: float) -> float:
    """Entropic term (eq:entropic), with `product = mu*lam` where the paper prints lam."""
    D, X = _precisions(conjugates, product)
    return -0.5 * math.log(X / D) + 0.5 * (conjugates.q0_hat + conjugates.m_hat**2) / X


def g_e(order: Overlaps, mu: float, phi: float) -> float:
    """Energetic term (eq:energetic)."""
    W = 1 + 2 * order.V1 + 2 * mu * order.V0
    return 0.5 * math.log((1 + 2 * order.V1) / W) + float(_output(order, mu, phi).log_z)


def gradient(order: Overlaps, conjugates: Conjugates, control: Control) -> Gradient:
    """Every partial derivative of `free_entropy`, in closed form."""
    mu, alpha = control.mu, control.alpha
    dq_hat, q1_hat, q0_hat, m_hat = conjugates
    energetic = _energetic_gradient(order, mu, control.phi)
    D, X = _precisions(conjugates, control.product)
    by_X = -0.5 / X - 0.5 * (q0_hat + m_hat**2) / X**2
    by_D = 0.5 / D + by_X  # X moves with D
    return Gradient(
        V0=0.5 * (dq_hat - q1_hat) + alpha * energetic.V0,
        V1=-0.5 * q1_hat / mu + alpha * energetic.V1,
        q0=0.5 * (dq_hat - q1_hat + q0_hat) + alpha * energetic.q0,
        m=-m_hat + alpha * energetic.m,
        dq_hat=0.5 * order.q1 + by_D,
        q1_hat=-0.5 * (order.V1 / mu + order.q1) - by_X,
        q0_hat=0.5 * order.q0 + by_X + 0.5 / X,
        m_hat=-order.m + m_hat / X,
        mu=0.5 * q1_hat * order.V1 / mu**2 + control.lam * by_D + alpha * energetic.mu,
        phi=alpha * energetic.phi,
    )


class _EnergeticGradient(NamedTuple):
    V0: float
    V1: float
    q0: float
    m: float
    mu: float
    phi: float


def _energetic_gradient(order: Overlaps, mu: float, phi: float) -> _EnergeticGradient:
    """Of g_e: `s2` carries V0, V1 and mu; at fixed V0 and V1, q0 and m act through the law of (u0, w)."""
    W = 1 + 2 * order.V1 + 2 * mu * order.V0
    s2 = W / (2 * mu)
    out = _output(order, mu, phi)
    by_s2 = 0.5 * float(out.misfit) / s2**2  # of log_z, at fixed law of (u0, w)
    return _EnergeticGradient(
        V0=-mu / W + by_s2,
        V1=1 / (1 + 2 * order.V1) - 1 / W + by_s2 / mu,
        q0=0.5 * float(out.sech) / s2**2 - 0.5 / s2,
        m=float(out.gain) / s2,
        mu=-order.V0 / W - by_s2 * (1 + 2 * order.V1) / (2 * mu**2),
        phi=float(out.O),
    )


def conjugates_at(order: Overlaps, control: Control) -> Conjugates:
    """The conjugates that make Phi stationary in the given overlaps, V1 being the response of the regression."""
    state = collapse(order, control.mu)
    s2 = state.V + control.noise
    out = averages(*map(np.asarray, (s2, state.spread, state.m, control.phi)))
    dq_hat = 2 * control.mu * control.alpha / (1 + 2 * control.response)
    q0_hat = control.alpha * float(out.force) / s2**2
    curvature = control.alpha * (1 - float(out.sech) / s2) / s2
    return Conjugates(dq_hat, dq_hat + q0_hat - curvature, q0_hat, control.alpha * float(out.gain) / s2)


def free_entropy_at(state: State, out: Averages, control: Control) -> float:
    """Phi at a saddle point, where the conjugates can be eliminated and nothing large cancels.

    Phi = [D/V - mu lam q1]/2 + log(mu V/V1)/2 + alpha g_e.
    """
    V1, q1 = control.response, state.overlaps(control).q1
    s2 = state.V + control.noise
    energetic = 0.5 * math.log((1 + 2 * V1) / (2 * control.mu * s2)) + float(out.log_z)
    entropic = 0.5 * (state.spread / state.V - control.product * q1) + 0.5 * math.log(control.mu * state.V / V1)
    return entropic + control.alpha * energetic


def _precisions(conjugates: Conjugates, product: float) -> tuple[float, float]:
    """D, the precision of x inside the regression, and X, that of x with the signs integrated out."""
    D = conjugates.dq_hat + product
    return D, D - (conjugates.q1_hat - conjugates.q0_hat)


def _output(order: Overlaps, mu: float, phi: float) -> Averages:
    state = collapse(order, mu)
    return averages(*map(np.asarray, (state.V + 0.5 / mu, state.spread, state.m, phi)))
