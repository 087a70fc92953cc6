"""Real phase retrieval near the information limit: find x0 from y = |A x0| by selecting the signs."""

from typing import TYPE_CHECKING, Any

from phaselect.base.errors import InputError
from phaselect.problem.instance import Instance, gaussian_instance, load
from phaselect.problem.schedule import Schedule
from phaselect.solvers.amp import AMP
from phaselect.solvers.baselines import AlternatingMinimisation, ReweightedAmplitudeFlow
from phaselect.solvers.batch import gaussian_batch
from phaselect.solvers.langevin import Langevin
from phaselect.solvers.population_annealing import PopulationAnnealing
from phaselect.solvers.result import Result, Status
from phaselect.solvers.simulated_annealing import SimulatedAnnealing
from phaselect.solvers.solve import solve, solve_instance

if TYPE_CHECKING:
    from phaselect import theory

__all__ = [
    "AMP",
    "AlternatingMinimisation",
    "InputError",
    "Instance",
    "Langevin",
    "PopulationAnnealing",
    "Result",
    "ReweightedAmplitudeFlow",
    "Schedule",
    "SimulatedAnnealing",
    "Status",
    "gaussian_batch",
    "gaussian_instance",
    "load",
    "solve",
    "solve_instance",
    "theory",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """`phaselect.theory` is imported when it is first used: solving does not need it."""
    if name == "theory":
        import importlib

        return importlib.import_module("phaselect.theory")
    raise AttributeError(f"module 'phaselect' has no attribute {name!r}")
