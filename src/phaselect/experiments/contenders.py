"""The solvers as sweeps run them: one attempt on one instance, with the parameters that the paper varies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule
from phaselect.solvers.amp import AMP
from phaselect.solvers.baselines import AlternatingMinimisation, ReweightedAmplitudeFlow
from phaselect.solvers.langevin import Langevin
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.result import Result
from phaselect.solvers.simulated_annealing import SimulatedAnnealing
from phaselect.solvers.solve import solve_instance

AMP_ITERATIONS = 3000


class Contender(NamedTuple):
    """A way to run a solver: what it does in a line, its parameters with their defaults, and the plan they make.

    plan: the solver and the schedule (None for its own) for given parameters.
    spectral: it begins with the SVD of A, which runs on the same instance can share.
    """

    title: str
    defaults: dict[str, float]
    plan: Callable[..., tuple[Any, Schedule | None]]
    spectral: bool = False

    def run(self, problem: Instance, seed: int, **options: float) -> Result:
        """One run on one instance."""
        solver, schedule = self.plan(**options)
        result: Result = solver.run(problem, schedule, seed=seed)
        return result

    @property
    def in_batches(self) -> bool:
        """Can many instances be run at once, on a device?"""
        return hasattr(self.plan(**self.defaults)[0], "run_batch")


def amp(eps: float, product: float) -> tuple[AMP, Schedule]:
    """One run of message passing from mu = 1000, at most 3000 iterations whatever the rate."""
    rungs = Schedule.fixed_product(product, mu0=1e3, mu_max=1e12, eps=eps)
    hold = max(0, AMP_ITERATIONS - len(rungs))
    schedule = Schedule.fixed_product(product, mu0=1e3, mu_max=1e12, eps=eps, steps=1, unit="iterations", hold=hold)
    return AMP(restarts=0), schedule


def amp_paper(eps: float) -> tuple[AMP, Schedule]:
    """As `amp`, with the product decaying like 1/mu: the paper's pseudo-code to the letter."""
    hold = max(0, AMP_ITERATIONS - len(Schedule.paper_amp(eps=eps, hold=0)))
    return AMP(restarts=0), Schedule.paper_amp(eps=eps, hold=hold)


def sa(eps: float, product: float) -> tuple[SimulatedAnnealing, Schedule]:
    """Simulated annealing, 100 sweeps at each temperature; product 0 is lam = 0."""
    return SimulatedAnnealing(), Schedule.fixed_product(product, eps=eps)


def sa_proposals(eps: float, product: float) -> tuple[SimulatedAnnealing, Schedule]:
    """Simulated annealing with T_A = 100 read as single proposals."""
    return SimulatedAnnealing(), Schedule.fixed_product(product, eps=eps, unit="proposals")


def sa_fixed(eps: float) -> tuple[SimulatedAnnealing, Schedule]:
    """Simulated annealing at the constant regulariser that the paper studies, lam = 0.005."""
    return SimulatedAnnealing(), Schedule.fixed_lambda(0.005, eps=eps)


def pa(replicas: int, product: float) -> tuple[PopulationAnnealing, Schedule]:
    """Population annealing on its default temperatures."""
    solver = PopulationAnnealing(replicas)
    return solver, solver.default_schedule(None).rescaled(product)


def langevin(eps: float, product: float) -> tuple[Langevin, Schedule]:
    """Langevin dynamics, 100 iterations at each temperature from mu = 1 to 1000."""
    return Langevin(), Schedule.fixed_product(product, mu_max=1e3, eps=eps, unit="iterations")


def raf() -> tuple[ReweightedAmplitudeFlow, None]:
    """Reweighted amplitude flow."""
    return ReweightedAmplitudeFlow(), None


def altmin() -> tuple[AlternatingMinimisation, None]:
    """Alternating minimisation."""
    return AlternatingMinimisation(), None


class FrontDoor:
    """`phaselect.solve`: message passing with restarts, then larger and larger populations."""

    def run(self, problem: Instance, schedule: None, *, seed: int) -> Result:
        """Every stage has its own schedule."""
        return solve_instance(problem, seed=seed)


def front_door() -> tuple[FrontDoor, None]:
    """The front door."""
    return FrontDoor(), None


CONTENDERS = {
    "amp": Contender("message passing", {"eps": 0.1, "product": 1.0}, amp),
    "amp-paper": Contender("message passing, the paper's schedule", {"eps": 0.1}, amp_paper),
    "sa": Contender("simulated annealing", {"eps": 0.1, "product": 1.0}, sa, spectral=True),
    "sa-proposals": Contender(
        "simulated annealing, T_A in proposals", {"eps": 0.1, "product": 1.0}, sa_proposals, spectral=True
    ),
    "sa-fixed": Contender("simulated annealing at lam = 0.005", {"eps": 0.1}, sa_fixed, spectral=True),
    "pa": Contender("population annealing", {"product": 1.0, "replicas": 64}, pa, spectral=True),
    "langevin": Contender("Langevin dynamics", {"eps": 0.1, "product": 0.75}, langevin, spectral=True),
    "raf": Contender("reweighted amplitude flow", {}, raf),
    "altmin": Contender("alternating minimisation", {}, altmin, spectral=True),
    "solve": Contender("the front door, phaselect.solve", {}, front_door),
}
"""Every contender by its name in a sweep; `eps` is the rate of the anneal, `product` is mu*lam."""
