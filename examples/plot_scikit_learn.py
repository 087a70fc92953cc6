"""
A regression whose signs were lost
==================================

The diabetes data of scikit-learn: ten measurements of 442 patients, and how far their disease had come a year later.
Say that of each patient only the *distance* from the mean was kept, and not on which side of it. ``AbsoluteRegression``
finds the regression all the same, up to its sign: which way is worse, one bit, is gone for good.
"""

# %%
# What is hidden, and what is left of it
# --------------------------------------
# The response is centred before its signs are hidden: distances are from the mean. With known signs ``BayesianRidge``
# is the same model, a Gaussian prior whose size and noise are learned. It is what we would like to find again.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge, LinearRegression
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from phaselect.sklearn import AbsoluteRegression, SymmetricMixtureRegression

plt.style.use("phaselect.base.print")

data = load_diabetes(scaled=False)
X = StandardScaler().fit_transform(data.data)
response = data.target - data.target.mean()
distance = np.abs(response)

oracle = BayesianRidge(fit_intercept=False).fit(X, response)
model = AbsoluteRegression(fit_intercept=True, random_state=0).fit(X, distance)  # as X is centred
side = np.sign(model.coef_ @ oracle.coef_)  # for comparison only: the bit that is gone
print(model.status_.value)
print(f"noise: {model.noise_variance_:.0f}; with known signs {1 / oracle.alpha_:.0f}")

# %%
# Coefficients with their standard deviations, from distances alone and with all signs known. Signs are worth something:
# without them the bars are longer. s1 to s4 are values of blood serum that depend on each other; of these neither knows
# much.
print(f"correlation of s1 and s2: {np.corrcoef(X[:, 4], X[:, 5])[0, 1]:.2f}")
figure, axes = plt.subplots(figsize=(5.5, 3))
at = np.arange(X.shape[1])
bars = {"fmt": "o", "capsize": 2}
axes.axhline(0, color="0.7", linewidth=0.8)
known = np.sqrt(np.diag(oracle.sigma_))
found, unsure = side * model.coef_, model.coef_std_
axes.errorbar(at - 0.12, oracle.coef_, known, color="0.45", label="signs known", **bars)
axes.errorbar(at + 0.12, found, unsure, label="distances alone", **bars)
axes.set(xticks=at, xticklabels=data.feature_names, ylabel="coefficient")
axes.legend()
plt.show()

# %%
# How good is it? On patients it has not seen
# -------------------------------------------
# Scores of five folds. A plain regression of the distances is not of much use, and one of responses with random signs
# of none. ``SymmetricMixtureRegression`` takes such responses, as from a file in which half of the patients were
# entered the wrong way round; its score estimates what it would be with all signs known.
folds = KFold(5, shuffle=True, random_state=0)
flips = np.random.default_rng(0).choice([-1, 1], size=response.size)
flipped = flips * response
scaler = StandardScaler(with_mean=False)
absolute = make_pipeline(scaler, AbsoluteRegression(fit_intercept=True, random_state=0))
mixture = make_pipeline(scaler, SymmetricMixtureRegression(fit_intercept=True, random_state=0))
for what, estimator, y in (
    ("distances, plain regression", LinearRegression(), distance),
    ("distances, AbsoluteRegression", absolute, distance),
    ("flipped at random, plain regression", LinearRegression(), flipped),
    ("flipped at random, SymmetricMixtureRegression", mixture, flipped),
    ("all signs known, plain regression", LinearRegression(), response),
):
    scores = cross_val_score(estimator, X, y, cv=folds)
    print(f"{what:46} {scores.mean():5.2f} ± {scores.std(ddof=1) / np.sqrt(5):.2f}")

# %%
# The scores of distances are low for a reason: half of the response is noise, and folded to its magnitude it hides most
# of what X tells. What counts is the response that nobody showed. Here are predictions of it for unseen patients, each
# regression turned to the side of the oracle.
predicted = np.empty_like(response)
for train, test in folds.split(X):
    mixture.fit(X[train], flipped[train])
    side = np.sign(mixture[-1].coef_ @ oracle.coef_)
    predicted[test] = side * mixture.predict(X[test])
plain = cross_val_predict(LinearRegression(), X, response, cv=folds)
for what, prediction in (("flipped at random", predicted), ("all signs known", plain)):
    explained = 1 - np.mean((response - prediction) ** 2) / np.mean(response**2)
    print(f"{what:18} {explained:.2f} of the hidden response explained")

# %%
# Which patients were flipped?
# ----------------------------
# ``predict_mean_sign`` says how sure a sign is. Where it claims to be sure, it is right. Patients near the mean might
# be on either side: of these nobody can tell.
mixture.fit(X, flipped)
mean_sign = mixture[-1].predict_mean_sign(mixture[:-1].transform(X), flipped)
claimed = (1 + np.abs(mean_sign)) / 2
correct = np.sign(mean_sign * (mixture[-1].coef_ @ oracle.coef_)) == flips
print(f"{correct.mean():.0%} of all signs are right")
print(f"{correct[claimed > 0.9].mean():.0%} of those claimed above 90 %")

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3))
for sign, label in ((1, "as it was"), (-1, "flipped")):
    shown = flips == sign
    left.plot(predicted[shown], response[shown], ".", label=label, alpha=0.7)
left.axline((0, 0), slope=1, color="0.5", linewidth=0.8)
left.set(xlabel="predicted, by the other four folds", ylabel="hidden response")
left.legend(title="in the training data", loc="upper left")

for eighth in np.array_split(np.argsort(claimed), 8):
    share = correct[eighth].mean()
    error = np.sqrt(share * (1 - share) / eighth.size)
    right.errorbar(claimed[eighth].mean(), share, error, fmt="o", color="C0", capsize=2)
right.axline((0.5, 0.5), slope=1, color="0.5", linewidth=0.8)
right.set(xlabel="claimed probability of the sign", ylabel="share of right signs")
right.set(xlim=(0.48, 1.02), ylim=(0.35, 1.02))
plt.show()

# %%
# In between it claims too much: the noise of these patients is not the same for all, as the model takes it to be. With
# all signs known, the variance of the residuals in each quarter of the patients, by their predicted response:
residuals = response - oracle.predict(X)
for quarter in np.array_split(np.argsort(oracle.predict(X)), 4):
    print(f"{residuals[quarter].var():.0f}")
