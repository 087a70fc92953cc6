r"""State evolution: what message passing does iteration by iteration, and what Bayes-optimal inference can reach.

Without damping the state (V, D, m) of AMP at iteration t + 1 is exactly the saddle-point map of the state at t, at
(mu_t, lam_t). Damping by psi filters the fields, `w_t = (1-psi) w + psi w_(t-1)`, while the update of x keeps the
unfiltered estimate: `x_(t+1) = V (A^T g + chi x_t)`. With `bar` for filtered quantities, its overlaps become

    m <- V (m_hat + chi (m - m_bar)),      d <- V (sqrt(q0_hat) + chi (d - d_bar)),      D = d^2 + (share of the
    start)^2:

noise made by the iteration is taken as fully correlated in time and independent of the random start. That is an
approximation, checked against runs (tests/theory/test_evolution.py), and exact at fixed points and without
damping.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.problem.schedule import Schedule
from phaselect.theory.averages import averages
from phaselect.theory.branch import Branch
from phaselect.theory.control import check_positive, number
from phaselect.theory.flow import channel_map
from phaselect.theory.quadrature import Array

UNSIZED = 10**6


def state_evolution(
    alpha: float, schedule: Schedule, *, n: int | None = None, m0: float | None = None, damping: float = 0.3
) -> Branch:
    """The trajectory of AMP from a random start, one row per iteration of `schedule`, before that iteration.

    n: number of unknowns; the start then has overlap 1/sqrt(n) with the signal, as a random one has (default: n =
    10^6). m0: the overlap of the start, instead of n. damping: as in `AMP(damping=...)`.
    Columns sweeps, mu, lam, V, m, q1 (squared norm of x), O, mse_x, as in AMP's trace.

    >>> run = state_evolution(1.3, Schedule.matched(mu0=1e3, mu_max=1e8, eps=0.1, steps=1, unit="iterations"), n=1000)
    >>> bool(run["m"][-1] > 0.99)
    True
    """
    check_positive("alpha", alpha)
    if not 0 <= number("damping", damping) < 1:
        raise InputError(f"damping = {damping:g} must lie in [0, 1)")
    if n is not None and m0 is not None:
        raise InputError("give n or m0, not both")
    if n is not None and not is_count(n, 2):
        raise InputError(f"n = {shortened(n)} must be a whole number, 2 or more")
    begin = 1 / math.sqrt(n or UNSIZED) if m0 is None else number("m0", m0)
    if not 0 < begin < 1:
        raise InputError(f"m0 = {begin:g} must lie between 0 and 1")
    x = np.array([begin, 0.0, math.sqrt(1 - begin**2)])  # along the signal, along noise made since, along the start
    V = V_damped = 1.0
    bar, rows = x, []
    levels = [pair for pair in schedule for _ in range(schedule.iterations("state evolution"))]
    for count, (mu, lam) in enumerate(levels):
        rows.append((count, mu, lam, V, x[0], x @ x, _sign_overlap(x), (1 - x[0]) ** 2 + x[1:] @ x[1:]))
        psi = damping if count else 0.0
        V_damped, bar = (1 - psi) * V + psi * V_damped, (1 - psi) * x + psi * bar
        source, chi = _forces(alpha, V_damped + 0.5 / mu, bar)
        if mu * lam + chi <= 0:
            raise InputError(f"AMP diverges at iteration {count}: no prior and no information; give lam > 0")
        V = 1 / (mu * lam + chi)
        x = V * (source + chi * (x - bar))
    return dict(zip(("sweeps", "mu", "lam", "V", "m", "q1", "O", "mse_x"), np.array(rows).T, strict=True))


def _forces(alpha: float, s2: float, bar: Array) -> tuple[Array, float]:
    """(m_hat, sqrt(q0_hat), 0) and chi, from the overlaps of the filtered field."""
    out = averages(*map(np.asarray, (s2, bar[1] ** 2 + bar[2] ** 2, bar[0], 0.0)))
    source = np.array([alpha * float(out.gain) / s2, math.sqrt(alpha * max(float(out.force), 0.0)) / s2, 0.0])
    return source, max(0.0, alpha * (1 - float(out.sech) / s2) / s2)


def _sign_overlap(x: Array) -> float:
    """Of sign(A x), for a Gaussian field: 1 - 2 angle/pi."""
    return 1 - 2 / math.pi * math.atan2(math.hypot(x[1], x[2]), x[0])


@dataclass(frozen=True)
class BayesOptimal:
    """Mean squared error of the posterior mean, for a standard Gaussian signal and no noise.

    mse_x: reached by message passing from no information; mse_x_informed: by the best estimator, whatever its cost.
    """

    alpha: float
    mse_x: float
    mse_x_informed: float

    @property
    def phase(self) -> str:
        """ "easy", "hard" (recovery is possible, but message passing misses it) or "impossible"."""
        if self.mse_x < 1e-6:
            return "easy"
        return "hard" if self.mse_x_informed < 1e-6 else "impossible"


def bayes_optimal(alpha: float) -> BayesOptimal:
    """State evolution at the matched prior and zero temperature (`mu lam = 1`, mu -> infinity).

    There `m = q0 = 1 - V` (Nishimori), and one equation for V is left: message passing ends at its largest root.

    >>> f"{bayes_optimal(1.1005).mse_x:.4f}"
    '0.3077'
    """
    check_positive("alpha", alpha)
    root = _largest_root(alpha)
    return BayesOptimal(alpha, root, 0.0 if alpha > 1 else root)  # at alpha < 1 there is one root


def _largest_root(alpha: float) -> float:
    """Of `V = map(V)` in (0, 1]; 0 where there is none: the signal is recovered exactly."""
    if alpha <= 0.5:
        return 1.0  # no weak recovery
    near = 1 - np.geomspace(1e-3, 1e-9, 30)  # just above the threshold of weak recovery, V -> 1
    grid = np.concatenate([np.geomspace(1e-6, 0.05, 40, endpoint=False), np.linspace(0.05, 0.999, 1201)[:-1], near])
    low = 0
    for _ in range(5):  # each round after the first refines the last sign change a hundredfold
        shrinks = _nishimori_map(grid, alpha) < grid
        unstable = np.flatnonzero(~shrinks)
        if unstable.size == 0:
            return 0.0
        low = int(unstable[-1])
        grid = np.linspace(grid[low], grid[min(low + 1, grid.size - 1)], 101)
    return float(grid[0])


def _nishimori_map(V: Array, alpha: float) -> Array:
    m = 1 - V
    one, zero = np.ones_like(V), np.zeros_like(V)
    return channel_map(V, m * V, m, alpha, one, zero, zero).V
