"""What the estimators share: coefficients from magnitudes, by `solve`, and their sign by convention."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import DataWarning, InputError, warn_user
from phaselect.solvers.result import Result, Status
from phaselect.solvers.solve import solve

EXACT = (Status.RECOVERED, Status.UNCERTIFIED, Status.AMBIGUOUS)
"""All digits of y are accounted for; those of x are right if it is the first."""
DEPENDENT = "features that depend on each other, or too few samples, leave a choice: result_.rival has another solution"
DTYPES = (np.float64, np.float32)
"""Single precision is kept, for it tells to how many digits data are exact."""
CENTRED = (
    "X is centred and there is no intercept: unless the responses, with their signs, have mean 0, use "
    "StandardScaler(with_mean=False) or fit_intercept=True"
)


class SignlessRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """What both estimators share: coefficients from magnitudes, their sign by convention."""

    def __init__(
        self,
        *,
        fit_intercept: bool = False,
        noise: Any = "auto",
        prior: Any = "gaussian",
        solver: Any = "vmp",
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.prior = prior
        self.solver = solver
        self.time_limit = time_limit
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit_magnitudes(self, X: Any, y: Vector) -> None:
        """Sets what is learned; y has magnitudes, and X and y are validated."""
        if self.noise is not None and not isinstance(self.noise, str) and not is_number(self.noise):
            raise InputError(
                f'noise = {shortened(self.noise)}: give one variance, "auto" or None; where samples differ in noise, '
                "divide each row of X and y by its standard deviation"
            )
        A = _with_ones(X) if self.fit_intercept else X
        columns, rows = _not_empty(A, axis=0), _not_empty(A, axis=1)
        A, seen = A[:, columns][rows], y[rows]
        x, x_std = np.zeros(columns.size), np.full(columns.size, np.nan)
        result = self._solve(A, seen)
        if result is None:
            self.noise_variance_ = float(self.noise if is_number(self.noise) else np.mean(np.square(y)))
        else:
            x[columns], x_std[columns] = result.x, _standard_deviations(result)
            self.noise_variance_ = _noise_variance(result, A, seen)
        self.result_, self.status_ = result, Status.ESTIMATE if result is None else result.status
        x *= _sign_by_convention(x[: X.shape[1]], x[-1])
        self.coef_, self.coef_std_ = x[: X.shape[1]], x_std[: X.shape[1]]
        self.intercept_, self.intercept_std_ = (float(x[-1]), float(x_std[-1])) if self.fit_intercept else (0.0, 0.0)

    def _solve(self, A: Any, y: Vector) -> Result | None:
        """None where there is nothing to solve: no y that is not zero, or nothing but noise; zeros are the answer."""
        power = float(np.mean(np.square(y))) if y.size else 0.0
        if not power or (is_number(self.noise) and self.noise >= power):
            what = "noise in y" if power else "zeros in y" if y.size else "zeros in X"
            self._warn(f"nothing but {what}, so that all coefficients are zero")
            return None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        result = solve(
            A, y, solver=self.solver, seed=seed, time_limit=self.time_limit, noise=self.noise, prior=self.prior
        )
        if result.status not in (Status.RECOVERED, Status.ESTIMATE):
            ambiguous = result.status is Status.AMBIGUOUS
            better = result.reason or "the best fit was kept; more samples may help, or another solver"
            why = DEPENDENT if ambiguous else better
            self._warn(f"{result.status.value.split(':')[0]}: {why}")
        if not self.fit_intercept and result.status not in EXACT and _centred(A):
            self._warn(CENTRED, DataWarning)
        return replace(result, state=None)  # as large as X, and of no use here

    def _warn(self, line: str, kind: type[Warning] = ConvergenceWarning) -> None:
        warn_user(f"{type(self).__name__}: {line}", kind)

    def _response(self, X: Any) -> Vector:
        """`X w`, and the intercept."""
        return np.asarray(X @ self.coef_ + self.intercept_)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False)


def validated(estimator: BaseEstimator, X: Any, y: Any, reset: bool = True) -> tuple[Any, Vector]:
    """X and y; one sample tells nothing."""
    least = 2 if reset else 1
    return validate_data(  # type: ignore[no-any-return]
        estimator, X, y, accept_sparse="csr", dtype=DTYPES, y_numeric=True, ensure_min_samples=least, reset=reset
    )


def _with_ones(X: Any) -> Any:
    """X with a column of ones."""
    ones = np.ones((X.shape[0], 1), X.dtype)
    if isinstance(X, np.ndarray):
        return np.hstack([X, ones])
    from scipy.sparse import hstack

    return hstack([X, ones], format="csr")


def _centred(X: Any) -> bool:
    """Is the mean of every feature 0, to the precision of X? A sparse X would not be sparse then."""
    if not isinstance(X, np.ndarray):
        return False
    mean, spread = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    return bool(np.all(np.abs(mean) <= math.sqrt(np.finfo(X.dtype).eps) * spread))


def _not_empty(A: Any, axis: int) -> NDArray[np.bool_]:
    """The columns, or rows, that are not all zeros."""
    return np.asarray(abs(A).sum(axis=axis)).ravel() > 0


def _sign_by_convention(coefficients: Vector, intercept: float) -> float:
    """The sign that makes the largest coefficient positive; the intercept if all are zero."""
    largest = coefficients[np.argmax(np.abs(coefficients))]
    return -1.0 if (largest or intercept) < 0 else 1.0


def _standard_deviations(result: Result) -> Vector | float:
    if result.x_std is not None:
        return result.x_std
    return 0.0 if result.status is Status.RECOVERED else math.nan


def _noise_variance(result: Result, A: Any, y: Vector) -> float:
    """As learned, or as the residuals have it."""
    if math.isfinite(result.noise) and (result.noise > 0 or result.status in EXACT):
        return float(result.noise)
    residuals = y - np.abs(A @ result.x)
    return float(residuals @ residuals / max(1, A.shape[0] - A.shape[1]))
