"""Theory and measurement in one figure: a population anneal at N = 400 over the branch that theory predicts.

python examples/theory_and_run.py [figure.png]
"""

import sys

import phaselect
from phaselect import Schedule, theory

schedule = Schedule.matched(mu0=0.5, mu_max=300.0, eps=0.1, steps=10)
problem = phaselect.gaussian_instance(n=400, alpha=1.3, seed=0)
trace = phaselect.PopulationAnnealing(replicas=64, eager=False).run(problem, schedule, seed=0).trace
branch = theory.follow(1.3, schedule)

print("     mu   m (run)  m (theory)  mse_y (run)  mse_y (theory)  free entropy (run, theory)")
for i in range(0, len(schedule), 8):
    run = f"{trace['mu'][i]:7.2f}   {trace['m'][i]:7.3f}  {branch['m'][i]:10.3f}  {trace['mse_y'][i]:11.2e}"
    print(f"{run}  {branch['mse_y'][i]:14.2e}  {trace['free_entropy'][i]:12.3f} {branch['free_entropy'][i]:7.3f}")

if len(sys.argv) > 1:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.0), layout="constrained")
    for axes, name, label in zip(
        figure.subplots(1, 2), ("m", "mse_y"), ("overlap $m$", r"$\mathrm{MSE}_y$"), strict=True
    ):
        axes.plot(branch["mu"], branch[name], color="#0072B2", label="theory")
        axes.plot(trace["mu"], trace[name], ".", color="#D55E00", label="N = 400, one instance")
        axes.set(xscale="log", xlabel=r"$\mu$", ylabel=label)
    axes.set_yscale("log")
    axes.legend(frameon=False)
    figure.savefig(sys.argv[1], dpi=150)
