"""The paper's algorithms, transcribed with their misprints corrected: what ours are compared with, moves and speed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.host.random import Chains, proposal

Array = NDArray[np.float64]


def regression(A: Array, lam: float) -> tuple[Array, Array]:
    """M_ols, which makes the ridge estimate of S*y, and I - A_ols, which makes its errors (eq:RidgeRegression2)."""
    M_ols: Array = np.linalg.solve(A.T @ A + lam / 2 * np.eye(A.shape[1]), A.T).astype(np.float64)
    return M_ols, np.eye(A.shape[0]) - A @ M_ols


def simulated_annealing(
    A: Array, y: Array, mu: Array, lam: Array, proposals: int, S: Array, state: Chains, penalised: bool = True
) -> list[bool]:
    """alg:SA. Makes the M x M matrix anew at each temperature; flips S in place and returns every decision.

    Two corrections: the norms are squared, and the energy includes the penalty unless `penalised` is False.
    """
    accepted: list[bool] = []
    for mu_t, lam_t in zip(mu, lam, strict=True):
        accepted += flips(*regression(A, lam_t), y, mu_t, lam_t, proposals, S, state, penalised)
    return accepted


def flips(
    M_ols: Array,
    errors_of: Array,
    y: Array,
    mu: float,
    lam: float,
    proposals: int,
    S: Array,
    state: Chains,
    penalised: bool = True,
) -> list[bool]:
    """The proposals at one temperature, which track the errors `Delta_y = (I - A_ols)(S*y)`."""
    errors, x = errors_of @ (S * y), M_ols @ (S * y)
    accepted = []
    for _ in range(proposals):
        i, u = proposal(state, y.size)
        shift = -2 * S[i] * y[i] * errors_of[:, i]
        change = np.sum((errors + shift) ** 2) - np.sum(errors**2)
        if penalised:
            x_shift = -2 * S[i] * y[i] * M_ols[:, i]
            change += lam / 2 * (np.sum((x + x_shift) ** 2) - np.sum(x**2))
        accepted.append(bool(u < np.exp(min(0.0, -mu * change))))
        if accepted[-1]:
            S[i] = -S[i]
            errors = errors + shift
            if penalised:
                x = x + x_shift
    return accepted


class Channel(NamedTuple):
    """Derivatives of phi_out (eq:channels): by w, twice by w, and by V1."""

    slope: Array
    curvature: Array
    by_V1: Array


def output_channel(w: Array, y: Array, V0: Any, V1: Any, mu: float) -> Channel:
    """With both variances, at each measurement."""
    D = 1 + 2 * V1 + 2 * mu * V0
    t = np.tanh(2 * mu * y * w / D)
    return Channel(
        slope=2 * mu / D * (y * t - w),
        curvature=-2 * mu / D + (2 * mu * y / D) ** 2 * (1 - t * t),
        by_V1=1 / (1 + 2 * V1) - 1 / D + 2 * mu / D**2 * (y * y + w * w - 2 * y * w * t),
    )


class TwoMoments(NamedTuple):
    """What an iteration of alg:AMP leaves: the mean, its two variances entry by entry, slopes, and the field."""

    x: Array
    delta0: Array
    delta1: Array
    slope: Array
    w: Array


def split_start(x: Array, m_rows: int, mu: float, share: float) -> TwoMoments:
    """Unit variance in all, this share of it inside the regression: `Delta_0 + Delta_1/mu = 1`."""
    ones, zeros = np.ones(x.size), np.zeros(m_rows)
    return TwoMoments(x, (1 - share) * ones, share * mu * ones, zeros, zeros)


def message_passing(
    A: Array, y: Array, start: TwoMoments, mus: Iterable[float], product: float, psi: float = 0.0
) -> Iterator[TwoMoments]:
    """alg:AMP at each mu in turn, damped by psi but for the first iteration; yields what each leaves.

    Corrected: `mu*lam` in phi_in, MINUS the curvature in A_1, a factor mu in Delta_1, the slope of the same iteration
    in A_0 and A_1, a sum over all that follows it, and a damping of the whole of w. Added: a response below zero, as
    there is far from equilibrium, counts as zero.
    """
    A2, now, V0, V1, damping = A**2, start, np.zeros(1), np.zeros(1), 0.0
    for mu in mus:
        new0, new1 = A2 @ now.delta0, A2 @ now.delta1
        V0, V1 = (1 - damping) * new0 + damping * V0, (1 - damping) * new1 + damping * V1
        w = (1 - damping) * (A @ now.x - (new0 + new1 / mu) * now.slope) + damping * now.w
        slope, curvature, by_V1 = output_channel(w, y, V0, V1, mu)
        A_0 = A2.T @ (2 * mu * by_V1 - slope**2)
        response = np.maximum(0.0, A2.T @ -curvature)  # A_1 - A_0
        inner, outer = A_0 + response + product, response + product
        x = (A.T @ slope + response * now.x) / outer
        now, damping = TwoMoments(x, 1 / outer - 1 / inner, mu / inner, slope, w), psi
        yield now
