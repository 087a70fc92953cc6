"""Cases for test_verdicts.py: the claims on a fixed lam, and on lam annealed together with mu."""

from phaselect.report.ledger import Conclusion
from tests.report.handmade import table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion
NAN = float("nan")
COLUMNS = {"lam": 0.005, "alpha": 1.3, "mu": NAN, "m": NAN, "dominant": True}


def regularisation(*parts):
    return {"regularisation": table(*(COLUMNS | part for part in parts))}


def thresholds(merge, recovery):
    """(at lam = 0, at lam = 0.005) of both."""
    lines = {"merge": merge, "recovery": recovery}
    return regularisation(*({"panel": "b", "line": k, "lam": (0.0, 0.005), "alpha": v} for k, v in lines.items()))


def peaked(*ends, anneals=(0.9, 0.9)):
    """The last overlaps of a branch for each alpha, and of an anneal for each lam, after a peak of 0.9."""
    alphas = (1.2, 1.3, 1.4)
    parts = [{"alpha": a, "mu": (1, 2, 3), "m": (0.5, 0.9, end)} for a, end in zip(alphas, ends, strict=False)]
    d = [{"panel": "d", "line": "largest", "lam": (0.01, 0.1), "m": 0.9}]
    d += [{"panel": "d", "line": "last", "lam": (0.01, 0.1), "m": anneals}]
    return regularisation(*({"panel": "a", "line": "informed"} | part for part in parts), *d)


def at_1_3(lower, upper, end=20, dominant=(True, False)):
    """Overlaps of the uninformed branch, which ends at mu = end, and of the informed one."""
    below = {"panel": "a", "line": "uninformed", "mu": (10, end), "m": lower, "dominant": dominant}
    return regularisation(below, {"panel": "a", "line": "informed", "mu": (15, 30), "m": upper})


def windows(free, held, alphas=(1.2, 1.3, 1.4)):
    """mu of equal free entropy at lam = 0 and at 0.005, at each alpha; that of birth is 1."""
    parts = []
    for lam, equal in ((0.0, free), (0.005, held)):
        parts += [{"line": "born", "lam": lam, "mu": 1.0}, {"line": "equal", "lam": lam, "mu": equal}]
    return regularisation(*({"panel": "b", "alpha": alphas} | part for part in parts))


def by_lam(panel, name, **lines):
    """A column at alpha = 1.6 and 1.7 for lam = 0, 0.01 and 0.1."""
    lams = {"none": 0.0, "some": 0.01, "much": 0.1}
    return regularisation(
        *({"panel": panel, "line": "largest", "lam": lams[k], "alpha": (1.6, 1.7), name: v} for k, v in lines.items())
    )


def anneals(ends, critical, products=(0.1, 1.0, 10.0)):
    """m at the end of anneals, by alpha at product 1 and by product at alpha = 1.2; thresholds by product."""
    a = [
        {"panel": "a", "product": 1.0, "alpha": alpha, "m": (0.0, end)}
        for alpha, end in zip((1.2, 1.3), ends, strict=False)
    ]
    b = [{"panel": "b", "product": p, "alpha": 1.2, "m": (0.0, end)} for p, end in zip(products, ends, strict=False)]
    return {"annealing": table(*a, *b), "critical_product": table({"product": products, "alpha": critical})}


