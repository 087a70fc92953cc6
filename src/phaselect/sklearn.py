"""Regressions without signs, as estimators of scikit-learn: y = |X w|, and y = +- X w."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phaselect.backends.interface import Vector
from phaselect.base.checks import is_number, shortened
from phaselect.base.errors import InputError
from phaselect.equations.channels import mean_sign
from phaselect.equations.signs import signs_of
from phaselect.solvers.result import Result, Status
from phaselect.solvers.solve import solve

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise ImportError("this needs scikit-learn 1.6 or later: pip install 'phaselect[sklearn]'") from None

__all__ = ["AbsoluteRegression", "SymmetricMixtureRegression"]

EXACT = (Status.RECOVERED, Status.UNCERTIFIED)
"""All digits are right, as far as anybody knows."""
DTYPES = (np.float64, np.float32)
"""Single precision is kept, for it tells to how many digits data are exact."""


class _SignlessRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]
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
        A, y = A[:, columns][rows], y[rows]
        x, x_std = np.zeros(columns.size), np.full(columns.size, np.nan)
        result = self._solve(A, y)
        if result is None:
            learned = float(np.mean(np.square(y))) if y.size else 0.0
            self.noise_variance_ = float(self.noise) if is_number(self.noise) else learned
        else:
            x[columns], x_std[columns] = result.x, _standard_deviations(result)
            self.noise_variance_ = _noise_variance(result, A, y)
        self.result_, self.status_ = result, Status.ESTIMATE if result is None else result.status
        x *= _sign_by_convention(x[: X.shape[1]], x[-1])
        self.coef_, self.coef_std_ = x[: X.shape[1]], x_std[: X.shape[1]]
        self.intercept_, self.intercept_std_ = (float(x[-1]), float(x_std[-1])) if self.fit_intercept else (0.0, 0.0)

    def _solve(self, A: Any, y: Vector) -> Result | None:
        """None where there is nothing to solve: no y that is not zero, or nothing but noise; zeros are the answer."""
        power = float(np.mean(np.square(y))) if y.size else 0.0
        if not power or (is_number(self.noise) and self.noise >= power):
            self._warn(
                f"{'nothing but noise' if power else 'nothing but zeros'} in y, so that all coefficients are zero"
            )
            return None
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        result = solve(
            A, y, solver=self.solver, seed=seed, time_limit=self.time_limit, noise=self.noise, prior=self.prior
        )
        if result.status not in (*EXACT, Status.ESTIMATE):
            why = result.reason or "the best fit was kept; more samples may help, or another solver"
            self._warn(f"{result.status.value.split(':')[0]}: {why}")
        return replace(result, state=None)  # as large as X, and of no use here

    def _warn(self, line: str) -> None:
        warnings.warn(f"{type(self).__name__}: {line}", ConvergenceWarning, stacklevel=5)  # where fit was called

    def _response(self, X: Any) -> Vector:
        """`X w`, and the intercept."""
        return np.asarray(X @ self.coef_ + self.intercept_)

    def _checked(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=DTYPES, reset=False)


class AbsoluteRegression(_SignlessRegression):
    r"""Linear regression of which only magnitudes are seen: y = \|X w\|, with or without noise.

    The signs of the samples are found together with w, which no local search does reliably: see `phaselect.solve`,
    which this calls. Of exact data w is recovered to all digits; of noisy data the posterior mean is found, with its
    standard deviations, and the noise.

    Parameters
    ----------
    fit_intercept : bool, default=False
        Whether the response is X w + b inside of the magnitude. b is one more unknown, as if X had a column of ones:
        data are never centred, for the mean of magnitudes is not the magnitude of the mean. Without it the model is
        that of a measuring device, where rows of X are all there is; with it X may be centred or not, and y
        may also be an ordinary response that happens to be positive.
    noise : "auto", float or None, default="auto"
        Variance of the noise on y. By default it is estimated, and data may turn out to be exact; None says that they
        are. For noise that differs between samples, divide each row of X and y by its standard deviation.
    prior : {"gaussian", "sparse", "nonnegative"} or prior, default="gaussian"
        What is known of w: nothing, that most coefficients are zero, or that none is negative. See `phaselect.Sparse`.
        It is the same for all coefficients, with the intercept: features should have like scales, as from
        `StandardScaler(with_mean=False)`.
    solver : str or solver, default="vmp"
        As of `phaselect.solve`. Vector message passing takes any X, and little time. "auto" tries populations and
        lattices too, which pays with fewer than two samples per feature, and takes longer: minutes, if data fit badly.
    time_limit : float, default=None
        Seconds that `fit` may take. What is found then depends on the speed of the machine.
    random_state : int, RandomState instance or None, default=None
        Of the random starts. Give a number for the same digits in every run.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w. Since w and -w have the same magnitudes, its sign is a convention: the coefficient of largest magnitude
        is positive, the first of several.
    intercept_ : float
        b, with the same sign as `coef_`; 0 unless `fit_intercept`.
    coef_std_ : ndarray of shape (n_features,)
        Standard deviations of the coefficients: 0 where data were exact, nan where they are not known (a prior that is
        not Gaussian, a feature that is always 0, a fit that failed).
    intercept_std_ : float
        The same of the intercept.
    noise_variance_ : float
        Variance of the noise on y, learned or given; 0 for exact data. Where it could not be learned, the sum of
        squared residuals over n_samples - n_features.
    signs_ : ndarray of shape (n_samples,)
        The sign of X w + b of each training sample, 1 or -1.
    status_ : phaselect.Status
        How the fit ended: `RECOVERED` for exact data that have no other solution, `ESTIMATE` for noisy ones. For the
        most others `fit` warns (`ConvergenceWarning`), and has the best that was found.
    result_ : phaselect.Result or None
        All that `phaselect.solve` tells; None if there was nothing to solve, as y was all zeros or all noise.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had any.

    See Also
    --------
    SymmetricMixtureRegression : For responses that have a sign, but an arbitrary one.
    phaselect.solve : The same without scikit-learn, for complex data and linear operators too.

    Notes
    -----
    Noise may be added to X w or to \|X w\|: as long as no y is negative, both are the same.

    There are no sample weights, which scikit-learn takes for repetitions: a sample that is repeated, each time with an
    unknown sign, is not one with less noise.

    Examples
    --------
    >>> import numpy as np
    >>> from phaselect.sklearn import AbsoluteRegression
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> y = np.abs(X @ [1.0, -2.0, 0.5])
    >>> model = AbsoluteRegression(random_state=0).fit(X, y)
    >>> model.coef_.round(6).tolist()
    [-1.0, 2.0, -0.5]
    >>> model.status_
    <Status.RECOVERED: 'recovered: x is certified'>
    >>> model.score(X, y)
    1.0
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = not self.fit_intercept  # on positive responses that are linear in X
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Find w from magnitudes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            More samples than features, unless the prior is sparse.
        y : array-like of shape (n_samples,)
            Magnitudes, 0 or more.

        Returns
        -------
        self : AbsoluteRegression
            Fitted.
        """
        X, y = _validated(self, X, y)
        if y.min() < 0:
            raise InputError(f"y has negative values, {y.min():g} the least: magnitudes are 0 or more")
        self._fit_magnitudes(X, y)
        self.signs_ = signs_of(self._response(X))
        return self

    def predict(self, X: Any) -> Vector:
        r"""Mean of y, which is that of \|X w + b + noise\|: \|X w + b\| if there is no noise, and more if there is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Magnitudes.
        """
        return _mean_magnitude(self._response(self._checked(X)), self.noise_variance_)


class SymmetricMixtureRegression(_SignlessRegression):
    r"""Mixture of two opposite linear regressions: y = X w for some samples, y = -X w for others, nobody knows which.

    The likelihood of y depends on \|y\| alone, so that this is phase retrieval: w comes from magnitudes, and then the
    sign of each sample from w. Both signs count as equally likely beforehand. Expectation maximisation, the usual way
    to fit a mixture, ends where its start leads it; this is a search, from several starts.

    Parameters
    ----------
    fit_intercept : bool, default=False
        Whether the two regressions are X w + b and -(X w + b). b is one more unknown, as if X had a column of ones:
        data are never centred, for the mean over both regressions is not that of either. Where both have the same
        offset, y = c +- X w, subtract c from y instead.
    noise : "auto", float or None, default="auto"
        Variance of the noise on y. By default it is estimated, and data may turn out to be exact; None says that they
        are. For noise that differs between samples, divide each row of X and y by its standard deviation.
    prior, solver, time_limit, random_state
        As in `AbsoluteRegression`.

    Attributes
    ----------
    coef_, intercept_, coef_std_, intercept_std_, noise_variance_, status_, result_, n_features_in_, feature_names_in_
        As in `AbsoluteRegression`. Which of both regressions is w and which is -w is a convention: the coefficient of
        largest magnitude is positive.
    signs_ : ndarray of shape (n_samples,)
        Of each training sample, 1 if w is the more likely regression, and -1 if -w is.

    See Also
    --------
    AbsoluteRegression : For responses that are magnitudes.

    Examples
    --------
    >>> import numpy as np
    >>> from phaselect.sklearn import SymmetricMixtureRegression
    >>> rng = np.random.default_rng(0)
    >>> X, signs = rng.normal(size=(200, 3)), rng.choice([-1, 1], size=200)
    >>> y = signs * (X @ [1.0, 2.0, -0.5]) + 0.1 * rng.normal(size=200)
    >>> model = SymmetricMixtureRegression(random_state=0).fit(X, y)
    >>> model.coef_.round(1).tolist()
    [1.0, 2.0, -0.5]
    >>> bool(np.mean(model.signs_ == signs) > 0.95)
    True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Find w, and the signs of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            More samples than features, unless the prior is sparse.
        y : array-like of shape (n_samples,)
            Responses, of any sign.

        Returns
        -------
        self : SymmetricMixtureRegression
            Fitted.
        """
        X, y = _validated(self, X, y)
        self._fit_magnitudes(X, np.abs(y))
        self.signs_ = signs_of(y * self._response(X))
        return self

    def predict(self, X: Any) -> Vector:
        """Mean of y in one of the two regressions, `X w + b`; in the other it is the opposite.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Responses.
        """
        return self._response(self._checked(X))

    def predict_sign(self, X: Any, y: Any) -> Vector:
        """The regression that each sample is more likely to belong to.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their responses.

        Returns
        -------
        signs : ndarray of shape (n_samples,)
            1 for w, -1 for -w; 1 where both are as likely.
        """
        return np.asarray(signs_of(self.predict_mean_sign(X, y)))

    def predict_mean_sign(self, X: Any, y: Any) -> Vector:
        """The posterior mean of the sign of each sample: how sure it is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their responses.

        Returns
        -------
        mean_signs : ndarray of shape (n_samples,)
            Between -1 and 1; w has the probability (1 + mean_sign)/2.
        """
        check_is_fitted(self)
        X, y = _validated(self, X, y, reset=False)
        return self._mean_sign(self._response(X), y)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the power of y that is explained, the signs of samples as likely as they are.

        It is `1 - E sum (y - s (X w + b))^2 / sum y^2`, the mean over the posterior of each sign s: an estimate of what
        the same share would be with all signs known, which for centred y is the coefficient of determination.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,)
            Their responses.
        sample_weight : array-like of shape (n_samples,), default=None
            Of the samples, in both sums.

        Returns
        -------
        score : float
            1 at best.
        """
        check_is_fitted(self)
        X, y = _validated(self, X, y, reset=False)
        z = self._response(X)
        left = np.average(y**2 - 2 * y * z * self._mean_sign(z, y) + z**2, weights=sample_weight)
        power = np.average(y**2, weights=sample_weight)
        return float(1 - left / power) if power else float(not left)

    def _mean_sign(self, z: Vector, y: Vector) -> Vector:
        if not self.noise_variance_:
            return np.asarray(signs_of(y * z))
        return np.asarray(mean_sign(z, y / self.noise_variance_)[0])


def _validated(estimator: BaseEstimator, X: Any, y: Any, reset: bool = True) -> tuple[Any, Vector]:
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
    return 0.0 if result.status in EXACT else math.nan


def _noise_variance(result: Result, A: Any, y: Vector) -> float:
    """As learned, or as the residuals have it."""
    if math.isfinite(result.noise):
        return float(result.noise)
    residuals = y - np.abs(A @ result.x)
    return float(residuals @ residuals / max(1, A.shape[0] - A.shape[1]))


def _mean_magnitude(z: Vector, variance: float) -> Vector:
    """Of z plus Gaussian noise."""
    if not variance:
        return np.abs(z)
    from scipy.special import erf

    spread = math.sqrt(2 * variance)
    return np.asarray(spread / math.sqrt(math.pi) * np.exp(-((z / spread) ** 2)) + z * erf(z / spread))
