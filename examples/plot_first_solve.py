"""
First solve
===========

Two hundred unknowns from 260 magnitudes, and how to know that the answer is right.
"""

# %%
# ``A`` is any matrix, ``y`` the magnitudes of ``A @ x0``; their signs are lost.

import matplotlib.pyplot as plt
import numpy as np

import phaselect

rng = np.random.default_rng(0)
A = rng.standard_normal((260, 200))
x0 = np.sin(np.linspace(0, 12, 200)) * np.linspace(1, 0.2, 200)
y = np.abs(A @ x0)

result = phaselect.solve(A, y)
print(result.message)

# %%
# No signal but ``x0`` and ``-x0`` fits: the base-10 logarithm of the number of wrong answers that would be expected to
# fit as well says so.

print(f"log10 of impostors: {result.log10_impostors:.0f}")

# %%
# The global sign is lost for good. Least squares, which takes the magnitudes for the measurements themselves, finds
# nothing:

wrong = np.linalg.lstsq(A, y)[0]
sign = np.sign(result.x @ x0)

fig, ax = plt.subplots(figsize=(6.5, 2.6))
ax.plot(x0, lw=5, alpha=0.3, label="signal")
ax.plot(sign * result.x, label="recovered, up to its sign")
ax.plot(wrong, lw=0.7, label="least squares on magnitudes")
ax.set(xlabel="entry", ylabel="$x$")
ax.legend(loc="lower right", ncols=3)
plt.show()
