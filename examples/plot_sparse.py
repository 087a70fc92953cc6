"""
Fewer measurements than unknowns
================================

Most entries of the signal are zero. Told so, ``solve`` needs fewer measurements than there are unknowns.
"""

# %%
# Four hundred unknowns, about forty of them not zero, 300 magnitudes. Nobody knows which, or how many.

import matplotlib.pyplot as plt
import numpy as np

import phaselect

problem = phaselect.gaussian_instance(n=400, alpha=0.75, seed=0, density=0.1)
result = phaselect.solve(problem, prior="sparse")
print(result.status.value)
print(result.reason)
print(f"relative error {np.sqrt(result.truth['mse_x']):.1e}, {np.count_nonzero(result.x)} entries are not zero")

# %%
# How small a density lets message passing get by with how few, according to state evolution:

densities = (0.05, 0.1, 0.2, 0.4)
thresholds = [phaselect.theory.critical_alpha(prior=f"sparse:{density}", tolerance=0.01) for density in densities]

fig, axes = plt.subplots(1, 2, figsize=(7, 2.6))
sign = np.sign(result.x @ problem.x0)
axes[0].stem(problem.x0, linefmt="0.7", markerfmt=" ", basefmt=" ", label="signal")
axes[0].plot(sign * result.x, ".", ms=3, label="recovered")
axes[0].set(xlabel="entry", ylabel="$x$")
axes[0].legend()
axes[1].plot(densities, thresholds, "o-")
axes[1].axhline(1, ls=":", color="0.5")
axes[1].set(xlabel="density of the signal", ylabel=r"recovered from $\alpha$", xlim=(0, None), ylim=(0, None))
plt.show()
