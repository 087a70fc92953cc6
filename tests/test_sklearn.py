"""The estimators of scikit-learn: by its own checks, and against regressions that know the signs."""

import importlib
import pickle
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.stats import foldnorm, norm
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from phaselect import DataWarning, InputError, Sparse, Status, VectorMessagePassing
from phaselect.sklearn import AbsoluteRegression, SymmetricMixtureRegression

BOTH = pytest.mark.parametrize("regression", [AbsoluteRegression, SymmetricMixtureRegression])
QUICK = {"noise": 0.5, "solver": VectorMessagePassing(restarts=0)}
"""One attempt, and nothing to learn: the checks are of what surrounds the solver."""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # most of the data are not of this kind
@pytest.mark.filterwarnings("ignore::phaselect.DataWarning")
@parametrize_with_checks([AbsoluteRegression(fit_intercept=True, **QUICK), SymmetricMixtureRegression(**QUICK)])
def test_checks_of_scikit_learn(estimator, check):
    """All of them, with no exception declared."""
    check(estimator)


@pytest.mark.slow
@BOTH
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_checks_of_scikit_learn_as_it_is_by_default(regression, fit_intercept):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(regression(fit_intercept=fit_intercept))


def data(m_rows=120, n=6, noise=0.0, seed=0, intercept=0.0):
    """X, w whose largest coefficient is positive, and responses with their signs."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(m_rows, n)), rng.normal(size=n)
    w *= np.sign(w[np.argmax(abs(w))])
    return X, w, X @ w + intercept + noise * rng.normal(size=m_rows)


@BOTH
def test_exact_data_to_all_digits(regression):
    X, w, y = data(m_rows=20)
    flips = np.random.default_rng(1).choice([-1, 1], size=20)
    model = regression(random_state=0).fit(X, abs(y) if regression is AbsoluteRegression else flips * y)
    np.testing.assert_allclose(model.coef_, w, rtol=1e-12)
    assert model.status_ is Status.RECOVERED
    assert (model.noise_variance_, model.intercept_, model.coef_std_.max()) == (0, 0, 0)
    signs = np.sign(y) if regression is AbsoluteRegression else flips
    np.testing.assert_array_equal(model.signs_, signs)
    assert model.score(X, abs(y)) == pytest.approx(1)


def test_two_exact_samples_per_feature_are_enough():
    for seed in range(10):
        X, w, y = data(m_rows=40, n=20, seed=seed)
        np.testing.assert_allclose(AbsoluteRegression(random_state=seed).fit(X, abs(y)).coef_, w, rtol=1e-9)


@BOTH
def test_noisy_data_as_with_known_signs(regression):
    """Where noise is small all signs but a few are known: the posterior is that of Bayesian regression, which learns
    prior and noise by itself; and intervals are true."""
    X, w, y = data(m_rows=400, n=8, noise=0.02)
    model = regression(random_state=0).fit(X, abs(y))
    oracle = BayesianRidge(fit_intercept=False, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, oracle.coef_, atol=0.3 * model.coef_std_.min())
    np.testing.assert_allclose(model.coef_std_, np.sqrt(np.diag(oracle.sigma_)), rtol=0.1)
    assert model.noise_variance_ == pytest.approx(1 / oracle.alpha_, rel=0.05)
    assert np.all(abs(model.coef_ - w) < 4 * model.coef_std_)
    assert model.status_ is Status.ESTIMATE


@pytest.mark.parametrize(
    ("regression", "dtype"), [(AbsoluteRegression, "float64"), (SymmetricMixtureRegression, "float32")]
)
def test_an_x_that_was_centred_is_warned_of(regression, dtype):
    """The magnitudes were those of X as it was. One that fits exactly is as good as any other."""
    X, w, _ = data(n=4)
    X = (X + 2).astype(dtype)
    y = abs(X.astype(float) @ w)
    model = regression(random_state=0)
    with pytest.warns(
        DataWarning, match=r"X is centred .* use StandardScaler\(with_mean=False\) or fit_intercept=True"
    ):
        assert make_pipeline(StandardScaler(), model).fit(X, y).score(X, y) < 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        assert make_pipeline(StandardScaler(with_mean=False), model).fit(X, y).score(X, y) > 0.999
        assert (
            make_pipeline(StandardScaler(), clone(model).set_params(fit_intercept=True)).fit(X, y).score(X, y) > 0.999
        )
        centred = X.astype(float) - X.mean(axis=0, dtype=float)
        assert model.fit(centred, abs(centred @ w)).status_ is Status.RECOVERED


def likeliest(X, y, start):
    """w and the noise of largest likelihood, by a general optimiser, from the truth on."""

    def cost(parameters):
        z, variance = X @ parameters[:-1], np.exp(parameters[-1])
        sides = np.logaddexp(-((y - z) ** 2) / (2 * variance), -((y + z) ** 2) / (2 * variance))
        return np.sum(0.5 * parameters[-1] - sides)

    found = minimize(cost, [*start, 0.0]).x
    return found[:-1], np.exp(found[-1])


@BOTH
def test_loud_noise(regression):
    """Half of the response is noise, and many signs are unknown: least squares of the signs found would be biased."""
    X, w, _ = data(m_rows=1500, n=4)
    y = X @ w + np.linalg.norm(w) * np.random.default_rng(2).normal(size=1500)
    model = regression(random_state=0).fit(X, abs(y))
    expected, variance = likeliest(X, y, w)
    np.testing.assert_allclose(model.coef_, expected, atol=0.3 * model.coef_std_.min())
    assert model.noise_variance_ == pytest.approx(variance, rel=0.02)
    biased = np.linalg.lstsq(X, model.signs_ * abs(y))[0]
    assert np.linalg.norm(abs(biased) - abs(expected)) > 10 * np.linalg.norm(model.coef_ - expected)


def test_the_hidden_response_of_real_data():
    X, y = load_diabetes(return_X_y=True)
    response = y - y.mean()
    with pytest.warns(DataWarning, match="X is centred"):  # as it is, and so is the response
        model = make_pipeline(StandardScaler(), AbsoluteRegression(random_state=0)).fit(X, abs(response))
    found = StandardScaler().fit_transform(X) @ model[-1].coef_
    assert 0.5 < np.corrcoef(found, response)[0, 1] ** 2 < 0.518  # known signs have 0.518


@BOTH
@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_the_intercept_is_one_more_unknown(regression, shift):
    """X may be centred or not; and y may be positive all over."""
    X, w, y = data(intercept=0.7 + shift)
    for offset in (0.0, 2.0):
        model = regression(fit_intercept=True, random_state=0).fit(X + offset, abs(y))
        np.testing.assert_allclose(model.coef_, w, rtol=1e-9)
        assert model.intercept_ == pytest.approx(0.7 + shift - offset * w.sum())
        np.testing.assert_allclose(abs(model.predict(X + offset)), abs(y), rtol=1e-9)


def test_the_intercept_has_an_error_of_its_own():
    X, w, y = data(m_rows=300, intercept=1.0, noise=0.1)
    model = AbsoluteRegression(fit_intercept=True, random_state=0).fit(X, abs(y))
    assert model.coef_std_.shape == w.shape
    assert model.intercept_std_ == pytest.approx(0.1 / np.sqrt(300), rel=0.2)
    assert abs(model.intercept_ - 1) < 4 * model.intercept_std_


def test_the_sign_is_a_convention():
    X, _, y = data(noise=0.1)
    fits = [AbsoluteRegression(random_state=seed).fit(X, abs(y)).coef_ for seed in range(2)]
    assert all(fit[np.argmax(abs(fit))] > 0 for fit in fits)
    np.testing.assert_allclose(fits[1], fits[0], atol=1e-6)
    again = AbsoluteRegression(random_state=0).fit(X, abs(y)).coef_
    np.testing.assert_array_equal(again, fits[0])


def test_the_mean_of_magnitudes_is_predicted():
    X, _, y = data(noise=0.5)
    model = AbsoluteRegression(random_state=0).fit(X, abs(y))
    spread = np.sqrt(model.noise_variance_)
    np.testing.assert_allclose(model.predict(X), foldnorm.mean(abs(X @ model.coef_) / spread, scale=spread), rtol=1e-9)
    exact = abs(X @ model.coef_)
    np.testing.assert_allclose(AbsoluteRegression(noise=None, random_state=0).fit(X, exact).predict(X), exact)


def test_signs_and_score_of_a_mixture():
    """Signs by Bayes' rule; the score is what it would be with known signs, though these are not known."""
    X, _, y = data(m_rows=3000, n=4, noise=2.0)
    flips = np.random.default_rng(3).choice([-1, 1], size=3000)
    model = SymmetricMixtureRegression(random_state=0).fit(X, flips * y)
    z, spread = model.predict(X), np.sqrt(model.noise_variance_)
    np.testing.assert_allclose(z, X @ model.coef_)
    odds = norm.pdf(flips * y, z, spread) / norm.pdf(flips * y, -z, spread)
    mean = model.predict_mean_sign(X, flips * y)
    np.testing.assert_allclose((1 + mean) / 2, odds / (1 + odds), atol=1e-9)
    np.testing.assert_array_equal(model.predict_sign(X, flips * y), model.signs_)
    sure = abs(mean) > 0.9
    assert np.mean(model.signs_[sure] == flips[sure]) == pytest.approx(np.mean((1 + abs(mean[sure])) / 2), abs=0.02)
    known = 1 - np.mean((y - z) ** 2) / np.mean(y**2)
    best_signs = 1 - np.mean((abs(y) - abs(z)) ** 2) / np.mean(y**2)
    assert model.score(X, flips * y) == pytest.approx(known, abs=0.02)
    assert best_signs > known + 0.1
    half = np.repeat([1.0, 0.0], 1500)
    assert model.score(X, y, sample_weight=half) == pytest.approx(model.score(X[:1500], y[:1500]))


