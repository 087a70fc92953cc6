"""Simulated annealing of the signs: success against alpha for all sizes and two rates."""

from phaselect.figures.success_curves import success_figure

CAPTION, compute, draw = success_figure(
    "sa",
    "Simulated annealing of the signs",
    "100 sweeps at each temperature, mu from 1 at mu*lam = 1",
    fixed=r"$\mu\lambda = 1$, 100 sweeps per $\mu$",
    variants="The same with 100 proposals instead of sweeps, and, with sweeps, at constant lam, 0 and 0.005",
    alike=r"100 steps per $\mu$",
)
