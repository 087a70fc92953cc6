"""Theory and measurement in one figure: population anneals at N = 400 over the branch that theory predicts.

Single instances fluctuate (m by 0.1 around mu = 2, the free entropy by 0.05); their mean follows the theory.

python examples/theory_and_run.py [figure.png]
"""

import sys

import numpy as np

import phaselect
from phaselect import Schedule, theory

schedule = Schedule.matched(mu0=0.5, mu_max=300.0, eps=0.1, steps=10)
runs = []
for seed in range(6):
    problem = phaselect.gaussian_instance(n=400, alpha=1.3, seed=seed)
    runs.append(phaselect.PopulationAnnealing(replicas=64, eager=False).run(problem, schedule, seed=seed).trace)
trace = {name: np.mean([run[name] for run in runs], axis=0) for name in ("mu", "m", "mse_y", "free_entropy")}
branch = theory.follow(1.3, schedule)

print("     mu  m (runs)  m (theory)  mse_y (runs)  mse_y (theory)  free entropy (runs, theory)")
for i in range(0, len(schedule), 8):
    run = f"{trace['mu'][i]:7.2f}   {trace['m'][i]:7.3f}  {branch['m'][i]:10.3f}  {trace['mse_y'][i]:12.2e}"
    print(f"{run}  {branch['mse_y'][i]:14.2e}  {trace['free_entropy'][i]:12.3f} {branch['free_entropy'][i]:7.3f}")

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    for axes, name, label in zip(
        figure.subplots(1, 2), ("m", "mse_y"), ("overlap $m$", r"$\mathrm{MSE}_y$"), strict=True
    ):
        axes.plot(branch["mu"], branch[name], color="#0072B2", label="theory")
        axes.plot(trace["mu"], trace[name], ".", color="#D55E00", label="N = 400, mean of 6")
        axes.set(xscale="log", xlabel=r"$\mu$", ylabel=label)
    axes.set_yscale("log")
    axes.legend(frameon=False)
    figure.suptitle(r"$\alpha = 1.3$, $\mu\lambda = 1$", fontsize=10)
    figure.savefig(sys.argv[1], dpi=150)