@BOTH
def test_pipelines_folds_and_grids(regression):
    """Units of the features do not matter once they are scaled; nothing is centred."""
    X, w, y = data(noise=0.1)
    units = np.geomspace(1, 1e3, 6)
    pipeline = make_pipeline(StandardScaler(with_mean=False), regression(random_state=0))
    pipeline.fit(X * units, abs(y))
    found = pipeline[-1].coef_ / pipeline[0].scale_ * units
    np.testing.assert_allclose(found * np.sign(found @ w), w, atol=0.1)
    assert np.all(cross_val_score(pipeline, X * units, abs(y), cv=3) > 0.95)
    name = regression.__name__.lower()
    options = {f"{name}__fit_intercept": [False, True]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # no fit without an intercept
        grid = GridSearchCV(pipeline.set_params(**{f"{name}__{k}": v for k, v in QUICK.items()}), options, cv=2)
        grid.fit(X, abs(y + 3))
    assert grid.best_estimator_[-1].intercept_ != 0


def test_a_grid_finds_the_prior():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(80, 60)), np.zeros(60)
    w[:6] = rng.normal(size=6)
    options = {"prior": ["gaussian", Sparse(0.1)]}
    search = GridSearchCV(AbsoluteRegression(noise=None, random_state=0), options, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 40 samples are too few for the other prior
        search.fit(X, abs(X @ w))
    assert search.best_params_ == {"prior": Sparse(0.1)}
    np.testing.assert_allclose(abs(search.best_estimator_.coef_), abs(w), atol=1e-9)


@BOTH
def test_it_is_cloned_pickled_and_knows_its_features(regression):
    pandas = pytest.importorskip("pandas")
    X, _, y = data(noise=0.1)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    model = regression(random_state=0, prior=Sparse(0.5)).fit(frame, abs(y))
    assert list(model.feature_names_in_) == list("abcdef")
    assert model.n_features_in_ == 6
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    assert again.result_.message == model.result_.message
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "coef_")


