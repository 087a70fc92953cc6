"""A photograph from photons counted in its diffraction patterns: how many photons and patterns leave which error.

python examples/photograph.py [panel.png]
"""

import sys

import numpy as np

import phaselect
from phaselect.base.pictures import read_picture, sample_path
from phaselect.experiments.photograph import recover_photograph

photograph = read_picture(sample_path())[::4, ::4]  # 128 x 150 pixels of a picture that comes with matplotlib

A = phaselect.operators.coded_diffraction(photograph.shape, patterns=3, seed=0)
counts = np.random.default_rng(0).poisson(1e5 * abs(A @ photograph.ravel()) ** 2)  # all that a camera tells
result = phaselect.solve(A, counts=counts)
brightness = abs(result.x).reshape(photograph.shape) / np.sqrt(1e5)
print(f"{counts.mean():.0f} photons per measurement: {result.status.value}")
print(f"brightness is off by {np.sqrt(np.mean((brightness - photograph) ** 2)):.1e}, where white is 1\n")

print(
    "| photons per measurement | 2 patterns, real light | 3 patterns | 4 patterns | 6 patterns |\n|---|---|---|---|---|"
)
for photons in (10, 100, 1000, None):
    settings = ((2, True), (3, False), (4, False), (6, False))
    errors = [recover_photograph(photograph, count, real=real, photons=photons).error for count, real in settings]
    print("|", photons or "no noise", "|", " | ".join(f"{error:.2g}" for error in errors), "|")

if len(sys.argv) > 1:
    from phaselect.base.style import save
    from phaselect.figures.picture_panel import draw

    save(draw(recover_photograph(photograph, 3, photons=1000)), sys.argv[1])
