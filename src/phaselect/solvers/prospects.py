"""Is message passing expected to find the signal at all? It needs more measurements than the threshold of A's spectrum.

Known before anything is solved: for iid entries, from M/N alone; for others from the singular values, which vector
message passing asks for in any case.
"""

from __future__ import annotations

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.equations.arrays import Array, namespace
from phaselect.equations.fields import COMPLEX, REAL, REAL_SIGNAL
from phaselect.equations.lanczos import Eigenvalues
from phaselect.problem.instance import Instance
from phaselect.problem.likeness import likeness
from phaselect.problem.normalised import Normalised
from phaselect.problem.streams import trace_probes

OF_IID = {REAL: 1.1284, COMPLEX: 2.0267, REAL_SIGNAL: 1.0134}
HIGHEST = {REAL: 1.584, COMPLEX: 2.264, REAL_SIGNAL: 1.132}
"""Thresholds of independent entries, and of orthogonal columns, which no other spectrum exceeds."""
LARGE, LARGER = 100, 400
"""Unknowns from which on a threshold tells what to expect; and from which on it is worth half a second to find it."""
QUANTILES = 200
"""Numbers that stand for a spectrum."""
SMALLEST = 1e-12
"""Of the largest eigenvalue."""


def poor_prospects(problem: Instance) -> tuple[str, ...]:
    """Why message passing on exact data is expected to fail, if it is."""
    field = problem.matrix.field
    if not 1 < problem.alpha < HIGHEST[field]:
        return ()
    if problem.n < LARGE or problem.noise is not None:
        return ()
    if likeness(problem.normalised).sparse:  # of which the spectrum tells little
        return ()
    if problem.alpha < OF_IID[field] or problem.n >= LARGER:
        needed = threshold(problem)
        if problem.alpha < needed:
            return (
                f"expected to fail: this matrix needs M/N above {needed:.2f} for message passing, and has "
                f"{problem.alpha:.2f}; searching anyway",
            )
    return ()


def threshold(problem: Instance) -> float:
    """The M/N from which on message passing recovers signals, large ones, from such a matrix."""
    own = problem.normalised
    if not likeness(own).unlike_iid:
        return OF_IID[own.field]
    from phaselect.theory.bayes import recovery_threshold
    from phaselect.theory.spectra import as_spectrum

    found = own.compiled(eigenvalues)(own, trace_probes(own.n))
    return recovery_threshold(as_spectrum(quantiles(found)), own.field.beta) / own.field.fold


def eigenvalues(problem: Normalised, probes: Array) -> Eigenvalues:
    """Of `A^T A`."""
    return problem.gaussian_node.eigenvalues(namespace(problem.y).asarray(probes))


def quantiles(spectrum: Eigenvalues) -> Vector:
    """A few numbers that are spread as the eigenvalues are; none of them zero."""
    values, weights = np.asarray(spectrum.values), np.asarray(spectrum.weights)
    order = np.argsort(values)
    below = np.cumsum(weights[order]) - weights[order] / 2
    places = (np.arange(QUANTILES) + 0.5) / QUANTILES * weights.sum()
    return np.asarray(np.maximum(np.interp(places, below, values[order]), SMALLEST * values.max()))
