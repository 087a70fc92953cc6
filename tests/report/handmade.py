"""Small tables made by hand, to drive a judge to each of its verdicts."""

import math

from phaselect.base.tables import Table, stack
from phaselect.experiments.limits import NO_FIT
from phaselect.experiments.success import wilson

NAN, NONE = math.nan, {"kind": "threshold", "successes": 0, "trials": 0, "alpha": math.nan}
NOTHING = NONE | NO_FIT | {"solver": "", "n": 0, "eps": 0.0, "product": 0.0, "value": 0.0, "low": 0.0, "high": 0.0}
BETTER, SAME = ((1.25, 1.24, 1.23), (1.2, 1.19, 1.18)), ((1.2, 1.2, 1.2), (1.2, 1.2, 1.2))


def table(*parts):
    """Rows one under the other; a plain value in a part stands for a whole column of it."""
    return Table(stack(parts))


def half(solver, n, eps, value, width=0.02, product=1.0):
    """alpha_50; beyond the alphas that were tried where it is infinite."""
    bounds = {"value": value, "low": value - width / 2, "high": value + width / 2}
    if math.isinf(value):
        bounds = {"value": NAN, "low": 1.475, "high": math.inf}
    return NOTHING | {"solver": solver, "n": n, "eps": eps, "product": product} | bounds


def fit(solver, eps, value, width=0.02, product=1.0, **others):
    return half(solver, 0, eps, value, width, product) | {"kind": "limit", "chi2": 1.0, "dof": 2} | others


def share(solver, eps, hits, trials, alpha=1.3):
    low, high = wilson(hits, trials)
    bounds = {"value": hits / trials, "low": float(low), "high": float(high), "successes": hits, "trials": trials}
    return NOTHING | {"kind": "share", "solver": solver, "n": 400, "eps": eps, "product": NAN, "alpha": alpha} | bounds


def sweep(solver, fast, slow, sizes=(100, 200, 400), **options):
    """alpha_50 by size at the two rates."""
    fasts = [half(solver, n, 0.1, value, **options) for n, value in zip(sizes, fast, strict=False)]
    return [*fasts, *(half(solver, n, 0.01, value, **options) for n, value in zip(sizes, slow, strict=False))]


def sa(*rows):
    return {"success_sa": table(*rows)}


def amp(*rows):
    return {"success_amp": table(*rows)}
