"""Cases for test_verdicts.py: the claims on annealing of the signs."""

import math

import numpy as np
import pytest
from scipy.special import expit

from phaselect.experiments import copies_needed
from phaselect.experiments import fits as fits_of_laws
from phaselect.experiments import limits as limits_of_curves
from phaselect.experiments.copies_needed import hard_phase_rows
from phaselect.experiments.grid import preset
from phaselect.report.annealing_claims import annealing_limit, hard_below_bayes
from phaselect.report.ledger import Conclusion
from tests.report.handmade import BETTER, NAN, SAME, half, joint, sa, share, sweep, table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion


def recovery(alpha):
    lams = {"panel": "b", "line": "recovery", "lam": (0.0, 0.005), "alpha": alpha}
    return {"regularisation": table(lams)}


def unregularised(fast, slow, alpha=1.58, slowest=1.75):
    """slowest: alpha_50 of the slowest anneals at the larger of two sizes."""
    faster, slower, larger = (
        half("sa-rate", n, NAN, value, product=0.0) for n, value in ((400, 2.5), (400, 1.6), (800, slowest))
    )
    rates = {"rate_and_size": table(faster | {"tau": 100.0}, slower | {"tau": 30_000.0}, larger | {"tau": 30_000.0})}
    return sa(*sweep("sa", [fast], [slow], [400], product=0.0)) | rates | recovery(alpha)


def fixed(hits, fast, slow, alpha=1.13):
    rows = sweep("sa-fixed", [fast], [slow], [400], product=NAN)
    return sa(*rows, *(share("sa-fixed", eps, hits, 20) for eps in (0.1, 0.01))) | recovery(alpha)


def annealing(fast, slow, limit=None, **more):
    """With a limit of large instances and slow anneals."""
    return sa(*sweep("sa", fast, slow)) | joint(1.0, limit, **more)


def hard(*rates, exponential="", power="", gain=20, end=None):
    """At each alpha its rate and what is in doubt of it; of each law at all of them, and how much better one is."""
    blank = {"n": 0, "chi2": 1.0, "dof": 2, "doubt": ""}
    blank |= dict.fromkeys(("alpha", "value", "low", "high", "amplitude", "exponent"), NAN)
    rows = []
    for alpha, rate, doubt in rates:
        bounds = {"value": rate, "low": rate - 0.01, "high": rate + 0.01}
        rows.append(blank | {"kind": "exponential", "alpha": alpha, "doubt": doubt} | bounds)
    rows.append(blank | {"kind": "exponential together", "doubt": exponential})
    rows.append(blank | {"kind": "power together", "doubt": power})
    rows.append(blank | {"kind": "gain", "value": gain, "low": gain - 5, "high": gain + 5})
    law = blank | {"kind": "vanishing", "alpha": 1.06, "amplitude": 1.0}
    for power, ends in enumerate([] if end is None else end, start=1):
        rows.append(law | {"exponent": power, **dict(zip(("low", "value", "high"), ends, strict=True))})
    return {"hard_phase": table(*rows)}


def simulated(middle, instances):
    """What comes of the preset, of so many instances, if half of them need 2^middle copies."""
    rng, parts = np.random.default_rng(0), []
    for grid in (grid for grid in preset("hard_phase", "paper") if grid.solver == ("pa",)):
        lines = np.meshgrid(grid.n, grid.alpha, grid.options["replicas"], range(min(grid.instances, instances)))
        n, alpha, copies, seeds = (line.ravel() for line in lines)
        good = rng.random(n.size) < expit(3 * np.log(np.log2(copies) / middle(n, alpha)))
        runs = {"n": n, "alpha": alpha, "seed": seeds, "replicas": copies, "status": "SCHEDULE_DONE"}
        parts.append(runs | {"m": np.where(good, 1.0, 0.3), "mse_x": ~good, "mse_y": np.where(good, 1e-20, 1e-3)})
    return {"hard_phase": table(*hard_phase_rows(table(*parts)))}


def exponential(n, alpha):
    return 1 + 0.8 * (1.16 - alpha) * n


def power(n, alpha):
    return 4 + (3 + 20 * (1.1 - alpha)) * np.log2(n / 50)


@pytest.mark.parametrize(
    ("middle", "instances", "conclusion"),
    [
        (exponential, 100, HOLDS),
        (exponential, 9, OPEN),
        (power, 100, FAILS),
        (power, 9, OPEN),
    ],
)
def test_the_preset_tells_how_copies_grow(monkeypatch, middle, instances, conclusion):
    for module in (copies_needed, fits_of_laws, limits_of_curves):
        monkeypatch.setattr(module, "REPLICATES", 100)
    finding = hard_below_bayes(simulated(middle, instances))
    assert finding.conclusion is conclusion, finding.measured


@pytest.mark.parametrize(("exponential", "power", "said"), [("bad", "bad", True), ("bad", "", False), ("", "", False)])
def test_a_correction_says_why(exponential, power, said):
    finding = hard_below_bayes(hard((1.06, 0.1, ""), exponential=exponential, power=power))
    assert ("neither fits at the 5 % level" in finding.measured) == said


