"""The replica theory of Phase selection: points, branches, thresholds, complexity, stabilities, clusters.

Signal and measurements have unit variance; `mu`, `lam`, `mse_y`, `m`, `O` mean what they mean in a solver's trace, so
a branch and a trace can be drawn over each other as they are.
"""

from phaselect.theory.branch import Branch, follow
from phaselect.theory.clusters import ClusterConjugates, ClusterOverlaps, ClusterState, cluster_free_entropy
from phaselect.theory.complexity import complexity_at_random, complexity_curve, saddle_point_at_overlap
from phaselect.theory.continuation import trace_curve
from phaselect.theory.control import Conjugates, Control, Overlaps
from phaselect.theory.free_entropy import Gradient, conjugates_at, free_entropy, g_e, g_i, g_s, gradient
from phaselect.theory.glass import dynamical_transition, ground_state, static_transition, traps
from phaselect.theory.one_step_rsb import ClusterPoint, one_step_rsb, static_tau
from phaselect.theory.saddle import Point, PointStatus, saddle_point
from phaselect.theory.stabilities import GapDensity, stability_density
from phaselect.theory.state_evolution import BayesOptimal, bayes_optimal, state_evolution
from phaselect.theory.thresholds import (
    PhaseDiagram,
    alpha_merge,
    alpha_recovery,
    critical_alpha,
    entropy_crisis,
    max_overlap,
    mu_at_overlap,
    phase_diagram,
    replicon_line,
    transitions,
)

__all__ = [
    "BayesOptimal",
    "Branch",
    "ClusterConjugates",
    "ClusterOverlaps",
    "ClusterPoint",
    "ClusterState",
    "Conjugates",
    "Control",
    "GapDensity",
    "Gradient",
    "Overlaps",
    "PhaseDiagram",
    "Point",
    "PointStatus",
    "alpha_merge",
    "alpha_recovery",
    "bayes_optimal",
    "cluster_free_entropy",
    "complexity_at_random",
    "complexity_curve",
    "conjugates_at",
    "critical_alpha",
    "dynamical_transition",
    "entropy_crisis",
    "follow",
    "free_entropy",
    "g_e",
    "g_i",
    "g_s",
    "gradient",
    "ground_state",
    "max_overlap",
    "mu_at_overlap",
    "one_step_rsb",
    "phase_diagram",
    "replicon_line",
    "saddle_point",
    "saddle_point_at_overlap",
    "stability_density",
    "state_evolution",
    "static_tau",
    "static_transition",
    "trace_curve",
    "transitions",
    "traps",
]
