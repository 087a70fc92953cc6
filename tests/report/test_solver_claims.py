"""Cases for test_verdicts.py: the claims on simulated annealing, message passing and Langevin dynamics."""

import math

import numpy as np
import pytest
from scipy.special import expit

from phaselect.experiments import copies_needed
from phaselect.experiments import limits as limits_of_curves
from phaselect.experiments.copies_needed import hard_phase_rows
from phaselect.experiments.grid import preset
from phaselect.experiments.limits import NO_FIT
from phaselect.experiments.success import wilson
from phaselect.figures.rate_and_size import NO_RATES
from phaselect.report.ledger import Conclusion
from phaselect.report.solver_claims import hard_below_bayes
from tests.report.handmade import table

HOLDS, CORRECTED, FAILS, OPEN = Conclusion
NAN, NONE = math.nan, {"kind": "threshold", "successes": 0, "trials": 0, "alpha": math.nan}
NOTHING = NONE | NO_FIT | {"solver": "", "n": 0, "eps": 0.0, "product": 0.0, "value": 0.0, "low": 0.0, "high": 0.0}


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


def langevin(*rows):
    return {"success_langevin": table(*rows)}


def recovery(alpha):
    lams = {"panel": "b", "line": "recovery", "lam": (0.0, 0.005), "alpha": alpha}
    return {"regularisation": table(lams)}


def unregularised(fast, slow, alpha=1.58):
    return sa(*sweep("sa", [fast], [slow], [400], product=0.0)) | recovery(alpha)


def fixed(hits, fast, slow, alpha=1.13):
    rows = sweep("sa-fixed", [fast], [slow], [400], product=NAN)
    return sa(*rows, *(share("sa-fixed", eps, hits, 20) for eps in (0.1, 0.01))) | recovery(alpha)


def joint(product, limit=None, doubt="", width=0.02):
    """Of large instances and slow anneals."""
    theory = {"kind": "theory", "n": 0, "product": product, "value": 1.584, "low": NAN, "high": NAN, "doubt": ""}
    numbers = NO_RATES | dict.fromkeys(("chi2", "dof", "amplitude", "exponent"), 1.0)
    found = theory | {"kind": "joint", "value": limit, "doubt": doubt}
    bounds = {} if limit is None else {"low": limit - width / 2, "high": limit + width / 2}
    level = found | {"kind": "slow", "n": 3200}
    rows = [theory | numbers] + ([] if limit is None else [row | bounds | numbers for row in (found, level)])
    return {"rate_and_size": table(*rows)}


def annealing(fast, slow, limit=None, doubt="", width=0.02):
    """With a limit of large instances and slow anneals."""
    return sa(*sweep("sa", fast, slow)) | joint(1.0, limit, doubt, width)


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


def hard(*growths, end=None):
    """At each alpha: its rate, what is in doubt of the exponential and of the power, and how much better the former."""
    blank = {"n": 0, "chi2": 1.0, "dof": 2, "doubt": "", "low": NAN, "high": NAN, "value": NAN, "alpha": NAN}
    rows = []
    for alpha, rate, exponential, power, gain in growths:
        bounds = {"value": rate, "low": rate - 0.01, "high": rate + 0.01}
        rows.append(blank | {"kind": "copies", "alpha": alpha})
        rows.append(blank | {"kind": "exponential", "alpha": alpha, "doubt": exponential} | bounds)
        rows.append(blank | {"kind": "power", "alpha": alpha, "doubt": power} | bounds)
        rows.append(blank | {"kind": "gain", "alpha": alpha, "value": gain, "low": gain - 5, "high": gain + 5})
    rows += [] if end is None else [blank | {"kind": "vanishing", "value": end, "low": end, "high": end}]
    return {"hard_phase": table(*rows)}


def simulated(middle, instances):
    """What comes of the preset, of so many instances, if half of them need 2^middle copies."""
    rng, parts = np.random.default_rng(0), []
    for grid in preset("hard_phase", "paper"):
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
    for module in (copies_needed, limits_of_curves):
        monkeypatch.setattr(module, "REPLICATES", 100)
    finding = hard_below_bayes(simulated(middle, instances))
    assert finding.conclusion is conclusion, finding.measured


def limits(fast, slow, width=0.02, doubts=("", ""), long=1.128):
    """Of message passing, at both rates and of long runs."""
    fits = [
        fit("amp", eps, end, width, doubt=it) for eps, end, it in zip((0.1, 0.01), (fast, slow), doubts, strict=True)
    ]
    return amp(*sweep("amp", [1.2], [1.2]), *fits) | long_runs(long)


def rates(printed, matched):
    """(fast, slow) on the paper's schedule and at the matched product."""
    own = [half("amp-paper", 100, eps, value, product=NAN) for eps, value in zip((0.1, 0.01), printed, strict=True)]
    return amp(*own, *sweep("amp", [matched[0]], [matched[1]]))


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


def three(amp_50, sa_50, langevin_50, sizes=(200, 400)):
    parts = {"amp": (amp_50, 1.0), "sa": (sa_50, 1.0), "langevin": (langevin_50, 0.75)}
    return {
        f"success_{name}": table(*sweep(name, found, found, sizes, product=product))
        for name, (found, product) in parts.items()
    }


