"""The solvers as sweeps run them: one attempt on one instance, with the parameters that the paper varies."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from phaselect.instance import Instance
from phaselect.schedule import Schedule
from phaselect.solvers.amp import AMP
from phaselect.solvers.baselines import AlternatingMinimisation, ReweightedAmplitudeFlow
from phaselect.solvers.langevin import Langevin
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.result import Result
from phaselect.solvers.simulated_annealing import SimulatedAnnealing
from phaselect.solvers.solve import solve_instance

AMP_ITERATIONS = 3000


class Contender(NamedTuple):
    """A way to run a solver: what it does in a line, its parameters with their defaults, and the run itself.

    spectral: it begins with the SVD of A, which runs on the same instance can share.
    """

    title: str
    defaults: dict[str, float]
    run: Callable[..., Result]
    spectral: bool = False


def amp(problem: Instance, seed: int, eps: float, product: float) -> Result:
    """One run of message passing from mu = 1000, at most 3000 iterations whatever the rate."""
    rungs = Schedule.fixed_product(product, mu0=1e3, mu_max=1e12, eps=eps)
    hold = max(0, AMP_ITERATIONS - len(rungs))
    schedule = Schedule.fixed_product(product, mu0=1e3, mu_max=1e12, eps=eps, steps=1, unit="iterations", hold=hold)
    return AMP(restarts=0).run(problem, schedule, seed=seed)


def amp_paper(problem: Instance, seed: int, eps: float) -> Result:
    """As `amp`, with the product decaying like 1/mu: the paper's pseudo-code to the letter."""
    hold = max(0, AMP_ITERATIONS - len(Schedule.paper_amp(eps=eps, hold=0)))
    return AMP(restarts=0).run(problem, Schedule.paper_amp(eps=eps, hold=hold), seed=seed)


def sa(problem: Instance, seed: int, eps: float, product: float) -> Result:
    """Simulated annealing, 100 sweeps at each temperature; product 0 is lam = 0."""
    return SimulatedAnnealing().run(problem, Schedule.fixed_product(product, eps=eps), seed=seed)


def sa_proposals(problem: Instance, seed: int, eps: float, product: float) -> Result:
    """Simulated annealing with T_A = 100 read as single proposals."""
    schedule = Schedule.fixed_product(product, eps=eps, unit="proposals")
    return SimulatedAnnealing().run(problem, schedule, seed=seed)


def sa_fixed(problem: Instance, seed: int, eps: float) -> Result:
    """Simulated annealing at the constant regulariser that the paper studies, lam = 0.005."""
    return SimulatedAnnealing().run(problem, Schedule.fixed_lambda(0.005, eps=eps), seed=seed)


def pa(problem: Instance, seed: int, replicas: int, product: float) -> Result:
    """Population annealing on its default temperatures."""
    solver = PopulationAnnealing(replicas)
    return solver.run(problem, solver.default_schedule(problem).rescaled(product), seed=seed)


def langevin(problem: Instance, seed: int, eps: float, product: float) -> Result:
    """Langevin dynamics, 100 iterations at each temperature from mu = 1 to 1000."""
    schedule = Schedule.fixed_product(product, mu_max=1e3, eps=eps, unit="iterations")
    return Langevin().run(problem, schedule, seed=seed)


def raf(problem: Instance, seed: int) -> Result:
    """Reweighted amplitude flow."""
    return ReweightedAmplitudeFlow().run(problem, seed=seed)


def altmin(problem: Instance, seed: int) -> Result:
    """Alternating minimisation."""
    return AlternatingMinimisation().run(problem, seed=seed)


def front_door(problem: Instance, seed: int) -> Result:
    """`phaselect.solve`: message passing with restarts, then larger and larger populations."""
    return solve_instance(problem, seed=seed)


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
