"""Small tables made by hand, to drive a judge to each of its verdicts."""

import math

import numpy as np

from phaselect.base.tables import Table, stack
from phaselect.experiments.limits import NO_FIT
from phaselect.experiments.success import wilson
from phaselect.figures.rate_and_size import NO_RATES

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


def joint(product, limit=None, doubt="", width=0.02, rival_chi2=100.0):
    """The limit of large instances and slow anneals; chi2 of the law that ends at theory, 1.584, with two dof."""
    theory = {"kind": "theory", "n": 0, "product": product, "value": 1.584, "low": NAN, "high": NAN, "doubt": ""}
    numbers = NO_RATES | dict.fromkeys(("chi2", "dof", "amplitude", "exponent"), 1.0)
    found = theory | {"kind": "joint", "value": limit, "doubt": doubt}
    bounds = {} if limit is None else {"low": limit - width / 2, "high": limit + width / 2}
    level = found | {"kind": "slow", "n": 3200}
    rows = [theory | numbers] + ([] if limit is None else [row | bounds | numbers for row in (found, level)])
    law = numbers | {"rate_chi2": rival_chi2, "rate_dof": 2, "rate_doubt": "exponent of tau not determined"}
    kinds = ("rival", "levels cut", "rival cut", "common cut")
    rows += [theory | law | {"kind": kind, "n": 3200, "value": NAN} for kind in kinds]
    return {"rate_and_size": table(*rows)}


def counted(n, alphas, hits, trials=100):
    """Runs recovered at each alpha, of message passing at the fast rate."""
    low, high = wilson(hits, trials)
    here = {"n": (n,) * len(alphas), "alpha": tuple(alphas), "successes": tuple(hits), "trials": trials}
    own = {"kind": "share", "solver": "amp", "eps": 0.1, "product": 1.0, "plan": "plan", "low": low, "high": high}
    return NOTHING | own | here


def long_runs(*limits, trials=10_000, smallest=0.0):
    """Within the paper's iterations half are recovered at limit + N^(-2/3), at the fast rate and at the slow one.

    smallest: how much more the smallest size needs.
    """
    sizes = (100, 200, 400, 800, 1600, 3200)
    shares = [
        counted(n, (middle - 0.02, middle, middle + 0.02), np.array((0.1, 0.5, 0.9)) * trials, trials) | {"eps": eps}
        for eps, limit in zip((0.1, 0.01), limits, strict=False)
        for n, middle in ((n, limit + n ** (-2 / 3) + smallest * (n == sizes[0])) for n in sizes)
    ]
    return {"patience": table(*shares)}
