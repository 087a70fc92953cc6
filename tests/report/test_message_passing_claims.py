"""Cases for test_verdicts.py: the claims on message passing."""

import numpy as np

from phaselect.report.ledger import Conclusion
from tests.report.handmade import BETTER, NAN, NOTHING, amp, fit, half, sweep, table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion


def counted(n, alphas, hits, trials=100):
    """Runs recovered at each alpha, of message passing at the fast rate."""
    here = {"n": (n,) * len(alphas), "alpha": tuple(alphas), "successes": tuple(hits), "trials": trials}
    return NOTHING | {"kind": "share", "solver": "amp", "eps": 0.1, "product": 1.0} | here


def patient(within_3000, within_all):
    """Runs recovered at three alphas, of 100 each, at two sizes; those that end after 3000 are run at another too."""
    alphas = (1.1, 1.15, 1.2)
    ended = [counted(n, (*alphas, 1.3), (*within_3000, 0)) for n in (200, 400)]
    return {"patience": table(*(counted(n, alphas, within_all) for n in (200, 400)))} | amp(*ended)


def long_runs(limit):
    """Within the paper's iterations half are recovered at limit + N^(-2/3)."""
    middles = {n: limit + n ** (-2 / 3) for n in (100, 200, 400, 800, 1600)}
    shares = (
        counted(n, (middle - 0.02, middle, middle + 0.02), (1000, 5000, 9000), 10_000) for n, middle in middles.items()
    )
    return {"patience": table(*shares)}


def limits(fast, slow, width=0.02, doubts=("", ""), long=1.128):
    """Of message passing, at both rates and of long runs."""
    fits = [
        fit("amp", eps, end, width, doubt=it) for eps, end, it in zip((0.1, 0.01), (fast, slow), doubts, strict=True)
    ]
    return amp(*sweep("amp", [1.2], [1.2]), *fits) | long_runs(long)


def rates(printed, matched, slow=(50, 90, 99)):
    """(fast, slow) on the paper's schedule and at the matched product; slow runs recovered with all iterations."""
    own = [half("amp-paper", 100, eps, value, product=NAN) for eps, value in zip((0.1, 0.01), printed, strict=True)]
    long = [
        counted(n, (1.1, 1.15, 1.2), hits) | {"eps": eps}
        for n in (200, 400)
        for eps, hits in ((0.1, (10, 50, 90)), (0.01, slow))
    ]
    return amp(*own, *sweep("amp", [matched[0]], [matched[1]])) | {"patience": table(*long)}


def trajectories(*gaps, error=0.02):
    """State evolution, and a mean run that is off by a gap, at each of some alphas."""
    parts = []
    for alpha, gap in zip((1.2, 1.4), gaps, strict=True):
        own = {"alpha": alpha, "sweeps": np.arange(3), "m_error": error}
        parts += [
            own | {"source": "state evolution", "m": 0.5},
            own | {"source": "mean of amp", "m": (0.5, 0.5 + gap, 0.5)},
        ]
    return {"trajectories": table(*parts)}


CASES = {
    "message_passing_approaches_bayes": [
        (limits(1.13, 1.12), HOLDS),
        (limits(1.13, 1.2), CORRECTED),
        (limits(1.13, 1.12, long=1.16), CORRECTED),
        (limits(1.25, 1.2, long=1.16), FAILS),
        (limits(1.05, 1.05, long=1.08), FAILS),  # no fit that is better than possible counts in favour
        (limits(1.13, 1.13, width=0.1), OPEN),
        (limits(1.13, 1.13, width=NAN), OPEN),
        (limits(1.13, 1.13, doubts=("", "bad")), OPEN),  # one favourable rate does not decide
        (amp(*sweep("amp", *BETTER)) | long_runs(1.128), OPEN),
        (limits(1.13, 1.12) | patient((10, 50, 90), (50, 90, 99)), OPEN),  # two sizes have no limit
    ],
    "patience_pays": [
        (patient((10, 50, 90), (50, 90, 99)), HOLDS),
        (patient((10, 50, 90), (10, 50, 90)), FAILS),
        (patient((50, 90, 99), (10, 50, 90)), FAILS),  # of other runs: those of one kind cannot lose
        (patient((1, 2, 3), (1, 2, 3)), OPEN),
    ],
    "rate_matters_for_message_passing": [
        (rates((1.38, 1.25), (1.25, 1.2)), HOLDS),
        (rates((1.38, 1.25), (1.2, 1.21)), CORRECTED),
        (rates((1.38, 1.25), (1.25, 1.2), slow=(10, 50, 90)), CORRECTED),
        (rates((1.25, 1.38), (1.2, 1.21), slow=(10, 50, 90)), FAILS),
        (rates((1.38, 1.25), (1.25, 1.2), slow=(12, 55, 92)), OPEN),
        (rates((1.38, 1.25), (1.22, 1.21)), OPEN),
        (amp(*sweep("amp", *BETTER)), OPEN),
    ],
    "state_evolution_describes": [
        (trajectories(0.05, -0.05), HOLDS),
        (trajectories(0.05, -0.5), CORRECTED),
        (trajectories(0.3, -0.5), FAILS),
        (trajectories(0.05, -0.15, error=0.04), OPEN),
        (trajectories(0.05, 0.05, error=NAN), OPEN),
    ],
}
