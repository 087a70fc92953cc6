"""Every solver by name: what it is in words, its options with their defaults, and the solver and schedule they make.

`--solver NAME` means the same wherever it is written, because solve, sweeps, figures, the demonstration and the
benchmarks all ask here. The defaults of a plan are the solver's own. A plan imports its solver when it is called, so
that to read the names costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import InputError
from phaselect.problem.schedule import Schedule

if TYPE_CHECKING:
    from phaselect.problem.instance import Instance
    from phaselect.solvers.result import Result

Plan = tuple[Any, Schedule | None]
"""A solver, and the schedule to run it on; None where each of its stages has its own."""


class Option(NamedTuple):
    """A number that solvers can be given: what it is, which values are good, that in words, and if it counts things."""

    words: str
    good: Callable[[float], bool]
    wanted: str
    whole: bool = False

    def accepts(self, value: Any) -> bool:
        """Is it such a number?"""
        return is_number(value) and self.good(value) and not (self.whole and value != int(value))


OPTIONS = {
    "eps": Option("Rates of the anneal: mu grows by 1 + eps per temperature", lambda it: it > 0, "positive numbers"),
    "product": Option("Products mu*lam, 0 for lam = 0", lambda it: 0 <= it <= 1e15, "numbers, 0 (for lam = 0) or more"),
    "replicas": Option(
        "Copies in population annealing", lambda it: 2 <= it <= 1e7, "whole numbers, 2 to 10000000", True
    ),
    "restarts": Option("Fresh starts after a failed run", lambda it: it >= 0, "whole numbers, 0 or more", True),
    "iterations": Option(
        "Iterations per start in all, those of the anneal at least",
        lambda it: it >= 1,
        "whole numbers, 1 or more",
        True,
    ),
    "block": Option(
        "Largest block of a lattice that is searched", lambda it: 2 <= it <= 100, "whole numbers, 2 to 100", True
    ),
    "steps": Option("Sweeps at each temperature", lambda it: it >= 1, "whole numbers, 1 or more", True),
}
"""Every option that a plan below has."""


class Recipe(NamedTuple):
    """How to run a solver by its name.

    make: makes the solver and its schedule; its arguments are the options.
    """

    title: str
    make: Callable[..., Plan]

    @property
    def options(self) -> dict[str, float]:
        """The options that it has, with their defaults."""
        return {name: parameter.default for name, parameter in signature(self.make).parameters.items()}

    def plan(self, **options: float) -> Plan:
        """The solver and its schedule; options that are not given have their defaults."""
        self.check(options)
        return self.make(**options)

    def check(self, options: Mapping[str, Any]) -> None:
        """Has it these options, and are their values good?"""
        if unknown := sorted(set(options) - set(self.options)):
            raise InputError(
                f"{', '.join(unknown)}: no such option; {self.title} has {', '.join(self.options) or 'none'}"
            )
        for name, value in options.items():
            if name in OPTIONS and not OPTIONS[name].accepts(value):
                raise InputError(f"{name} = {shortened(value)}: give {OPTIONS[name].wanted}")

    @property
    def in_batches(self) -> bool:
        """Can many instances be run at once, on a device? Not by single proposals."""
        solver, schedule = self.plan()
        return bool(solver.in_batches) and (schedule is None or schedule.unit != "proposals")

    @property
    def needs_entries(self) -> bool:
        """Does it begin with the SVD of A, which runs on the same instance can share?"""
        return bool(self.plan()[0].needs_entries)

    def run(self, problem: Instance, seed: int, **options: float) -> Result:
        """One run on one instance."""
        solver, schedule = self.plan(**options)
        result: Result = solver.run(problem, schedule, seed=seed)
        return result


def amp(eps: float = 0.1, product: float = 1.0, restarts: int = 4, iterations: int = 1200) -> Plan:
    """From mu = 1000 to 1e12, then on at 1e12 until there were so many iterations."""
    from phaselect.solvers.message_passing import AMP

    def anneal(hold: int) -> Schedule:
        return Schedule.fixed_product(product, mu0=1e3, mu_max=1e12, eps=eps, steps=1, unit="iterations", hold=hold)

    return AMP(restarts=restarts), anneal(max(0, iterations - len(anneal(0))))


def amp_paper(eps: float = 0.1) -> Plan:
    """One start on the schedule of the paper's pseudo-code, product decaying like 1/mu; 3000 iterations, not 2e5."""
    from phaselect.solvers.message_passing import AMP

    hold = max(0, 3000 - len(Schedule.paper_amp(eps=eps, hold=0)))
    return AMP(restarts=0), Schedule.paper_amp(eps=eps, hold=hold)


