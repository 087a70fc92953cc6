"""Follow one population through its anneal: free entropy, families, overlap. Prints a small table.

Run it: python examples/one_anneal.py
"""

import phaselect

problem = phaselect.gaussian_instance(n=200, alpha=1.3, seed=0)
solver = phaselect.PopulationAnnealing(replicas=128, eager=False)
trace = solver.run(problem, seed=0).trace

columns = ("mu", "mse_y", "m", "free_entropy", "families")
print("".join(f"{name:>14}" for name in columns))
for k in range(0, len(trace["mu"]), 12):
    print("".join(f"{trace[name][k]:14.4g}" for name in columns))
