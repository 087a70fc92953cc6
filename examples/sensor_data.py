"""Magnitudes from a sensor that loses the sign: recover the signal, check the certificate, predict new readings.

Run it: python examples/sensor_data.py
"""

import numpy as np

import phaselect

rng = np.random.default_rng(7)
coefficients = rng.normal(scale=3.0, size=150)  # what we want, in its own units
probes = rng.normal(scale=0.02, size=(190, 150))  # 190 known probing patterns, 1.27 for each unknown
readings = np.abs(probes @ coefficients)  # what the sensor tells

result = phaselect.solve(probes, readings, progress=True)
print(result.message)
print(f"relative misfit {result.mse_y:.1e}; expected number of impostors 10^{result.log10_impostors:.0f}")

new_probe = rng.normal(scale=0.02, size=150)
print(f"a new reading: predicted {abs(new_probe @ result.x):.6f}, true {abs(new_probe @ coefficients):.6f}")

noisy = np.abs(readings + rng.normal(scale=1e-3, size=190))
estimate = phaselect.solve(probes, noisy, noise=1e-6)
sign = np.sign(estimate.x @ coefficients)
error = np.linalg.norm(sign * estimate.x - coefficients) / np.linalg.norm(coefficients)
print(f"with noise of 1e-3 on the readings: {estimate.status.value}; relative error of x {error:.1%}")
