"""Each claim on stability, driven by hand-made tables to every verdict that it can reach."""

import math

import numpy as np

from phaselect.base.tables import Table, stack
from phaselect.report import stability_claims
from phaselect.report.ledger import Conclusion

HOLDS, CORRECTED, FAILS, OPEN = Conclusion.HOLDS, Conclusion.CORRECTED, Conclusion.FAILS, Conclusion.OPEN


def line(alpha, replicon, lam=0.0, name="anneal", mse_y=(0.1, 0.01, 0.001), complexity=(1.0, 0.6, 0.1)):
    """Three temperatures of a curve of `local_stability`."""
    columns = {"alpha": alpha, "lam": lam, "mse_y": np.array(mse_y), "complexity": np.array(complexity)}
    return {"line": name, **columns, "replicon": np.array(replicon), "stable": np.array(replicon) < 1}


def stability(*lines):
    empty = {name: column[:0] for name, column in stack([line(1.2, (0.9, 0.9, 0.9))]).items()}
    return {"local_stability": Table(stack([empty, *lines]))}


def clusters(*rows, without_overlap=20.0):
    """Rows of `rsb`: what is fixed, alpha, the largest growth on the way; where clusters form without overlap."""
    names = ("lam", "product", "alpha", "growth_followed")
    columns = {name: np.array([row[i] for row in rows], dtype=float) for i, name in enumerate(names)}
    return {"rsb": Table(columns | {"mu_dynamical": np.where(columns["lam"] == 0, without_overlap, math.nan)})}


LAM_0, LAM_5, MATCHED = (0.0, math.nan), (0.005, math.nan), (math.nan, 1.0)


def rates(*rows):
    """Rows of `rates`: lam, alpha, sweeps, and how many of 16 are recovered; and the two thresholds."""
    names = ("lam", "alpha", "sweeps", "successes")
    columns = {name: np.array([row[i] for row in rows], dtype=float) for i, name in enumerate(names)}
    columns |= {"value": columns["successes"] / 16, "trials": np.full(len(rows), 16.0)}
    thresholds = {"panel": "b", "line": "recovery", "lam": np.array([0.0, 0.005]), "alpha": np.array([1.584, 1.13])}
    return {"rates": Table(columns), "regularisation": Table(stack([thresholds]))}


def slower(lam, alpha, after):
    """A quick anneal that recovers 1 of 16, and what a slow one does."""
    return (lam, alpha, 1e4, after), (lam, alpha, 1e3, 1)


HELPS, NO_HELP = 12, 3
STABLE, LATE, EARLY = (0.8, 0.8, 0.8), (0.8, 0.8, 1.1), (0.8, 1.1, 1.2)
LOWER, HIGHER = (0.1, 0.01, 1e-4), (0.1, 0.05, 0.02)

CASES = {
    "stable_at_high_complexity": [
        (stability(line(1.2, STABLE), line(1.3, LATE)), HOLDS),
        (stability(line(1.2, STABLE), line(1.3, EARLY)), CORRECTED),
        (stability(line(1.2, EARLY), line(1.2, EARLY, lam=0.005)), FAILS),
        (stability(), OPEN),
        (stability(line(1.2, STABLE, name="no overlap")), OPEN),
    ],
    "regulariser_stabilises": [
        (stability(line(1.2, STABLE), line(1.2, STABLE, 0.005, mse_y=LOWER)), HOLDS),
        (stability(line(1.2, EARLY), line(1.2, STABLE, 0.005)), HOLDS),
        (
            stability(
                line(1.2, STABLE),
                line(1.2, STABLE, 0.005, mse_y=LOWER),
                line(1.2, STABLE, name="no overlap"),
                line(1.2, STABLE, 0.005, "no overlap", mse_y=HIGHER),
            ),
            CORRECTED,
        ),
        (stability(line(1.2, STABLE), line(1.2, STABLE, 0.005, mse_y=HIGHER)), FAILS),
        (stability(line(1.2, STABLE), line(1.2, STABLE, 0.005, mse_y=LOWER), line(1.3, STABLE)), HOLDS),
        (stability(line(1.2, STABLE), line(1.3, STABLE, 0.005)), OPEN),
        (
            stability(line(1.2, STABLE, name="no overlap"), line(1.2, STABLE, 0.005, "no overlap", mse_y=HIGHER)),
            OPEN,
        ),
        (stability(line(1.2, STABLE), line(1.2, (1.1, 1.1, 1.1), 0.005)), OPEN),
    ],
    "symmetry_breaks": [
        (clusters((*LAM_0, 1.2, 1.0), (*MATCHED, 1.2, 1.0)), HOLDS),
        (clusters((*LAM_0, 1.2, 1.0), (*MATCHED, 1.2, 0.8)), CORRECTED),
        (clusters((*LAM_0, 1.2, 0.9), (*LAM_5, 1.2, 0.99)), CORRECTED),
        (clusters((*LAM_0, 1.2, 0.9), (*LAM_5, 1.2, 0.99), without_overlap=math.inf), FAILS),
        (clusters((*LAM_0, 1.2, math.nan)), OPEN),
        (clusters((*LAM_0, 1.2, 1.0), without_overlap=math.nan), OPEN),
    ],
    "instability_signals_the_trap": [
        (stability(line(1.2, LATE), line(1.3, EARLY)), HOLDS),
        (stability(line(1.2, STABLE), line(1.3, EARLY)), CORRECTED),
        (stability(line(1.2, STABLE), line(1.2, EARLY, name="no overlap"), line(1.2, EARLY, 0.005)), FAILS),
        (stability(line(1.2, EARLY, lam=0.005)), OPEN),
    ],
    "breaking_is_the_cause": [
        (rates(*slower(0.0, 1.65, NO_HELP)) | clusters((*LAM_0, 1.65, 1.0)), HOLDS),
        (
            rates(*slower(0.0, 1.65, HELPS), *slower(0.005, 1.5, NO_HELP))
            | clusters((*LAM_0, 1.65, 0.9), (*LAM_5, 1.5, 1.0)),
            CORRECTED,
        ),
        (rates(*slower(0.0, 1.65, HELPS)) | clusters((*LAM_0, 1.65, 0.9)), FAILS),
        (rates(*slower(0.0, 1.65, NO_HELP)) | clusters((*LAM_0, 1.65, 0.9)), OPEN),
        (
            rates(*slower(0.0, 1.65, HELPS), *slower(0.005, 1.5, 1), *slower(0.005, 1.6, 0))
            | clusters((*LAM_0, 1.65, 0.9), (*LAM_5, 1.5, 0.9), (*LAM_5, 1.6, 0.9)),
            OPEN,
        ),
        (rates(*slower(0.0, 1.5, HELPS)) | clusters((*LAM_0, 1.5, 1.0)), OPEN),  # replica symmetry says no itself
        (rates(*slower(0.0, 1.65, HELPS)) | clusters((*LAM_0, 1.65, math.nan)), OPEN),
    ],
}


def test_every_claim_has_its_cases():
    assert [claim.assess.__name__ for claim in stability_claims.STABILITY_CLAIMS] == list(CASES)
    for cases in CASES.values():
        assert {conclusion for _, conclusion in cases} == set(Conclusion)
