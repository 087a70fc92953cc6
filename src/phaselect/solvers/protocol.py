"""What a solver is: one file that runs on a laptop, in a batch and on a GPU. See docs/adding_a_solver.md.

A solver is a frozen dataclass, its configuration. Its state is a NamedTuple that holds everything that changes, random
numbers included, with `mu`, `lam` and `sweeps` among its fields. Its methods are functions of a normalised problem:
they are told nothing about where A is, and may become parts of a compiled program, so they use the namespace of the
arrays they are given and the loops of the problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from phaselect.equations.arrays import Array
from phaselect.problem.normalised import Normalised
from phaselect.problem.schedule import Schedule, Stretch
from phaselect.solvers.result import Result
from phaselect.solvers.verdict import Ended


class Progress(NamedTuple):
    """What a progress callback is told when an attempt begins, and after each look at it; of a batch, the median fit.

    Stages, each with its solver, and the attempts of a stage are counted from 1; `attempts`: how many it may have.
    """

    solver: str
    fraction: float  # of the schedule, 0 to 1, which is also its early end
    mu: float
    mse_y: float  # nan when an attempt begins
    seconds: float
    stage: int = 1
    attempt: int = 1
    attempts: int = 1
    time_left: float = np.inf  # seconds of the time limit


ProgressCallback = Callable[[Progress], None]
ProgressOption = ProgressCallback | bool | None
"""What a run takes: True is a bar."""


class Start(NamedTuple):
    """Where the user wants a run to start: an estimate of x in normalised units, and signs."""

    x: Array
    signs: Array


class Work(NamedTuple):
    """Counted work, in units of about a nanosecond of one core; a trace is thinned by it, never by the clock.

    move: what a temperature takes. look: a row of the trace. quench: the greedy flips that may end an anneal early.
    launches: operations of a temperature that must wait for each other, which bound it on a device.
    regresses: does it need the couplings of the signs, which a device computes anew for each temperature and look?
    """

    move: float
    look: float
    quench: float = 0.0
    launches: float = 0.0
    regresses: bool = False


@runtime_checkable
class Runnable(Protocol):
    """What solves an instance: a solver, or the front door, which tries several."""

    @property
    def name(self) -> str:
        """Short name, as in `phaselect solve --solver NAME`."""

    def run(
        self,
        problem: Any,
        schedule: Any = None,
        *,
        seed: Any = 0,
        init: Any = None,
        time_limit: float | None = None,
        progress: ProgressOption = None,
        noise: Any = None,
    ) -> Result:
        """Run on one instance."""


class Solver(Protocol):
    """The protocol. Everything is in it: nobody asks a solver for more."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str:
        """Short name, as in `phaselect solve --solver NAME`."""

    @property
    def restarts(self) -> int:
        """How often to start afresh when a run fails."""

    @property
    def eager(self) -> bool:
        """Is a candidate looked at now and then, so that a run can stop as soon as it solves the problem?"""

    @property
    def single_flips(self) -> bool:
        """Does a schedule in single proposals make sense?"""

    @property
    def in_batches(self) -> bool:
        """Can its methods be parts of a compiled program? If not, a batch is run one instance after the other."""

    @property
    def needs_entries(self) -> bool:
        """Does it begin with a factorisation of A?"""

    @property
    def takes_few(self) -> bool:
        """Can there be fewer measurements than unknowns?"""

    @property
    def takes_phases(self) -> bool:
        """Can measurements be complex, or have they signs only?"""

    @property
    def state_type(self) -> type:
        """The NamedTuple of its states."""

    def default_schedule(self, noise: float = 0.0) -> Schedule:
        """A good schedule; with noise (its variance in normalised units) it ends at mu = 1/(2 noise)."""

    def draw(self, rng: np.random.Generator, m_rows: int, n: int, schedule: Schedule, attempt: int) -> Any:
        """The random numbers that a run starts from, as arrays of NumPy: the same wherever A is.

        attempt: 0, then 1, 2 ... for restarts, which may vary more than the random numbers.
        """

    def start(self, problem: Normalised, drawn: Any, mu: Array, lam: Array, init: Start | None) -> Any:
        """The first state, before the temperature (mu, lam): from what was drawn, or from `init`."""

    def work(self, m_rows: int, n: int, schedule: Schedule) -> Work:
        """What a temperature and a look at the run take."""

    def memory(self, m_rows: int, n: int, itemsize: int) -> int:
        """Bytes that a run takes on a device, its A, of so many bytes per entry, included."""

    def advance(self, problem: Normalised, state: Any, stretch: Stretch) -> Any:
        """Runs a piece of schedule; leaves the given state as it was."""

    def measure(self, problem: Normalised, state: Any) -> dict[str, Array]:
        """Observables of a state, as a row of the trace; `mse_y` and `sweeps` at least, nan or inf if it broke down."""

    def stop(self, problem: Normalised, row: dict[str, float], final: bool, exact: bool) -> Ended | None:
        """None to go on after this row; else how the run ended.

        final: whether the schedule has come to its last temperature. exact: whether the data are.
        """

    def candidate(self, problem: Normalised, state: Any) -> tuple[Array, Array]:
        """What the run would end with now, for exact data: x or signs; and the mse_y of quenched signs, else nan."""

    @property
    def settle(self) -> Callable[..., tuple[Any, Any]]:
        """`settle_estimate` or `settle_signs` of finish.py, by what a candidate is: the answer for exact data, and what
        its certificate asks of A."""

    def average(self, problem: Normalised, state: Any) -> Array:
        """The estimate of x for noisy data."""

    def run(
        self,
        problem: Any,
        schedule: Schedule | None = None,
        *,
        seed: Any = 0,
        init: Any = None,
        time_limit: float | None = None,
        progress: ProgressOption = None,
        noise: Any = None,
    ) -> Result:
        """Run on one instance; `run` of solvers/run.py."""

    def run_batch(
        self,
        problems: Any,
        schedule: Schedule | None = None,
        *,
        seeds: Sequence[int] | None = None,
        device: Any = None,
        dtype: str = "float32",
        time_limit: float | None = None,
        progress: ProgressOption = None,
    ) -> list[Result]:
        """Run on many instances at once; `run_batch` of solvers/run.py."""
