"""
A photograph from three patterns
================================

A camera counts photons behind three masks, and loses every phase. The picture comes back, the better the more light.
"""

# %%
# 128 x 150 pixels of a picture that comes with matplotlib. All that a camera tells are counts.

import matplotlib.pyplot as plt
import numpy as np

import phaselect
from phaselect.base.pictures import read_picture, sample_path
from phaselect.experiments.photograph import recover_photograph

photograph = read_picture(sample_path())[::4, ::4]
A = phaselect.operators.coded_diffraction(photograph.shape, patterns=3, seed=0)
counts = np.random.default_rng(0).poisson(1e4 * abs(A @ photograph.ravel()) ** 2)

result = phaselect.solve(A, counts=counts)
recovered = abs(result.x).reshape(photograph.shape) / 1e2
print(f"{counts.mean():.0f} photons per measurement: {result.status.value}")
print(f"brightness is off by {np.sqrt(np.mean((recovered - photograph) ** 2)):.1e}, where white is 1")

fig, axes = plt.subplots(1, 3, figsize=(7, 2.9))
pattern = counts.reshape(A.patterns, *A.pattern_shape)[0]
shown = {"photograph": photograph, "one of the patterns": np.log1p(pattern), "recovered": recovered}
for panel, (title, picture) in zip(axes, shown.items(), strict=True):
    panel.imshow(picture, cmap="gray")
    panel.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# Fewer photons, and light that has a phase, or is known to have none. ``recover_photograph`` simulates it all.

photons = (10, 100, 1000)
settings = {"2 patterns, real light": (2, True), "3 patterns": (3, False)}
fig, ax = plt.subplots(figsize=(3.8, 2.8))
for label, (patterns, real) in settings.items():
    errors = [recover_photograph(photograph, patterns, real=real, photons=light).error for light in photons]
    print(label, *(f"{error:.2g}" for error in errors))
    ax.loglog(photons, errors, "o-", label=label)
ax.set(xlabel="photons per measurement", ylabel="relative error of the light")
ax.legend()
plt.show()
