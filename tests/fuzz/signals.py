"""Kinds of signal on which a certificate may be wrong. Each is a function (rng, A) -> x."""

import numpy as np
from scipy.linalg import null_space


def gaussian(rng, A):
    return rng.standard_normal(A.shape[1])


def sparse(rng, A):
    """Exact zeros in about half of the places."""
    return with_some(gaussian(rng, A) * (rng.random(A.shape[1]) < 0.5))


def thinned(rng, x):
    """With more zeros, in about two thirds of the places."""
    return with_some(x * (rng.random(x.size) < 1 / 3))


def with_some(x):
    return x if x.any() else np.eye(x.size)[0]


def single(rng, A):
    return np.eye(A.shape[1])[rng.integers(A.shape[1])] * rng.standard_normal()


def first(rng, A):
    return 3.0 * np.eye(A.shape[1])[0]


def padded(rng, A):
    """The second half is zero."""
    x = gaussian(rng, A)
    x[(x.size + 1) // 2 :] = 0
    return x


def tiny_block(size):
    def signal(rng, A):
        x = gaussian(rng, A)
        x[(x.size + 1) // 2 :] *= size
        return x

    return signal


def signs(rng, A):
    return rng.choice([-1.0, 1.0], A.shape[1])


def integers(rng, A):
    return with_some(rng.integers(-3, 4, A.shape[1]).astype(float))


def constant(rng, A):
    return np.ones(A.shape[1])


def wide_range(rng, A):
    return gaussian(rng, A) * 10.0 ** rng.uniform(-7, 7, A.shape[1])


def few_levels(rng, A):
    """Two magnitudes, and zeros."""
    return with_some(rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], A.shape[1]))


def unseen(rng, A):
    """Orthogonal to some rows: there y is zero, up to rounding."""
    rows = A[rng.permutation(len(A))[: rng.integers(1, max(2, A.shape[1] // 2))]].astype(float)
    free = null_space(rows / np.linalg.norm(rows, axis=1, keepdims=True).clip(1e-300))
    return free @ rng.standard_normal(free.shape[1]) if free.size else gaussian(rng, A)


def hardly_seen(rng, A):
    """Some rows see 1e-12 of it."""
    return unseen(rng, A) + 1e-12 * gaussian(rng, A)


SIGNALS = {
    "gaussian": gaussian,
    "sparse": sparse,
    "single": single,
    "first": first,
    "padded": padded,
    "tiny-block-1e-6": tiny_block(1e-6),
    "tiny-block-1e-9": tiny_block(1e-9),
    "tiny-block-1e-12": tiny_block(1e-12),
    "signs": signs,
    "integers": integers,
    "constant": constant,
    "wide-range": wide_range,
    "few-levels": few_levels,
    "unseen": unseen,
    "hardly-seen": hardly_seen,
}

EVERYWHERE_SEEN = ("gaussian", "sparse", "single", "first", "padded", "signs", "integers", "constant", "few-levels")
"""With a matrix in general position no measurement is near zero."""
