"""Cases for test_verdicts.py: the claims on message passing."""

import numpy as np

from phaselect.report.ledger import Conclusion
from tests.report.handmade import NAN, amp, counted, half, long_runs, table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion


def patient(within_3000, within_all):
    """Runs recovered at three alphas, of 100 each, at two sizes; those that end after 3000 are run at another too."""
    alphas = (1.1, 1.15, 1.2)
    ended = [counted(n, (*alphas, 1.3), (*within_3000, 0)) for n in (200, 400)]
    return {"patience": table(*(counted(n, alphas, within_all) for n in (200, 400)))} | amp(*ended)


def rates(printed, slow=(50, 90, 99)):
    """(fast, slow) on the paper's schedule; runs recovered at the matched product with all iterations, at each rate."""
    own = [half("amp-paper", 100, eps, value, product=NAN) for eps, value in zip((0.1, 0.01), printed, strict=True)]
    long = [
        counted(n, (1.1, 1.15, 1.2), hits) | {"eps": eps}
        for n in (200, 400)
        for eps, hits in ((0.1, (10, 50, 90)), (0.01, slow))
    ]
    return amp(*own) | {"patience": table(*long)}


def trajectories(*gaps, error=0.015):
    """State evolution, and a mean run that is off by a gap, at each of some alphas."""
    parts = []
    for alpha, gap in zip((1.2, 1.4), gaps, strict=True):
        own = {"alpha": alpha, "sweeps": np.arange(3), "m_error": error, "runs": 128}
        parts += [
            own | {"source": "state evolution", "m": 0.5},
            own | {"source": "mean of amp", "m": (0.5, 0.5 + gap, 0.5)},
        ]
    return {"trajectories": table(*parts)}


CASES = {
    "message_passing_approaches_bayes": [
        (long_runs(1.128, 1.128), HOLDS),
        (long_runs(1.16, 1.128), CORRECTED),
        (long_runs(1.128, 1.16), CORRECTED),
        (long_runs(1.16, 1.16), FAILS),
        (long_runs(1.08, 1.08), FAILS),  # no fit that is better than possible counts in favour
        (long_runs(1.128, 1.128, trials=20), OPEN),  # too few runs to tell
        (long_runs(1.128), OPEN),  # one favourable rate does not decide
        (long_runs(1.128, 1.128, smallest=0.005), HOLDS),  # the smallest size is not on the law of the others
        (patient((10, 50, 90), (50, 90, 99)), OPEN),  # two sizes have no limit
    ],
    "patience_pays": [
        (patient((10, 50, 90), (50, 90, 99)), HOLDS),
        (patient((10, 50, 90), (10, 50, 90)), FAILS),
        (patient((50, 90, 99), (10, 50, 90)), FAILS),  # of other runs: those of one kind cannot lose
        (patient((1, 2, 3), (1, 2, 3)), OPEN),
        (patient((10, 50, 90), (50, 90, 99)) | amp(counted(200, (1.3, 1.35), (10, 90))), OPEN),  # no alpha in common
        (patient((10, 50, 90), (50, 90, 99)) | amp(counted(800, (1.1, 1.15, 1.2), (10, 50, 90))), OPEN),  # no size
        (patient((10, 50, 90), (12, 60, 95)) | amp(counted(200, (1.1, 1.15), (10, 50))), OPEN),  # half at the last
    ],
    "rate_matters_for_message_passing": [
        (rates((1.38, 1.25)), HOLDS),
        (rates((1.38, 1.25), slow=(10, 50, 90)), CORRECTED),
        (rates((1.25, 1.38), slow=(10, 50, 90)), FAILS),
        (rates((1.38, 1.25), slow=(12, 55, 92)), OPEN),
        (rates((1.38, 1.25), slow=(0, 0, 0)), OPEN),
    ],
    "state_evolution_describes": [
        (trajectories(0.05, -0.05), HOLDS),
        (trajectories(0.05, -0.5), CORRECTED),
        (trajectories(0.3, -0.5), FAILS),
        (trajectories(0.05, -0.15, error=0.02), OPEN),  # beyond 0.1 by 2.5 standard errors, the largest of six
        (trajectories(0.05, -0.1, error=0.04), OPEN),
        (trajectories(0.05, 0.05, error=NAN), OPEN),
    ],
}
