"""Langevin dynamics on relaxed signs: success against alpha for all sizes and two rates."""

from phaselect.figures.success_curves import success_figure

CAPTION, compute, draw = success_figure(
    "langevin",
    "Langevin dynamics on relaxed signs",
    "100 iterations at each temperature, mu from 1 to 1000 at mu*lam = 0.75, then greedy flips",
    fixed=r"$\mu\lambda = 0.75$, 100 iterations per $\mu$",
)
