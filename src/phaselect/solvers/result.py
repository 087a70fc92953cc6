"""What every solver returns: one Result, with a Status that says in words what happened."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.base.errors import InputError
from phaselect.base.files import reading
from phaselect.base.tables import Table, frame
from phaselect.problem.schedule import Schedule
from phaselect.solvers.result_files import number, numbers, plain, read_record, write_record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Trace = dict[str, NDArray[Any]]
"""A table as named columns of equal length; `pandas.DataFrame(trace)` takes it as it is."""


class Status(Enum):
    """How a run ended; the value is the message for a person."""

    RECOVERED = "recovered: x is certified"
    LOCALLY_UNIQUE = "fits the data exactly, as no other x near by does; complex data have no certificate"
    UNCERTIFIED = "fits the data exactly; uniqueness not shown"
    AMBIGUOUS = "fits the data exactly, and so does another x, its rival"
    INEXACT = "fits nearly, but not to the precision of the numbers"
    NOT_RECOVERED = 'not recovered: try more time, another seed, or more measurements; if y is noisy, noise="auto"'
    TIME_LIMIT = "out of time before recovery: the best so far; try more time or more measurements"
    INTERRUPTED = "interrupted: the best so far"
    DIVERGED = "diverged: try vector message passing or population annealing, which work for any A"
    ESTIMATE = "estimate for noisy data: no certificate exists"
    POOR_ESTIMATE = "poor fit to the noisy data: try more time, another seed, or more measurements"

    def __str__(self) -> str:
        return self.value

    @property
    def words(self) -> str:
        """Its name, for a title or a cell of a table."""
        return self.name.lower().replace("_", " ")


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

NEEDED = {"x", "signs", "status", "mse_y", "solver", "schedule", "seed", "reason", "noise", "warnings"}
"""What is in every file that holds a result."""


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

    def save(self, path: str | Path, names: Sequence[str] = ()) -> None:
        """Write the result to a file, which appears whole or not at all.

        .npz and .json hold all of it but the state, and `Result.load` reads them again; .csv, .npy and .mat hold x, and
        but for .npy x_std where it is known. names: one for each entry of x, to be beside it in a .csv file.
        """
        if len(names) not in (0, self.x.size):
            raise InputError(f"names has {len(names)} entries: give {self.x.size}, one for each entry of x, or none")
        write_record(path, self._record(), names)

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a result that `save` wrote as .npz or .json; its state is None."""
        record = read_record(path, NEEDED)
        with reading(path):
            return cls(**_restored(record))

    def to_frame(self) -> Any:
        """The trace as a `pandas.DataFrame`, a row per look at the run; needs pandas."""
        return frame(self.trace)

    def plot(self, theory: Mapping[str, NDArray[Any]] | Table | None = None) -> Figure:
        """The trace against mu (sweeps, where mu stays the same) and x, with errors where known: a matplotlib Figure.

        A notebook shows it; elsewhere `result.plot().savefig("run.png")`. theory: columns to draw behind the trace, as
        those of `theory.follow`.
        """
        from phaselect.solvers.result_views import draw_result

        columns = None if theory is None else dict(theory)
        return draw_result(self.trace, self.x, self.x_std, self.rival, columns, self._title())

    def _title(self) -> str:
        return f"{self.solver}, {self.seconds:.3g} s: {self.status.words}"

    def __str__(self) -> str:
        """What there is to say, in a line each."""
        return "\n".join(f"{name:10}{text}" for name, text in self._facts().items())

    def _repr_html_(self) -> str:
        """What a notebook shows: a small table, and how mse_y went."""
        from phaselect.solvers.result_views import html

        return html(self._facts(), self.trace.get("mse_y", np.empty(0)))

    def _facts(self) -> dict[str, str]:
        """What `print` and a notebook say: each with its name."""
        kind = "complex" if self.x.dtype.kind == "c" else "real"
        facts = {
            "status": self.message,
            "solver": f"{self.solver}, {self.sweeps:.6g} sweeps, {self.seconds:.3g} s, seed {self.seed}",
            "x": f"{self.x.size} {kind} numbers from {self.signs.size} magnitudes",
            "fit": f"mse_y = {self.mse_y:.3g}",
            **noise_facts(self),
            "rival": "" if self.rival is None else "another x that fits the data as well",
            "truth": ", ".join(f"{name} = {value:.6g}" for name, value in self.truth.items()),
            "warnings": "; ".join(self.warnings),
        }
        return {name: text for name, text in facts.items() if text}

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON; not-a-number becomes None, an infinite number "inf".

        The state is left out.
        """
        record: dict[str, Any] = plain(self._record())
        return record

    def to_json(self) -> str:
        """The result as a JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False)

    def _record(self) -> dict[str, Any]:
        """Everything but the state by name, and what follows from it, for who reads the file."""
        return {
            "solver": self.solver,
            "status": self.status.name,
            "message": self.message,
            "certified": self.certified,
            "certificate": None if self.certificate is None else self.certificate.value,
            "reason": self.reason,
            "warnings": list(self.warnings),
            "log10_impostors": self.log10_impostors,
            "mse_y": self.mse_y,
            "sweeps": self.sweeps,
            "seconds": self.seconds,
            "seed": self.seed,
            "schedule": vars(self.schedule),
            "stages": [one._asdict() for one in self.stages],
            "x": self.x,
            "x_std": self.x_std,
            "noise": np.asarray(self.noise)[()],
            "noise_std": self.noise_std,
            "rival": self.rival,
            "signs": self.signs if self.signs.dtype.kind == "c" else self.signs.astype(np.int8),
            "truth": dict(self.truth),
            "trace": dict(self.trace),
        }


