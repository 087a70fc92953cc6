"""Each judge of the formulation, driven to its verdicts by tables made by hand."""

import math

import numpy as np
import pytest

from phaselect.base.tables import Table, stack
from phaselect.report import formulation_claims, solver_claims
from phaselect.report.ledger import Conclusion

HOLDS, CORRECTED, FAILS, OPEN = Conclusion


def landscape(added=0, removed=90, zero_loss=(1, 1, 1), least=1, nearest=1e-6, excess=(1, 2, 3), retrieval=100.0):
    """N = 8 with so many measurements in excess; at M = N everything fits."""
    counts = {"instances": 10, "retrieval": retrieval, "selection": 10.0, "added": added, "removed": removed}
    rows = [
        {"n": 8, "m_rows": 8 + k, "lam": lam, **counts, "zero_loss_least": least if lam == 0 else 0}
        | {"zero_loss_most": most if lam == 0 else 0, "runner_up_least": nearest}
        for k, most in zip(excess, zero_loss, strict=False)
        for lam in (0.0, 0.2)
    ]
    square = {"n": 8, "m_rows": 8, "lam": 0.0, **counts, "zero_loss_least": 128, "zero_loss_most": 128}
    return {"landscape": Table(stack([*rows, square | {"added": 0, "removed": 0, "runner_up_least": math.inf}]))}


def thresholds(figure, *searches, stuck=()):
    """alpha_50 of searches, given by name, N and interval; overlaps where descent is stuck, by alpha, of 24 runs."""
    rows = [
        {"kind": "threshold", "solver": name, "n": n, "trials": 24, "alpha": math.nan, "value": (low + high) / 2}
        | {"low": low, "high": high}
        for name, n, low, high in searches
    ]
    rows += [
        {"kind": "stuck", "solver": "descent", "n": 100, "trials": trials[0] if trials else 24, "alpha": alpha}
        | dict.fromkeys(("value", "low", "high"), value)
        for alpha, value, *trials in stuck
    ]
    return {
        figure: Table(
            stack(rows or [dict.fromkeys(("kind", "solver", "n", "trials", "alpha", "value", "low", "high"), 0)])
        )
    }


def splitting(*in_x, signs=(1.2, 1.3)):
    """The anneal of the signs, and those of x at two sizes, as intervals."""
    names = [("x", 100), ("x-entries", 100), ("x", 200), ("x-entries", 200)]
    rivals = [(*name, *ends) for name, ends in zip(names, in_x, strict=False)]
    return thresholds("splitting", *(("sa", n, *signs) for n in (100, 200)), *rivals)


def descent(in_x=(5.0, 6.0), in_theta=(3.0, 3.5), langevin=(1.4, 1.5), stuck=((1.3, 0.9), (2.0, 0.07), (4.0, 0.1))):
    """N = 100, where medians of 24 random directions are below 0.11."""
    found = (("langevin", 100, *langevin), ("descent", 100, *in_x), ("descent-signs", 100, *in_theta))
    return thresholds("descent", *found, stuck=stuck)


def speed(*rows, pairs=20):
    """Interval of the work without regulariser over that with it, for each solver and alpha."""
    parts = [
        {"solver": solver, "alpha": alpha, "product": product, "pairs": pairs, "ratio": math.sqrt(low * high)}
        | {"low": low, "high": high}
        for solver, alpha, low, high in rows
        for product in (0.1, 0.0)
    ]
    return {"speed": Table(stack(parts))}


