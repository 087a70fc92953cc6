"""The replica theory of Phase selection: points, branches, thresholds, complexity, gaps, clusters.

Signal and measurements have unit variance; `mu`, `lam`, `mse_y`, `m`, `O` mean what they mean in a solver's trace, so
a branch and a trace can be drawn over each other as they are.

Arguments come in one order: `alpha, mu, lam` for a point; `alpha` and what is kept fixed (`schedule`, `lam`, `product`)
for a path or a threshold; all else by keyword. More than one number comes back as a record with names, many rows as a
table with the columns of a trace. Every function fails in the same way:

* arguments that make no sense raise `InputError`;
* a point, or a row of a table, that did not converge says so: `converged` is False;
* what is computed from points (a threshold, a transition, a temperature) raises `TheoryError` if one of them did not;
* infinite means that something never happens in the range searched, nan that there is no such point: only where the
  docstring says so.

What these functions are made of (`free_entropy`, `g_e`, `gradient`, `cluster_map` ...) is in the modules.
"""

from phaselect.base.errors import TheoryError
from phaselect.theory.at_sign_overlap import complexity_curve, saddle_point_at_sign_overlap
from phaselect.theory.bayes import bayes_optimal
from phaselect.theory.branch import follow
from phaselect.theory.cluster_points import equilibrium_clusters, one_step_rsb
from phaselect.theory.coexistence import alpha_merge, phase_diagram, transitions
from phaselect.theory.continuation import curve_through_folds
from phaselect.theory.control import Overlaps
from phaselect.theory.evolution import state_evolution
from phaselect.theory.gaps import gap_density
from phaselect.theory.glass import dynamical_transition, ground_state, static_transition, traps
from phaselect.theory.saddle import Point, saddle_point
from phaselect.theory.signal_priors import evolution_with_prior
from phaselect.theory.thresholds import (
    alpha_recovery,
    critical_alpha,
    entropy_crisis,
    local_instability,
    max_overlap,
    mu_at_overlap,
)

__all__ = [
    "Overlaps",
    "Point",
    "TheoryError",
    "alpha_merge",
    "alpha_recovery",
    "bayes_optimal",
    "complexity_curve",
    "critical_alpha",
    "curve_through_folds",
    "dynamical_transition",
    "entropy_crisis",
    "equilibrium_clusters",
    "evolution_with_prior",
    "follow",
    "gap_density",
    "ground_state",
    "local_instability",
    "max_overlap",
    "mu_at_overlap",
    "one_step_rsb",
    "phase_diagram",
    "saddle_point",
    "saddle_point_at_sign_overlap",
    "state_evolution",
    "static_transition",
    "transitions",
    "traps",
]
