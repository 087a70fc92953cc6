"""How many wrong sign vectors are expected to fit as well as an answer does?"""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, gammaln, hyp1f1

FLOOR = float(np.finfo(np.float64).eps ** 2)
"""Of a mean squared residual in float64."""


def log10_impostors(mse_y: float, m_rows: int, rank: int) -> float:
    r"""Base-10 logarithm of the expected number of wrong sign vectors that fit as well as `mse_y`.

    A random sign vector leaves `|(I-K)(S*y)|^2 ~ mean(y^2) chi2_{M-rank}`, and there are 2^(M-1) of them up
    to the global sign: `2^(M-1) P(chi2_{M-rank} < M mse_y)`. The residual is floored at float64 rounding.
    """
    return log10_impostors_at(float(np.log(max(mse_y, FLOOR))), m_rows, rank)


def log10_impostors_at(log_mse_y: float, m_rows: int, rank: int) -> float:
    """The same from the logarithm of a residual, which may be less than float64 can hold."""
    log_probability = _log_gammainc((m_rows - rank) / 2, np.log(m_rows / 2) + log_mse_y)
    return float(((m_rows - 1) * np.log(2) + log_probability) / np.log(10))


def _log_gammainc(a: float, log_x: float) -> float:
    """log of the regularised lower incomplete gamma function, also where it underflows."""
    x = float(np.exp(log_x))
    if x > a:
        return float(np.log(gammainc(a, x)))
    return float(a * log_x - x - gammaln(a + 1) + np.log(hyp1f1(1.0, a + 1, x)))
