"""
Your own data, from CSV files
=============================

A sensor that loses the sign: known probing patterns in one file, its readings in another, numbers as a spreadsheet
writes them.
"""

# %%
# Here are two such files, 190 patterns for 150 coefficients.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import phaselect

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(7)
coefficients = rng.normal(scale=3.0, size=150)
probes = rng.normal(scale=0.02, size=(190, 150))
np.savetxt(folder / "A.csv", probes, delimiter=",")
np.savetxt(folder / "y.csv", np.abs(probes @ coefficients), delimiter=",")

# %%
# Units do not matter, and nothing else is to be said.

problem = phaselect.load(folder / "A.csv", folder / "y.csv")
result = phaselect.solve(problem)
print(problem, result.message, sep="\n")
np.savetxt(folder / "x.csv", result.x)

# %%
# What was found predicts readings that were never taken.

new = rng.normal(scale=0.02, size=(60, 150))
predicted, true = np.abs(new @ result.x), np.abs(new @ coefficients)
print(f"largest error of a prediction: {np.max(np.abs(predicted - true)):.1e}")

fig, ax = plt.subplots(figsize=(3.5, 3))
ax.plot([0, true.max()], [0, true.max()], color="0.7")
ax.plot(true, predicted, "o", ms=3)
ax.set(xlabel="new reading", ylabel="predicted")
plt.show()

# %%
# The same on the command line: ``phaselect solve A.csv y.csv``.
