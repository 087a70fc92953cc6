"""The figure of ever slower anneals: what it counts, and how it is drawn."""

import math
from pathlib import Path

import numpy as np
import pytest

from phaselect.base.errors import InputError
from phaselect.base.tables import Table, load_table
from phaselect.experiments.grid import CURVE, preset
from phaselect.figures import rates
from phaselect.figures.context import Context
from phaselect.problem.schedule import Schedule
from phaselect.solvers.registry import REGISTRY

TABLES = Path(__file__).parents[2] / "docs" / "tables"


def run(solver, alpha, eps, seed, m):
    own = {"solver": solver, "n": 400, "eps": eps, "plan": f"plan-{solver}-{eps}", "alpha": alpha, "seed": seed}
    outcome = {"status": "CERTIFIED", "m": m, "mse_x": 1 - m, "mse_y": 1e-20 if m == 1 else 1e-3}
    return (
        dict.fromkeys(CURVE, math.nan)
        | own
        | outcome
        | {"seconds": 1.0, "device": ""}
        | ({"product": 0.0} if solver == "sa" else {})
    )


def compute():
    runs = [
        run(solver, alpha, eps, seed, float(seed < found))
        for solver, alpha, shares in (("sa", 1.65, (1, 3)), ("sa-fixed", 1.6, (0, 4)))
        for eps, found in zip((0.1, 0.01), shares, strict=True)
        for seed in range(4)
    ]
    rows = Table({name: np.array([row[name] for row in runs]) for name in runs[0]})
    return Table(rates.compute(Context("small", {"rates": rows}.__getitem__)))


def test_shares_by_rate():
    table = compute()
    slow, quick = (table.where(lam=0.0, alpha=1.65, eps=eps) for eps in (0.01, 0.1))
    assert (quick["successes"][0], slow["successes"][0]) == (1, 3)
    assert slow["low"][0] < slow["value"][0] == 0.75 < slow["high"][0]
    assert table.where(lam=0.005)["successes"].tolist() == [0, 4]


def test_sweeps_are_those_of_the_preset():
    """Sweeps per e-fold, counted in the schedules themselves."""
    table = compute()
    for solver in {solver for scale in ("small", "paper") for grid in preset("rates", scale) for solver in grid.solver}:
        _, schedule = REGISTRY[solver].plan(eps=0.01)
        assert isinstance(schedule, Schedule)
        per_fold = schedule.steps * (len(schedule) - 1) / math.log(schedule.mu[-1] / schedule.mu[0])
        assert table.where(eps=0.01)["sweeps"] == pytest.approx(per_fold, rel=2e-3)


def test_lam_is_that_of_the_schedule():
    assert rates.schedule_of("sa", 0.1, 0.0).lam.max() == 0
    assert set(rates.schedule_of("sa-fixed", 0.1, math.nan).lam.tolist()) == {0.005}
    with pytest.raises(InputError, match="product"):
        rates.schedule_of("sa-fixed", 0.1, 1.0)


def test_the_thresholds_of_the_caption_are_those_of_the_phase_diagram():
    diagram = load_table(TABLES / "regularisation.csv").where(panel="b", line="recovery")
    for lam in (0.0, 0.005):
        assert f" {diagram.where(lam=lam)['alpha'][0]:.3f} " in rates.CAPTION


def test_drawn_in_the_order_of_the_sweeps():
    left, right = rates.draw(compute()).axes
    for panel, shares in ((left, [0.25, 0.75]), (right, [0.0, 1.0])):
        x, y = panel.get_lines()[0].get_data()
        assert (np.diff(x) > 0).all()
        assert y.tolist() == shares