@pytest.mark.parametrize(("shift", "side"), [(-0.08, "all below"), (0.0, "around"), (0.05, "all above")])
def test_where_rates_vanish_is_told(shift, side):
    """Between the ends of the intervals of all powers."""
    end = np.array([(1.12, 1.13, 1.14), (1.14, 1.16, 1.18)]) + shift
    finding = hard_below_bayes(hard((1.06, 0.1, ""), (1.1, 0.03, ""), end=end))
    low, high = f"{end.min():.3f}", f"{end.max():.3f}"
    assert f"{side} the Bayes-optimal 1.128: where they vanish is open between {low} and {high}" in finding.measured
    assert "not exactly exponential" not in finding.measured
    assert "not exactly exponential" in hard_below_bayes(hard((1.06, 0.1, ""), exponential="bad", end=end)).measured


@pytest.mark.parametrize(("values", "said"), [((1.6, 1.7), ", rising with N"), ((1.7, 1.6), ", falling with N")])
def test_what_thresholds_do_with_the_size_is_told(values, said):
    rows = (half("sa-rate", n, NAN, value, product=0.0) for n, value in zip((200, 400), values, strict=True))
    words, _ = annealing_limit(table(*(row | {"tau": 30_000.0} for row in rows)), 0.0, 1.584)
    assert said in words


CASES = {
    "unregularised_needs_more": [
        (unregularised(1.85, 1.8), HOLDS),
        (unregularised(1.85, 1.65), CORRECTED),
        (unregularised(1.85, 1.8, slowest=1.65), CORRECTED),
        (unregularised(1.85, 1.8, slowest=1.5), FAILS),
        (unregularised(1.6, 1.5), FAILS),
        (unregularised(1.85, 1.7), OPEN),
        (unregularised(1.85, 1.8, slowest=1.7), OPEN),
        (unregularised(1.85, 1.8, NAN), OPEN),
    ],
    "fixed_regulariser_fails": [
        (fixed(0, 1.77, 1.66), HOLDS),
        (fixed(20, 1.77, 1.66), CORRECTED),
        (fixed(20, 1.2, 1.1), FAILS),
        (fixed(9, 1.77, 1.66), OPEN),
    ],
    "slower_annealing_is_better": [
        (sa(*sweep("sa", *BETTER)), HOLDS),
        (sa(*sweep("sa", [1.25, math.inf], [1.2, 1.3])), HOLDS),
        (sa(*sweep("sa", *BETTER[::-1])), FAILS),
        (sa(*sweep("sa", *SAME)), FAILS),
        (sa(*sweep("sa", *BETTER, width=0.3)), OPEN),
        (sa(*sweep("sa", (1.25, 1.24, 1.2), (1.1, 1.1, 1.23))), OPEN),  # clearly worse at one size
        (sa(*sweep("sa", (1.25,), ())), OPEN),
    ],
    "annealing_approaches_bayes": [
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.13), HOLDS),
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.17), CORRECTED),
        (annealing((1.2, 1.21, 1.24), (1.2, 1.21, 1.24), 1.3), FAILS),
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.13, width=0.1), OPEN),
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.13, doubt="bad"), OPEN),
        (annealing(BETTER[0], (1.2, 1.16, 1.14)), OPEN),
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.13, rival_chi2=1.0), HOLDS),
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.17, rival_chi2=1.0), OPEN),
    ],
    "unregularised_reaches_theory": [
        (joint(0.0, 1.58), HOLDS),
        (joint(0.0, 1.68), FAILS),
        (joint(0.0, 1.58, width=0.1), OPEN),
        (joint(0.0, 1.58, doubt="bad"), OPEN),
        (joint(0.0), OPEN),
        (joint(0.0, 1.68, rival_chi2=1.0), OPEN),
    ],
    "hard_below_bayes": [
        (hard((1.06, 0.1, ""), (1.1, 0.03, ""), power="bad", end=[(1.11, 1.12, 1.13)]), HOLDS),
        (hard((1.06, 0.1, ""), (1.08, 0.1, ""), (1.1, 0.03, "bad")), HOLDS),
        (hard((1.06, 0.1, ""), (1.1, 0.03, ""), exponential="bad", gain=-20), FAILS),
        (hard((1.06, 0.1, ""), (1.1, -0.03, ""), power="bad"), FAILS),  # at 1.1 they do not grow
        (hard((1.06, 0.1, ""), (1.1, 0.03, ""), power="bad", gain=0), OPEN),
        (hard((1.06, 0.1, ""), (1.1, 0.03, ""), gain=-2), OPEN),
        (hard((1.06, 0.1, ""), (1.1, 0.03, ""), power="fewer than 10 instances", gain=-20), OPEN),
        (hard((1.06, 0.1, "bad"), (1.1, 0.03, ""), power="bad"), OPEN),
        (hard((1.06, 0.1, ""), exponential="bad", power="bad"), CORRECTED),
        (hard((1.06, 0.1, ""), exponential="fewer than 10 instances", power="bad"), OPEN),
        (hard((1.06, 0.1, ""), exponential="bad", power="bad", gain=-20), FAILS),
        (hard((1.06, 0.005, ""), power="bad"), OPEN),
    ],
    "hundred_steps": [
        (sa(*sweep("sa", *BETTER), *sweep("sa-proposals", *BETTER)), HOLDS),
        (sa(*sweep("sa", *BETTER), *sweep("sa-proposals", [1.4, math.inf], [1.3, 1.4])), CORRECTED),
        (sa(*sweep("sa", [math.inf], [1.3]), *sweep("sa-proposals", [math.inf], [1.4])), FAILS),
        (sa(*sweep("sa", *BETTER), *sweep("sa-proposals", [1.475], [1.3])), OPEN),
        (sa(*sweep("sa", *BETTER)), OPEN),
    ],
}
