"""A mixture of two opposite linear regressions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from phaselect.backends.interface import Vector
from phaselect.equations.channels import mean_sign
from phaselect.equations.signs import signs_of
from phaselect.sklearn.signless import SignlessRegression, validated


class SymmetricMixtureRegression(SignlessRegression):
    """Mixture of two opposite linear regressions: y = X w for some samples, y = -X w for others, nobody knows which.

    The likelihood of y depends on abs(y) alone, so that this is phase retrieval: w comes from magnitudes, and then the
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
        X, y = validated(self, X, y)
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
        X, y = validated(self, X, y, reset=False)
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
        X, y = validated(self, X, y, reset=False)
        z = self._response(X)
        left = np.average(y**2 - 2 * y * z * self._mean_sign(z, y) + z**2, weights=sample_weight)
        power = np.average(y**2, weights=sample_weight)
        return float(1 - left / power) if power else float(not left)

    def _mean_sign(self, z: Vector, y: Vector) -> Vector:
        if not self.noise_variance_:
            return np.asarray(signs_of(y * z))
        return np.asarray(mean_sign(z, y / self.noise_variance_)[0])
