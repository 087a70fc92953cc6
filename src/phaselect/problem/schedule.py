"""The annealing schedule as a value: temperatures `mu`, regularisers `lam`, and how long to stay at each.

It can be sliced, printed, compared and stored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_count, is_number, shortened
from phaselect.base.errors import InputError

UNITS = ("sweeps", "proposals", "iterations")
MAX_TEMPERATURES = 10_000_000


class Stretch(NamedTuple):
    """A piece of schedule as solvers use it: temperatures, and sweeps at each.

    In a sweep every sign is updated once, in order; an iteration of a solver that updates all at once is one sweep. A
    number of sweeps that is not an int stands for single proposals, each of a random sign.
    """

    mu: Vector
    lam: Vector
    sweeps: Any

    @property
    def total(self) -> Any:
        """Sweeps in all."""
        return self.mu.shape[0] * self.sweeps


@dataclass(frozen=True, eq=False, repr=False)
class Schedule:
    """A list of (mu, lam) pairs with `steps` steps at each.

    unit: "sweeps" (M proposed flips), "proposals" (single proposed flips), or "iterations" (updates of
    all variables at once). A sweep and an iteration both touch every sign once, so a schedule in either
    unit drives every solver; "proposals" makes sense for single-flip solvers only.

    >>> Schedule.matched(mu_max=100, steps=10)
    Schedule(50 temperatures x 10 sweeps, mu 1 to 100, mu*lam = 1)
    >>> Schedule.matched(mu_max=100, steps=10)[10:20]
    Schedule(10 temperatures x 10 sweeps, mu 2.594 to 6.116, mu*lam = 1)
    """

    mu: Vector
    lam: Vector
    steps: int = 100
    unit: str = "sweeps"

    def __post_init__(self) -> None:
        for name in ("mu", "lam"):
            object.__setattr__(self, name, _levels(getattr(self, name), name))
        if self.mu.size != self.lam.size:
            raise InputError(f"schedule: mu has {self.mu.size} entries but lam has {self.lam.size}")
        if (self.mu <= 0).any():
            raise InputError("schedule: every mu must be positive")
        if (self.lam < 0).any():
            raise InputError("schedule: every lam must be 0 or more")
        if not is_count(self.steps, 1):
            raise InputError(f"schedule: steps = {shortened(self.steps)} must be a whole number, 1 or more")
        object.__setattr__(self, "steps", int(self.steps))
        if self.unit not in UNITS:
            raise InputError(f"schedule: unit = {shortened(self.unit)}; use one of {', '.join(UNITS)}")

    # ------------------------------------------------------------------ ways to make one

    @classmethod
    def fixed_product(
        cls,
        product: float,
        *,
        mu0: float = 1.0,
        mu_max: float = 3e4,
        eps: float = 0.1,
        steps: int = 100,
        unit: str = "sweeps",
        hold: int = 0,
    ) -> Schedule:
        """Anneal `mu_k = mu0 (1+eps)^k` up to mu_max at constant `mu * lam = product`.

        The last temperature is mu_max itself, repeated `hold` more times.
        """
        mu = _geometric(mu0, mu_max, eps, hold)
        if not is_number(product):
            raise InputError(f"schedule: product = {shortened(product)} must be a number")
        with np.errstate(over="ignore"):  # an infinite lam is refused
            return cls(mu, product / mu, steps, unit)

    @classmethod
    def matched(
        cls,
        mu0: float = 1.0,
        mu_max: float = 3e4,
        eps: float = 0.1,
        steps: int = 100,
        unit: str = "sweeps",
        hold: int = 0,
    ) -> Schedule:
        """The Bayes-matched anneal: the Gaussian prior of the normalised signal, `mu * lam = 1`."""
        return cls.fixed_product(1.0, mu0=mu0, mu_max=mu_max, eps=eps, steps=steps, unit=unit, hold=hold)

    @classmethod
    def noisy(
        cls,
        noise: float,
        *,
        mu0: float = 1.0,
        eps: float = 0.1,
        steps: int = 100,
        unit: str = "sweeps",
        hold: int = 0,
    ) -> Schedule:
        """The matched anneal for data with noise of this variance in normalised units; ends at `mu = 1/(2 noise)`.

        There the posterior is that of the noisy problem; the signal has the power that the noise leaves.
        """
        mu = 1 / (2 * noise)
        product = 1 / (1 - noise)
        return cls.fixed_product(product, mu0=min(mu0, mu), mu_max=mu, eps=eps, steps=steps, unit=unit, hold=hold)

    @classmethod
    def fixed_lambda(
        cls,
        lam: float,
        *,
        mu0: float = 1.0,
        mu_max: float = 3e4,
        eps: float = 0.1,
        steps: int = 100,
        unit: str = "sweeps",
        hold: int = 0,
    ) -> Schedule:
        """Anneal mu alone, at constant regulariser."""
        mu = _geometric(mu0, mu_max, eps, hold)
        return cls(mu, np.full_like(mu, lam), steps, unit)

    @classmethod
    def paper_amp(cls, mu0: float = 1000.0, mu_max: float = 1e12, eps: float = 0.01, hold: int = 3000) -> Schedule:
        """The paper's AMP anneal (alg:AMP): `lam_0 = 1` decaying as 1/mu where the channel reads mu*lam.

        In our convention the product itself decays, `mu * lam = mu0 / mu`; kept to reproduce the
        paper's figure, inferior to `matched`.
        """
        mu = _geometric(mu0, mu_max, eps, hold)
        return cls(mu, mu0 / mu**2, 1, "iterations")

    # ------------------------------------------------------------------ a value

    def __len__(self) -> int:
        return int(self.mu.size)

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return iter(zip(self.mu.tolist(), self.lam.tolist(), strict=True))

    @overload
    def __getitem__(self, index: int) -> tuple[float, float]: ...
    @overload
    def __getitem__(self, index: slice) -> Schedule: ...
    def __getitem__(self, index: int | slice) -> tuple[float, float] | Schedule:
        if isinstance(index, slice):
            return Schedule(self.mu[index], self.lam[index], self.steps, self.unit)
        return float(self.mu[index]), float(self.lam[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, bytes, int, str]:
        return self.mu.tobytes(), self.lam.tobytes(), self.steps, self.unit

    def __repr__(self) -> str:
        count = f"{len(self)} temperature{'s' if len(self) > 1 else ''} x {self.steps} {self.unit}"
        product = self.mu * self.lam
        if np.allclose(product, product[0], rtol=1e-9):
            rule = f"mu*lam = {product[0]:.4g}"
        elif (self.lam == self.lam[0]).all():
            rule = f"lam = {self.lam[0]:.4g}"
        else:
            rule = f"lam {self.lam[0]:.4g} to {self.lam[-1]:.4g}"
        return f"Schedule({count}, mu {self.mu[0]:.4g} to {self.mu[-1]:.4g}, {rule})"

    @property
    def steps_per_e_fold(self) -> float:
        """Steps taken while mu grows by a factor of e, at the rate at which it begins to grow.

        >>> round(Schedule.matched(eps=0.1, steps=10).steps_per_e_fold, 2)
        104.92
        """
        rate = math.log(self.mu[1] / self.mu[0]) if len(self) > 1 else 0.0
        return self.steps / rate if rate else math.inf

    # ------------------------------------------------------------------ used by the solvers

    def stretch(self, m_rows: int) -> Stretch:
        """The schedule as arrays, for an instance with `m_rows` signs."""
        return Stretch(self.mu, self.lam, self.steps / m_rows if self.unit == "proposals" else self.steps)

    def iterations(self, solver: str) -> int:
        """Iterations at each temperature, for a solver that updates everything at once."""
        if self.unit == "proposals":
            raise InputError(f"{solver} updates all signs at once: use a schedule in sweeps or iterations")
        return self.steps

    def segments(self, temperatures: int) -> Iterator[Schedule]:
        """The schedule cut into runs of at most `temperatures` temperatures."""
        for start in range(0, len(self), temperatures):
            yield self[start : start + temperatures]

    def rescaled(self, factor: float) -> Schedule:
        """The same temperatures with every lam, and so every product, multiplied by `factor`."""
        with np.errstate(over="ignore"):  # an infinite lam is refused
            return Schedule(self.mu, self.lam * factor, self.steps, self.unit)

    # ------------------------------------------------------------------ storage

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {"mu": self.mu.tolist(), "lam": self.lam.tolist(), "steps": self.steps, "unit": self.unit}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Schedule:
        """The inverse of `to_dict`."""
        if not isinstance(record, Mapping) or set(record) != {"mu", "lam", "steps", "unit"}:
            raise InputError("schedule: a record must hold exactly mu, lam, steps and unit")
        return cls(**record)

    def to_json(self) -> str:
        """The schedule as a JSON text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Schedule:
        """The inverse of `to_json`; floats come back bit for bit."""
        try:
            record = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"schedule: not JSON ({error})") from None
        return cls.from_dict(record)


