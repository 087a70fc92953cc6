r"""What Bayes-optimal inference can reach without noise: one curve for each spectrum and field.

At the matched prior (`mu lam = 1`, mu -> infinity) the state of message passing is one number, the precision g1 that
the channel is given. It answers with `g2 = 1/variance(g1) - g1`, and there is one alpha at which the Gaussian node
answers g2 with g1 again: message passing, which starts at g1 = 1, stops at the first g1 whose alpha is the given one or
more. So the largest alpha of the curve is the threshold of recovery. Resting points are the stationary ones of

    Phi = alpha [evidence(g1) + (beta/2) log(1 + g2/g1)] - (beta/2) E[log(1 + g2 s2)],

with beta = 1 in the real field and 2 in the complex one: the free entropy, which is that of the data, `E log p(y | A)`
per unknown; of several the one where it is largest has the error of the best estimator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from phaselect.theory.magnitudes import doubt, evidence
from phaselect.theory.quadrature import Array
from phaselect.theory.spectra import Spectrum, SpectrumLike, as_spectrum, degrees_of_freedom

LOG_RANGE = (math.log(1e-7), math.log(1e9))
"""Of g1 - 1: from no information, as far as rounding lets one tell, to the signal."""


@dataclass(frozen=True)
class BayesOptimal:
    """Mean squared error of the posterior mean, for a standard Gaussian signal and no noise.

    mse_x: reached by message passing from no information; mse_x_informed: by the best estimator, whatever its cost.
    free_entropy: `E log p(y | A)` per unknown as the best estimator has it, infinite where the signal is recovered.
    """

    alpha: float
    mse_x: float
    mse_x_informed: float
    free_entropy: float

    @property
    def phase(self) -> str:
        """ "easy", "hard" (recovery is possible, but message passing misses it) or "impossible"."""
        if self.mse_x < 1e-6:
            return "easy"
        return "hard" if self.mse_x_informed < 1e-6 else "impossible"


def bayes_optimal(alpha: float, *, spectrum: SpectrumLike = "gaussian", field: str = "real") -> BayesOptimal:
    """State evolution at the matched prior and zero temperature (`mu lam = 1`, mu -> infinity).

    spectrum: of A: "gaussian", "orthogonal" (columns), or the squared singular values of a matrix, in any units, whose
    shape is kept: then alpha must be 1 or more. field: "real" or "complex", of A and x.

    >>> f"{bayes_optimal(1.1005).mse_x:.4f}"
    '0.3077'
    """
    law, degrees = as_spectrum(spectrum), degrees_of_freedom(field)
    law.check(alpha)
    alpha = float(alpha)
    rest = _resting_points(alpha, law, degrees)
    errors = [_error(g1, alpha, law, degrees) for g1 in rest]
    reached = errors[0] if rest else 0.0
    if alpha > degrees or not rest:  # more magnitudes than numbers behind x: nothing but x fits
        return BayesOptimal(alpha, reached, 0.0, math.inf)
    entropies = [free_entropy(g1, channel_precision(g1, degrees), alpha, law, degrees) for g1 in rest]
    best = int(np.argmax(entropies))
    return BayesOptimal(alpha, reached, errors[best], entropies[best])


def recovery_threshold(spectrum: Spectrum, degrees: int) -> float:
    """The alpha from which Bayes-optimal message passing recovers the signal: never below `degrees`, as nothing can."""
    return max(_top(spectrum, degrees)[1], float(degrees))


def free_entropy(g1: float, g2: float, alpha: float, spectrum: Spectrum, degrees: int) -> float:
    """Phi of the module at any pair of precisions."""
    channel = float(evidence(np.asarray(1 / g1), degrees)) + 0.5 * degrees * math.log1p(g2 / g1)
    return alpha * channel - 0.5 * degrees * float(spectrum.log_det(np.asarray(g2), np.asarray(alpha)))


def channel_precision(g1: float, degrees: int) -> float:
    """g2: what exact magnitudes add to a precision g1 >= 1; nothing to no information."""
    return float(_answers(np.asarray(g1 - 1), degrees)) if g1 > 1 else 0.0


def _answers(information: Array, degrees: int) -> Array:
    """g2, at `g1 - 1 = information`."""
    g1 = 1 + information
    return 1 / doubt(1 / g1, information / g1**2, information / g1, degrees).variance - g1


def _alpha(log_information: float, spectrum: Spectrum, degrees: int) -> float:
    """The curve, at one point."""
    information = np.exp(log_information)
    return float(spectrum.alpha_at(1 + information, _answers(np.asarray(information), degrees)))


@cache
def _grid(degrees: int) -> tuple[Array, Array]:
    """log(g1 - 1) and g2."""
    logs = np.linspace(*LOG_RANGE, 401)
    return logs, _answers(np.exp(logs), degrees)


def _curve(spectrum: Spectrum, degrees: int) -> tuple[Array, Array]:
    """log(g1 - 1), and the alpha that rests there."""
    logs, g2 = _grid(degrees)
    return logs, spectrum.alpha_at(1 + np.exp(logs), g2)


def _top(spectrum: Spectrum, degrees: int) -> tuple[float, float]:
    """The highest point of the curve."""
    logs, alphas = _curve(spectrum, degrees)
    top = int(np.argmax(alphas))
    around = logs[max(top - 1, 0)], logs[min(top + 1, logs.size - 1)]
    found = minimize_scalar(lambda x: -_alpha(x, spectrum, degrees), bounds=around, method="bounded")
    return max((float(found.x), -float(found.fun)), (float(logs[top]), float(alphas[top])), key=lambda point: point[1])


def _resting_points(alpha: float, spectrum: Spectrum, degrees: int) -> list[float]:
    """Where the curve crosses alpha, in the order of g1: none where message passing goes all the way."""
    logs, alphas = _curve(spectrum, degrees)
    where, highest = _top(spectrum, degrees)
    place = int(np.searchsorted(logs, where))
    above = np.insert(alphas, place, highest) >= alpha
    logs = np.insert(logs, place, where)
    crossings = np.flatnonzero(above[1:] != above[:-1])
    roots = [brentq(lambda x: _alpha(x, spectrum, degrees) - alpha, logs[i], logs[i + 1]) for i in crossings]
    return ([1.0] if above[0] else []) + [1 + math.exp(x) for x in roots]


def _error(g1: float, alpha: float, spectrum: Spectrum, degrees: int) -> float:
    """Of x, where message passing rests."""
    g2 = channel_precision(g1, degrees)
    return float(spectrum.response(np.asarray(g2), np.asarray(1.0), alpha).V)