FAR, NEAR, BETTER = (1.6, 1.7), (1.25, 1.35), (1.0, 1.1)
CASES = {
    "only_adds_minima": [
        (landscape(added=5, removed=0), HOLDS),
        (landscape(added=5), CORRECTED),
        (landscape(), FAILS),
        (landscape(removed=0), OPEN),
        (landscape(excess=()), OPEN),
        (landscape(retrieval=math.nan), OPEN),
    ],
    "zero_loss_is_unique": [
        (landscape(), HOLDS),
        (landscape(zero_loss=(2, 1, 1)), CORRECTED),
        (landscape(zero_loss=(1, 1, 4)), FAILS),
        (landscape(zero_loss=(2, 2, 2)), FAILS),
        (landscape(least=0), OPEN),
        (landscape(nearest=1e-22), OPEN),
        (landscape(nearest=math.nan), OPEN),
        (landscape(excess=()), OPEN),
    ],
    "splitting_helps": [
        (splitting(FAR, FAR, FAR, FAR), HOLDS),
        (splitting(FAR, FAR, FAR, NEAR), OPEN),
        (splitting(FAR, FAR, FAR, BETTER), FAILS),
        (splitting(NEAR, NEAR), OPEN),
        (splitting(FAR), OPEN),
    ],
    "regulariser_speeds_up": [
        (speed(("sa", 1.6, 2, 4), ("sa", 3.0, 1.1, 1.3), ("amp", 2.0, 1.2, 1.3)), HOLDS),
        (speed(("sa", 1.6, 2, 4), ("sa", 3.0, 0.9, 1.3), ("amp", 2.0, 1.0, 1.0)), CORRECTED),
        (speed(("sa", 1.6, 2, 4), ("amp", 2.0, 0.7, 0.8)), OPEN),
        (speed(("sa", 1.6, 0.9, 1.1), ("amp", 2.0, 0.7, 0.8)), FAILS),
        (speed(("sa", 1.6, 0.5, 2.1), ("amp", 2.0, 0.7, 0.8)), OPEN),
        (speed(("sa", 1.6, 2, 4)), OPEN),
        (speed(("sa", 1.6, 2, 4), ("amp", 2.0, 1.2, 1.3), pairs=5), OPEN),
        (speed(("sa", 1.6, 2, 4), ("amp", 2.0, math.nan, math.nan)), OPEN),
    ],
    "langevin_beats_descent": [
        (descent(), HOLDS),
        (descent(stuck=((2.0, 0.07), (4.0, 0.13))), CORRECTED),
        (descent(stuck=((2.0, 0.07), (4.0, 0.13, 4))), HOLDS),  # four runs say little, and are not drawn
        (descent(stuck=((2.0, 0.07, 4),)), OPEN),
        (descent(in_x=(1.2, 1.3)), FAILS),
        (descent(in_theta=(1.2, 1.3)), FAILS),
        (descent(in_theta=(1.45, 2.0)), OPEN),
        (descent(stuck=()), OPEN),
        (thresholds("descent"), OPEN),
    ],
}


@pytest.mark.parametrize(
    ("name", "tables", "conclusion"), [(name, *case) for name, cases in CASES.items() for case in cases]
)
def test_verdicts(name, tables, conclusion):
    judge = getattr(formulation_claims, name, None) or getattr(solver_claims, name)
    finding = judge(tables)
    assert finding.conclusion is conclusion, finding.measured
    assert any(character.isdigit() for character in finding.measured)
    assert "nan" not in finding.measured or conclusion is OPEN
    assert "|" not in finding.measured  # it goes into a cell of a table


def test_every_claim_has_its_cases():
    judges = {claim.assess.__name__ for claim in formulation_claims.FORMULATION_CLAIMS}
    assert judges | {"langevin_beats_descent"} == set(CASES)
    for cases in CASES.values():
        assert {HOLDS, FAILS, OPEN} <= {conclusion for _, conclusion in cases}


def test_a_finding_has_its_numbers():
    found = formulation_claims.only_adds_minima(landscape(added=3, removed=90)).measured
    assert "of 6000 minima of phase retrieval, N = 8, 540 (9%)" in found
    assert "18 flip-stable" in found
    unique = formulation_claims.zero_loss_is_unique(landscape()).measured
    assert "M > N: 1 of all sign vectors with zero loss, any other leaves at least 1.0e-06" in unique
    assert "at M = N all 128" in unique
    stuck = solver_claims.langevin_beats_descent(descent()).measured
    assert (
        "median 0.07 to 0.10 at 2 alphas; random directions have 0.068" in stuck
    )  # where Langevin dynamics recovers and descent does not


def test_rows_of_a_smaller_product_do_not_decide():
    tables = speed(("sa", 1.6, 2, 4), ("amp", 2.0, 1.2, 1.3))
    slower = np.where(tables["speed"]["product"] == 0.1, 0.1, tables["speed"]["low"])
    changed = {"speed": Table(tables["speed"].columns | {"low": slower})}
    assert formulation_claims.regulariser_speeds_up(changed).conclusion is HOLDS