def with_limits(tables, *names, value=1.13):
    """The same where the slow anneals of these solvers have a limit."""
    products = {"amp": 1.0, "sa": 1.0, "langevin": 0.75}
    fits = {f"success_{name}": fit(name, 0.01, value, product=products[name]) for name in names}
    return tables | {name: table(tables[name].columns, row) for name, row in fits.items()}


BETTER, SAME = ((1.25, 1.24, 1.23), (1.2, 1.19, 1.18)), ((1.2, 1.2, 1.2), (1.2, 1.2, 1.2))
CLOSE = three((1.14, 1.13), (1.18, 1.17), (1.2, 1.19))

CASES = {
    "unregularised_needs_more": [
        (unregularised(1.85, 1.8), HOLDS),
        (unregularised(1.85, 1.65), CORRECTED),
        (unregularised(1.6, 1.5), FAILS),
        (unregularised(1.85, 1.7), OPEN),
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
        (annealing(BETTER[0], (1.14, 1.15, 1.19), 1.13), CORRECTED),
        (annealing((1.2, 1.21, 1.24), (1.2, 1.21, 1.24), 1.3), FAILS),
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.13, width=0.1), OPEN),
        (annealing(BETTER[0], (1.2, 1.16, 1.14), 1.13, doubt="bad"), OPEN),
        (annealing(BETTER[0], (1.2, 1.16, 1.14)), OPEN),
    ],
    "unregularised_reaches_theory": [
        (joint(0.0, 1.58), HOLDS),
        (joint(0.0, 1.68), FAILS),
        (joint(0.0, 1.58, width=0.1), OPEN),
        (joint(0.0, 1.58, doubt="bad"), OPEN),
        (joint(0.0), OPEN),
    ],
    "hard_below_bayes": [
        (hard((1.06, 0.1, "", "bad", 20), (1.1, 0.03, "", "", 20), end=1.12), HOLDS),
        (hard((1.06, 0.1, "", "", 20), (1.08, 0.1, "", "", 20), (1.1, 0.03, "", "", 0)), HOLDS),
        (hard((1.06, 0.1, "", "bad", 20), (1.1, 0.03, "bad", "", -20)), FAILS),
        (hard((1.06, 0.1, "", "bad", 20), (1.1, -0.03, "", "", 0)), FAILS),
        (hard((1.06, 0.1, "", "", 0), (1.1, 0.03, "", "bad", 20)), OPEN),
        (hard((1.06, 0.1, "", "", 0), (1.1, 0.03, "", "", -20)), OPEN),
        (hard((1.06, 0.1, "bad", "bad", 20)), OPEN),
        (hard((1.06, 0.1, "bad", "bad", -20)), OPEN),
        (hard((1.06, 0.005, "", "bad", 20)), OPEN),
        (hard((1.14, 0.1, "bad", "", -20)), OPEN),  # above the threshold nothing is claimed
    ],
    "hundred_steps": [
        (sa(*sweep("sa", *BETTER), *sweep("sa-proposals", *BETTER)), HOLDS),
        (sa(*sweep("sa", *BETTER), *sweep("sa-proposals", [1.4, math.inf], [1.3, 1.4])), CORRECTED),
        (sa(*sweep("sa", [math.inf], [1.3]), *sweep("sa-proposals", [math.inf], [1.4])), FAILS),
        (sa(*sweep("sa", *BETTER), *sweep("sa-proposals", [1.475], [1.3])), OPEN),
        (sa(*sweep("sa", *BETTER)), OPEN),
    ],
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
        (rates((1.25, 1.38), (1.2, 1.21)), FAILS),
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
    "slower_langevin_is_better": [
        (langevin(*sweep("langevin", *BETTER, product=0.75)), HOLDS),
        (langevin(*sweep("langevin", *BETTER[::-1], product=0.75)), FAILS),
        (langevin(*sweep("langevin", *BETTER, width=0.3, product=0.75)), OPEN),
    ],
    "langevin_is_poorest": [
        (three((1.15, 1.14), (1.2, 1.2), (1.4, 1.4)), HOLDS),
        (three((1.15,), (1.2, 1.2), (1.4, 1.4)), HOLDS),
        (three((1.15, 1.14), (1.5, 1.5), (1.4, 1.4)), CORRECTED),
        (three((1.5, 1.5), (1.5, 1.5), (1.4, 1.4)), FAILS),
        (three((1.15, 1.14), (1.4, 1.2), (1.4, 1.4)), OPEN),
        (three((1.15, 1.14), (1.2, 1.2), ()), OPEN),
    ],
    "all_approach_bayes": [
        (with_limits(CLOSE, "amp", "sa", "langevin"), HOLDS),
        (with_limits(CLOSE, "amp", "sa", "langevin", value=1.2), FAILS),
        (with_limits(three((1.14, 1.13), (1.18, 1.17), (1.4, 1.39)), "amp", "sa"), FAILS),
        (with_limits(CLOSE, "amp", "sa"), OPEN),
        (three((1.14, 1.13), (1.18, 1.17), ()), OPEN),
    ],
}
