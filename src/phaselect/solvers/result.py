"""What every solver returns: one Result, with a Status that says in words what happened."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.problem.schedule import Schedule

Trace = dict[str, NDArray[Any]]
"""A table as named columns of equal length; `pandas.DataFrame(trace)` takes it as it is."""


class Status(Enum):
    """How a run ended; the value is the message for a person."""

    RECOVERED = "recovered: x is certified"
    LOCALLY_UNIQUE = "fits the data exactly, as no other x near by does; complex data have no certificate"
    UNCERTIFIED = "fits the data exactly; uniqueness not shown"
    AMBIGUOUS = "fits the data exactly, and so does another x, its rival"
    INEXACT = "fits better than chance allows, but not exactly"
    NOT_RECOVERED = 'not recovered: try more time, another seed, or more measurements; if y is noisy, noise="auto"'
    TIME_LIMIT = "out of time before recovery: the best so far; try more time or more measurements"
    INTERRUPTED = "interrupted: the best so far"
    DIVERGED = "diverged: try vector message passing or population annealing, which work for any A"
    ESTIMATE = "estimate for noisy data: no certificate exists"
    POOR_ESTIMATE = "poor fit to the noisy data: try more time, another seed, or more measurements"


FITS = (Status.RECOVERED, Status.LOCALLY_UNIQUE, Status.UNCERTIFIED, Status.AMBIGUOUS)
"""Exact data, exactly."""
CUT = (Status.TIME_LIMIT, Status.INTERRUPTED)
"""Not allowed to come to its own end."""


class Certificate(StrEnum):
    """What a certificate rests on."""

    ENUMERATED = "enumerated"
    GENERAL_POSITION = "general position"


MEANING = {
    Certificate.ENUMERATED: "unique up to its global sign: every other choice of signs was ruled out",
    Certificate.GENERAL_POSITION: "no other x fits, unless A was built against this one",
}


class StageRecord(NamedTuple):
    """A stage of a search: why it was chosen, how often it was tried, how its last attempt ended, and the best fit."""

    solver: str
    why: str
    attempts: int
    ended: str
    mse_y: float
    seconds: float


@dataclass(frozen=True, eq=False)
class Result:
    """An estimate of x with its certificate and the history of the run.

    `certificate` says what it rests on, or is None; `reason` says why there is none, or what speaks for noise; `rival`
    is another x that fits the data as well, where one was found; `stages` are the solvers that were tried, in order,
    and how each ended.

    x and rival are in the units of the data; `signs` are phases where A is complex; `mse_y` is |signs*y - A x|^2 / M in
    units of mean(y^2), over rows as they were weighted; `sweeps` counts work: in a sweep every sign (of every copy) is
    updated once; `trace` has one row per look at the run; `state`, with the rest of a schedule, is a checkpoint, and
    `solver.run(problem, rest, init=result.state)` goes on where the run stopped; `truth` has m, O and mse_x of the
    answer where x0 is known.

    noise is the variance, or variances, in the units of the data, that x was computed with, 0 for exact data; noise_std
    its uncertainty where it was learned; x_std the posterior standard deviation of each entry of x, None for exact
    data, of which a certificate tells all there is to tell; warnings are the lines of every `DataWarning`.
    """

    x: Vector = field(repr=False)
    signs: Vector = field(repr=False)
    status: Status
    certificate: Certificate | None
    log10_impostors: float
    mse_y: float
    sweeps: float
    seconds: float
    trace: Trace = field(repr=False)
    solver: str
    schedule: Schedule
    seed: int
    state: Any = field(repr=False, default=None)
    truth: dict[str, float] = field(repr=False, default_factory=dict)
    reason: str = ""
    rival: Vector | None = field(repr=False, default=None)
    stages: tuple[StageRecord, ...] = field(repr=False, default=())
    noise: Any = 0.0
    noise_std: float | None = None
    x_std: Vector | None = field(repr=False, default=None)
    warnings: tuple[str, ...] = field(repr=False, default=())

    @property
    def phases(self) -> NDArray[np.complex128]:
        """The signs as what they are in the complex field, phases `(A x)/|A x|`."""
        return self.signs.astype(np.complex128)

    @property
    def certified(self) -> bool:
        """Is there a certificate?"""
        return self.certificate is not None

    @property
    def message(self) -> str:
        """The status, with its reason, for a person."""
        more = self.reason if self.certificate is None else MEANING[self.certificate]
        return f"{self.status.value}{': ' if more else ''}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON; not-a-number becomes None. The state is left out."""
        return {
            "solver": self.solver,
            "status": self.status.name,
            "message": self.message,
            "certified": self.certified,
            "certificate": self.certificate,
            "reason": self.reason,
            "warnings": list(self.warnings),
            "log10_impostors": _plain(self.log10_impostors),
            "mse_y": _plain(self.mse_y),
            "sweeps": self.sweeps,
            "seconds": self.seconds,
            "seed": self.seed,
            "schedule": self.schedule.to_dict(),
            "stages": [{name: _plain(value) for name, value in one._asdict().items()} for one in self.stages],
            "x": _list(self.x),
            "x_std": None if self.x_std is None else self.x_std.tolist(),
            "noise": _plain(self.noise) if np.ndim(self.noise) == 0 else np.asarray(self.noise).tolist(),
            "noise_std": self.noise_std,
            "rival": None if self.rival is None else _list(self.rival),
            "signs": _list(self.signs) if self.signs.dtype.kind == "c" else self.signs.astype(int).tolist(),
            "truth": {name: _plain(value) for name, value in self.truth.items()},
            "trace": {name: [_plain(value) for value in column] for name, column in self.trace.items()},
        }

    def to_json(self) -> str:
        """The result as a JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)


def _list(values: NDArray[Any]) -> list[Any]:
    """Numbers, or pairs of them, real and imaginary part."""
    plain = np.stack([values.real, values.imag], axis=-1) if values.dtype.kind == "c" else values
    listed: list[Any] = plain.tolist()
    return listed


def tabulate(rows: list[dict[str, float]]) -> Trace:
    """Rows of equal keys as columns."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}


def _plain(value: Any) -> float | int | None:
    number = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(number, float) and not math.isfinite(number) else number
