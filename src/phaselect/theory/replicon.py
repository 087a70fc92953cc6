r"""Local stability of the replica symmetric saddle point (sec:RSStability).

Type I, between sign vectors: `alpha V^2 E[(d^2 phi_out/dw^2)^2] < 1`. Type II, inside the regression, is that of a
convex ridge problem and always holds: `alpha (2 V1/(1 + 2 V1))^2`, 1/alpha at lam = 0. Both are products of an
entropic and an energetic factor (lambda^S lambda^E in the paper), here derived anew: the paper's simplified constants
miss factors, alpha among them.
"""

from __future__ import annotations

from phaselect.theory.averages import squared_curvature
from phaselect.theory.control import Control, State


def replicon(state: State, control: Control) -> float:
    """Type I eigenvalue; the replica symmetric ansatz is locally unstable above 1."""
    s2 = state.V + control.noise
    curvature = squared_curvature(s2, state.spread, state.m, control.phi)
    return control.alpha * state.V**2 * float(curvature)


def replicon_regression(control: Control) -> float:
    """Type II eigenvalue; below 1 everywhere."""
    V1 = control.response
    return control.alpha * (2 * V1 / (1 + 2 * V1)) ** 2
