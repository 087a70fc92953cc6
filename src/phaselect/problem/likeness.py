"""What does A look like: a matrix of iid entries, for which AMP is right, a sparse one, or another?

A few products with random vectors tell.

Rows of such a matrix, and columns, have even norms; it does to the vector of ones what it does to any; and for rows of
unit norm `tr (A^T A)^2 = N alpha^2 (1 + 1/alpha)`, where an orthogonal one has 1 instead of `1 + 1/alpha`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from phaselect.equations.arrays import Array, namespace, squared
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import Purpose, random_signs, stream

PROBES = 4000
"""Random numbers, about, that A is asked with."""
OFF = 0.2
"""What counts as off, of the second moment of the spectrum; more of what tells less sharply: of the columns twice, of
the ones ten times as much, and what chance leaves.
"""


FEW, HALF = 40, 0.5
"""Entries of a row below which sums over it are not yet Gaussian, if they are less than this part of it."""


class Likeness(NamedTuple):
    """What speaks against iid entries, nothing if nothing does; and is A sparse, with entries of either sign?"""

    unlike_iid: str = ""
    sparse: bool = False


class Moments(NamedTuple):
    """What random vectors told: each is 1 for iid entries, up to chance."""

    spectrum: Array
    ones: Array
    columns: Array
    density: Array


def moments(problem: Normalised, probes: Array, mixed: Array) -> Moments:
    """probes: random signs, one per unknown, stacked; mixed: a random number per measurement."""
    xp = namespace(problem.y)
    alpha = problem.m_rows / problem.n
    twice = problem.adjoint(problem.forward(xp.asarray(probes, problem.field.x)))
    spectrum = squared(twice).mean() / (alpha**2 + alpha / problem.field.fold)
    ones = squared(problem.forward(xp.ones(problem.n, problem.field.x))).mean()
    back = squared(problem.adjoint(xp.asarray(mixed, problem.field.z)))
    columns = (back**2).mean() / ((1 + 2 / problem.field.reals) * back.mean() ** 2)
    return Moments(spectrum, ones, columns, xp.asarray(problem.matrix.density()))


def likeness(problem: Normalised) -> Likeness:
    """What A looks like."""
    m_rows, n = problem.m_rows, problem.n
    rng = stream(0, Purpose.LIKENESS, m_rows, n)
    probes, mixed = random_signs(rng, n, PROBES), rng.standard_normal(m_rows)
    found = Moments(*(float(value) for value in problem.compiled(moments)(problem, probes, mixed)))
    chance = 10 / np.sqrt(n)
    if found.ones > 1 + 10 * OFF + chance:
        return Likeness("its entries have a mean, or its columns are alike")
    if found.density < min(HALF, FEW / n):
        return Likeness("most entries are zero", sparse=True)
    if found.density < 1:
        return Likeness("some entries are zero")
    if found.columns > 1 + 2 * OFF + chance:
        return Likeness("its columns are uneven")
    if abs(found.spectrum - 1) > OFF:
        return Likeness(f"its singular values are {'closer together' if found.spectrum < 1 else 'further apart'}")
    return Likeness()
