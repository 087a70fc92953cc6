"""The threshold of message passing that a kind of matrix has by its singular values."""

from __future__ import annotations

from statistics import fmean

import numpy as np

from phaselect.problem.ensembles import ensemble_instance
from phaselect.theory import critical_alpha

N = 400
"""Unknowns of the matrices whose singular values are used: the threshold of Gaussian ones comes out to 0.001."""
STEPS, KEPT = 14, 6
"""Matrices drawn one after the other, and those at the end whose thresholds are averaged."""


def kind_threshold(kind: str) -> float:
    """The alpha at which `critical_alpha` of the matrices of that alpha is alpha: their spectrum varies with it.

    Rows are weighted as solvers weight them. It is the threshold if singular vectors are random, as those on the left
    are where A is a Gaussian matrix times anything; those on the right do not matter for a Gaussian signal.
    """
    found = [1.4]
    for seed in range(STEPS):
        alpha = max(found[-1], 1 + 1 / N)
        A, _ = ensemble_instance(kind, N, alpha, seed=seed, dense=True).normalised.dense()
        found.append(critical_alpha(spectrum=np.linalg.svd(A, compute_uv=False) ** 2))
    return fmean(found[-KEPT:])