def vmp(eps: float = 0.1, product: float = 1.0, restarts: int = 8) -> Plan:
    """From mu = 1 to 1e6, then on to 1e12 in twenty iterations."""
    from phaselect.solvers.vector_message_passing import VectorMessagePassing, hot_start

    return VectorMessagePassing(restarts=restarts), hot_start(product, eps)


def bp(eps: float = 0.05, product: float = 1.0, restarts: int = 12) -> Plan:
    """From mu = 1 to 1000, then on to 1e12 in thirty iterations."""
    from phaselect.solvers.belief_propagation import BeliefPropagation
    from phaselect.solvers.vector_message_passing import hot_start

    return BeliefPropagation(restarts=restarts), hot_start(product, eps, cold=1e3)


def sa(eps: float = 0.05, product: float = 1.0) -> Plan:
    """100 sweeps at each temperature; product 0 is lam = 0."""
    from phaselect.solvers.simulated_annealing import SimulatedAnnealing

    return SimulatedAnnealing(), Schedule.fixed_product(product, eps=eps)


def sa_rate(steps: int = 100, product: float = 1.0) -> Plan:
    """Temperatures 10 % apart, so `steps / log(1.1)` sweeps per e-fold, to mu = 300: greedy flips do the rest."""
    from phaselect.solvers.simulated_annealing import SimulatedAnnealing

    return SimulatedAnnealing(), Schedule.fixed_product(product, mu_max=300.0, steps=steps)


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
    return solver, solver.default_schedule().rescaled(product)


def langevin(eps: float = 0.02, product: float = 0.75) -> Plan:
    """100 iterations at each temperature, mu from 1 to 1000."""
    from phaselect.solvers.langevin import Langevin

    return Langevin(), Schedule.fixed_product(product, mu_max=1e3, eps=eps, unit="iterations")


def lattice(block: int = 60) -> Plan:
    """On the solver's own schedule, which counts iterations only."""
    from phaselect.solvers.lattice import Lattice

    solver: Any = Lattice(block)
    return solver, solver.default_schedule()


def guided(replicas: int = 1024, block: int = 40) -> Plan:
    """On the solver's own schedule."""
    from phaselect.solvers.guided_lattice import GuidedLattice

    solver: Any = GuidedLattice(replicas, block)
    return solver, solver.default_schedule()


def raf() -> Plan:
    """On the solver's own schedule, which counts iterations only."""
    from phaselect.solvers.baselines.amplitude_flow import ReweightedAmplitudeFlow

    solver: Any = ReweightedAmplitudeFlow()
    return solver, solver.default_schedule()


def wf() -> Plan:
    """On the solver's own schedule, which counts iterations only."""
    from phaselect.solvers.baselines.wirtinger_flow import WirtingerFlow

    solver: Any = WirtingerFlow()
    return solver, solver.default_schedule()


def altmin() -> Plan:
    """On the solver's own schedule, which counts iterations only."""
    from phaselect.solvers.baselines.alternating import AlternatingMinimisation

    solver: Any = AlternatingMinimisation()
    return solver, solver.default_schedule()


def auto() -> Plan:
    """Message passing with restarts, then larger and larger populations."""
    from phaselect.solvers.front_door import FrontDoor

    return FrontDoor(), None


REGISTRY = {
    "amp": Recipe("message passing", amp),
    "amp-paper": Recipe("message passing, the paper's schedule", amp_paper),
    "vmp": Recipe("vector message passing", vmp),
    "bp": Recipe("belief propagation", bp),
    "sa": Recipe("simulated annealing", sa),
    "sa-rate": Recipe("simulated annealing at a given rate", sa_rate),
    "sa-proposals": Recipe("simulated annealing, T_A in proposals", sa_proposals),
    "sa-fixed": Recipe("simulated annealing at lam = 0.005", sa_fixed),
    "pa": Recipe("population annealing", pa),
    "langevin": Recipe("Langevin dynamics", langevin),
    "lattice": Recipe("lattice reduction", lattice),
    "guided": Recipe("lattice reduction guided by a population", guided),
    "raf": Recipe("reweighted amplitude flow", raf),
    "wf": Recipe("Wirtinger flow", wf),
    "altmin": Recipe("alternating minimisation", altmin),
    "auto": Recipe("the front door, phaselect.solve", auto),
}
"""Every solver by the name that it has on the command line, in a sweep and in a figure."""


def recipe(name: str) -> Recipe:
    """The solver of that name."""
    if name not in REGISTRY:
        raise InputError(f"solver {shortened(name)}: use one of {', '.join(REGISTRY)}")
    return REGISTRY[name]
