"""Cases for test_verdicts.py: the claims on complexity, branches and gaps."""

import numpy as np

from phaselect.report.ledger import Conclusion
from tests.report.handmade import table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion
NAN = float("nan")


def complexity(*curves):
    return {"complexity": table(*curves)}


def curve(overlap=0.2, mse_y=(0.4, 0.3, 0.2), m=(0.1, 0.5, 0.4), mu=(0.001, 1, 10), sigma=(1.0, 0.6, 0.2), **others):
    own = {"sign_overlap": overlap, "mu": mu, "complexity": sigma, "complexity_random": 1.0, "mse_y": mse_y, "m": m}
    return own | {"trusted": True} | others


def branches(*parts):
    return {"branches": table(*parts)}


def branch(line, alpha, mu, m=(0.5, 0.999), dominant=(False, True)):
    return {"line": line, "alpha": alpha, "mu": mu, "m": m, "dominant": dominant}


def two(alpha, **options):
    return branch("informed", alpha, (5, 10), **options), branch("uninformed", alpha, (1, 8))


def one(alpha, **options):
    return branch("informed", alpha, (5, 10), **options), branch("uninformed", alpha, (1, 4))


def thresholds(**alphas):
    """alpha by line, at lam = 0."""
    return {"regularisation": table(*({"panel": "b", "line": k, "lam": 0.0, "alpha": v} for k, v in alphas.items()))}


def gaps(base, colder, stiffer):
    """Panels from (width of P, depth of the dip in P_*), and what P is multiplied by."""
    gap, panels = np.linspace(-4, 4, 81), []
    for (mu, lam), (width, dip, *factor) in zip(
        ((2.5, 0.0), (3.5, 0.0), (2.5, 0.5)), (base, colder, stiffer), strict=True
    ):
        shape = np.prod(factor) * np.exp(-((gap / width) ** 2) / 2) / width
        right = 1 - dip * np.exp(-(gap**2))
        panels.append({"source": "theory", "mu": mu, "lam": lam, "gap": gap, "P": shape, "P_right": right})
    return {"stabilities": table(*panels)}


CASES = {
    "overlap_lowers_misfit": [
        (complexity(curve(), curve(0.4, mse_y=(0.3, 0.2, 0.1))), HOLDS),
        (complexity(curve(), curve(0.4, mse_y=(0.3, 0.2, 0.1), sigma=(0.5, 0.3, 0.1))), CORRECTED),
        (complexity(curve(), curve(0.4, (0.3, 0.2, 0.24), mu=(0.001, 1, 5), sigma=(0.9, 0.6, 0.4))), HOLDS),
        (complexity(curve(), curve(0.4, mse_y=(0.5, 0.4, 0.3))), FAILS),
        (complexity(curve(), curve(0.4, mse_y=(0.3, 0.35, 0.1))), FAILS),
        (complexity(curve()), OPEN),
        (complexity(curve(), curve(0.4, mse_y=(0.3, NAN, 0.1))), OPEN),
    ],
    "overlap_not_monotonic": [
        (complexity(curve(), curve(0.4, m=(0.1, 0.2, 0.3))), HOLDS),
        (complexity(curve(m=(0.1, 0.4, 0.4 - 1e-5))), CORRECTED),
        (complexity(curve(m=(0.1, 0.2, 0.3)), curve(0.4)), FAILS),  # the lowest overlap decides
        (complexity(curve(trusted=False)), OPEN),
    ],
    "branches_coexist": [
        (branches(*two(1.2), *two(1.3), *one(1.7)), HOLDS),
        (branches(*two(1.2), *two(1.3, dominant=(False, False)), *one(1.7)), CORRECTED),
        (branches(*two(1.2), *two(1.3, m=(0.5, 0.9)), *one(1.7)), CORRECTED),
        (branches(*two(1.2), *one(1.5), *two(1.7), *one(1.8)), CORRECTED),
        (branches(*one(1.2, m=(0.5, 0.9), dominant=False), *one(1.7, m=(0.5, 0.9), dominant=False)), FAILS),
        (branches(*two(1.2), *two(1.7)), OPEN),
        (branches(*two(1.2, m=NAN), *one(1.7)), OPEN),
    ],
    "merging_at_1_7": [
        (thresholds(merge=1.66), HOLDS),
        (thresholds(merge=1.8), CORRECTED),
        (thresholds(merge=1.5), FAILS),
        (thresholds(merge=NAN), OPEN),
    ],
    "anneal_needs_merging": [
        (thresholds(merge=1.68, recovery=1.682), HOLDS),
        (thresholds(merge=1.68, recovery=1.58), CORRECTED),
        (thresholds(merge=1.68, recovery=1.8), FAILS),
        (thresholds(merge=1.68), OPEN),
    ],
    "right_signs_at_large_gaps": [
        (gaps((1.0, 0.1), (1.0, 0.2), (1.0, 0.2)), HOLDS),
        (gaps((1.0, 0.1), (1.0, 0.0), (1.0, 0.2)), CORRECTED),
        (gaps((1.0, 0.1), (1.0, 0.0), (1.0, 0.0)), FAILS),
        (gaps((1.0, 0.1), (1.0, NAN), (1.0, 0.2)), OPEN),
    ],
    "gaps_squeeze": [
        (gaps((1.0, 0.1), (0.9, 0.1), (0.8, 0.1)), HOLDS),
        (gaps((1.0, 0.1), (0.9, 0.1), (1.1, 0.1)), CORRECTED),
        (gaps((1.0, 0.1), (0.9, 0.1, 0.5), (0.8, 0.1)), CORRECTED),  # narrower but lower
        (gaps((1.0, 0.1), (1.1, 0.1), (1.1, 0.1)), FAILS),
        (gaps((1.0, 0.1), (NAN, 0.1), (0.8, 0.1)), OPEN),
    ],
}
