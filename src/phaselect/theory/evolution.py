r"""State evolution: what message passing does iteration by iteration.

That of vector message passing is in vector_evolution.py; this is AMP's. Without damping its state (V, D, m) at
iteration t + 1 is exactly the saddle-point map of the state at t, at (mu_t, lam_t). Damping by psi filters the fields,
`w_t = (1-psi) w + psi w_(t-1)`, while the update of x keeps the unfiltered estimate: `x_(t+1) = V (A^T g + chi x_t)`.
With `bar` for filtered quantities, its overlaps become

    m <- V (m_hat + chi (m - m_bar)),      d <- V (sqrt(q0_hat) + chi (d - d_bar)),      D = d^2 + (share of the
    start)^2:

noise made by the iteration is taken as fully correlated in time and independent of the random start. That is an
approximation, checked against runs (tests/theory/test_evolution.py), and exact at fixed points and without
damping.
"""

from __future__ import annotations

import math

import numpy as np

from phaselect.base.checks import is_count, shortened
from phaselect.base.errors import InputError
from phaselect.base.tables import Table
from phaselect.problem.schedule import Schedule
from phaselect.theory.averages import averages
from phaselect.theory.control import check_positive, number
from phaselect.theory.quadrature import Array
from phaselect.theory.spectra import SpectrumLike, as_spectrum, degrees_of_freedom
from phaselect.theory.vector_evolution import SHOWN, evolve, weak_message
from phaselect.theory.vector_nodes import Ensemble

UNSIZED = 10**6


def state_evolution(
    alpha: float,
    schedule: Schedule,
    *,
    n: int | None = None,
    m0: float | None = None,
    damping: float = 0.3,
    spectrum: SpectrumLike | None = None,
    field: str = "real",
) -> Table:
    """The trajectory of message passing from a random start, one row per iteration of `schedule`, before it.

    n: number of unknowns; the start then has the overlap with the signal that a random one has (default: n = 10^6). m0:
    the overlap of the start, instead of n: of AMP's first x, or of the first message of vector message passing.
    damping: as in the solver. spectrum: none for AMP; of vector message passing that of A: "gaussian", "orthogonal"
    (columns), or the squared singular values, in any units. field: "real" or "complex", of A and x; AMP is real.
    Columns sweeps, mu, lam, V, m, q1 (squared norm of x), O, mse_x, as in a solver's trace; with a spectrum v, too, the
    variance of a measurement.

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
    degrees = degrees_of_freedom(field)
    if spectrum is None and degrees > 1:
        raise InputError('AMP is real: for field = "complex" give the spectrum of A')
    chance = 1 / (n or UNSIZED) if spectrum is None else (1 + 2 / degrees) / (alpha * (n or UNSIZED))
    begin = math.sqrt(chance) if m0 is None else number("m0", m0)
    if not 0 < begin < 1:
        raise InputError(f"m0 = {begin:g} must lie between 0 and 1")
    if spectrum is None:
        return _evolve_amp(alpha, schedule, begin=begin, damping=damping)
    law = as_spectrum(spectrum)
    law.check(alpha)
    return evolve(Ensemble(float(alpha), law, degrees), schedule, first=weak_message(begin), damping=damping)


def _evolve_amp(alpha: float, schedule: Schedule, *, begin: float, damping: float) -> Table:
    """The module's equations."""
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
    names = ("sweeps", "mu", "lam", "V", "m", "q1", "O", "mse_x")
    return Table(dict(zip(names, np.array(rows).T, strict=True)), shown=SHOWN)


def _forces(alpha: float, s2: float, bar: Array) -> tuple[Array, float]:
    """(m_hat, sqrt(q0_hat), 0) and chi, from the overlaps of the filtered field."""
    out = averages(*map(np.asarray, (s2, bar[1] ** 2 + bar[2] ** 2, bar[0], 0.0)))
    source = np.array([alpha * float(out.gain) / s2, math.sqrt(alpha * max(float(out.force), 0.0)) / s2, 0.0])
    return source, max(0.0, alpha * (1 - float(out.sech) / s2) / s2)


def _sign_overlap(x: Array) -> float:
    """Of sign(A x), for a Gaussian field: 1 - 2 angle/pi."""
    return 1 - 2 / math.pi * math.atan2(math.hypot(x[1], x[2]), x[0])
