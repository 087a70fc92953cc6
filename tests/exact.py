"""Small problems by brute force, written straight from the definitions and from nothing in `src`."""

import itertools

import numpy as np


def all_signs(m_rows):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=m_rows)))


def energies(A, y, lam):
    """`min_x |S*y - A x|^2 + (lam/2)|x|^2` for every S, by solving the ridge problem of each."""
    V = all_signs(y.size) * y
    X = np.linalg.solve(A.T @ A + lam / 2 * np.eye(A.shape[1]), A.T @ V.T).T
    return np.sum((V - X @ A.T) ** 2, axis=1) + lam / 2 * np.sum(X**2, axis=1)


def gibbs(A, y, mu, lam):
    """Probabilities `exp(-mu E(S))/Z` in the order of `all_signs`, and log Z."""
    weights = -mu * energies(A, y, lam)
    log_Z = np.logaddexp.reduce(weights)
    return np.exp(weights - log_Z), log_Z


def normalised(problem):
    """A and y in the units the solvers use for exact data: unit mean squared row norm, unit mean square.

    Rows of uneven norms, as few unknowns make them, are divided by them first.
    """
    norms = np.linalg.norm(problem.A, axis=1)
    uneven = np.std(norms**2) > 0.5 * np.mean(norms**2)
    A, y = (problem.A / norms[:, None], problem.y / norms) if uneven else (problem.A, problem.y)
    return A * np.sqrt(A.shape[0]) / np.linalg.norm(A), y / np.sqrt(np.mean(y**2))


def state_index(signs):
    """Position of sign vectors in `all_signs`."""
    bits = (np.atleast_2d(signs) > 0).astype(int)
    return bits @ (1 << np.arange(bits.shape[1])[::-1])
