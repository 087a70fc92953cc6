"""Phase retrieval near the information limit: find x0 from y = |A x0| by selecting the signs, or phases."""

from __future__ import annotations

TYPE_CHECKING = False  # for a type checker it is true; `typing` itself takes longer to load than all the rest here

if TYPE_CHECKING:
    from phaselect import sklearn as sklearn
    from phaselect import theory
    from phaselect.base.errors import DataWarning, InputError
    from phaselect.base.tables import Table, load_table
    from phaselect.equations.priors import Nonnegative, Sparse
    from phaselect.problem import ensembles, operators
    from phaselect.problem.data_files import load
    from phaselect.problem.ensembles import ensemble_instance, gaussian_instance
    from phaselect.problem.instance import Instance
    from phaselect.problem.instance_batches import gaussian_batch
    from phaselect.problem.schedule import Schedule
    from phaselect.solvers.baselines.alternating import AlternatingMinimisation
    from phaselect.solvers.baselines.amplitude_flow import ReweightedAmplitudeFlow
    from phaselect.solvers.baselines.wirtinger_flow import WirtingerFlow
    from phaselect.solvers.belief_propagation import BeliefPropagation
    from phaselect.solvers.guided_lattice import GuidedLattice
    from phaselect.solvers.langevin import Langevin
    from phaselect.solvers.lattice import Lattice
    from phaselect.solvers.message_passing import AMP
    from phaselect.solvers.population_annealing import PopulationAnnealing
    from phaselect.solvers.protocol import Progress, Solver
    from phaselect.solvers.result import Certificate, Result, Status
    from phaselect.solvers.sign_lattice import solve_sign_equations
    from phaselect.solvers.simulated_annealing import SimulatedAnnealing
    from phaselect.solvers.solve import solve
    from phaselect.solvers.vector_message_passing import VectorMessagePassing

__all__ = [
    "AMP",
    "AlternatingMinimisation",
    "BeliefPropagation",
    "Certificate",
    "DataWarning",
    "GuidedLattice",
    "InputError",
    "Instance",
    "Langevin",
    "Lattice",
    "Nonnegative",
    "PopulationAnnealing",
    "Progress",
    "Result",
    "ReweightedAmplitudeFlow",
    "Schedule",
    "SimulatedAnnealing",
    "Solver",
    "Sparse",
    "Status",
    "Table",
    "VectorMessagePassing",
    "WirtingerFlow",
    "ensemble_instance",
    "ensembles",
    "gaussian_batch",
    "gaussian_instance",
    "load",
    "load_table",
    "operators",
    "solve",
    "solve_sign_equations",
    "theory",
]
__version__ = "0.2.0"

_HOMES = {
    "AMP": "phaselect.solvers.message_passing",
    "AlternatingMinimisation": "phaselect.solvers.baselines.alternating",
    "BeliefPropagation": "phaselect.solvers.belief_propagation",
    "Certificate": "phaselect.solvers.result",
    "DataWarning": "phaselect.base.errors",
    "GuidedLattice": "phaselect.solvers.guided_lattice",
    "InputError": "phaselect.base.errors",
    "Instance": "phaselect.problem.instance",
    "Langevin": "phaselect.solvers.langevin",
    "Lattice": "phaselect.solvers.lattice",
    "Nonnegative": "phaselect.equations.priors",
    "PopulationAnnealing": "phaselect.solvers.population_annealing",
    "Progress": "phaselect.solvers.protocol",
    "Result": "phaselect.solvers.result",
    "ReweightedAmplitudeFlow": "phaselect.solvers.baselines.amplitude_flow",
    "Schedule": "phaselect.problem.schedule",
    "SimulatedAnnealing": "phaselect.solvers.simulated_annealing",
    "Solver": "phaselect.solvers.protocol",
    "Sparse": "phaselect.equations.priors",
    "Status": "phaselect.solvers.result",
    "Table": "phaselect.base.tables",
    "VectorMessagePassing": "phaselect.solvers.vector_message_passing",
    "WirtingerFlow": "phaselect.solvers.baselines.wirtinger_flow",
    "ensemble_instance": "phaselect.problem.ensembles",
    "gaussian_batch": "phaselect.problem.instance_batches",
    "gaussian_instance": "phaselect.problem.ensembles",
    "load": "phaselect.problem.data_files",
    "load_table": "phaselect.base.tables",
    "solve": "phaselect.solvers.solve",
    "solve_sign_equations": "phaselect.solvers.sign_lattice",
}
"""The module of each public name. It is imported when the name is first used: Numba and SciPy take half a second."""
_MODULES = {
    "ensembles": "phaselect.problem.ensembles",
    "operators": "phaselect.problem.operators",
    "sklearn": "phaselect.sklearn",
    "theory": "phaselect.theory",
}
"""The public modules, imported in the same way; `sklearn` is not in `*`, as not everybody has scikit-learn."""


if not TYPE_CHECKING:  # a type checker that saw this would believe in every name

    def __getattr__(name: str) -> object:
        """A public name that is used for the first time."""
        from importlib import import_module

        if name in _MODULES:
            return import_module(_MODULES[name])
        if name not in _HOMES:
            raise AttributeError(f"module 'phaselect' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    """What there is, used or not: for tab completion."""
    return sorted([*__all__, "sklearn", "__version__"])