def test_sparse_features():
    X, w, _ = data()
    X[abs(X) < 0.8] = 0
    dense = AbsoluteRegression(random_state=0, fit_intercept=True).fit(X, abs(X @ w + 1))
    model = AbsoluteRegression(random_state=0, fit_intercept=True).fit(sparse.csc_matrix(X), abs(X @ w + 1))
    np.testing.assert_allclose(model.coef_, w, rtol=1e-8)
    np.testing.assert_allclose(model.predict(sparse.coo_array(X)), dense.predict(X), rtol=1e-8)


def test_features_and_samples_of_zeros_tell_nothing():
    X, _, y = data(noise=0.1)
    wider = np.insert(np.insert(X, 2, 0, axis=1), 5, 0, axis=0)
    model = AbsoluteRegression(random_state=0).fit(wider, np.insert(abs(y), 5, 0.1))
    expected = AbsoluteRegression(random_state=0).fit(X, abs(y)).coef_
    np.testing.assert_allclose(model.coef_, np.insert(expected, 2, 0), rtol=1e-6)
    assert np.flatnonzero(np.isnan(model.coef_std_)).tolist() == [2]


@BOTH
def test_nothing_to_find(regression):
    """A fit, zeros, and a warning."""
    X, _, y = data()
    with pytest.warns(ConvergenceWarning, match=f"{regression.__name__}: nothing but zeros in y"):
        silent = regression().fit(X, 0 * y)
    with pytest.warns(ConvergenceWarning, match="nothing but noise in y") as caught:
        loud = regression(noise=2 * np.mean(y**2)).fit(X, abs(y))
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="nothing but zeros in X"):
        blind = regression().fit(0 * X, abs(y))
    for model, variance in ((silent, 0), (loud, 2 * np.mean(y**2)), (blind, np.mean(y**2))):
        assert not model.coef_.any()
        assert model.result_ is None
        assert model.noise_variance_ == variance
        assert np.isfinite(model.predict(X)).all()
    assert silent.score(X, 0 * y) == 1


