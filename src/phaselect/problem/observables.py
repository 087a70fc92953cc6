"""What is measured on an estimate, under the column names used everywhere.

All observables are free of units and of the global sign: `mse_y` is relative to mean(y^2), `m` and `mse_x`
to |x0|^2/N. For the paper's signal of unit variance they are the paper's `MSE_y, MSE_x, m, O`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln, hyp1f1

from phaselect.problem.instance import Instance, Vector
from phaselect.problem.spectrum import Spectrum


def mse_y(problem: Instance, x: Vector, signs: Vector) -> float:
    """`|S*y - A x|^2 / M` (eq:energies) in units of mean(y^2); accumulated in float64."""
    residual = signs * problem.y - problem.measure(x)
    return float(np.mean((residual / problem.y_scale) ** 2))


def overlap(x0: Vector, x: Vector) -> float:
    """`m = |x0 . x| / |x0|^2`: 1 on recovery, near 0 for a random guess."""
    return float(abs(x0 @ x) / (x0 @ x0))


def sign_overlap(true_signs: Vector, signs: Vector) -> float:
    """`O = |S0 . S| / M`, up to the global sign."""
    return float(abs(true_signs @ signs) / true_signs.size)


def mse_x(x0: Vector, x: Vector) -> float:
    """`|x0 - x|^2 / |x0|^2` after aligning the global sign."""
    aligned = x if x0 @ x >= 0 else -x
    return float(np.sum((x0 - aligned) ** 2) / np.sum(x0**2))


def against_truth(problem: Instance, x: Vector, signs: Vector) -> dict[str, float]:
    """m, O and mse_x of an estimate, or nothing when x0 is unknown."""
    if problem.x0 is None or problem.signs is None:
        return {}
    x0, x = problem.x0 / problem.x_scale, x / problem.x_scale  # so that squares neither overflow nor vanish
    return {"m": overlap(x0, x), "O": sign_overlap(problem.signs, signs), "mse_x": mse_x(x0, x)}


def of_estimate(problem: Instance, x: Vector, z: Vector, lam: float) -> dict[str, float]:
    """Trace columns of a normalised estimate x with its own measurements `z = A x`; nan where x0 is unknown."""
    x0 = np.nan * x if problem.target_x0 is None else problem.target_x0
    signs = np.nan * z if problem.signs is None else problem.signs
    return to_floats(estimate_columns(problem.target, x0, signs, x, z, lam))


def estimate_columns(y: Any, x0: Any, signs: Any, x: Any, z: Any, lam: Any) -> dict[str, Any]:
    """The columns of `of_estimate` from arrays of NumPy or JAX."""
    fit = ((y - abs(z)) ** 2).mean()
    q1 = (x**2).mean()
    return {
        "mse_y": fit,
        "m": abs(x0 @ x) / (x0 @ x0),
        "O": abs((signs * (1 - 2 * (z < 0))).mean()),
        "energy": y.size / x.size * fit + 0.5 * lam * q1,
        "q1": q1,
    }


def of_signs(spectral: Spectrum, signs: NDArray[Any], c: NDArray[np.float64], lam: float) -> dict[str, Any]:
    """Trace columns of signs and their ridge estimate at lam, given `c = U^T (S*y)`; O(N) each.

    Takes one sign vector, or a stack of them for a vector in each column.
    """
    problem = spectral.problem
    fitted, penalised = spectral.weights(lam, "residual"), spectral.weights(lam)
    norm = spectral.s2 / (spectral.s2 + lam / 2) ** 2
    explained, lowered, power = np.moveaxis(c**2 @ np.stack([fitted, penalised, norm], axis=1), -1, 0)
    return {
        "mse_y": 1 - explained / problem.m_rows,
        "m": spectral.overlap(c, lam),
        "O": np.nan if problem.signs is None else np.abs(signs @ problem.signs) / problem.m_rows,
        "energy": problem.alpha - lowered / problem.n,
        "q1": power / problem.n,
    }


def to_floats(columns: dict[str, Any]) -> dict[str, float]:
    """A row of plain numbers; a column with many entries is averaged."""
    return {name: float(np.mean(column)) for name, column in columns.items()}


def log10_impostors(mse_y: float, m_rows: int, rank: int) -> float:
    r"""Base-10 logarithm of the expected number of wrong sign vectors that fit as well as `mse_y`.

    A random sign vector leaves `|(I-K)(S*y)|^2 ~ mean(y^2) chi2_{M-rank}`, and there are 2^(M-1) of them up
    to the global sign: `2^(M-1) P(chi2_{M-rank} < M mse_y)`. The residual is floored at float64 rounding.
    """
    floor = np.finfo(np.float64).eps ** 2
    log_probability = _log_gammainc((m_rows - rank) / 2, m_rows * max(mse_y, floor) / 2)
    return float(((m_rows - 1) * np.log(2) + log_probability) / np.log(10))


def _log_gammainc(a: float, x: float) -> float:
    """log of the regularised lower incomplete gamma function, also where it underflows."""
    if x > a:
        return float(np.log(gammainc(a, x)))
    return float(a * np.log(x) - x - gammaln(a + 1) + np.log(hyp1f1(1.0, a + 1, x)))
