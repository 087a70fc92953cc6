"""
Below the threshold, with a lattice
===================================

Message passing needs 1.13 measurements per unknown, however large the problem. Exact data know more: their digits are
measurements too, and lattice reduction reads them.
"""

# %%
# Sixty unknowns, 63 measurements.

import matplotlib.pyplot as plt

import phaselect

problem = phaselect.gaussian_instance(n=60, alpha=63 / 60, seed=0)
for solver in (phaselect.AMP(), phaselect.Lattice()):
    result = solver.run(problem, seed=0)
    print(f"{solver.name}: {result.message} ({result.seconds:.2f} s)")

# %%
# From where on? Six instances for each number of measurements.

measurements = (41, 42, 44, 46, 50)
recovered = {"message passing": [], "lattice": []}
for m in measurements:
    problems = [phaselect.gaussian_instance(n=40, alpha=m / 40, seed=seed) for seed in range(6)]
    for name, solver in (("message passing", phaselect.AMP(restarts=1)), ("lattice", phaselect.Lattice())):
        recovered[name].append(sum(solver.run(problem, seed=0).certified for problem in problems))

fig, ax = plt.subplots(figsize=(4.5, 2.8))
for name, counts in recovered.items():
    ax.plot(measurements, counts, "o-", label=name)
ax.set(xlabel="measurements of 40 unknowns", ylabel="certified, of 6", ylim=(-0.3, 6.3))
ax.legend()
plt.show()
