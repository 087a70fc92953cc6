"""
Phase diagram
=============

Without a regulariser an anneal meets two branches of solutions: one that knows the signal, one that knows nothing.
Where do they live?
"""

# %%
# For each number of measurements per unknown: the inverse temperature at which the informed branch is born, at which it
# becomes the more likely one, and at which the uninformed one ends.

import matplotlib.pyplot as plt
import numpy as np

from phaselect import theory

diagram = theory.phase_diagram(np.array([1.2, 1.4, 1.5, 1.6, 1.65]), lam=0.0)
print(f"the branches merge at alpha = {diagram.alpha_merge:.3f}")
print(f"an infinitely slow anneal recovers from alpha = {diagram.alpha_recovery:.3f} on")

fig, ax = plt.subplots(figsize=(4.5, 3))
names = {
    "mu_spinodal": "informed branch is born",
    "mu_first_order": "it becomes the likelier one",
    "mu_uninformed_end": "uninformed branch ends",
}
for name, label in names.items():
    ax.semilogy(diagram.lines["alpha"], diagram.lines[name], "o-", label=label)
ax.axvline(diagram.alpha_merge, ls=":", color="0.5", label="branches merge")
ax.set(xlabel=r"measurements per unknown $\alpha$", ylabel=r"inverse temperature $\mu$")
ax.legend()
plt.show()

# %%
# An anneal at fixed product of inverse temperature and regulariser passes them by: at the matched product, from as few
# measurements as Bayes-optimal inference.

products = np.array([0.3, 0.5, 1.0, 2.0, 3.0])
thresholds = [theory.critical_alpha(product) for product in products]

fig, ax = plt.subplots(figsize=(4.5, 2.6))
ax.semilogx(products, thresholds, "o-")
ax.set(xlabel=r"product $\mu\lambda$", ylabel=r"recovers from $\alpha$", xticks=products, xticklabels=products)
ax.minorticks_off()
plt.show()
