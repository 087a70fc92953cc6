"""The paper's simulated annealing (alg:SA), transcribed: what our kernels are compared with, moves and speed."""

import numpy as np

from phaselect.backends.host.random import proposal


def simulated_annealing(A, y, mu, lam, proposals, S, state, penalised=True):
    """Rebuilds the M x M matrix at each temperature and tracks the errors `Delta_y = (I - A_ols)(S*y)`.

    Two corrections: the norms are squared, and the energy includes the penalty unless `penalised` is False.
    Flips S in place and returns every decision.
    """
    accepted = []
    for mu_t, lam_t in zip(mu, lam, strict=True):
        M_ols = np.linalg.solve(A.T @ A + lam_t / 2 * np.eye(A.shape[1]), A.T)
        errors_of = np.eye(y.size) - A @ M_ols
        errors, x = errors_of @ (S * y), M_ols @ (S * y)
        for _ in range(proposals):
            i, u = proposal(state, y.size)
            shift = -2 * S[i] * y[i] * errors_of[:, i]
            change = np.sum((errors + shift) ** 2) - np.sum(errors**2)
            if penalised:
                x_shift = -2 * S[i] * y[i] * M_ols[:, i]
                change += lam_t / 2 * (np.sum((x + x_shift) ** 2) - np.sum(x**2))
            accepted.append(bool(u < np.exp(min(0.0, -mu_t * change))))
            if accepted[-1]:
                S[i] = -S[i]
                errors = errors + shift
                if penalised:
                    x = x + x_shift
    return accepted
