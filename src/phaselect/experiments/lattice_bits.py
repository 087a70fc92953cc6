"""What digits are worth to a lattice: success at any precision of the data, and the rule that it follows.

A lattice has `k b` digits in its equations, k = M - N of b each, against M signs. The rule: reduction of one kind finds
the signs where `k b + M` exceeds `c M^2`, with a c of its own.
"""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from phaselect.equations.sign_equations import SignEquations, sign_equations
from phaselect.equations.signs import signs_of
from phaselect.experiments.limits import decided
from phaselect.experiments.success import STANDARD_ERRORS, Array
from phaselect.problem.streams import Purpose, stream
from phaselect.solvers.lattice import Lattice, beginning

SPREAD = 3
"""Binary digits before the point that a Gaussian number may have: it has so many fewer behind it."""
WIDTHS = 0.01, 0.5
"""Of the curve of success, narrowest and widest."""


class ExactData(NamedTuple):
    """Whole numbers of any size: A, and y, which is rounded, with the standard deviation of that; and the signs."""

    A: NDArray[np.object_]
    y: NDArray[np.object_]
    rounding: float
    signs: Array


def whole_gaussian(rng: np.random.Generator, shape: tuple[int, ...], bits: int) -> NDArray[np.object_]:
    """Gaussian numbers of variance 1 with so many binary digits, times `2^(bits - SPREAD)`."""
    high = (rng.standard_normal(shape) * 2.0**53).astype(np.int64).astype(object)
    low = np.frompyfunc(lambda _: int.from_bytes(rng.bytes(bits // 8 + 1)) >> (8 - bits % 8), 1, 1)(high)
    return np.asarray(((high << bits) + low) >> (53 + SPREAD), dtype=object)


def exact_data(n: int, m_rows: int, bits: int, seed: int) -> ExactData:
    """A random instance: A and x0 with so many binary digits, and |A x0| rounded to as many."""
    A = whole_gaussian(stream(seed, Purpose.MATRIX, m_rows, n, bits), (m_rows, n), bits)
    z = A @ whole_gaussian(stream(seed, Purpose.SIGNAL, m_rows, n, bits), (n,), bits)
    size = math.sqrt(float(np.mean(z.astype(np.float64) ** 2)))
    places = math.floor(math.log2(size)) - bits
    y = (abs(z) + (1 << places >> 1)) >> places << places if places > 0 else abs(z)
    return ExactData(A, y, 2.0**-bits * size, signs_of(z.astype(np.float64)))


def equations_of(data: ExactData) -> SignEquations:
    """The equations of its signs."""
    return sign_equations(data.A, data.y, np.full(len(data.y), data.rounding))


def trial(n: int, m_rows: int, bits: int, seed: int, block: int) -> dict[str, Any]:
    """One search: digits of the equations, the size of blocks at which it found the signs (inf: not), and its time."""
    data = exact_data(n, m_rows, bits, seed)
    began = time.process_time()
    equations = equations_of(data)
    found = found_at(equations, data.signs, Lattice(block), stream(seed, Purpose.RUN).permutation(m_rows))
    place = {"n": n, "m_rows": m_rows, "bits": bits, "seed": seed, "digits": equations.bits}
    return place | {"found_at": found, "seconds": time.process_time() - began}


def found_at(equations: SignEquations, signs: Array, solver: Lattice, order: Any) -> float:
    """The size of blocks at which these signs are found; 2 in LLL, inf if they are not."""
    state = beginning(equations, np.ones(len(signs)), order)
    for _ in range(len(solver.default_schedule())):
        state = solver.step(state)
        if abs(state.signs @ signs).max() == len(signs):
            return solver.block_before(state.sweeps)
    return math.inf


def rows_for(bits: int, k: int, strength: float) -> int:
    """The number of measurements, k more than there are unknowns, at which `k b + M` is `strength M^2`, nearly."""
    return round((1 + math.sqrt(1 + 4 * strength * k * bits)) / (2 * strength))


class Rule(NamedTuple):
    """Success is a logistic curve of the logarithm of the strength: c at one half, and its width.

    low, high: of c, 95 %, widened where points scatter about the curve by more than chance, as chi2 per freedom says.
    """

    c: float
    low: float
    high: float
    width: float
    chi2: float
    freedom: int


def fit_rule(strengths: Array, successes: Array, trials: Array) -> Rule:
    """The likeliest on a grid, of points with so many successes among so many trials; c as far as it is as likely.

    Not by scipy.optimize: a grid has an answer also where all points are solved, or none, and no curve is likeliest.
    """
    x = np.log(strengths)
    centres, widths = np.linspace(x.min(), x.max(), 801), np.geomspace(*WIDTHS, 41)
    t = (x - centres[:, None, None]) / widths[:, None]
    surprise = -np.sum(successes * log_expit(t) + (trials - successes) * log_expit(-t), axis=2)
    best, width = np.unravel_index(np.argmin(surprise), surprise.shape)
    p = expit(t[best, width])
    kept = decided(p, trials)
    chi2 = float(np.sum(((successes - trials * p) ** 2)[kept] / (trials * p * (1 - p))[kept]))
    freedom = max(1, int(kept.sum()) - 2)
    allowed = STANDARD_ERRORS**2 / 2 * max(1.0, chi2 / freedom)
    likely = centres[surprise.min(axis=1) - surprise.min() <= allowed]
    c, low, high = np.exp([centres[best], likely[0], likely[-1]]).tolist()
    return Rule(c, low, high, float(widths[width]), chi2, freedom)
