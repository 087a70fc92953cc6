"""The values the theory works with: control parameters, overlaps and their conjugates."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from phaselect.base.checks import shortened
from phaselect.base.errors import InputError

MU_MAX = 1e5
"""How far transitions are searched for: beyond, branches follow their power laws, and the precision inside a cluster
exceeds that between clusters so much that rounding shows."""


@dataclass(frozen=True)
class Control:
    """A point of the phase diagram: measurements per unknown, temperature, regulariser, chemical potential.

    The signal has unit variance. `lam = 0` needs alpha > 1: below, the regression has no unique answer.
    """

    alpha: float
    mu: float
    lam: float = 0.0
    phi: float = 0.0

    def __post_init__(self) -> None:
        for name in ("alpha", "mu", "lam", "phi"):
            object.__setattr__(self, name, number(name, getattr(self, name)))
        check_positive("alpha", self.alpha)
        check_positive("mu", self.mu)
        check_lam(self.lam)
        if not abs(self.phi) <= LARGEST_PHI:
            raise InputError(f"phi = {self.phi:g} must lie between -{LARGEST_PHI:g} and {LARGEST_PHI:g}")
        if self.lam == 0 and self.alpha <= 1:
            raise InputError(f"alpha = {self.alpha:g}: without a regulariser alpha must exceed 1; give lam > 0")

    @property
    def product(self) -> float:
        """`mu * lam`, the precision of the prior that the regulariser amounts to."""
        return self.mu * self.lam

    @property
    def noise(self) -> float:
        """`1/(2 mu)`, the noise variance that the temperature amounts to."""
        return 0.5 / self.mu

    @property
    def response(self) -> float:
        """V1, the response of the ridge regression: positive root of `V1 (lam + 2 alpha/(1 + 2 V1)) = 1`."""
        b = self.lam + 2 * self.alpha - 2
        root = math.sqrt(b * b + 8 * self.lam)
        return 2 / (b + root) if b > 0 else (root - b) / (4 * self.lam)


class Overlaps(NamedTuple):
    """Order parameters of the replica symmetric ansatz (OrderParameters), rescaled as in the paper.

    V0 = q1 - q0: variance of the estimate over the signs; V1 = delta q: response inside the regression;
    q0: overlap of the estimates of two independent sign vectors; m: overlap with the signal.
    """

    V0: float
    V1: float
    q0: float
    m: float

    @property
    def q1(self) -> float:
        """Squared norm of the estimate, per unknown."""
        return self.q0 + self.V0


class Conjugates(NamedTuple):
    """Lagrange multipliers of the overlaps."""

    dq_hat: float
    q1_hat: float
    q0_hat: float
    m_hat: float


class State(NamedTuple):
    """The overlaps collapsed: `V = V0 + V1/mu` and `spread = q0 - m^2` close the saddle point with m.

    The Hessian of H in x does not depend on the signs, so V0 and V1 act only through V. Written with the spread,
    nothing cancels as q0 -> m^2.
    """

    V: float
    spread: float
    m: float

    @property
    def q0(self) -> float:
        """Overlap of the estimates of two independent sign vectors."""
        return self.m * self.m + self.spread

    def overlaps(self, control: Control) -> Overlaps:
        """Back to the four parameters of the paper."""
        V1 = control.response
        return Overlaps(self.V - V1 / control.mu, V1, self.q0, self.m)


def collapse(overlaps: Overlaps, mu: float) -> State:
    """The state of given overlaps."""
    if not all(map(math.isfinite, overlaps)):
        raise InputError("overlaps must be finite numbers")
    V, spread = overlaps.V0 + overlaps.V1 / mu, overlaps.q0 - overlaps.m**2
    if V <= 0 or spread < 0:
        raise InputError("overlaps need V0 + V1/mu > 0 and q0 >= m^2")
    return State(V, spread, overlaps.m)


SMALLEST, LARGEST, LARGEST_PHI = 1e-30, 1e15, 300.0
"""Far beyond anything of interest, and still safe from overflow."""


def number(name: str, value: float) -> float:
    """A plain float, or one line that says what is wrong."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} = {shortened(value)} must be a number") from None


def numbers(name: str, values: Iterable[float]) -> list[float]:
    """Plain floats, or one line that says which is none."""
    try:
        entries = list(values)
    except TypeError:
        raise InputError(f"{name} = {shortened(values)} must be a list of numbers") from None
    return [number(name, value) for value in entries]


def check_positive(name: str, value: float) -> None:
    """One line for a number that must be positive and is not."""
    if not SMALLEST <= number(name, value) <= LARGEST:
        raise InputError(
            f"{name} = {float(value):g} must be a positive number, at most {LARGEST:g}, not below {SMALLEST:g}"
        )


def check_tolerance(tolerance: float) -> None:
    """One line for a precision that cannot be met or means nothing."""
    if not 1e-10 <= number("tolerance", tolerance) <= 0.1:
        raise InputError(f"tolerance = {float(tolerance):g} must lie between 1e-10 and 0.1")


def check_lam(lam: float) -> None:
    """One line for a regulariser that is negative or no number."""
    if not (number("lam", lam) == 0 or SMALLEST <= float(lam) <= LARGEST):
        raise InputError(f"lam = {float(lam):g} must be 0 or more, finite, and not below {SMALLEST:g} unless it is 0")


def check_recoverable(alpha: float) -> None:
    """Recovery from M <= N magnitudes is impossible: many x share them."""
    check_positive("alpha", alpha)
    if alpha <= 1:
        raise InputError(f"alpha = {alpha:g}: recovery needs more measurements than unknowns, alpha > 1")
