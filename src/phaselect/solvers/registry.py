"""Every solver by name: what it is in words, its options with their defaults, and the solver and schedule they make.

`--solver NAME` means the same wherever it is written, because solve, sweeps, figures, the demonstration and the
benchmarks all ask here. The defaults of a plan are the solver's own. A plan imports its solver when it is called, so
that to read the names costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from phaselect.base.errors import InputError
from phaselect.problem.instance import Instance
from phaselect.problem.schedule import Schedule

if TYPE_CHECKING:
    from phaselect.solvers.result import Result

Plan = tuple[Any, Schedule | None]
"""A solver, and the schedule to run it on; None where each of its stages has its own."""


class Option(NamedTuple):
    """A number that solvers can be given: what it is, which values are good, that in words, and if it counts things."""

    words: str
    good: Callable[[float], bool]
    wanted: str
    whole: bool = False


OPTIONS = {
    "eps": Option("Rates of the anneal: mu grows by 1 + eps per temperature", lambda it: it > 0, "positive numbers"),
    "product": Option("Products mu*lam, 0 for lam = 0", lambda it: it >= 0, "numbers, 0 (for lam = 0) or more"),
    "replicas": Option("Copies in population annealing", lambda it: it >= 2, "whole numbers, 2 or more", True),
    "restarts": Option("Fresh starts after a failed run", lambda it: it >= 0, "whole numbers, 0 or more", True),
    "iterations": Option(
        "Iterations per start in all, those of the anneal at least",
        lambda it: it >= 1,
        "whole numbers, 1 or more",
        True,
    ),
}
"""Every option that a plan below has."""


class Recipe(NamedTuple):
    """How to run a solver by its name.

    plan: makes the solver and its schedule; its arguments are the options.
    spectral: it begins with the SVD of A, which runs on the same instance can share.
    """

    title: str
    plan: Callable[..., Plan]
    spectral: bool = False

    @property
    def options(self) -> dict[str, float]:
        """The options that it has, with their defaults."""
        return {name: parameter.default for name, parameter in signature(self.plan).parameters.items()}

    @property
    def in_batches(self) -> bool:
        """Can many instances be run at once, on a device?"""
        return hasattr(self.plan()[0], "run_batch")

    def run(self, problem: Instance, seed: int, **options: float) -> Result:
        """One run on one instance."""
        solver, schedule = self.plan(**options)
        result: Result = solver.run(problem, schedule, seed=seed)
        return result


def amp(eps: float = 0.1, product: float = 1.0, restarts: int = 4, iterations: int = 1219) -> Plan:
    """From mu = 1000 to 1e12, then on at 1e12 until there were so many iterations."""
    from phaselect.solvers.amp import AMP

    def anneal(hold: int) -> Schedule:
        return Schedule.fixed_product(product, mu0=1e3, mu_max=1e12, eps=eps, steps=1, unit="iterations", hold=hold)

    return AMP(restarts=restarts), anneal(max(0, iterations - len(anneal(0))))


def amp_paper(eps: float = 0.1) -> Plan:
    """One start, at most 3000 iterations, the product decaying like 1/mu: the paper's pseudo-code to the letter."""
    from phaselect.solvers.amp import AMP

    hold = max(0, 3000 - len(Schedule.paper_amp(eps=eps, hold=0)))
    return AMP(restarts=0), Schedule.paper_amp(eps=eps, hold=hold)


def sa(eps: float = 0.05, product: float = 1.0) -> Plan:
    """100 sweeps at each temperature; product 0 is lam = 0."""
    from phaselect.solvers.simulated_annealing import SimulatedAnnealing

    return SimulatedAnnealing(), Schedule.fixed_product(product, eps=eps)


def sa_proposals(eps: float = 0.05, product: float = 1.0) -> Plan:
    """100 single proposals at each temperature: T_A read to the letter."""
    from phaselect.solvers.simulated_annealing import SimulatedAnnealing

    return SimulatedAnnealing(), Schedule.fixed_product(product, eps=eps, unit="proposals")


def sa_fixed(eps: float = 0.05) -> Plan:
    """At the constant regulariser that the paper studies, lam = 0.005."""
    from phaselect.solvers.simulated_annealing import SimulatedAnnealing

    return SimulatedAnnealing(), Schedule.fixed_lambda(0.005, eps=eps)


def pa(replicas: int = 64, product: float = 1.0) -> Plan:
    """On the solver's own temperatures."""
    from phaselect.solvers.population_annealing import PopulationAnnealing

    solver = PopulationAnnealing(replicas)
    return solver, solver.default_schedule(None).rescaled(product)


def langevin(eps: float = 0.02, product: float = 0.75) -> Plan:
    """100 iterations at each temperature, mu from 1 to 1000."""
    from phaselect.solvers.langevin import Langevin

    return Langevin(), Schedule.fixed_product(product, mu_max=1e3, eps=eps, unit="iterations")


def raf() -> Plan:
    """On the solver's own schedule, which counts iterations only."""
    from phaselect.solvers.baselines import ReweightedAmplitudeFlow

    solver: Any = ReweightedAmplitudeFlow()
    return solver, solver.default_schedule(None)


def altmin() -> Plan:
    """On the solver's own schedule, which counts iterations only."""
    from phaselect.solvers.baselines import AlternatingMinimisation

    solver: Any = AlternatingMinimisation()
    return solver, solver.default_schedule(None)


@dataclass(frozen=True)
class FrontDoor:
    """`phaselect.solve`; what it tries in turn on a CPU."""

    stages: tuple[Plan, ...]

    def run(self, problem: Instance, schedule: None, *, seed: int) -> Result:
        """Every stage has its own schedule."""
        from phaselect.solvers.solve import solve_instance

        return solve_instance(problem, seed=seed)


def front_door() -> Plan:
    """Message passing with restarts, then larger and larger populations."""
    from phaselect.solvers.solve import LADDER, stages

    tried = [(solver, schedule or solver.default_schedule(None)) for solver, schedule in stages(0.0, LADDER, False)]
    return FrontDoor(tuple(tried)), None


FRONT_DOOR = "solve"
REGISTRY = {
    "amp": Recipe("message passing", amp),
    "amp-paper": Recipe("message passing, the paper's schedule", amp_paper),
    "sa": Recipe("simulated annealing", sa, spectral=True),
    "sa-proposals": Recipe("simulated annealing, T_A in proposals", sa_proposals, spectral=True),
    "sa-fixed": Recipe("simulated annealing at lam = 0.005", sa_fixed, spectral=True),
    "pa": Recipe("population annealing", pa, spectral=True),
    "langevin": Recipe("Langevin dynamics", langevin, spectral=True),
    "raf": Recipe("reweighted amplitude flow", raf),
    "altmin": Recipe("alternating minimisation", altmin, spectral=True),
    FRONT_DOOR: Recipe("the front door, phaselect.solve", front_door),
}
"""Every solver by the name that it has on the command line, in a sweep and in a figure."""
SINGLE = [name for name in REGISTRY if name != FRONT_DOOR]
"""Those that are one solver, not several in turn."""


def recipe(name: str) -> Recipe:
    """The solver of that name."""
    if name not in REGISTRY:
        raise InputError(f"solver {name}: use one of {', '.join(REGISTRY)}")
    return REGISTRY[name]