CASES = {
    "regulariser_helps": [
        (thresholds((1.68, 1.63), (1.58, 1.13)), HOLDS),
        (thresholds((1.68, 1.68), (1.58, 1.13)), CORRECTED),
        (thresholds((1.68, 1.675), (1.58, 1.575)), FAILS),
        (thresholds((1.68, NAN), (1.58, 1.13)), OPEN),
    ],
    "regulariser_biases": [
        (peaked(0.9, 0.8, 0.9, anneals=(0.9, 0.1)), HOLDS),
        (peaked(0.9, 0.9 - 7e-5, 0.9, anneals=(0.9, 0.1)), CORRECTED),
        (peaked(0.9, 0.9 - 7e-5, 0.9), FAILS),
        (peaked(0.9, NAN), OPEN),
        (peaked(0.9, anneals=(0.9, NAN)), OPEN),
    ],
    "gap_of_overlaps_at_1_3": [
        (at_1_3((0.3, 0.7), (0.7, 0.9), end=15), HOLDS),
        (at_1_3((0.3, 0.5), (0.7, 0.9)), CORRECTED),
        (at_1_3((0.3, 0.8), (0.7, 0.9), dominant=True), CORRECTED),
        (at_1_3((0.3, 0.3), (0.3005, 0.9), end=15), CORRECTED),
        (at_1_3((0.6, 0.7), (0.5, 0.9), end=25), FAILS),
        (at_1_3((0.3, 0.5), (0.7, 0.9), dominant=False), OPEN),
    ],
    "hard_window_shrinks": [
        (windows((3, 3, 3), (2, 2, 2)), HOLDS),
        (windows((3, 3, 3), (2, 4, 2)), CORRECTED),  # one favourable alpha does not decide
        (windows((3, 3, 3), (4, 4, 4)), FAILS),
        (windows((3, 3, 3), (NAN, NAN, NAN)), OPEN),
    ],
    "regulariser_anticipates": [
        (by_lam("c", "mu", none=(NAN, 3), some=(4, 2), much=(3, 1)), HOLDS),
        (by_lam("c", "mu", none=(NAN, 3), some=(4, 4), much=(3, 1)), CORRECTED),
        (by_lam("c", "mu", none=(2, 3), some=(4, 4), much=(NAN, NAN)), FAILS),
        (by_lam("c", "mu", none=(NAN, NAN), some=(4, 4)), OPEN),
    ],
    "regulariser_limits": [
        (by_lam("d", "m", none=(0.0, 1.0), some=(0.9, 0.9), much=(0.8, 0.8)), HOLDS),
        (by_lam("d", "m", some=(0.9, 0.7), much=(0.8, 0.8)), CORRECTED),
        (by_lam("d", "m", some=(0.7, 0.7), much=(0.8, 0.8)), FAILS),
        (by_lam("d", "m", some=(0.7, 0.7)), OPEN),
        (by_lam("d", "m", some=(0.7, 0.7), much=(NAN, 0.8)), OPEN),
    ],
    "matched_anneal_recovers": [
        (anneals((1.0, 1.0, 1.0), (1.4, 1.128, 1.3)), HOLDS),
        (anneals((1.0, 1.0, 1.0), (1.4, 1.2, 1.3)), CORRECTED),
        (anneals((1.0, 0.9, 1.0), (1.4, 1.2, 1.3)), FAILS),
        (anneals((1.0, NAN, 1.0), (1.4, 1.128, 1.3)), OPEN),
    ],
    "product_must_be_small": [
        (anneals((1.0, 1.0, 0.1), (1.133, 1.128, 1.3)), HOLDS),
        (anneals((1.0, 1.0, 0.1), (1.4, 1.128, 1.3)), CORRECTED),
        (anneals((1.0, 1.0, 1.0, 0.1), (1.4, 1.12, 1.128, 1.3), (0.1, 0.5, 1.0, 10.0)), CORRECTED),
        (anneals((1.0, 1.0, 0.1, 1.0), (1.13, 1.128, 1.2, 1.2), (0.5, 1.0, 3.0, 10.0)), CORRECTED),
        (anneals((0.1, 1.0, 0.1), (1.4, 1.128, 1.3)), FAILS),
        (anneals((0.1, 1.0, 1.0), (1.4, 1.128, 1.15)), FAILS),
        (anneals((1.0, 1.0, 1.0), (1.1, 1.128, 1.15)), OPEN),
        (anneals((1.0, 1.0, 0.1), (NAN, 1.128, 1.3)), OPEN),
    ],
}