def _geometric(mu0: float, mu_max: float, eps: float, hold: int) -> Vector:
    if not (is_number(mu0) and is_number(mu_max) and 0 < mu0 <= mu_max):
        raise InputError(f"schedule: need 0 < mu0 <= mu_max, got mu0 = {shortened(mu0)}, mu_max = {shortened(mu_max)}")
    if not (is_number(eps) and eps > 0):
        raise InputError(f"schedule: eps = {shortened(eps)} must be positive")
    if not is_count(hold):
        raise InputError(f"schedule: hold = {shortened(hold)} must be a whole number, 0 or more")
    with np.errstate(over="ignore"):  # the largest and the smallest numbers are told apart below, as too many
        count = np.ceil(np.log(np.divide(mu_max, mu0)) / np.log1p(eps) - 1e-9)
    if count + hold > MAX_TEMPERATURES:
        raise InputError(f"schedule: {count + hold:.8g} temperatures is too many; raise eps or lower mu_max")
    with np.errstate(over="ignore"):  # of a last one beyond mu_max
        mu = mu0 * (1 + eps) ** np.arange(count + 1.0)
    mu[-1] = mu_max
    return np.concatenate([mu, np.full(hold, mu_max)])


def _levels(values: ArrayLike, name: str) -> Vector:
    try:
        levels = np.array(values, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise InputError(f"schedule: {name} must be a list of numbers") from None
    if levels.ndim != 1 or levels.size == 0:
        raise InputError(f"schedule: {name} must be a non-empty list of numbers")
    if not np.isfinite(levels).all():
        raise InputError(f"schedule: every {name} must be finite")
    levels.setflags(write=False)
    return levels
