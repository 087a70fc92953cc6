"""Theory and measurement in one figure: population anneals at N = 400 over the branch that theory predicts.

Single instances fluctuate (m by 0.1 around mu = 2, the free entropy by 0.05); their mean follows the theory.

python examples/theory_and_run.py [figure.png]
"""

import sys

import numpy as np

import phaselect
from phaselect import Schedule, theory

N, ALPHA, INSTANCES = 400, 1.3, 12
schedule = Schedule.matched(mu0=0.5, mu_max=300.0, eps=0.1, steps=10)
runs = []
for seed in range(INSTANCES):
    problem = phaselect.gaussian_instance(N, ALPHA, seed=seed)
    runs.append(phaselect.PopulationAnnealing(replicas=64, eager=False).run(problem, schedule, seed=seed).trace)
columns = {name: np.array([run[name] for run in runs]) for name in ("mu", "m", "mse_y", "free_entropy")}
trace = {name: column.mean(axis=0) for name, column in columns.items()}
error = {name: column.std(axis=0, ddof=1) / np.sqrt(INSTANCES) for name, column in columns.items()}
branch = theory.follow(ALPHA, schedule)

print("     mu  m (runs)         m (theory)  mse_y (runs)  mse_y (theory)  free entropy (runs, theory)")
for i in range(0, len(schedule), 8):
    overlap = f"{trace['mu'][i]:7.2f}   {trace['m'][i]:.3f} ± {error['m'][i]:.3f}  {branch['m'][i]:10.3f}"
    misfit = f"{trace['mse_y'][i]:12.2e}  {branch['mse_y'][i]:14.2e}"
    print(f"{overlap}  {misfit}  {trace['free_entropy'][i]:12.3f} {branch['free_entropy'][i]:7.3f}")

if len(sys.argv) > 1:
    from phaselect.base.style import BLUE, MSE_Y, MU, OVERLAP, RED, legend, panels, save, style

    with style():
        figure, axes = panels(2)
        for panel, name, label in zip(axes, ("m", "mse_y"), (OVERLAP, MSE_Y), strict=True):
            panel.plot(branch["mu"], branch[name], color=BLUE, label=r"theory, $N = \infty$")
            mean = f"$N = {N}$: mean of {INSTANCES} instances, two standard errors"
            panel.errorbar(trace["mu"], trace[name], 2 * error[name], fmt=".", elinewidth=0.7, color=RED, label=mean)
            panel.set(xscale="log", xlabel=MU, ylabel=label)
        axes[1].set_yscale("log")
        figure.suptitle(rf"$\alpha = {ALPHA:g}$, $\mu\lambda = 1$")
        legend(figure, *axes)
    save(figure, sys.argv[1])
