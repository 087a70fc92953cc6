"""A linear regression of which only magnitudes are seen."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from phaselect.backends.interface import Vector
from phaselect.base.errors import InputError
from phaselect.equations.signs import signs_of
from phaselect.sklearn.signless import SignlessRegression, validated


class AbsoluteRegression(SignlessRegression):
    """Linear regression of which only magnitudes are seen: y = abs(X w), with or without noise.

    The signs of the samples are found together with w, which no local search does reliably: see `phaselect.solve`,
    which this calls. Of exact data w is recovered to all digits; of noisy data the posterior mean is found, with its
    standard deviations, and the noise.

    Parameters
    ----------
    fit_intercept : bool, default=False
        Whether the response is X w + b inside of the magnitude. b is one more unknown, as if X had a column of ones:
        data are never centred, for the mean of magnitudes is not the magnitude of the mean. Without it the model is
        that of a measuring device, where rows of X are all there is, and `fit` warns of a centred X (`DataWarning`);
        with it X may be centred or not, and y may also be an ordinary response that happens to be positive.
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
        How the fit ended: `RECOVERED` for exact data that have no other solution, `ESTIMATE` for noisy ones. For
        most others `fit` warns (`ConvergenceWarning`), and has the best that was found.
    result_ : phaselect.Result or None
        All that `phaselect.solve` tells; None if there was nothing to solve, as y was all zeros or all noise.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, where X had any.

    See Also
    --------
    SymmetricMixtureRegression : For responses that have a sign, but an arbitrary one.
    phaselect.solve : The same without scikit-learn, for complex data and linear operators too.

    Notes
    -----
    Noise may be added to X w or to abs(X w): as long as no y is negative, both are the same.

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
        X, y = validated(self, X, y)
        if y.min() < 0:
            raise InputError(f"y has negative values, {y.min():g} the least: magnitudes are 0 or more")
        self._fit_magnitudes(X, y)
        self.signs_ = signs_of(self._response(X))
        return self

    def predict(self, X: Any) -> Vector:
        """Mean of y, which is that of abs(X w + b + noise): abs(X w + b) if there is no noise, and more if there is.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Magnitudes.
        """
        return mean_magnitude(self._response(self._checked(X)), self.noise_variance_)


def mean_magnitude(z: Vector, variance: float) -> Vector:
    """Of z plus Gaussian noise."""
    if not variance:
        return np.abs(z)
    from scipy.special import erf

    spread = math.sqrt(2 * variance)
    return np.asarray(spread / math.sqrt(math.pi) * np.exp(-((z / spread) ** 2)) + z * erf(z / spread))
