"""
Noise, with error bars
======================

Readings are noisy, nobody knows how much. ``noise="auto"`` learns it, and every entry of x gets its uncertainty.
"""

# %%
# A hundred unknowns, 300 magnitudes, noise of standard deviation 0.1 on readings of size 1.

import matplotlib.pyplot as plt
import numpy as np

import phaselect

rng = np.random.default_rng(1)
A = rng.standard_normal((300, 100)) / 10
x0 = rng.standard_normal(100)
y = np.abs(A @ x0 + 0.1 * rng.standard_normal(300))

result = phaselect.solve(A, y, noise="auto")
print(result.message)
print(f"noise: variance {result.noise:.4f} learned, 0.0100 true")

# %%
# ``x_std`` is the posterior standard deviation. About two thirds of the entries should lie within one of it.

x = np.sign(result.x @ x0) * result.x
within = np.mean(np.abs(x - x0) < result.x_std)
print(f"{within:.0%} of the entries within one standard deviation, 68% expected")

order = np.argsort(x0)
fig, ax = plt.subplots(figsize=(6.5, 2.8))
ax.plot(x0[order], color="0.6", label="signal, sorted")
ax.errorbar(np.arange(100), x[order], 2 * result.x_std[order], fmt=".", ms=3, lw=0.7, label="estimate, two x_std")
ax.set(xlabel="entry", ylabel="$x$")
ax.legend()
plt.show()
