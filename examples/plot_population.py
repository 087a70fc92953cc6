"""
A population through its anneal
===============================

Copies of the signs, cooled together: the unlikely ones die out, the others are copied. Free entropy, families and
overlap tell how it goes.
"""

# %%
# ``eager=False`` follows the anneal to its end; without it a run stops as soon as greedy flips find the answer.

import matplotlib.pyplot as plt

import phaselect

problem = phaselect.gaussian_instance(n=200, alpha=1.3, seed=0)
solver = phaselect.PopulationAnnealing(replicas=128, eager=False)
result = solver.run(problem, seed=0)
print(result.status.value)

# %%
# One row of the trace per look at the run. Where the overlap rises, most families die out.

trace = result.trace
fig, axes = plt.subplots(1, 3, figsize=(7, 2.4))
for panel, name in zip(axes, ("m", "free_entropy", "families"), strict=True):
    panel.plot(trace["mu"], trace[name])
    panel.set(xscale="log", xlabel=r"inverse temperature $\mu$", title=name.replace("_", " "))
plt.show()