def test_noise_that_cannot_be_learned_is_taken_from_the_residuals():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(ConvergenceWarning, match="not recovered: no noise could be learned"):
        model = AbsoluteRegression(random_state=0).fit(X, np.ones(20))
    assert model.noise_variance_ == pytest.approx(np.sum((1 - abs(X @ model.coef_)) ** 2) / 17)
    assert np.isnan(model.coef_std_).all()


@pytest.mark.parametrize(
    ("options", "y", "line"),
    [
        ({}, -np.ones(9), "y has negative values, -1 the least: magnitudes are 0 or more"),
        ({}, np.ones(2), r"2 measurements.* for 3 unknowns"),
        ({}, np.ones(1), "1 sample"),
        ({"noise": np.ones(9)}, np.ones(9), "noise = .*: give one variance"),
        ({"noise": "much"}, np.ones(9), "noise = 'much': give a variance"),
        ({"noise": -1.0}, np.ones(9), "noise = -1.0: give a variance"),
        ({"prior": "flat"}, np.ones(9), "prior = 'flat'"),
        ({"solver": "magic"}, np.ones(9), "solver 'magic'"),
    ],
)
def test_bad_input_has_one_line(options, y, line):
    X = np.random.default_rng(0).normal(size=(len(y), 3))
    with pytest.raises(ValueError, match=line) as caught:
        AbsoluteRegression(**options).fit(X, y)
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, InputError) or len(y) == 1


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.utils.validation", None)
    monkeypatch.delitem(sys.modules, "phaselect.sklearn")
    with pytest.raises(ImportError, match=r"pip install 'phaselect\[sklearn\]'"):
        importlib.import_module("phaselect.sklearn")


@pytest.mark.filterwarnings("ignore::phaselect.DataWarning")
def test_what_is_not_certain_is_not_claimed():
    """Two equal features leave a choice; data called exact that are not have noise all the same."""
    rng = np.random.default_rng(5)
    X, w = rng.standard_normal((60, 4)), np.array([1.0, -2.0, 0.5, 3.0])
    with pytest.warns(ConvergenceWarning, match="depend on each other"):
        twice = AbsoluteRegression(random_state=0).fit(np.c_[X, X[:, 0]], np.abs(X @ w))
    assert np.isnan(twice.coef_std_).all()
    with pytest.warns(ConvergenceWarning):
        noisy = AbsoluteRegression(noise=None, random_state=0).fit(X, np.abs(X @ w + 0.1 * rng.standard_normal(60)))
    assert 0.005 < noisy.noise_variance_ < 0.02