def noise_facts(result: Result) -> dict[str, str]:
    """The noise, and what it leaves open of x, in words; nothing of exact data."""
    if not np.any(result.noise):
        return {}
    noise, spread = np.mean(result.noise), "" if result.noise_std is None else f" +- {result.noise_std:.2g}"
    own = {} if result.x_std is None else {"x_std": f"{np.sqrt(np.mean(result.x_std**2)):.4g}"}
    return {"noise": f"{noise:.4g}{spread}" if np.isfinite(noise) else "not known"} | own


def _restored(record: dict[str, Any]) -> dict[str, Any]:
    """The fields of a result, from its record as it is read from a file."""
    stages = record.get("stages", {})
    signs = numbers(record["signs"])
    fields = {
        "x": numbers(record["x"]),
        "signs": signs if signs.dtype.kind == "c" else signs.astype(np.float64),
        "status": Status[record["status"]],
        "certificate": _unless_none(Certificate, record.get("certificate")),
        **{name: number(record.get(name)) for name in ("log10_impostors", "mse_y", "sweeps", "seconds")},
        "trace": {name: numbers(column) for name, column in record.get("trace", {}).items()},
        "solver": str(record["solver"]),
        "schedule": Schedule.from_dict(record["schedule"]),
        "seed": int(record["seed"]),
        "truth": {name: number(value) for name, value in record.get("truth", {}).items()},
        "reason": str(record["reason"]),
        "rival": _unless_none(numbers, record.get("rival")),
        "stages": tuple(map(_stage, stages.values() if isinstance(stages, dict) else stages)),
        "noise": numbers(record["noise"]) if np.ndim(record["noise"]) else number(record["noise"]),
        "noise_std": _unless_none(number, record.get("noise_std")),
        "x_std": _unless_none(numbers, record.get("x_std")),
        "warnings": tuple(map(str, record["warnings"])),
    }
    _check_consistent(fields)
    return fields


def _check_consistent(fields: dict[str, Any]) -> None:
    """Do its parts go together?"""
    sizes = {fields["x"].size} | {fields[name].size for name in ("x_std", "rival") if fields[name] is not None}
    if len(sizes) > 1 or 0 in sizes or len({column.size for column in fields["trace"].values()}) > 1:
        raise ValueError("vectors, or columns of the trace, are not of one length")
    if (fields["status"] is Status.RECOVERED) != (fields["certificate"] is not None):
        raise ValueError("status and certificate contradict each other")


def _unless_none(read: Callable[[Any], Any], stored: Any) -> Any:
    return None if stored is None else read(stored)


def _stage(stored: dict[str, Any]) -> StageRecord:
    own = StageRecord(**stored)
    return own._replace(attempts=int(own.attempts), mse_y=number(own.mse_y), seconds=number(own.seconds))


def tabulate(rows: list[dict[str, float]]) -> Trace:
    """Rows of equal keys as columns."""
    return {name: np.array([row[name] for row in rows]) for name in rows[0]} if rows else {}
