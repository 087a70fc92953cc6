"""Real phase retrieval near the information limit: find x0 from y = |A x0| by selecting the signs."""

from typing import TYPE_CHECKING, Any

from phaselect.base.errors import InputError
from phaselect.problem.ensembles import gaussian_batch, gaussian_instance
from phaselect.problem.instance import Instance, load
from phaselect.problem.schedule import Schedule
from phaselect.solvers.baselines import AlternatingMinimisation, ReweightedAmplitudeFlow
from phaselect.solvers.message_passing import AMP
from phaselect.solvers.langevin import Langevin
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.result import Result, Status
from phaselect.solvers.simulated_annealing import SimulatedAnnealing
from phaselect.solvers.protocol import Progress, Solver
from phaselect.solvers.solve import solve

if TYPE_CHECKING:
    from phaselect import theory

__all__ = [
    "AMP",
    "AlternatingMinimisation",
    "InputError",
    "Instance",
    "Langevin",
    "PopulationAnnealing",
    "Progress",
    "Result",
    "ReweightedAmplitudeFlow",
    "Schedule",
    "SimulatedAnnealing",
    "Solver",
    "Status",
    "gaussian_batch",
    "gaussian_instance",
    "load",
    "solve",
    "theory",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`phaselect.theory` is imported when it is first used: solving does not need it."""
    if name == "theory":
        import importlib

        return importlib.import_module("phaselect.theory")
    raise AttributeError(f"module 'phaselect' has no attribute {name!r}")
