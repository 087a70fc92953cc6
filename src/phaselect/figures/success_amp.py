"""Approximate message passing: success against alpha for all sizes and two rates."""

from phaselect.figures.success_curves import success_figure

CAPTION, compute, draw = success_figure(
    "amp",
    "Approximate message passing",
    "mu from 1000 at mu*lam = 1, one run of at most 3000 iterations where the paper has 2*10^5, which recover more, as "
    "figure patience shows",
    fixed=r"$\mu\lambda = 1$, $\leq 3000$ iterations",
    variants="The same on the schedule of the paper's pseudo-code, ended after 3000 iterations as well",
    alike=r"$\leq 3000$ iterations",
)
