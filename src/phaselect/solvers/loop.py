"""The one loop that takes members through a schedule: trace, progress, time limit, interrupt, early end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from phaselect.problem.schedule import Schedule
from phaselect.solvers.cohort import Cohort
from phaselect.solvers.protocol import Progress, ProgressCallback, Solver, Work
from phaselect.solvers.verdict import Ended

SPARED = 12.0
"""Work between two quenches over what a quench takes."""
EARLY = 0.1
"""Part of its schedule after which a run is often done."""
LOOK_ON_HOST, LOOK_ON_DEVICE, LOOK_ON_GPU = 8e4, 5e5, 4e6
"""What a look costs besides, in the units of `Work`."""
GPU_SPEED, LAUNCH = 400.0, 5e3
"""Units of work that a GPU does in the time of one, and what each operation takes there at least."""
WORTH_SHRINKING = 5.0
"""Seconds that the rest of a schedule must take for a smaller batch to pay for its compilation."""


@dataclass
class History:
    """What is known of a member on its way: its trace so far, the work done, how it ended, and with what."""

    rows: list[dict[str, float]] = field(default_factory=list)
    sweeps: float = 0.0
    ended: Ended | None = None
    found: Any = None


@dataclass
class Loop:
    """Members of a cohort on their way through a schedule.

    exact: whether the data are. deadline: on the clock of `time.perf_counter`.
    """

    cohort: Cohort
    solver: Solver
    schedule: Schedule
    exact: bool
    deadline: float
    began: float
    progress: ProgressCallback | None = None
    state: Any = None
    histories: list[History] = field(init=False)
    here: list[int] = field(init=False)  # the member at each place of the cohort, which shrinks as they leave
    mu: float = 0.0
    since_quench: float = 0.0
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.histories = [History() for _ in range(self.cohort.members)]
        self.here = list(range(self.cohort.members))

    def run(self, first_state: Callable[[], Any]) -> list[History]:
        """Takes all members through the schedule, or as far as each needs to go."""
        try:
            self.report(0.0)
            self.state = first_state()
            self.follow()
            self.finish(Ended.SCHEDULE)
        except (KeyboardInterrupt, SystemError) as error:
            if not was_interrupted(error):
                raise
            self.interrupted = True
            self.finish(Ended.INTERRUPTED)
        return self.histories

    def follow(self) -> None:
        """The schedule, as long as somebody needs it."""
        work = self.work()
        segment = temperatures_between_looks(work, len(self.schedule))
        for done, piece in enumerate(self.schedule.segments(segment), start=1):
            began = time.perf_counter()
            self.advance(piece, work)
            self.report(done * segment / len(self.schedule) if self.going else 1.0)
            if not self.going:
                return
            self.shrink((len(self.schedule) / segment - done) * (time.perf_counter() - began))

    def finish(self, ended: Ended) -> None:
        """Those that are still here leave; so do those whom Ctrl-C met while they left."""
        if self.state is not None:
            self.leave([place for place, k in enumerate(self.here) if self.histories[k].found is None])
        for place in self.going:
            self.histories[self.here[place]].ended = ended

    @property
    def going(self) -> list[int]:
        """Places whose members have not left."""
        return [place for place, k in enumerate(self.here) if self.histories[k].ended is None]

    def work(self) -> Work:
        """What temperatures and looks take where the members are."""
        problem = self.cohort.problem
        m_rows, n = problem.m_rows, problem.n
        own = self.solver.work(m_rows, n, self.schedule)
        device = problem.matrix.on_device
        gpu = self.cohort.place.on_gpu(problem)
        share = self.cohort.members / (GPU_SPEED if gpu else 1.0)
        factors = float(m_rows * n * (m_rows + n)) if device and own.regresses else 0.0
        move, look, quench = ((cost + factors) * share for cost in own[:3])
        move = max(move, own.launches * LAUNCH) if device else move
        besides = LOOK_ON_GPU if gpu else LOOK_ON_DEVICE if device else LOOK_ON_HOST
        return own._replace(move=move, look=look + besides, quench=quench)

    def advance(self, piece: Schedule, work: Work) -> None:
        """A segment for all, then a look at each: a row of its trace, and whether it is done."""
        mu, lam = piece[-1]
        self.state = self.cohort.advance(self.state, piece.stretch(self.cohort.problem.m_rows))
        table = self.cohort.measure(self.state)
        sweeps = np.atleast_1d(np.asarray(self.state.sweeps, dtype=float))
        self.since_quench += len(piece) * work.move
        found, floor = None, np.full(len(self.here), np.nan)
        if self.exact and self.solver.eager and self.time_to_quench(mu, work):
            found, floor = self.cohort.candidate(self.state)
            self.since_quench = 0.0
        now, final, self.mu = time.perf_counter(), (mu, lam) == self.schedule[-1], mu
        leaving = []
        for place in self.going:
            history = self.histories[self.here[place]]
            row = {"mu": mu, "lam": lam} | {name: column[place].item() for name, column in table.items()}
            row |= {"quenched": float(floor[place])} if self.solver.eager else {}
            history.rows.append(row | {"seconds": now - self.began})
            history.sweeps = float(sweeps[place])
            if not np.isfinite(row["mse_y"]):
                history.ended = Ended.DIVERGED
            else:
                history.ended = self.solver.stop(self.cohort.problem, row, final, self.exact)
            if history.ended is None and now >= self.deadline:
                history.ended = Ended.TIME_LIMIT
            if history.ended is not None:
                leaving.append(place)
        self.leave(leaving, found)

    def time_to_quench(self, mu: float, work: Work) -> bool:
        """From mu = 2 on, each time mu has grown by a quarter, if the anneal has done enough work for it meanwhile."""
        before, after = (math.floor(math.log(max(value, 1e-300)) / math.log(1.25)) for value in (self.mu, mu))
        return mu >= 2 and before != after and self.since_quench >= SPARED * work.quench

    def leave(self, places: list[int], found: Any = None) -> None:
        """These members are done, with what has been found, or with what they have now."""
        if places and found is None:
            found = self.cohort.candidate(self.state)[0] if self.exact else self.cohort.average(self.state)
        for place in places:
            self.histories[self.here[place]].found = found[place]

    def shrink(self, seconds_left: float) -> None:
        """Go on with those that are left, if they are few and there is a long way to go."""
        going = self.going
        if len(going) > len(self.here) // 2 or seconds_left < WORTH_SHRINKING:
            return
        self.cohort, self.state = self.cohort.reduced(self.state, going)
        self.here = [self.here[place] for place in going]

    def report(self, fraction: float) -> None:
        """Tell the user how far it is."""
        if self.progress is not None:
            fits = [history.rows[-1]["mse_y"] for history in self.histories if history.rows]
            median = float(np.median(fits)) if fits else math.nan
            seconds = time.perf_counter() - self.began
            self.progress(Progress(self.solver.name, min(1.0, fraction), self.mu, median, seconds))


def was_interrupted(error: BaseException) -> bool:
    """Ctrl-C; at the end of a compiled function Python makes another error of it."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)


def temperatures_between_looks(work: Work, temperatures: int) -> int:
    """So many that looks take as long as going on, half a segment on average, when there is nothing left to do.

    A power of two, so that few programs are compiled.
    """
    return 1 << math.ceil(math.log2(max(1.0, math.sqrt(2 * EARLY * temperatures * work.look / work.move))))
