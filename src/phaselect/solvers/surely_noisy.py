"""Is it certain that data which were given as exact are noisy? Then no search for an exact solution finds more.

Two looks have come to one noise (learned_noise.py). It is certain if

1. they have come to the same x: their noises agree to many digits;
2. no sign vector unrelated to the truth fits as well by chance (certificate/impostors.py): x is close to the truth, and
   what is left is noise, or due to some wrong signs;
3. no part of A is so hard to solve, and no group of measurements so loosely tied to the others, that they stay wrong:
   A is in general position, as the certificate asks, and the couplings `K = A (A^T A)^-1 A^T` of measurements are
   spread as those of iid rows are, whatever the correlations and the scales of columns;
4. and what is left is spread over all measurements.
"""

from __future__ import annotations

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.fields import REAL
from phaselect.problem.instance import Instance
from phaselect.problem.normalised import Normalised
from phaselect.solvers.certificate.impostors import log10_impostors
from phaselect.solvers.certificate.judge import data_seed, probes
from phaselect.solvers.finish import examine
from phaselect.solvers.learned_noise import looks_at_noise
from phaselect.solvers.outcome import Tried
from phaselect.solvers.restarts import Search
from phaselect.solvers.verdict import CERTIFIED_BELOW

SAME_POINT = 1e-4
"""Relative difference of the noises of two looks that came to the same x; 1e-5 was seen."""
LARGEST = 4000
"""Measurements up to which their couplings, M x M numbers, are looked at."""
UNEVEN, LOOSE = 1.3, 3.3
"""Of the couplings: the spread of the diagonal, over that of iid rows, and the fourth moment of the others, over the
square of the second. iid rows leave 1 and 3; a hard part makes the first 1.7 or more, loose groups the second."""
SPREAD = 4.5
"""The same moments of what is left: 3 for Gaussian noise."""


def surely_noisy(problem: Instance, search: Search) -> bool:
    """May the search for exact data end here?"""
    own, best = problem.normalised, search.seen[0].best
    if own.field != REAL or not own.n < own.m_rows <= LARGEST or not own.matrix.has_entries or best is None:
        return False
    left = np.asarray(own.y - np.abs(own.forward(best.answer.x)))
    return (
        _came_to_the_same(looks_at_noise(search.tried[0]), own)
        and _peak(left) < SPREAD
        and _in_general_position(own)
        and _coupled_as_iid_rows(own)
    )


def _peak(values: Vector) -> float:
    """Fourth moment over the square of the second."""
    return float(np.mean(values**4) / np.mean(values**2) ** 2)


def _came_to_the_same(looks: list[Tried], own: Normalised) -> bool:
    noise, other = (one.noise for one in looks)
    worst = max(one.mse_y for one in looks)
    same = abs(other - noise) <= SAME_POINT * noise
    return same and log10_impostors(worst, own.m_rows, own.n) < CERTIFIED_BELOW


def _in_general_position(own: Normalised) -> bool:
    """As far as the certificate asks A."""
    found = own.compiled(examine)(own, probes(data_seed(own.y), own.m_rows, own.n))
    return bool(found.full_rank & found.linked & found.firm) and not bool(found.structured)


def _coupled_as_iid_rows(own: Normalised) -> bool:
    share, K = own.n / own.m_rows, np.asarray(own.ridge.exact_couplings())
    own_weights = np.diagonal(K)
    even = np.std(own_weights) < UNEVEN * np.sqrt(2 * share * (1 - share) / own.m_rows)
    return bool(even) and _peak(K - np.diag(own_weights)) * (1 - 1 / own.m_rows) < LOOSE
