r"""The distribution of the gaps `Delta = (A x)_nu`, the measurements that the estimate predicts (eq:stabilities).

Given the measurement u0 and its field w, the sign is S with probability `sigma(2 S (phi + u0 w/s2))` and the gap is
then Gaussian,

    Delta ~ N( S u0 + (w - S u0)/W,  V0/(W (1 + 2 V1)) ),      W = 1 + 2 V1 + 2 mu V0,

the regression having pulled its prediction from w towards S u0. So the density is a Gaussian for each S times an
average of the probability over (u0, w) given the gap. Both printed versions in the paper drop a mu or flip signs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from phaselect.base.errors import InputError
from phaselect.theory.quadrature import Array, panelled_gaussian
from phaselect.theory.saddle import Point

NODES = 32


class GapDensity(NamedTuple):
    """Densities on a grid of gaps: P of all, and P_right (P_* in the paper) of those whose sign is right."""

    gap: Array
    P: Array
    P_right: Array


def gap_density(point: Point, gaps: ArrayLike) -> GapDensity:
    """P and P_* at a saddle point: P integrates to 1 and P_* to (1 + O)/2."""
    gap = _grid(gaps)
    if not point.converged:
        raise InputError("the point did not converge: it is no saddle point, and has no gaps")
    if point.V0 <= 0:
        raise InputError("the gaps have no density where the signs are frozen (V0 = 0): lower mu")
    pieces = np.array_split(gap, 1 + gap.size // 50)  # 50 gaps at a time take some 30 MB
    right, wrong = (np.concatenate([_joint_density(point, part, sign) for part in pieces]) for sign in (1.0, -1.0))
    return GapDensity(gap, right + wrong, right)


def _grid(gaps: ArrayLike) -> Array:
    try:
        gap = np.atleast_1d(np.asarray(gaps, dtype=float))
    except (TypeError, ValueError):
        gap = np.array([np.nan])
    if gap.ndim != 1 or not np.isfinite(gap).all():
        raise InputError("gaps: give a list of finite numbers")
    return gap


def _joint_density(point: Point, gap: Array, sign: float) -> Array:
    """Density of a gap with sign S = `sign`."""
    spread, s2 = max(point.q0 - point.m**2, 0.0), point.V + 0.5 / point.mu
    pull = 1 / (2 * point.mu * s2)  # 1/W
    own = pull * point.V0 / (1 + 2 * point.V1)  # variance of the gap given (u0, w, S)
    given_u0 = own + pull**2 * spread  # given (u0, S)
    slope = sign * (1 - pull) + pull * point.m  # mean of the gap per unit of u0
    total = given_u0 + slope**2
    middle, width = slope * gap / total, np.full_like(gap, math.sqrt(given_u0 / total))
    gain = pull * spread / given_u0
    width_w = math.sqrt(spread * own / given_u0)
    turn = point.m - gain * slope or 1e-300  # mean of w given (u0, gap): turn * u0 + gain * gap
    kinks = [(0 * gap, 0.2 * width), (-gain * gap / turn, np.full_like(gap, 0.2 * width_w / abs(turn)))]
    u0, weight = panelled_gaussian(middle, width, kinks, NODES)
    centre = turn * u0 + gain * gap[:, None]
    steep = np.maximum(np.abs(u0), 1e-300) / s2
    kink = (-np.sign(u0) * point.phi / steep, 1 / steep)
    w, weight_w = panelled_gaussian(centre, np.full_like(centre, width_w), [kink], NODES)
    chance = np.einsum("guk,guk->gu", weight_w, expit(2 * sign * (point.phi + u0[..., None] * w / s2)))
    gaussian = np.exp(-0.5 * gap**2 / total) / math.sqrt(2 * math.pi * total)
    return np.asarray(gaussian * np.einsum("gu,gu->g", weight, chance))
