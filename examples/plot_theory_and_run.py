"""
Watching an anneal against theory
=================================

Population anneals at N = 400, and the branch that theory predicts as N → ∞. Single instances fluctuate; their mean
follows the theory.
"""

# %%
# Twelve instances through one schedule, and the schedule through the theory: tables with the same columns.

import matplotlib.pyplot as plt
import numpy as np

import phaselect
from phaselect import Schedule, theory

N, ALPHA, INSTANCES = 400, 1.3, 12
schedule = Schedule.matched(mu0=0.5, mu_max=300.0, eps=0.1, steps=10)
solver = phaselect.PopulationAnnealing(replicas=64, eager=False)
runs = []
for seed in range(INSTANCES):
    problem = phaselect.gaussian_instance(N, ALPHA, seed=seed)
    runs.append(solver.run(problem, schedule, seed=seed).trace)
branch = theory.follow(ALPHA, schedule)

# %%
# Means, with two standard errors.

fig, axes = plt.subplots(1, 2, figsize=(7, 3))
for panel, name, label in zip(axes, ("m", "mse_y"), ("overlap $m$", r"residual $\mathrm{MSE}_y$"), strict=True):
    values = np.array([run[name] for run in runs])
    error = 2 * values.std(axis=0, ddof=1) / np.sqrt(INSTANCES)
    panel.plot(branch["mu"], branch[name], label=r"theory, $N = \infty$")
    panel.errorbar(
        runs[0]["mu"], values.mean(axis=0), error, fmt=".", lw=0.7, label=f"$N = {N}$, {INSTANCES} instances"
    )
    panel.set(xscale="log", xlabel=r"inverse temperature $\mu$", ylabel=label)
axes[1].set_yscale("log")
axes[0].legend()
fig.suptitle(rf"$\alpha = {ALPHA:g}$, $\mu\lambda = 1$")
plt.show()
